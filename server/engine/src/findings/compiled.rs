//! Findings held against compiled code.

use std::sync::Arc;

use tileperf_analysis::compiled::{
    CompiledFacts, CompiledKernel, Evidence, Judgements, Outcome, Trial, judge,
};
use tileperf_analysis::model::FileModel;
use tileperf_analysis::rules::{self, CompiledContext, Finding};
use tileperf_compiler::CancelToken;
use tileperf_syntax::ParsedFile;

use super::{CheckedFile, View};
use crate::compiled::{Order, Signatures, is_on};
use crate::document::Analyzed;
use crate::{DocId, Engine};

/// A file with findings that were held against compiled code.
#[derive(Debug, Clone)]
pub struct JudgedFile {
    /// The file.
    pub checked: CheckedFile,
    /// The kernels of which nothing is known, with the reason, which is not theirs: their findings are
    /// as they were.
    pub unknown: Vec<(String, String)>,
}

/// A text that was compiled.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    pub(super) parsed: &'a ParsedFile,
    pub(super) model: &'a FileModel,
}

impl Analyzed {
    pub(super) fn as_compiled(&self) -> Source<'_> {
        Source {
            text: self.text.as_str(),
            parsed: &self.parsed,
            model: &self.model,
        }
    }
}

impl Engine {
    /// As [`Engine::check`], held against what the compiler makes of the file's kernels for the
    /// architectures of the setting `compile.archs`. Compiles now, on this thread.
    ///
    /// # Errors
    /// Nothing can be compiled: no trust, no compiler.
    pub fn check_compiled(
        &self,
        doc: &DocId,
        cancel: &CancelToken,
    ) -> Result<Option<JudgedFile>, String> {
        let Some(checked) = self.check(doc) else {
            return Ok(None);
        };
        let Some(view) = self.shared.view(doc, &self.target()) else {
            return Ok(None);
        };
        self.local_gpu();
        let archs = self.compile_archs();
        let order = Order {
            wanted: &|_| true,
            archs: &archs,
            signatures: &Signatures::Best,
        };
        let mut facts: Vec<Vec<CompiledFacts>> = vec![Vec::new(); view.model.kernels.len()];
        let mut unknown: Vec<(String, String)> = Vec::new();
        self.compile_each(doc, &order, cancel, &mut |number, row| {
            let why = match row.facts {
                Ok(known) => {
                    let why = match &known.outcome {
                        Outcome::Failed(why) => Some(why.clone()),
                        _ => None,
                    };
                    if let Some(facts) = facts.get_mut(number) {
                        facts.push(known);
                    }
                    why
                }
                Err(why) => Some(why),
            };
            let is_news = |why: &String| !unknown.iter().any(|(k, w)| *k == row.kernel && w == why);
            if let Some(why) = why.filter(is_news) {
                unknown.push((row.kernel, why));
            }
        })?;
        let trials = self.tried_now(doc, &view, &checked.findings, &facts, cancel)?;
        let kernels = view.model.kernels.iter().zip(&facts).zip(&trials);
        let kernels: Vec<CompiledKernel<'_>> = kernels
            .map(|((kernel, facts), trials)| CompiledKernel {
                kernel,
                facts,
                trials,
            })
            .collect();
        let file = Source {
            text: view.text.as_str(),
            parsed: &view.parsed,
            model: &view.model,
        };
        let mut last = Judgements::default();
        let findings = self.judged(file, &kernels, checked.findings, &mut last);
        Ok(Some(JudgedFile {
            checked: CheckedFile {
                findings,
                ..checked
            },
            unknown,
        }))
    }

    /// What findings claim of two compiles, tried on this thread; by kernel.
    fn tried_now(
        &self,
        doc: &DocId,
        view: &View,
        findings: &[Arc<Finding>],
        facts: &[Vec<CompiledFacts>],
        cancel: &CancelToken,
    ) -> Result<Vec<Vec<Trial>>, String> {
        let toolchain = self.shared.toolchain()?;
        let (text, kernels) = (view.text.as_str(), &view.model.kernels);
        let wanted = (self.shared).wanted(doc, (&view.parsed, text, kernels), findings);
        let mut all = vec![Vec::new(); kernels.len()];
        for wanted in wanted {
            for before in facts.get(wanted.number).into_iter().flatten() {
                if before.machine().is_none() {
                    continue;
                }
                for (edits, on) in &wanted.edits {
                    if !is_on(on, before.arch) {
                        continue;
                    }
                    let (key, edited) = (&wanted.key, (text, edits.as_slice()));
                    let same = (self.shared).is_same(&toolchain, key, before, edited, cancel);
                    if cancel.is_cancelled() {
                        return Ok(all);
                    }
                    all[wanted.number].push(Trial {
                        edits: edits.clone(),
                        arch: before.arch,
                        origin: before.signature.origin,
                        same: same.unwrap_or(None),
                        stale: false,
                    });
                }
            }
        }
        Ok(all)
    }

    /// The findings held against compiled code, and what compiled code shows itself.
    pub(super) fn judged(
        &self,
        file: Source<'_>,
        kernels: &[CompiledKernel<'_>],
        mut findings: Vec<Arc<Finding>>,
        last: &mut Judgements,
    ) -> Vec<Arc<Finding>> {
        let compiled = rules::compiled(&CompiledContext {
            file: file.parsed,
            text: file.text,
            model: file.model,
            target: &self.target(),
            kernels,
        });
        findings.extend(self.chosen(compiled));
        findings.sort_by_key(|f| (f.span.start, f.span.end, f.rule.code));
        let evidence = Evidence {
            file: file.parsed,
            text: file.text,
            kernels,
            archs: &self.compile_archs(),
        };
        judge(findings, &evidence, last)
    }
}
