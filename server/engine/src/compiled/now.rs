//! Compiling on this thread, for the command line.

use std::collections::BTreeMap;
use std::time::Instant;

use tileperf_analysis::arch::Arch;
use tileperf_analysis::compiled::CompiledFacts;
use tileperf_analysis::model::Kernel;
use tileperf_analysis::signature::{Origin, Signature};
use tileperf_compiler::CancelToken;
use tileperf_compiler::symbol::Symbol;

use super::failure::Failure;
use super::frontend::{self, Verdict};
use super::kept::{Kept, KeptOutcome};
use super::names::{self, of_symbol};
use super::queue::Depth;
use super::subject::{Subject, subjects};
use super::toolchain::Toolchain;
use crate::snapshot::Snapshot;
use crate::{DocId, Engine};

/// What to compile of a file, and for what.
pub struct Order<'a> {
    /// Takes the qualified names of the kernels.
    pub wanted: &'a dyn Fn(&str) -> bool,
    /// The architectures.
    pub archs: &'a [Arch],
    /// The signatures.
    pub signatures: &'a Signatures,
}

/// Which of a kernel's signatures count, the best of them being the first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Signatures {
    /// The best that compiles.
    #[default]
    Best,
    /// The one at a place, from 1.
    Number(usize),
    /// The best whose line has this in it.
    With(String),
    /// Each.
    All,
    /// For each kernel, by its qualified name, these: names as in cuTile's cache, or lines of signatures
    /// that are known.
    These(BTreeMap<String, Vec<String>>),
}

/// A kernel compiled for an architecture, or why not.
#[derive(Debug, Clone)]
pub struct CompiledRow {
    /// The kernel's qualified name.
    pub kernel: String,
    /// Which of the kernels of that name in the file, from 0.
    pub ordinal: u32,
    /// The line of its `def`, from 1.
    pub line: u32,
    /// Which of [`Signatures::These`] it was compiled for.
    pub asked: Option<String>,
    /// The name that cuTile would give it; `None` where no name can say what it was compiled for.
    pub symbol: Option<String>,
    /// What came out; the reason if it cannot be taken out of its file.
    pub facts: Result<CompiledFacts, String>,
    /// The place of its signature among those that are known, from 1; 0 if there is none.
    pub number: usize,
    /// How many signatures are known.
    pub signatures: usize,
    /// The wall time of both tiers now, seconds.
    pub seconds: f64,
}

impl Engine {
    /// The qualified names of a file's kernels, in its order.
    pub fn kernel_names(&self, doc: &DocId) -> Vec<String> {
        let file = self.shared.file(doc);
        file.map_or_else(Vec::new, |file| {
            let kernels = file.model.kernels.iter();
            kernels.map(|kernel| kernel.qualified.to_string()).collect()
        })
    }

    /// Compiles kernels of a file and hands on each result as it comes. Ends early when cancelled.
    ///
    /// # Errors
    /// Nothing can be compiled: no trust, no compiler.
    pub fn compile_now(
        &self,
        doc: &DocId,
        order: &Order<'_>,
        cancel: &CancelToken,
        out: &mut dyn FnMut(CompiledRow),
    ) -> Result<(), String> {
        self.compile_each(doc, order, cancel, &mut |_, row| out(row))
    }

    /// The same, with the kernels' numbers in the file.
    pub(crate) fn compile_each(
        &self,
        doc: &DocId,
        order: &Order<'_>,
        cancel: &CancelToken,
        out: &mut dyn FnMut(usize, CompiledRow),
    ) -> Result<(), String> {
        let toolchain = self.shared.toolchain()?;
        let Some(file) = self.shared.file(doc) else {
            return Ok(());
        };
        let snapshot = Snapshot::new(&self.shared);
        let main = order.archs.first().copied().unwrap_or(Arch::Sm90);
        let all = subjects(
            &snapshot,
            &self.shared.compiled.cached,
            doc,
            &file.model.kernels,
            main,
        );
        for (number, (_, subject)) in all.into_iter().enumerate() {
            let kernel = &file.model.kernels[number];
            if !(order.wanted)(&kernel.qualified) {
                continue;
            }
            let line = file.text.line_column(kernel.name_span.start as usize).0;
            let row = |facts| CompiledRow {
                kernel: kernel.qualified.to_string(),
                ordinal: kernel.ordinal,
                line,
                asked: None,
                symbol: None,
                facts,
                number: 0,
                signatures: 0,
                seconds: 0.0,
            };
            let subject = match subject.map_err(|why| why.to_string()) {
                Ok(subject) => subject,
                Err(why) => {
                    out(number, row(Err(why)));
                    continue;
                }
            };
            for (asked, chosen) in choose(&subject, kernel, order.signatures) {
                let row = |facts| CompiledRow {
                    asked: asked.clone(),
                    ..row(facts)
                };
                let subject = match chosen {
                    Ok(subject) => subject,
                    Err(why) => {
                        out(number, row(Err(why)));
                        continue;
                    }
                };
                for arch in order.archs {
                    let started = Instant::now();
                    let Some(kept) = compile(&toolchain, &subject, *arch, Depth::Machine, cancel)
                    else {
                        return Ok(());
                    };
                    let Some(own) = subject.sources.first() else {
                        continue;
                    };
                    let symbol = names::symbol(&kernel.name, &kept.signature);
                    let facts = kept.now(&own.text, &own.parsed, false);
                    let result = CompiledRow {
                        symbol: symbol.map(|symbol| symbol.to_string()),
                        number: place(&subject, &kept.signature),
                        signatures: subject.choices.len(),
                        seconds: started.elapsed().as_secs_f64(),
                        ..row(Ok(facts))
                    };
                    out(number, result);
                }
            }
        }
        Ok(())
    }
}

/// A kernel to be compiled for one signature, or why that cannot be; with what asks for it.
pub(super) type Chosen = (Option<String>, Result<Subject, String>);

/// The kernel, once for each signature that is wanted.
pub(super) fn choose(subject: &Subject, kernel: &Kernel, wanted: &Signatures) -> Vec<Chosen> {
    let of = |signature: &Signature| {
        let mut one = subject.clone();
        one.choose(signature.clone());
        Ok(one)
    };
    let all = &subject.choices;
    let found = match wanted {
        Signatures::Best => return vec![(None, Ok(subject.clone()))],
        Signatures::All => return all.iter().map(|one| (None, of(one))).collect(),
        Signatures::These(these) => {
            let these = these.get(kernel.qualified.as_str()).into_iter().flatten();
            let each = these.map(|asked| {
                let named = Symbol::parse(asked).ok();
                let named = named.and_then(|symbol| of_symbol(&symbol, kernel));
                let known = || all.iter().find(|one| one.shown() == *asked).cloned();
                let signature = named.or_else(known);
                let signature = signature.ok_or("its parameters are others by now".to_owned());
                (Some(asked.clone()), signature.and_then(|one| of(&one)))
            });
            return each.collect();
        }
        Signatures::Number(number) => number.checked_sub(1).and_then(|at| all.get(at)),
        Signatures::With(part) => all.iter().find(|one| one.shown().contains(part.as_str())),
    };
    let found = found.ok_or_else(|| {
        let known = all
            .iter()
            .enumerate()
            .map(|(at, one)| format!("{} for {} ({})", at + 1, one.shown(), one.origin_words()));
        let known: Vec<String> = known.collect();
        format!("it has no such signature; known are {}", known.join("; "))
    });
    vec![(None, found.and_then(of))]
}

/// The place of the signature that it was compiled for. One that had to be put right takes that of the
/// first guess.
fn place(subject: &Subject, signature: &Signature) -> usize {
    let asked = subject.chosen.as_ref().unwrap_or(signature);
    let at = subject.choices.iter().position(|one| one == asked);
    let guessed = || {
        let mut choices = subject.choices.iter();
        choices.position(|one| one.origin > Origin::Recorded)
    };
    at.or_else(guessed).map_or(0, |at| at + 1)
}

/// Both tiers, one after the other, or the first alone. `None` if it was cancelled.
pub(super) fn compile(
    toolchain: &Toolchain,
    subject: &Subject,
    arch: Arch,
    depth: Depth,
    cancel: &CancelToken,
) -> Option<Kept> {
    let began = Instant::now();
    let verdict = frontend::accept(&toolchain.worker, subject, arch, cancel)?;
    let (signature, outcome) = match verdict {
        Verdict::Accepted(signature, compiled) if depth == Depth::Frontend => {
            (signature, KeptOutcome::Accepted(compiled.bytecode.into()))
        }
        Verdict::Accepted(signature, compiled) => {
            let answer = (toolchain.backend).compile(&compiled.bytecode, arch, cancel);
            (signature, KeptOutcome::of_backend(subject, answer, began)?)
        }
        Verdict::Refused(signature, problem) => {
            (signature, KeptOutcome::of_problem(subject, &problem))
        }
        Verdict::Failed(signature, why) => {
            (signature, KeptOutcome::Failed(Failure::new(why, began)))
        }
    };
    Some(Kept {
        arch,
        signature,
        outcome,
    })
}
