//! What a compile error usually comes from and what to do: the symptom that the compiler's message
//! shows, for the hover over the place where it stands.

use tileperf_analysis::compiled::{CompiledFacts, CompiledKernel, Outcome};
use tileperf_compiler::doctor::symptoms::{self, Symptom};
use tileperf_syntax::Span;

use crate::DocId;
use crate::engine::Shared;

/// The place of an error, and what is known of its kind.
pub(super) struct Explained {
    pub(super) span: Span,
    pub(super) markdown: String,
}

impl Shared {
    /// The compile error at an offset, if its kind is known.
    pub(super) fn compile_error_at(&self, doc: &DocId, offset: usize) -> Option<Explained> {
        let compiled = self.compiled_of(doc)?;
        let kernels = compiled.kernels();
        let errors = kernels.iter().flat_map(errors);
        let here = errors.filter(|(span, _)| is_marked(*span, compiled.text(), offset));
        // That of the main architecture comes first.
        let mut known =
            here.filter_map(|(span, message)| Some((span, symptoms::of_compile(message)?)));
        let (span, symptom) = known.next()?;
        Some(Explained {
            span,
            markdown: words(symptom),
        })
    }
}

/// What kernels were refused or not compiled for, where a finding says it.
fn errors<'k>(known: &CompiledKernel<'k>) -> impl Iterator<Item = (Span, &'k str)> + use<'k> {
    let name = known.kernel.name_span;
    known
        .facts
        .iter()
        .filter_map(move |facts: &CompiledFacts| match &facts.outcome {
            Outcome::Refused(refusal) => match refusal.span {
                None if facts.stale => None,
                span => Some((span.unwrap_or(name), refusal.message.as_str())),
            },
            Outcome::Failed(why) => Some((name, why.as_str())),
            Outcome::Accepted | Outcome::Machine(_) => None,
        })
}

/// Of a loop or a function only the first line is marked.
fn is_marked(span: Span, text: &str, offset: usize) -> bool {
    let before = text.get(span.start as usize..offset);
    span.range().contains(&offset) && before.is_some_and(|before| !before.contains('\n'))
}

fn words(symptom: &Symptom) -> String {
    let Symptom {
        name,
        title,
        cause,
        cure,
        ..
    } = symptom;
    format!("**{title}**\n\n{cause}\n\n**What to do.** {cure}\n\n`tileperf explain {name}`")
}
