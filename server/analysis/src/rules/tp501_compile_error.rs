//! Kernels that do not compile.

use tileperf_syntax::Span;

use super::compiled::ByPlace;
use crate::compiled::{Called, Outcome, Refusal};
use crate::rules::rule::rule;
use crate::rules::{Claim, CompiledContext, Findings, Severity};

rule! {
    /// The kernel does not compile; the message is cuTile's.
    ///
    /// The finding stands where the compiler points: in a function of another file, at the call that
    /// leads there, with the way in the message. cuTile reports the first error only, so there can be
    /// more behind it. A kernel is compiled for what its launches pass; where nobody knows that, for a
    /// guess, and then the guess can be at fault: such a finding is a warning and says so.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def add(x, y):
    ///     tile = ct.load(x, (0,), (64,)) + ct.load(y, (0,), (32,))  # sm_90: refused: Shapes are not broadcastable: (64,), (32,)  # TP501
    ///     ct.store(y, (0,), tile)
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def add(x, y):
    ///     tile = ct.load(x, (0,), (64,)) + ct.load(y, (0,), (64,))  # sm_90: TMA 64
    ///     ct.store(y, (0,), tile)
    /// ```
    TP501 "compile-error" Error,
    Compiled(check)
}

fn check(at: &CompiledContext<'_>, out: &mut Findings<'_>) {
    let mut places: ByPlace<String> = ByPlace::new();
    for (known, facts) in at.compiles() {
        let Outcome::Refused(refusal) = &facts.outcome else {
            continue;
        };
        let place = match refusal.span {
            Some(span) => span,
            // The line that was at fault was edited: perhaps it is right now.
            None if facts.stale => continue,
            None => known.kernel.name_span,
        };
        let name = known.kernel.name.to_string();
        places.add(shortened(at.text, place), name, facts, words(refusal));
    }
    for (kernel, shown) in places.all() {
        let message = format!("`{kernel}` does not compile{}", shown.said(at));
        let found = out.push(shown.span, message).archs(shown.archs(at));
        let found = found.claim(Claim::Errors);
        if shown.guessed {
            found.severity(Severity::Warning);
        }
    }
}

/// The compiler's words, and the way to where it is.
fn words(refusal: &Refusal) -> String {
    let mut message = refusal.message.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(stripped) = message.strip_suffix('.') {
        message.truncate(stripped.len());
    }
    let way: Vec<String> = refusal.chain.iter().map(called).collect();
    match way.is_empty() {
        true => message,
        false => format!("{message} (in {})", way.join(", called from ")),
    }
}

fn called(link: &Called) -> String {
    let file = link.site.file.rsplit(['/', '\\']).next().unwrap_or_default();
    let place = format!("{file}:{}", link.site.line);
    match &link.function {
        Some(function) => format!("`{function}`, {place}"),
        None => place,
    }
}

/// Only the first line of what stretches over several: a loop, a function.
fn shortened(text: &str, span: Span) -> Span {
    let written = text.get(span.range()).unwrap_or("");
    let first = written.lines().next().unwrap_or("").trim_end();
    Span {
        start: span.start,
        end: span.start + first.len() as u32,
    }
}
