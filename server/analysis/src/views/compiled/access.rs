//! What became of each load, store and multiplication.

use tileperf_syntax::Span;

use super::words::{Form, add, by_arch, long, short};
use crate::arch::Arch;
use crate::compiled::{CompiledFacts, CompiledKernel, Placed};
use crate::model::AccessKind;
use crate::views::hints::{ROOM, cut, fits};
use crate::views::measured::plain;

/// A few words behind an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inlay {
    /// The operation, a call mostly; the words stand behind it.
    pub span: Span,
    /// `TMA 64x128`, `plain load: stride not 16-byte aligned`, `sm_80: plain load · sm_90: TMA 1x64`. So
    /// short that no editor cuts it.
    pub label: String,
    /// What it was compiled for and the compiler's words, as Markdown.
    pub tooltip: String,
}

/// What is said of an operation by one compile.
struct Said<'a> {
    facts: &'a CompiledFacts,
    remarks: Vec<&'a Placed>,
    /// The compiler never speaks of such accesses: it has no choice.
    silent: bool,
}

/// The words for all operations of a file's kernels and of functions that they call, in source
/// order. A helper that several kernels call is told for all of them.
pub fn inlays(kernels: &[CompiledKernel<'_>]) -> Vec<Inlay> {
    let mut places: Vec<Span> = Vec::new();
    for known in kernels {
        let facts = known
            .facts
            .iter()
            .filter_map(CompiledFacts::remarks)
            .flatten();
        places.extend(facts.filter_map(|placed| placed.span));
        places.extend(silent(known));
    }
    places.sort_unstable_by_key(|span| (span.start, span.end));
    // An operation and one that begins with it are one place: the longer was only found by another
    // compile.
    places.dedup_by_key(|span| span.start);
    places
        .into_iter()
        .filter_map(|span| inlay(kernels, span))
        .collect()
}

fn inlay(kernels: &[CompiledKernel<'_>], span: Span) -> Option<Inlay> {
    let said = said(kernels, span);
    let stale = match said.iter().any(|one| one.facts.stale) {
        true => " (stale)",
        false => "",
    };
    let mut forms = [Form::Full, Form::Brief, Form::First].into_iter();
    let fitting = forms.find_map(|form| {
        let label = by_arch(&labels(&said, form), &compiled(kernels)) + stale;
        fits(&label).then_some(label)
    });
    let label = match fitting {
        Some(label) => label,
        None => main(&labels(&said, Form::First), stale),
    };
    (!label.is_empty() && label != stale).then(|| Inlay {
        span,
        label,
        tooltip: details(&said),
    })
}

/// What is said on each architecture.
fn labels(said: &[Said<'_>], form: Form) -> Vec<(Arch, String)> {
    let mut labels: Vec<(Arch, String)> = Vec::new();
    for one in said {
        let words = one.short(form);
        let shown = match form {
            Form::Full | Form::Brief => words.len(),
            Form::First => 1,
        };
        for words in words.iter().take(shown) {
            add(&mut labels, one.facts.arch, words);
        }
        if words.len() > shown {
            add(
                &mut labels,
                one.facts.arch,
                &format!("+{}", words.len() - shown),
            );
        }
    }
    labels
}

/// What is said on the main architecture, and on how many others something is.
fn main(labels: &[(Arch, String)], stale: &str) -> String {
    let Some(((arch, words), rest)) = labels.split_first() else {
        return String::new();
    };
    let more = match rest.len() {
        0 => String::new(),
        n => format!(" · +{n} archs"),
    };
    let room = ROOM.saturating_sub(more.chars().count() + stale.chars().count());
    let words = match rest {
        [] => words.clone(),
        _ => format!("{arch}: {words}"),
    };
    format!("{}{more}{stale}", cut(&words, room))
}

/// The architectures for which there are remarks.
fn compiled(kernels: &[CompiledKernel<'_>]) -> Vec<Arch> {
    let facts = kernels.iter().flat_map(|known| known.facts);
    facts
        .filter(|f| f.remarks().is_some())
        .map(|f| f.arch)
        .collect()
}

/// What is known of the operation whose call stands at a place, as a section of a hover. Nothing if
/// no compile speaks of it.
pub fn hover(kernels: &[CompiledKernel<'_>], call: Span) -> Option<String> {
    let said = said(kernels, call);
    (!said.is_empty()).then(|| format!("**Compiled**\n\n{}", details(&said)))
}

fn said<'a>(kernels: &[CompiledKernel<'a>], span: Span) -> Vec<Said<'a>> {
    let mut out = Vec::new();
    for known in kernels {
        let is_silent = silent(known).any(|access| access.start == span.start);
        for facts in known.facts {
            let Some(remarks) = facts.remarks() else {
                continue;
            };
            let remarks: Vec<&Placed> = remarks.iter().filter(|r| r.is_of(span)).collect();
            let silent = is_silent && remarks.is_empty() && facts.arch.has_tma();
            if silent || !remarks.is_empty() {
                out.push(Said {
                    facts,
                    remarks,
                    silent,
                });
            }
        }
    }
    out
}

/// Gathers and scatters: of them the compiler says nothing.
fn silent(known: &CompiledKernel<'_>) -> impl Iterator<Item = Span> {
    let accesses = known.kernel.accesses.iter();
    accesses
        .filter(|a| matches!(a.kind, AccessKind::Gather | AccessKind::Scatter))
        .map(|access| access.span)
}

impl Said<'_> {
    fn short(&self, form: Form) -> Vec<String> {
        let mut words: Vec<String> = self
            .remarks
            .iter()
            .filter_map(|p| short(&p.remark, form))
            .collect();
        words.dedup();
        if self.silent {
            words.push("no TMA".to_owned());
        }
        words
    }
}

/// A line for each compile: what it was for, what became of it, the compiler's words.
fn details(said: &[Said<'_>]) -> String {
    let mut out = String::new();
    for one in said {
        let words = match one.short(Form::Full) {
            words if words.is_empty() => "nothing special".to_owned(),
            words => words.join(" / "),
        };
        let stale = match one.facts.stale {
            true => " (stale: edited since)",
            false => "",
        };
        let signature = &one.facts.signature;
        out.push_str(&format!(
            "- **{}** {}{stale}  \n  for `{}`, {}\n",
            one.facts.arch,
            plain(&words),
            signature.shown(),
            signature.origin_words(),
        ));
        for placed in &one.remarks {
            out.push_str(&format!("  - {}\n", plain(&long(&placed.remark))));
        }
        if one.silent {
            out.push_str("  - element by element: `gather` and `scatter` are never made by TMA\n");
        }
    }
    out
}
