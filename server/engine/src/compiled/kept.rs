//! What compiles have shown, kept so that it can be told in any later text.

use std::sync::Arc;
use std::time::Instant;

use tileperf_analysis::arch::Arch;
use tileperf_analysis::compiled::{
    Called, CompiledFacts, Machine, Outcome, Placed, Refusal, Remark, Resources, Site,
};
use tileperf_analysis::model::Fingerprint;
use tileperf_analysis::signature::Signature;
use tileperf_compiler::backend;
use tileperf_compiler::tileiras;
use tileperf_compiler::worker::{Problem, ProblemKind};
use tileperf_syntax::{ParsedFile, Text};

use super::anchor::Anchor;
use super::failure::Failure;
use super::places::{Places, site};
use super::subject::Subject;
use super::tried::Tried;
use crate::DocId;

/// What is known of a kernel.
#[derive(Debug, Clone)]
pub(super) struct Known {
    /// Of all that was compiled.
    pub(super) slice: Fingerprint,
    /// What it is compiled for first.
    pub(super) asked: Option<Signature>,
    /// The signatures that are known of it, best first.
    pub(super) choices: Arc<[Signature]>,
    /// The files that it is compiled from.
    pub(super) files: Vec<DocId>,
    /// Of what the kernel's own file has of it.
    pub(super) model: Fingerprint,
    /// One an architecture, the main one first.
    pub(super) results: Vec<Kept>,
    /// The last machine code of an earlier text, one an architecture, until there is that of the
    /// present one.
    pub(super) before: Vec<Kept>,
    /// What it is with parts of it written otherwise.
    pub(super) tried: Vec<Tried>,
    /// Of which state of the workspace the results are.
    pub(super) serial: u64,
}

impl Known {
    /// Nothing, of a kernel's present text.
    pub(super) fn nothing(subject: &Subject) -> Self {
        Self {
            slice: subject.slice.fingerprint,
            asked: subject.asked().cloned(),
            choices: Arc::clone(&subject.choices),
            files: subject.sources.iter().map(|s| s.doc.clone()).collect(),
            model: subject.model,
            results: Vec::new(),
            before: Vec::new(),
            tried: Vec::new(),
            serial: subject.serial,
        }
    }

    /// Whether its results are of this text, compiled for this signature.
    pub(super) fn is_of(&self, subject: &Subject) -> bool {
        self.slice == subject.slice.fingerprint && self.asked.as_ref() == subject.asked()
    }

    /// Adds a result, unless there are some of a later text. `order` has the architectures. Those of
    /// an earlier text, or of another signature, are no longer the kernel's.
    pub(super) fn add(&mut self, subject: &Subject, kept: Kept, order: &[Arch]) {
        if subject.serial < self.serial && !self.is_of(subject) {
            return;
        }
        if !self.is_of(subject) {
            for old in self.results.drain(..) {
                if matches!(old.outcome, KeptOutcome::Machine { .. }) {
                    self.before.retain(|known| known.arch != old.arch);
                    self.before.push(old);
                }
            }
            self.outdate_trials();
            self.slice = subject.slice.fingerprint;
            self.asked = subject.asked().cloned();
        }
        self.choices = Arc::clone(&subject.choices);
        self.files = subject.sources.iter().map(|s| s.doc.clone()).collect();
        self.serial = self.serial.max(subject.serial);
        self.model = subject.model;
        if matches!(kept.outcome, KeptOutcome::Machine { .. }) {
            self.before.retain(|known| known.arch != kept.arch);
        }
        self.results.retain(|known| known.arch != kept.arch);
        self.results.push(kept);
        let at = |arch: Arch| order.iter().position(|a| *a == arch);
        self.results.sort_by_key(|kept| at(kept.arch));
    }

    /// What is shown: while machine code is being made, that of the text before, as stale.
    pub(super) fn now(&self, text: &Text, parsed: &ParsedFile, edited: bool) -> Vec<CompiledFacts> {
        let shown = self.results.iter().map(|kept| {
            let waits = matches!(kept.outcome, KeptOutcome::Accepted(_));
            let old = self
                .before
                .iter()
                .find(|old| waits && old.arch == kept.arch);
            match old {
                Some(old) => old.now(text, parsed, true),
                None => kept.now(text, parsed, edited),
            }
        });
        shown.collect()
    }
}

/// What became of a kernel on an architecture.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    pub(super) arch: Arch,
    pub(super) signature: Signature,
    pub(super) outcome: KeptOutcome,
}

#[derive(Debug, Clone)]
pub(super) enum KeptOutcome {
    /// With the bytecode, for when machine code is asked for.
    Accepted(Arc<[u8]>),
    Machine {
        resources: Resources,
        code_hash: String,
        remarks: Option<Vec<(Option<Anchor>, Remark)>>,
        /// Where remarks stand that are about other files of the slice, by their number in `remarks`.
        elsewhere: Vec<(usize, Anchor)>,
        seconds: f64,
    },
    Refused {
        message: String,
        at: Option<Anchor>,
        chain: Vec<Called>,
    },
    Failed(Failure),
}

impl KeptOutcome {
    /// The backend's answer.
    pub(super) fn of_backend(
        subject: &Subject,
        answer: Result<backend::Outcome, tileiras::Error>,
        began: Instant,
    ) -> Option<Self> {
        let failed = |why: String| Self::Failed(Failure::new(why, began));
        let outcome = match answer {
            Ok(outcome) => outcome,
            Err(tileiras::Error::Cancelled) => return None,
            Err(tileiras::Error::Refused { message, place }) => {
                let at = place.and_then(|site| Places::new(subject).anchor(&site));
                return Some(Self::Refused {
                    message: format!("tileiras: {message}"),
                    at,
                    chain: Vec::new(),
                });
            }
            Err(error) => return Some(failed(error.to_string())),
        };
        let Some(kernel) = outcome.cubin.kernels.into_iter().next() else {
            return Some(failed("the compiled file has no kernel".to_owned()));
        };
        let mut places = Places::new(subject);
        let mut elsewhere = Vec::new();
        let remarks = outcome.remarks.map(|remarks| {
            let anchored = remarks.all.into_iter().enumerate().map(|(number, remark)| {
                let site = remark.site.as_ref();
                let at = site.and_then(|site| places.anchor(site));
                if at.is_none() {
                    let there = site.and_then(|site| Places::elsewhere(subject, site));
                    elsewhere.extend(there.map(|at| (number, at)));
                }
                (at, remark)
            });
            anchored.collect()
        });
        Some(Self::Machine {
            resources: kernel.resources,
            code_hash: kernel.code_hash,
            remarks,
            elsewhere,
            seconds: outcome.seconds,
        })
    }

    /// The frontend's complaint.
    pub(super) fn of_problem(subject: &Subject, problem: &Problem) -> Self {
        let calls = std::iter::once(&problem.place).chain(&problem.chain);
        let sites: Vec<(Site, Option<String>)> = calls
            .filter_map(|place| Some((site(place)?, place.function.clone())))
            .collect();
        let mut places = Places::new(subject);
        let at = sites.iter().find_map(|(site, _)| places.anchor(site));
        let elsewhere = sites.len() > 1
            || (sites.first()).is_some_and(|(site, _)| subject.source(&site.file).is_none());
        let called = |(site, function)| Called { site, function };
        let message = match (problem.kind, &problem.class) {
            (ProblemKind::Load, Some(class)) => format!("{class}: {}", problem.message),
            _ => problem.message.clone(),
        };
        Self::Refused {
            message,
            at,
            chain: if elsewhere {
                sites.into_iter().map(called).collect()
            } else {
                Vec::new()
            },
        }
    }
}

impl Kept {
    /// What is said of another file, at the places of its present text; `None` if nothing is. It is
    /// stale if a statement there that it speaks of was edited.
    pub(super) fn in_helpers(
        &self,
        doc: &DocId,
        text: &Text,
        parsed: &ParsedFile,
        stale: bool,
    ) -> Option<CompiledFacts> {
        let KeptOutcome::Machine {
            resources,
            code_hash,
            remarks: Some(remarks),
            elsewhere,
            seconds,
        } = &self.outcome
        else {
            return None;
        };
        let mut edited = false;
        let mut placed = Vec::new();
        for (number, at) in elsewhere {
            let Some((_, remark)) = remarks.get(*number) else {
                continue;
            };
            if remark
                .site
                .as_ref()
                .is_none_or(|site| site.file != doc.as_str())
            {
                continue;
            }
            edited |= !at.is_unchanged(text, parsed);
            placed.push(Placed {
                span: at.operation(text, parsed, &remark.kind),
                remark: remark.clone(),
            });
        }
        (!placed.is_empty()).then(|| CompiledFacts {
            arch: self.arch,
            signature: self.signature.clone(),
            outcome: Outcome::Machine(Machine {
                resources: *resources,
                code_hash: code_hash.clone(),
                remarks: Some(placed),
                seconds: *seconds,
            }),
            stale: stale || edited,
        })
    }

    /// The same at the places of the present text.
    pub(super) fn now(&self, text: &Text, parsed: &ParsedFile, stale: bool) -> CompiledFacts {
        let outcome = match &self.outcome {
            KeptOutcome::Accepted(_) => Outcome::Accepted,
            KeptOutcome::Failed(failure) => Outcome::Failed(failure.why.clone()),
            KeptOutcome::Refused { message, at, chain } => Outcome::Refused(Refusal {
                message: message.clone(),
                span: at.as_ref().and_then(|at| at.expression(text, parsed)),
                chain: chain.clone(),
            }),
            KeptOutcome::Machine {
                resources,
                code_hash,
                remarks,
                seconds,
                ..
            } => Outcome::Machine(Machine {
                resources: *resources,
                code_hash: code_hash.clone(),
                remarks: remarks.as_ref().map(|remarks| {
                    let placed = remarks.iter().map(|(at, remark)| Placed {
                        span: (at.as_ref()).and_then(|at| at.operation(text, parsed, &remark.kind)),
                        remark: remark.clone(),
                    });
                    placed.collect()
                }),
                seconds: *seconds,
            }),
        };
        CompiledFacts {
            arch: self.arch,
            signature: self.signature.clone(),
            outcome,
            stale,
        }
    }
}
