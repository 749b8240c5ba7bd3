//! What trials have shown, kept so that it can be told in any later text of a kernel.

use tileperf_analysis::arch::Arch;
use tileperf_analysis::compiled::{CompiledFacts, Trial};
use tileperf_analysis::model::Kernel;
use tileperf_analysis::rewrite::TextEdit;
use tileperf_analysis::signature::Origin;
use tileperf_syntax::Span;

use super::kept::Known;

/// Trials kept of a kernel, those of earlier texts included.
const MOST: usize = 48;

/// A trial as it is kept: its edits are relative to the kernel's first decorator.
#[derive(Debug, Clone)]
pub(super) struct Tried {
    /// What is replaced, and what it was.
    edits: Vec<(TextEdit, String)>,
    arch: Arch,
    origin: Origin,
    /// Whether both are the same program; `None` if that cannot be told.
    pub(super) same: Option<bool>,
    stale: bool,
}

impl Tried {
    /// A trial of a kernel in the present text, of which nothing is known as yet; `None` if it does not lie within it.
    pub(super) fn new(
        kernel: &Kernel,
        text: &str,
        edits: &[TextEdit],
        before: &CompiledFacts,
    ) -> Option<Self> {
        let base = -i64::from(whole(kernel).start);
        let each = edits.iter().map(|edit| {
            let was = text.get(edit.span.range())?.to_owned();
            let edit = TextEdit {
                span: edit.span.moved(base),
                text: edit.text.clone(),
            };
            Some((edit, was))
        });
        Some(Self {
            edits: each.collect::<Option<_>>()?,
            arch: before.arch,
            origin: before.signature.origin,
            same: None,
            stale: false,
        })
    }

    /// The same at the places of a text; `None` if something else stands there by now.
    fn now(&self, kernel: &Kernel, text: &str, stale: bool) -> Option<Trial> {
        let whole = whole(kernel);
        let each = self.edits.iter().map(|(edit, was)| {
            let span = edit.span.moved(i64::from(whole.start));
            let stands = whole.contains(span) && text.get(span.range()) == Some(was);
            stands.then(|| TextEdit {
                span,
                text: edit.text.clone(),
            })
        });
        Some(Trial {
            edits: each.collect::<Option<_>>()?,
            arch: self.arch,
            origin: self.origin,
            same: self.same,
            stale: stale || self.stale,
        })
    }
}

impl Known {
    /// Its trials, at the places of a text.
    pub(super) fn trials(&self, kernel: &Kernel, text: &str, stale: bool) -> Vec<Trial> {
        let all = self.tried.iter();
        all.filter_map(|tried| tried.now(kernel, text, stale))
            .collect()
    }

    /// What was tried is of an earlier text.
    pub(super) fn outdate_trials(&mut self) {
        for tried in &mut self.tried {
            tried.stale = true;
        }
    }

    pub(super) fn keep_trial(&mut self, tried: Tried) {
        (self.tried).retain(|old| old.arch != tried.arch || old.edits != tried.edits);
        self.tried.push(tried);
        let more = self.tried.len().saturating_sub(MOST);
        self.tried.drain(..more);
    }
}

/// A kernel with its decorators, to the end of its last line.
pub(super) fn whole(kernel: &Kernel) -> Span {
    let start = kernel.top.start.min(kernel.span.start);
    // A statement that is moved goes with its line end.
    Span {
        start,
        end: kernel.span.end + 2,
    }
}
