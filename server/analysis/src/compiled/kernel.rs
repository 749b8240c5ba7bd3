//! A kernel of the present text with what is known of its compiled code.

use tileperf_syntax::Span;

use super::{Access, CompiledFacts, Kind, Machine, Outcome, Placed, Trial};
use crate::arch::Arch;
use crate::model::Kernel;
use crate::rewrite::TextEdit;
use crate::rules::Lowering;

/// A kernel and every compile of it.
#[derive(Debug, Clone, Copy)]
pub struct CompiledKernel<'a> {
    /// The kernel in the present text.
    pub kernel: &'a Kernel,
    /// What it was compiled to: of one signature and architecture once, in the order in which they
    /// are to be shown, the main architecture first.
    pub facts: &'a [CompiledFacts],
    /// What it is with parts of it written otherwise.
    pub trials: &'a [Trial],
}

impl<'a> CompiledKernel<'a> {
    /// Whether all that was compiled was the present text.
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        !self.kernel.stale && !self.facts.is_empty() && self.facts.iter().all(|f| !f.stale)
    }

    /// Whether something of the present text was compiled.
    #[must_use]
    pub fn has_fresh(&self) -> bool {
        !self.kernel.stale && self.facts.iter().any(|f| !f.stale)
    }

    /// The compiles for one architecture.
    pub fn on(&self, arch: Arch) -> impl Iterator<Item = &'a CompiledFacts> + use<'a> {
        self.facts.iter().filter(move |f| f.arch == arch)
    }

    /// What is known of its present text with these edits on an architecture. `None` as long as nobody
    /// has tried.
    #[must_use]
    pub fn trial(&self, edits: &[TextEdit], arch: Arch) -> Option<&'a Trial> {
        let mut trials = self.trials.iter();
        trials.find(|trial| !trial.stale && trial.arch == arch && trial.edits == edits)
    }

    /// Whether machine code of the present text waits to be held against that of these edits, on some
    /// of these architectures; on none in particular, on any.
    #[must_use]
    pub fn awaits(&self, edits: &[TextEdit], on: &[Arch]) -> bool {
        !self.kernel.stale
            && self.facts.iter().any(|facts| {
                !facts.stale
                    && facts.machine().is_some()
                    && (on.is_empty() || on.contains(&facts.arch))
                    && self.trial(edits, facts.arch).is_none()
            })
    }

    /// The architectures compiled for, in the order of the facts, none twice.
    #[must_use]
    pub fn archs(&self) -> Vec<Arch> {
        let mut archs = Vec::new();
        for facts in self.facts {
            if !archs.contains(&facts.arch) {
                archs.push(facts.arch);
            }
        }
        archs
    }
}

impl CompiledFacts {
    /// The machine code, if there is any.
    #[must_use]
    pub fn machine(&self) -> Option<&Machine> {
        match &self.outcome {
            Outcome::Machine(machine) => Some(machine),
            _ => None,
        }
    }

    /// The remarks with their places; nothing where the compiler says nothing.
    #[must_use]
    pub fn remarks(&self) -> Option<&[Placed]> {
        self.machine()?.remarks.as_deref()
    }
}

impl Placed {
    /// Whether it speaks of the call at a place: the same place, or one that begins there, as an
    /// operation and the method called on its result do.
    #[must_use]
    pub fn is_of(&self, call: Span) -> bool {
        self.span.is_some_and(|span| span.start == call.start)
    }

    /// How what it speaks of is made, if that is one of two ways: whether it is the slow one.
    #[must_use]
    pub fn is_made(&self, lowering: Lowering) -> Option<bool> {
        match (lowering, &self.remark.kind) {
            (Lowering::NoTma, Kind::Tma { .. }) | (Lowering::Fma, Kind::TensorCore { .. }) => {
                Some(false)
            }
            (Lowering::NoTma, Kind::Plain { .. }) | (Lowering::Fma, Kind::Fma { .. }) => Some(true),
            _ => None,
        }
    }

    /// The compiler's reasons, if it gives any.
    #[must_use]
    pub fn reasons(&self) -> &[String] {
        match &self.remark.kind {
            Kind::Plain { reasons, .. } | Kind::Fma { reasons } => reasons,
            _ => &[],
        }
    }
}

impl Access {
    /// cuTile's word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Access::Load => "load",
            Access::Store => "store",
        }
    }
}
