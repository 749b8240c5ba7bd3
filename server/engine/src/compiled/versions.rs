//! Two versions of some files: what differs in kernels and the functions that they call, which can be
//! compiled, and what differs in host code, of which nothing can be proven.
//!
//! A function counts as device code if a kernel is compiled with it and nothing on the host names it.
//! Names are looked for in plain text, strings included: whatever looks like a use is one.

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use tileperf_analysis::arch::Arch;
use tileperf_analysis::model::function_fingerprint;
use tileperf_analysis::slice::Unsliceable;
use tileperf_syntax::ast::StmtKind;
use tileperf_syntax::{Item, ParsedFile, Span, Text};

use super::compare::Version;
use super::reach::reach;
use super::subject::{KernelKey, Subject, subjects};
use crate::snapshot::Snapshot;
use crate::words::has_word;
use crate::{DocId, Engine};

/// A kernel, ready to be compiled or not.
type Sliced = (KernelKey, Result<Subject, Unsliceable>);

/// Two versions of some files, each in its own workspace.
pub(super) struct Versions {
    pub(super) old: Engine,
    pub(super) new: Engine,
    /// The files with versions.
    docs: Vec<DocId>,
    /// Those, and all that may import something from them.
    reach: Vec<DocId>,
}

/// One of the two, sliced.
struct Side<'v> {
    engine: &'v Engine,
    kernels: Vec<Sliced>,
}

/// What differs.
pub(super) struct Differing {
    /// Kernels whose slices differ, in both versions.
    pub(super) pairs: Vec<(Subject, Subject)>,
    /// Kernels that cannot be sliced in both.
    pub(super) apart: Vec<KernelKey>,
    /// What differs in host code; `None` if nothing does.
    pub(super) outside: Option<String>,
    /// Functions of device code whose code differs, not only its layout.
    helpers: FxHashSet<(DocId, SmolStr)>,
}

impl Differing {
    /// Whether more than comments and layout differs in what a kernel is compiled from.
    pub(super) fn is_in_code(&self, before: &Subject, after: &Subject) -> bool {
        let sources = before.sources.iter().chain(&after.sources);
        let mut docs = sources.map(|source| &source.doc);
        before.model != after.model || docs.any(|doc| self.helpers.iter().any(|(of, _)| of == doc))
    }
}

impl Versions {
    pub(super) fn new(old: Engine, new: Engine, before: &[Version], after: &[Version]) -> Self {
        let paths = before.iter().chain(after).map(|version| &version.0);
        let mut docs: Vec<DocId> = paths.map(|path| DocId::file(path)).collect();
        docs.sort();
        docs.dedup();
        let reach = reach(&[&old, &new], &docs);
        Self {
            old,
            new,
            docs,
            reach,
        }
    }

    /// What differs, for what is compiled on an architecture.
    pub(super) fn differing(&self, arch: Arch) -> Differing {
        let old = Side::new(&self.old, &self.reach, arch);
        let new = Side::new(&self.new, &self.reach, arch);
        let (outside, helpers) = match self.outside(&old, &new) {
            Ok(helpers) => (None, helpers),
            Err(what) => (Some(what), FxHashSet::default()),
        };
        let (mut pairs, mut apart) = (Vec::new(), Vec::new());
        for (key, was) in old.kernels {
            let now = new.kernels.iter().find(|(other, _)| *other == key);
            // That it is gone is a difference of host code.
            let Some((_, now)) = now else {
                continue;
            };
            match (was, now) {
                (Ok(was), Ok(now)) if was.slice.fingerprint == now.slice.fingerprint => {}
                (Ok(was), Ok(now)) => pairs.push((was, now.clone())),
                _ => apart.push(key),
            }
        }
        Differing {
            pairs,
            apart,
            outside,
            helpers,
        }
    }

    /// The functions of device code whose code differs.
    ///
    /// # Errors
    /// Something else differs; in words, what.
    fn outside(
        &self,
        old: &Side<'_>,
        new: &Side<'_>,
    ) -> Result<FxHashSet<(DocId, SmolStr)>, String> {
        for doc in &self.docs {
            let name = file_name(doc);
            if !old.is_clean(doc) || !new.is_clean(doc) {
                return Err(format!("{name} does not parse"));
            }
            if kernels(old.engine, doc) != kernels(new.engine, doc) {
                return Err(format!("{name} has other kernels"));
            }
        }
        let (mut was, mut is) = (old.device(&self.reach), new.device(&self.reach));
        // What is device code in one version and host code in the other is host code.
        let both = |this: &Side<'_>, known: &(DocId, SmolStr), there: &FxHashSet<_>| {
            there.contains(known) || !this.has_function(&known.0, &known.1)
        };
        let kept = |own: &FxHashSet<(DocId, SmolStr)>, other: &Side<'_>, there: &FxHashSet<_>| {
            let kept = own.iter().filter(|known| both(other, known, there));
            kept.cloned().collect::<FxHashSet<_>>()
        };
        (was, is) = (kept(&was, new, &is), kept(&is, old, &was));
        let mut helpers = FxHashSet::default();
        for doc in &self.docs {
            if old.host(doc, &was) != new.host(doc, &is) {
                let name = file_name(doc);
                return Err(format!("{name} differs outside its kernels"));
            }
            let known = was.iter().chain(&is).filter(|(of, _)| of == doc);
            for (_, name) in known {
                if old.code_of(doc, name) != new.code_of(doc, name) {
                    helpers.insert((doc.clone(), name.clone()));
                }
            }
        }
        Ok(helpers)
    }
}

impl<'v> Side<'v> {
    fn new(engine: &'v Engine, reach: &[DocId], arch: Arch) -> Self {
        let snapshot = Snapshot::new(&engine.shared);
        let cached = &engine.shared.compiled.cached;
        let mut sliced = Vec::new();
        for doc in reach {
            if let Some(file) = engine.shared.file(doc) {
                let kernels = &file.model.kernels;
                sliced.extend(subjects(&snapshot, cached, doc, kernels, arch));
            }
        }
        Self {
            engine,
            kernels: sliced,
        }
    }

    fn source(&self, doc: &DocId) -> (Text, std::sync::Arc<ParsedFile>) {
        self.engine.shared.source(doc)
    }

    fn is_clean(&self, doc: &DocId) -> bool {
        self.source(doc).1.is_clean()
    }

    /// The functions at the top of files that kernels are compiled with and no host code names.
    fn device(&self, reach: &[DocId]) -> FxHashSet<(DocId, SmolStr)> {
        let mut device: FxHashSet<(DocId, SmolStr)> = FxHashSet::default();
        for doc in reach {
            let (text, parsed) = self.source(doc);
            let kernels = self.kernel_spans(doc);
            for item in &parsed.items {
                let Some(name) = function(item) else {
                    continue;
                };
                let is_kernel = kernels.iter().any(|kernel| item.span.contains(*kernel));
                if !is_kernel && self.is_sliced(doc, &text, item) {
                    device.insert((doc.clone(), name.clone()));
                }
            }
        }
        // A function that host code calls makes what it calls host code.
        loop {
            let hosts: Vec<String> = reach
                .iter()
                .map(|doc| self.host_text(doc, &device))
                .collect();
            let before = device.len();
            device.retain(|(_, name)| !hosts.iter().any(|text| has_word(text, name)));
            if device.len() == before {
                return device;
            }
        }
    }

    /// Whether a kernel is compiled with a top-level statement of a file.
    fn is_sliced(&self, doc: &DocId, text: &Text, item: &Item) -> bool {
        let first = text.line_of(item.span.start as usize);
        let last = text.line_of(item.span.end as usize);
        self.kernels.iter().any(|(_, subject)| {
            let modules = subject.iter().flat_map(|subject| &subject.slice.modules);
            let mut here = modules.filter(|module| module.path == doc.as_str());
            here.any(|module| {
                let lines = module.text.lines().skip(first).take(last + 1 - first);
                lines.into_iter().any(|line| !line.trim().is_empty())
            })
        })
    }

    fn kernel_spans(&self, doc: &DocId) -> Vec<Span> {
        let file = self.engine.shared.file(doc);
        let kernels = file.iter().flat_map(|file| &file.model.kernels);
        kernels
            .map(|kernel| Span {
                start: kernel.top.start.min(kernel.span.start),
                end: kernel.span.end,
            })
            .collect()
    }

    /// What is left of a file without kernels, device functions and imports.
    fn host_text(&self, doc: &DocId, device: &FxHashSet<(DocId, SmolStr)>) -> String {
        let (text, parsed) = self.source(doc);
        let mut out: Vec<u8> = text.as_str().as_bytes().to_vec();
        let mut blank = |span: Span| {
            if let Some(part) = out.get_mut(span.range()) {
                part.fill(b' ');
            }
        };
        self.kernel_spans(doc).into_iter().for_each(&mut blank);
        for item in parsed.items.iter().filter(|item| !item.is_stale()) {
            let is_import = item.facts.body.iter().all(|stmt| {
                matches!(
                    stmt.kind,
                    StmtKind::Import { .. } | StmtKind::ImportFrom { .. }
                )
            });
            let is_device =
                function(item).is_some_and(|name| device.contains(&(doc.clone(), name.clone())));
            if is_import || is_device {
                blank(item.span);
            }
        }
        String::from_utf8_lossy(&out).into_owned()
    }

    /// The top-level statements of a file that are neither kernels nor device functions, without
    /// comments between them.
    fn host(&self, doc: &DocId, device: &FxHashSet<(DocId, SmolStr)>) -> Vec<String> {
        let (text, parsed) = self.source(doc);
        let file = self.engine.shared.file(doc);
        // A function or class around a kernel is host code as well.
        let kernels: Vec<Span> = (file.iter().flat_map(|file| &file.model.kernels))
            .filter(|kernel| kernel.qualified == kernel.name)
            .map(|kernel| kernel.span)
            .collect();
        let is_compiled = |item: &Item| {
            let is_kernel = item.facts.body.len() == 1
                && kernels.iter().any(|kernel| item.span.contains(*kernel));
            let name = function(item);
            is_kernel || name.is_some_and(|name| device.contains(&(doc.clone(), name.clone())))
        };
        let host = parsed.items.iter().filter(|item| !is_compiled(item));
        // Python reads all line ends alike.
        host.map(|item| text.slice(item.span).replace("\r\n", "\n"))
            .collect()
    }

    fn has_function(&self, doc: &DocId, name: &str) -> bool {
        self.code_of(doc, name).is_some()
    }

    /// The code of the functions with a name at the top of a file; `None` without any.
    fn code_of(&self, doc: &DocId, name: &str) -> Option<Vec<u64>> {
        let (_, parsed) = self.source(doc);
        let stmts = parsed.items.iter().flat_map(|item| &item.facts.body);
        let all: Vec<u64> = stmts
            .filter_map(|stmt| match &stmt.kind {
                StmtKind::FunctionDef(def) if def.name.name == name => {
                    Some(function_fingerprint(def))
                }
                _ => None,
            })
            .collect();
        (!all.is_empty()).then_some(all)
    }
}

/// The name of the function that a top-level statement defines.
fn function(item: &Item) -> Option<&SmolStr> {
    match item.facts.body.as_slice() {
        [stmt] if !item.is_stale() => match &stmt.kind {
            StmtKind::FunctionDef(def) => Some(&def.name.name),
            _ => None,
        },
        _ => None,
    }
}

/// The kernels of a file, in order.
fn kernels(engine: &Engine, doc: &DocId) -> Vec<KernelKey> {
    let file = engine.shared.file(doc);
    file.map_or_else(Vec::new, |file| {
        let kernels = file.model.kernels.iter();
        kernels.map(|kernel| KernelKey::new(doc, kernel)).collect()
    })
}

fn file_name(doc: &DocId) -> String {
    let path = doc.path();
    let name = path.as_ref().and_then(|path| path.file_name());
    name.map_or_else(
        || doc.as_str().to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}
