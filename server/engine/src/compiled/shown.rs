//! What is known of a document's kernels at the places of its present text, found once for each text:
//! diagnostics, hints and lenses ask for the same.

use std::sync::Arc;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use tileperf_analysis::compiled::{CompiledFacts, CompiledKernel, Trial};
use tileperf_analysis::model::{FileModel, Kernel};
use tileperf_analysis::views::compiled::section;
use tileperf_syntax::{ParsedFile, Span};

use super::kept::Known;
use super::subject::KernelKey;
use crate::DocId;
use crate::document::Analyzed;
use crate::engine::Shared;

/// The compiled facts of a document.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// One a kernel, in the model's order.
    facts: Vec<Vec<CompiledFacts>>,
    /// What each is with parts of it written otherwise.
    trials: Vec<Vec<Trial>>,
    /// How many signatures are known of each.
    signatures: Vec<usize>,
    /// Kernels of other files that call functions of this one, with what is said of these.
    callers: Vec<(Kernel, Vec<CompiledFacts>)>,
}

impl Shown {
    /// The kernels with their facts.
    pub(crate) fn kernels<'a>(&'a self, model: &'a FileModel) -> Vec<CompiledKernel<'a>> {
        let kernels = model.kernels.iter().zip(&self.facts).zip(&self.trials);
        let known = kernels.map(|((kernel, facts), trials)| CompiledKernel {
            kernel,
            facts,
            trials,
        });
        known.collect()
    }

    /// Kernels of other files that call functions of this one, with what is said of these.
    fn callers(&self) -> impl Iterator<Item = CompiledKernel<'_>> {
        let callers = self.callers.iter();
        callers.map(|(kernel, facts)| CompiledKernel {
            kernel,
            facts,
            trials: &[],
        })
    }
}

/// A document with what is known of its kernels, in one text.
pub(crate) struct CompiledFile {
    analyzed: Arc<Analyzed>,
    shown: Arc<Shown>,
}

impl CompiledFile {
    /// The kernels with their facts.
    pub(crate) fn kernels(&self) -> Vec<CompiledKernel<'_>> {
        self.shown.kernels(&self.analyzed.model)
    }

    /// The same, and the kernels of other files that call functions of this one.
    pub(crate) fn kernels_and_callers(&self) -> Vec<CompiledKernel<'_>> {
        let mut all = self.kernels();
        all.extend(self.shown.callers());
        all
    }

    /// The text.
    pub(crate) fn text(&self) -> &str {
        self.analyzed.text.as_str()
    }

    fn known(&self, kernel: &Kernel) -> Option<CompiledKernel<'_>> {
        let is_it = |known: &CompiledKernel<'_>| {
            (&known.kernel.qualified, known.kernel.ordinal) == (&kernel.qualified, kernel.ordinal)
        };
        self.kernels().into_iter().find(is_it)
    }

    /// What is known of a kernel, the main architecture first.
    pub(crate) fn facts_of(&self, kernel: &Kernel) -> &[CompiledFacts] {
        self.known(kernel).map_or(&[], |known| known.facts)
    }

    /// How many signatures are known of a kernel.
    pub(crate) fn signatures_of(&self, kernel: &Kernel) -> usize {
        let is_it = |known: &Kernel| {
            (&known.qualified, known.ordinal) == (&kernel.qualified, kernel.ordinal)
        };
        let at = self.analyzed.model.kernels.iter().position(is_it);
        at.and_then(|at| self.shown.signatures.get(at).copied())
            .unwrap_or(0)
    }

    /// The part of a kernel's card on its compiled code; empty if nothing is known.
    pub(crate) fn section(&self, kernel: &Kernel) -> String {
        let known = self.known(kernel).filter(|known| !known.facts.is_empty());
        known.map_or_else(String::new, |known| {
            section(&known, self.analyzed.text.as_str())
        })
    }

    /// The operation at an offset of which the compiler says something, the innermost.
    pub(crate) fn call_at(&self, offset: usize) -> Option<Span> {
        let callers = self.shown.callers.iter().flat_map(|(_, facts)| facts);
        let facts = self.shown.facts.iter().flatten().chain(callers);
        let placed = facts.filter_map(CompiledFacts::remarks).flatten();
        let spans = placed.filter_map(|placed| placed.span);
        let around = spans.filter(|span| span.range().contains(&offset));
        around.min_by_key(|span| span.len())
    }
}

/// What was found last, by document.
#[derive(Default)]
pub(super) struct ShownCache(Mutex<FxHashMap<DocId, Found>>);

/// The compiled facts of a document, for which parse and after how many results.
type Found = (Arc<ParsedFile>, u64, Arc<Shown>);

impl ShownCache {
    /// Forgets a document.
    pub(super) fn forget(&self, doc: &DocId) {
        self.0.lock().remove(doc);
    }
}

impl Shared {
    /// An open document with what is known of its kernels; `None` if nothing is.
    pub(crate) fn compiled_of(&self, doc: &DocId) -> Option<CompiledFile> {
        let open = self.docs.get(doc).map(|d| Arc::clone(&d))?;
        if self.compiled.known.lock().all.is_empty() {
            return None;
        }
        let analyzed = open.fresh();
        let shown = self.shown(doc, &analyzed)?;
        Some(CompiledFile { analyzed, shown })
    }

    /// What is known of the kernels of an open document; `None` if nothing is.
    pub(crate) fn shown(&self, doc: &DocId, analyzed: &Analyzed) -> Option<Arc<Shown>> {
        let known = self.compiled.known.lock();
        if !known.all.values().any(|known| known.files.contains(doc)) {
            return None;
        }
        let parsed = &analyzed.parsed;
        if let Some((of, results, shown)) = self.compiled.shown.0.lock().get(doc)
            && Arc::ptr_eq(of, parsed)
            && *results == known.results
        {
            return Some(Arc::clone(shown));
        }
        let each = analyzed.model.kernels.iter().map(|kernel| {
            let known = known.all.get(&KernelKey::new(doc, kernel));
            known.map_or_else(Vec::new, |known| {
                let edited = known.model != kernel.fingerprint || kernel.stale;
                known.now(&analyzed.text, parsed, edited)
            })
        });
        let trials = analyzed.model.kernels.iter().map(|kernel| {
            let known = known.all.get(&KernelKey::new(doc, kernel));
            known.map_or_else(Vec::new, |known| {
                let edited = known.model != kernel.fingerprint || kernel.stale;
                known.trials(kernel, analyzed.text.as_str(), edited)
            })
        });
        let count = analyzed.model.kernels.iter().map(|kernel| {
            let known = known.all.get(&KernelKey::new(doc, kernel));
            known.map_or(0, |known| known.choices.len())
        });
        let facts: Vec<_> = each.collect();
        let trials: Vec<_> = trials.collect();
        let signatures: Vec<_> = count.collect();
        let callers = known.all.iter().filter(|(key, _)| key.doc != *doc);
        let callers = callers.filter(|(_, known)| known.files.contains(doc));
        let callers: Vec<_> = callers.map(|(k, v)| (k.clone(), v.clone())).collect();
        let results = known.results;
        // Their files may have to be analyzed, which must keep nobody.
        drop(known);
        let callers =
            (callers.iter()).filter_map(|(key, known)| self.caller(doc, analyzed, key, known));
        let shown = Arc::new(Shown {
            facts,
            trials,
            signatures,
            callers: callers.collect(),
        });
        let entry = (Arc::clone(parsed), results, Arc::clone(&shown));
        self.compiled.shown.0.lock().insert(doc.clone(), entry);
        Some(shown)
    }

    /// A kernel of another file, with what is said of functions of this one.
    fn caller(
        &self,
        doc: &DocId,
        analyzed: &Analyzed,
        key: &KernelKey,
        known: &Known,
    ) -> Option<(Kernel, Vec<CompiledFacts>)> {
        let file = self.file(&key.doc)?;
        let mut kernels = file.model.kernels.iter();
        let mut kernel = kernels
            .find(|kernel| KernelKey::new(&key.doc, kernel) == *key)?
            .clone();
        let stale = known.model != kernel.fingerprint || kernel.stale;
        // Its places are those of its own file.
        kernel.accesses.clear();
        let results = known.results.iter();
        let facts: Vec<CompiledFacts> = results
            .filter_map(|kept| kept.in_helpers(doc, &analyzed.text, &analyzed.parsed, stale))
            .collect();
        (!facts.is_empty()).then_some((kernel, facts))
    }
}
