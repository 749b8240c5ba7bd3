//! Compiling on this thread, for the command line.

use tileperf_analysis::arch::Arch;
use tileperf_analysis::compiled::CompiledFacts;
use tileperf_compiler::CancelToken;

use super::frontend::{self, Verdict};
use super::kept::{Kept, KeptOutcome};
use super::subject::{Subject, subjects};
use super::toolchain::Toolchain;
use crate::snapshot::Snapshot;
use crate::{DocId, Engine};

/// A kernel compiled for an architecture, or why not.
#[derive(Debug, Clone)]
pub struct CompiledRow {
    /// The kernel's qualified name.
    pub kernel: String,
    /// The line of its `def`, from 1.
    pub line: u32,
    /// What came out; the reason if it cannot be taken out of its file.
    pub facts: Result<CompiledFacts, String>,
    /// The wall time of both tiers now, seconds.
    pub seconds: f64,
}

impl Engine {
    /// Compiles the kernels of a file whose name `wanted` takes, for these architectures, and hands
    /// on each result as it comes. Ends early when cancelled.
    ///
    /// # Errors
    /// Nothing can be compiled: no trust, no compiler.
    pub fn compile_now(
        &self,
        doc: &DocId,
        wanted: &dyn Fn(&str) -> bool,
        archs: &[Arch],
        cancel: &CancelToken,
        out: &mut dyn FnMut(CompiledRow),
    ) -> Result<(), String> {
        let toolchain = self.shared.toolchain()?;
        let Some(file) = self.shared.file(doc) else {
            return Ok(());
        };
        let snapshot = Snapshot::new(&self.shared);
        let main = archs.first().copied().unwrap_or(Arch::Sm90);
        let all = subjects(
            &snapshot,
            &self.shared.compiled.cached,
            doc,
            &file.model.kernels,
            main,
        );
        for (kernel, (_, subject)) in file.model.kernels.iter().zip(all) {
            if !wanted(&kernel.qualified) {
                continue;
            }
            let line = file.text.line_column(kernel.name_span.start as usize).0;
            let mut row = |facts, seconds| {
                out(CompiledRow {
                    kernel: kernel.qualified.to_string(),
                    line,
                    facts,
                    seconds,
                });
            };
            let subject = match subject {
                Ok(subject) => subject,
                Err(why) => {
                    row(Err(why.to_string()), 0.0);
                    continue;
                }
            };
            for arch in archs {
                let started = std::time::Instant::now();
                let Some(kept) = compile(&toolchain, &subject, *arch, cancel) else {
                    return Ok(());
                };
                let facts = match subject.sources.first() {
                    Some(own) => kept.now(&own.text, &own.parsed, false),
                    None => continue,
                };
                row(Ok(facts), started.elapsed().as_secs_f64());
            }
        }
        Ok(())
    }
}

/// Both tiers, one after the other. `None` if it was cancelled.
pub(super) fn compile(
    toolchain: &Toolchain,
    subject: &Subject,
    arch: Arch,
    cancel: &CancelToken,
) -> Option<Kept> {
    let verdict = frontend::accept(&toolchain.worker, subject, arch, cancel)?;
    let (signature, outcome) = match verdict {
        Verdict::Accepted(signature, compiled) => {
            let answer = (toolchain.backend).compile(&compiled.bytecode, arch, cancel);
            (signature, KeptOutcome::of_backend(subject, answer)?)
        }
        Verdict::Refused(signature, problem) => {
            (signature, KeptOutcome::of_problem(subject, &problem))
        }
        Verdict::Failed(signature, why) => (signature, KeptOutcome::Failed(why)),
    };
    Some(Kept {
        arch,
        signature,
        outcome,
    })
}
