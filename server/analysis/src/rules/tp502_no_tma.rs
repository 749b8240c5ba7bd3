//! Loads and stores that the compiler wanted to make by TMA and could not.

use super::compiled::ByPlace;
use crate::compiled::{Access, Kind};
use crate::rules::rule::rule;
use crate::rules::{Claim, CompiledContext, Findings, Lowering};

rule! {
    /// A load or store is not made by the tensor memory accelerator; the compiler says why.
    ///
    /// From sm_90 on, `ct.load` and `ct.store` can become copies that run beside the arithmetic. The
    /// compiler says what prevents it (tileiras 13.4): a row stride or an address that is no multiple
    /// of 16 bytes, or of which nobody knows that it is; a tile whose contiguous extent is less than
    /// 16 bytes; padding other than zero; a memory order other than weak. Where a tile is read again,
    /// put that right: pad rows, pass `.contiguous()` tensors, pad with zeros and select with
    /// `ct.where`. Where the compiler prefers plain loads without a reason it is mostly right, and
    /// nothing is said. Measure: plain loads of data that is streamed once are often as fast.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def double(x, y):
    ///     tile = ct.load(x, (ct.bid(0), 0), (1, 64))  # sm_90: plain: stride not 16-byte aligned  # TP502
    ///     ct.store(y, (ct.bid(0), 0), tile * 2)  # sm_90: TMA 1x64
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def double(x, y):
    ///     tile = ct.load(x, (ct.bid(0), 0), (1, 64))  # sm_90: TMA 1x64
    ///     ct.store(y, (ct.bid(0), 0), tile * 2)  # sm_90: plain
    /// ```
    TP502 "no-tma" Hint,
    Compiled(check)
}

fn check(at: &CompiledContext<'_>, out: &mut Findings<'_>) {
    let mut places: ByPlace<Access> = ByPlace::new();
    for (_, facts, placed) in at.remarks() {
        let (Kind::Plain { access, reasons }, Some(span)) = (&placed.remark.kind, placed.span)
        else {
            continue;
        };
        if facts.arch.has_tma() && !reasons.is_empty() {
            places.add(span, *access, facts, reasons.join(", "));
        }
    }
    for (access, shown) in places.all() {
        let message = format!(
            "this {} is not made by TMA{}",
            access.word(),
            shown.said(at)
        );
        out.push(shown.span, message)
            .archs(shown.archs(at))
            .claim(Claim::access(shown.span, Lowering::NoTma));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    fn kernel(head: &str, notes: &str) -> String {
        format!(
            "@ct.kernel\ndef k(x, y):{head}\n    t = ct.load(x, (0, 0), (1, 64)){notes}\n    \
             ct.store(y, (0, 0), t)\n"
        )
    }

    #[test]
    fn reasons_by_architecture() {
        for (head, notes, message) in [
            (
                "",
                "# sm_90: plain: a",
                "this load is not made by TMA on sm_90: a",
            ),
            (
                "",
                "# sm_90 sm_100: plain: a",
                "this load is not made by TMA on sm_90 and sm_100: a",
            ),
            (
                "",
                "# sm_90: plain: a # sm_120: plain: b",
                "this load is not made by TMA on sm_90: a; on sm_120: b",
            ),
            // One of several loads of a line that a loop or several callers repeat.
            (
                "",
                "# sm_90: TMA 1x64 # sm_90: plain: a",
                "this load is not made by TMA on sm_90: a",
            ),
            (
                "  # signature: guess",
                "# sm_90: plain: a",
                "this load is not made by TMA on sm_90: a (signature guessed)",
            ),
        ] {
            let (_, found) = bad(&RULE, &kernel(head, &format!("  {notes}  # TP502")));
            let said: Vec<&str> = found.iter().map(|f| f.message.as_str()).collect();
            assert_eq!(said, [message]);
        }
    }

    #[test]
    fn silent_where_nothing_was_lost() {
        for notes in [
            "# sm_80: plain",
            "# sm_80: plain: a",
            "# sm_90: plain",
            "# sm_90: TMA 64",
            "",
        ] {
            good(&RULE, &kernel("", &format!("  {notes}")));
        }
    }
}
