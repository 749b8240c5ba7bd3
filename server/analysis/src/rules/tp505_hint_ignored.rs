//! Hints that the compiler refuses.

use super::compiled::ByPlace;
use crate::compiled::{HintState, Kind};
use crate::rules::rule::rule;
use crate::rules::{CompiledContext, Findings};

rule! {
    /// The compiler ignores a hint: its value is out of range, or it does not belong there.
    ///
    /// The code is what it would be without the hint. The finding stands where the compiler points, or
    /// at the kernel. cuda-tile 1.7 refuses most such values itself, which is a compile error; the
    /// compiler's remark (tileiras 13.4) is about what gets past it, in other releases.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def copy(x, y):
    ///     tile = ct.load(x, (0,), (64,), latency=99)  # sm_90: hint out of range: latency  # TP505
    ///     ct.store(y, (0,), tile)
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def copy(x, y):
    ///     tile = ct.load(x, (0,), (64,), latency=2)  # sm_90: hint default: latency
    ///     ct.store(y, (0,), tile)
    /// ```
    TP505 "hint-ignored" Warning,
    Compiled(check)
}

fn check(at: &CompiledContext<'_>, out: &mut Findings<'_>) {
    let mut places: ByPlace<String> = ByPlace::new();
    for (known, facts, placed) in at.remarks() {
        let Kind::Hint { state, hint } = &placed.remark.kind else {
            continue;
        };
        let why = match state {
            HintState::OutOfRange => "its value is out of range",
            HintState::Incorrect => "it is refused",
            HintState::Used | HintState::Default => continue,
        };
        let span = placed.span.unwrap_or(known.kernel.name_span);
        places.add(span, hint.clone(), facts, why.to_owned());
    }
    for (hint, shown) in places.all() {
        let message = format!("the hint `{hint}` is ignored{}", shown.said(at));
        out.push(shown.span, message).archs(shown.archs(at));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    fn kernel(notes: &str) -> String {
        format!(
            "@ct.kernel\ndef k(x):\n    t = ct.load(x, (0,), (8,), latency=11){notes}\n    ct.store(x, (0,), t)\n"
        )
    }

    #[test]
    fn refused_or_out_of_range() {
        for (notes, message) in [
            (
                "# sm_90: hint out of range: latency",
                "the hint `latency` is ignored on sm_90: its value is out of range",
            ),
            (
                "# sm_90 sm_120: hint refused: allow_tma",
                "the hint `allow_tma` is ignored on sm_90 and sm_120: it is refused",
            ),
        ] {
            let (_, found) = bad(&RULE, &kernel(&format!("  {notes}  # TP505")));
            assert_eq!(found[0].message, message);
        }
        // Two hints of one call are two findings.
        let both = "  # sm_90: hint refused: a # sm_90: hint refused: b  # TP505";
        assert_eq!(bad(&RULE, &kernel(both)).1.len(), 2);
        good(&RULE, &kernel("  # sm_90: hint default: latency"));
    }
}
