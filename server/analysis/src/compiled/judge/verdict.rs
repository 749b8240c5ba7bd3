//! What compiles of a kernel say of one claim.

use tileperf_syntax::Span;

use super::place::{is_straight, same_place};
use crate::arch::Arch;
use crate::compiled::{CompiledFacts, CompiledKernel, Outcome};
use crate::model::AccessKind;
use crate::rewrite::TextEdit;
use crate::rules::{Claim, Lowering};
use crate::signature::Origin;
use tileperf_syntax::ParsedFile;

/// What is known of a claim.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Verdict {
    /// Nothing.
    #[default]
    Unknown,
    /// It holds.
    Confirmed {
        /// Where compiled code shows it.
        on: Vec<Arch>,
        /// Where compiled code shows the contrary.
        not_on: Vec<Arch>,
        /// No better signature than a guess shows it.
        guessed: bool,
    },
    /// It holds on no architecture that was compiled for.
    Refuted,
}

/// What one compile says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    Yes,
    No,
    Nothing,
}

/// A finding's place and what the compiles are asked.
pub(super) struct Question<'a> {
    pub(super) file: &'a ParsedFile,
    pub(super) text: &'a str,
    pub(super) span: Span,
    /// The architectures that the finding is about.
    pub(super) archs: &'a [Arch],
    /// The finding stands in the kernel itself, not in a function that it may call.
    pub(super) own: bool,
}

impl Question<'_> {
    /// What the compiles of kernels say of a claim.
    pub(super) fn verdict(&self, claim: &Claim, kernels: &[CompiledKernel<'_>]) -> Verdict {
        let (mut on, mut not_on, mut open) = (Vec::new(), Vec::new(), false);
        let mut origins = Vec::new();
        for arch in self.archs.iter().copied() {
            if let Some((_, on)) = claim.edits()
                && !on.is_empty()
                && !on.contains(&arch)
            {
                // The rest of the finding stands.
                open = true;
                continue;
            }
            // What no architecture without the accelerator can do says nothing of the code.
            if is_about_tma(claim) && !arch.has_tma() {
                continue;
            }
            let mut all = Vec::new();
            for kernel in kernels {
                for facts in kernel.on(arch) {
                    let says = self.says(claim, kernel, facts);
                    if says == Says::Yes {
                        origins.push(facts.signature.origin);
                    }
                    all.push(says);
                }
            }
            if all.contains(&Says::Yes) {
                on.push(arch);
            } else if !all.is_empty() && all.iter().all(|says| *says == Says::No) {
                not_on.push(arch);
            } else {
                open |= !all.is_empty();
            }
        }
        if !on.is_empty() {
            let guessed = origins.iter().all(|origin| origin.is_guess());
            Verdict::Confirmed {
                on,
                not_on,
                guessed,
            }
        } else if !not_on.is_empty() && !open {
            Verdict::Refuted
        } else {
            Verdict::Unknown
        }
    }

    fn says(&self, claim: &Claim, kernel: &CompiledKernel<'_>, facts: &CompiledFacts) -> Says {
        if facts.stale || kernel.kernel.stale {
            return Says::Nothing;
        }
        match claim {
            Claim::AccessIs { call, lowering, .. } => self.access(*call, *lowering, kernel, facts),
            Claim::Errors => self.error(kernel, facts),
            Claim::Inert { edits, .. } => trial(edits, true, kernel, facts),
            Claim::Matters(edits) => trial(edits, false, kernel, facts),
        }
    }

    /// One of several operations at the place is enough: a helper's line is one of each caller.
    ///
    /// How an access is made rests on dtype, alignment and constants. What was only assumed of them
    /// can show that it happens, not that it never does: of these, only names in the user's cache and
    /// recorded launches are facts. (Where constants are those of a launch, dtypes still are not.)
    fn access(
        &self,
        call: Span,
        lowering: Lowering,
        kernel: &CompiledKernel<'_>,
        facts: &CompiledFacts,
    ) -> Says {
        let Some(remarks) = facts.remarks() else {
            return Says::Nothing;
        };
        let here = remarks.iter().filter(|placed| placed.is_of(call));
        let made: Vec<bool> = here.filter_map(|placed| placed.is_made(lowering)).collect();
        if made.contains(&true) {
            return Says::Yes;
        }
        if made.is_empty() {
            // Of these nothing is ever said, because there is nothing to choose.
            let silent = (kernel.kernel.accesses.iter()).any(|access| {
                access.span == call
                    && matches!(access.kind, AccessKind::Gather | AccessKind::Scatter)
            });
            return match silent && lowering == Lowering::NoTma {
                true => Says::Yes,
                false => Says::Nothing,
            };
        }
        match facts.signature.origin {
            Origin::CacheDb | Origin::Recorded => Says::No,
            Origin::Literals | Origin::Tests | Origin::Guess => Says::Nothing,
        }
    }

    /// Only the first error is reported, so one elsewhere says nothing. Code that compiles refutes
    /// what stands in the kernel; with guessed constants only what no condition can keep from being
    /// compiled.
    fn error(&self, kernel: &CompiledKernel<'_>, facts: &CompiledFacts) -> Says {
        match &facts.outcome {
            Outcome::Refused(refusal) => match refusal.span {
                Some(at) if same_place(self.file, self.text, at, self.span) => Says::Yes,
                _ => Says::Nothing,
            },
            Outcome::Accepted | Outcome::Machine(_) if self.own => {
                let surely = !facts.signature.origin.is_guess()
                    || is_straight(self.file, kernel.kernel.span, self.span);
                match surely {
                    true => Says::No,
                    false => Says::Nothing,
                }
            }
            _ => Says::Nothing,
        }
    }
}

/// What two compiles say, with and without something: `wanted` says whether the claim is that they are
/// the same. Constants that nobody passes can make another program of it, so a guess shows only that
/// the claim can hold.
fn trial(
    edits: &[TextEdit],
    wanted: bool,
    kernel: &CompiledKernel<'_>,
    facts: &CompiledFacts,
) -> Says {
    let trial = kernel.trial(edits, facts.arch);
    match trial.and_then(|trial| Some((trial.same?, trial.origin))) {
        Some((same, _)) if same == wanted => Says::Yes,
        Some((_, origin)) if !origin.is_guess() => Says::No,
        _ => Says::Nothing,
    }
}

fn is_about_tma(claim: &Claim) -> bool {
    matches!(
        claim,
        Claim::AccessIs {
            lowering: Lowering::NoTma,
            ..
        }
    )
}
