//! Kernels that do not compile.

use super::compiled::ByPlace;
use crate::compiled::{Called, Outcome, Refusal, head};
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
        places.add(head(at.text, place), name, facts, words(refusal));
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
    let mut message = refusal
        .message
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
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
    let file = link
        .site
        .file
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or_default();
    let place = format!("{file}:{}", link.site.line);
    match &link.function {
        Some(function) => format!("`{function}`, {place}"),
        None => place,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiled::Site;
    use crate::rules::testing::{bad, good, whole};

    fn kernel(head: &str, line: &str) -> String {
        format!("@ct.kernel\ndef k(x, y):{head}\n    {line}\n    ct.store(y, (0,), t)\n")
    }

    #[test]
    fn at_the_place_or_at_the_kernel() {
        let add = "t = ct.load(x, (0,), (64,)) + 1";
        bad(
            &RULE,
            &kernel("", &format!("{add}  # sm_90: refused: no  # TP501")),
        );
        bad(&RULE, &kernel("  # sm_90: refused: no  # TP501", add));
        for outcome in ["accepted", "failed: killed", "TMA 64"] {
            good(&RULE, &kernel("", &format!("{add}  # sm_90: {outcome}")));
        }
        // A line that was edited may be right now.
        good(&RULE, &kernel("  # sm_90: refused: no  # stale", add));
        let head = "  # stale";
        bad(
            &RULE,
            &kernel(head, &format!("{add}  # sm_90: refused: no  # TP501")),
        );
    }

    #[test]
    fn one_for_all_architectures() {
        let line =
            |notes: &str| kernel("", &format!("t = ct.load(x, (0,), (64,)){notes}  # TP501"));
        for (notes, message, archs) in [
            (
                "  # sm_90: refused: no.",
                "`k` does not compile on sm_90: no",
                1,
            ),
            (
                "  # sm_80 sm_90: refused: no",
                "`k` does not compile on sm_80 and sm_90: no",
                2,
            ),
            (
                "  # sm_80: refused: a # sm_90: refused: b",
                "`k` does not compile on sm_80: a; on sm_90: b",
                2,
            ),
            (
                "  # sm_80 sm_86 sm_89 sm_90 sm_100 sm_103 sm_120 sm_121: refused: no",
                "`k` does not compile: no",
                0,
            ),
        ] {
            let (_, found) = bad(&RULE, &line(notes));
            let found: Vec<_> = found
                .iter()
                .map(|f| (f.message.as_str(), f.archs.len()))
                .collect();
            assert_eq!(found, [(message, archs)], "{notes}");
        }
    }

    #[test]
    fn a_guess_can_be_at_fault() {
        let (_, found) = bad(
            &RULE,
            &kernel(
                "  # signature: guess",
                "t = x + y  # sm_90: refused: no  # TP501",
            ),
        );
        assert_eq!(found[0].severity, Severity::Warning);
        assert_eq!(
            found[0].message,
            "`k` does not compile on sm_90: no (signature guessed)"
        );
    }

    #[test]
    fn it_can_be_silenced() {
        let line = "t = x + y  # sm_90: refused: no  # tileperf: ignore[compile-error]";
        let text = kernel("", line);
        good(&RULE, &text);
        assert!(whole(&text).contains("refused"));
    }

    #[test]
    fn the_way_is_told() {
        let called = |file: &str, line, function: Option<&str>| Called {
            site: Site {
                file: file.to_owned(),
                line,
                column: 4,
            },
            function: function.map(str::to_owned),
        };
        let refusal = Refusal {
            message: "Shapes are\n not broadcastable.".to_owned(),
            span: None,
            chain: vec![
                called("/w/ops/helpers.py", 12, Some("twice")),
                called("C:\\k.py", 3, None),
            ],
        };
        assert_eq!(
            words(&refusal),
            "Shapes are not broadcastable (in `twice`, helpers.py:12, called from k.py:3)"
        );
    }
}
