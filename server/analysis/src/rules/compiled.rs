//! Asking the rules about compiled code.

use std::sync::Arc;

use tileperf_syntax::{ParsedFile, Span};

use super::{Check, Finding, Findings, RULES, listed, suppress};
use crate::arch::Arch;
use crate::compiled::{CompiledFacts, CompiledKernel, Machine, Placed};
use crate::model::FileModel;
use crate::target::Target;

/// A file whose kernels were compiled.
#[derive(Clone, Copy)]
pub struct CompiledContext<'a> {
    /// What it parses to.
    pub file: &'a ParsedFile,
    /// Its text.
    pub text: &'a str,
    /// What it means.
    pub model: &'a FileModel,
    /// What is judged for.
    pub target: &'a Target,
    /// Its kernels and their compiles.
    pub kernels: &'a [CompiledKernel<'a>],
}

/// Asks the rules about what kernels were compiled to. Of a kernel that was edited since, what was
/// found stays where its lines still stand; its text's own rules speak of the edit meanwhile.
///
/// The findings are to be handed to [`judge`](crate::compiled::judge) with those of the text, so that
/// nothing is said twice.
pub fn compiled(context: &CompiledContext<'_>) -> Vec<Arc<Finding>> {
    let mut findings = Vec::new();
    for rule in RULES.iter().filter(|r| r.holds_for(context.target)) {
        for check in rule.checks {
            if let Check::Compiled(check) = check {
                let out = &mut findings;
                check(context, &mut Findings { rule, out });
            }
        }
    }
    suppress::apply(context.text, findings.into_iter().map(Arc::new).collect())
}

impl<'a> CompiledContext<'a> {
    /// Every compile.
    pub(super) fn compiles(
        &self,
    ) -> impl Iterator<Item = (&'a CompiledKernel<'a>, &'a CompiledFacts)> + use<'a> {
        let kernels = self.kernels.iter();
        kernels.flat_map(|known| known.facts.iter().map(move |facts| (known, facts)))
    }

    /// Every compile that gave machine code.
    pub(super) fn machines(
        &self,
    ) -> impl Iterator<Item = (&'a CompiledKernel<'a>, &'a CompiledFacts, &'a Machine)> + use<'a>
    {
        self.compiles()
            .filter_map(|(known, facts)| Some((known, facts, facts.machine()?)))
    }

    /// Every remark that has a place in the file.
    pub(super) fn remarks(
        &self,
    ) -> impl Iterator<Item = (&'a CompiledKernel<'a>, &'a CompiledFacts, &'a Placed)> + use<'a>
    {
        self.compiles().flat_map(|(known, facts)| {
            let remarks = facts.remarks().unwrap_or_default();
            remarks.iter().map(move |placed| (known, facts, placed))
        })
    }
}

/// What several compiles show of one place.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) span: Span,
    /// What, and on which architectures.
    pub(super) what: Vec<(String, Vec<Arch>)>,
    /// No better signature than a guess shows it.
    pub(super) guessed: bool,
}

/// Collects what compiles show, by place and subject: one finding for all architectures.
#[derive(Debug, Default)]
pub(super) struct ByPlace<S> {
    shown: Vec<(S, Shown)>,
}

impl<S: PartialEq> ByPlace<S> {
    pub(super) fn new() -> ByPlace<S> {
        ByPlace { shown: Vec::new() }
    }

    /// One compile shows something.
    pub(super) fn add(&mut self, span: Span, subject: S, facts: &CompiledFacts, what: String) {
        let guessed = facts.signature.origin.is_guess();
        let same = (self.shown.iter_mut()).find(|(of, shown)| shown.span == span && *of == subject);
        let Some((_, shown)) = same else {
            let what = vec![(what, vec![facts.arch])];
            self.shown.push((
                subject,
                Shown {
                    span,
                    what,
                    guessed,
                },
            ));
            return;
        };
        shown.guessed &= guessed;
        match shown.what.iter_mut().find(|(words, _)| *words == what) {
            Some((_, archs)) if archs.contains(&facts.arch) => {}
            Some((_, archs)) => archs.push(facts.arch),
            None => shown.what.push((what, vec![facts.arch])),
        }
    }

    /// All of it, in the order in which it was shown first.
    pub(super) fn all(self) -> impl Iterator<Item = (S, Shown)> {
        self.shown.into_iter()
    }
}

impl Shown {
    /// The architectures, in ascending order; none if it is all that are judged for.
    pub(super) fn archs(&self, at: &CompiledContext<'_>) -> Vec<Arch> {
        let mut archs: Vec<Arch> = self.what.iter().flat_map(|(_, on)| on.clone()).collect();
        archs.sort_unstable();
        archs.dedup();
        match is_all(&archs, at) {
            true => Vec::new(),
            false => archs,
        }
    }

    /// ` on sm_90 and sm_100: the same`, ` on sm_90: one; on sm_100: other`, `: the same everywhere`.
    /// What is the same and needs no more words: ` on sm_90`.
    pub(super) fn said(&self, at: &CompiledContext<'_>) -> String {
        let one = |(what, archs): &(String, Vec<Arch>)| {
            let on = match is_all(archs, at) {
                true => String::new(),
                false => format!(" on {}", listed(archs)),
            };
            match what.as_str() {
                "" => on,
                what => format!("{on}: {what}"),
            }
        };
        let parts: Vec<String> = self.what.iter().map(one).collect();
        let assumed = match self.guessed {
            true => " (signature guessed)",
            false => "",
        };
        format!("{}{assumed}", parts.join(";"))
    }
}

/// Whether these are all that are judged for, and more than one.
fn is_all(archs: &[Arch], at: &CompiledContext<'_>) -> bool {
    let all = &at.target.archs;
    all.len() > 1 && all.iter().all(|arch| archs.contains(arch))
}
