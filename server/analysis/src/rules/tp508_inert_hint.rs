//! Hints without which the same code comes out.

use super::compiled::ByPlace;
use crate::compiled::knobs;
use crate::rewrite::Edits;
use crate::rules::rule::rule;
use crate::rules::{Claim, CompiledContext, Findings};

rule! {
    /// A hint changes nothing: the same machine code comes out without it.
    ///
    /// The kernel was compiled with and without the hint, for the same signature, and the code compared
    /// byte by byte. Several values often give one program: an `occupancy` that is met anyway, a
    /// `latency` outside loops, `allow_tma` where no copy could be made (tileiras 13.4). Such a hint
    /// costs nothing, but says something that does not hold, and each value that a search tries of it
    /// is compiled and timed for nothing. On architectures that were not compiled for it may matter:
    /// add them to `compile.archs` before you take it out. Values that say no more than the default
    /// and those of `ct.ByTarget` are not looked at.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def copy(x, y):
    ///     tile = ct.load(x, (0,), (64,), latency=3)  # sm_90: same without latency  # TP508
    ///     ct.store(y, (0,), tile)
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def copy(x, y, n: int):
    ///     for i in range(n):
    ///         tile = ct.load(x, (i,), (64,), latency=3)  # sm_90: other without latency
    ///         ct.store(y, (i,), tile)
    /// ```
    TP508 "inert-hint" Hint,
    Compiled(check)
}

fn check(at: &CompiledContext<'_>, out: &mut Findings<'_>) {
    for known in at.kernels.iter().filter(|known| !known.trials.is_empty()) {
        for knob in knobs(at.file, at.text, known.kernel) {
            let mut places: ByPlace<()> = ByPlace::new();
            let mut differs = false;
            for facts in known.facts {
                let mut trials = known.trials.iter();
                let trial = trials.find(|t| t.arch == facts.arch && t.edits == knob.edits);
                match trial.and_then(|trial| trial.same) {
                    Some(true) => places.add(knob.span, (), facts, String::new()),
                    Some(false) => differs = true,
                    None => {}
                }
            }
            for ((), shown) in places.all() {
                let message = format!(
                    "`{}` changes nothing{}: the same code comes out without it",
                    knob.text,
                    shown.said(at)
                );
                let found = out.push(shown.span, message).archs(shown.archs(at));
                let found = found.claim(Claim::Inert {
                    edits: knob.edits.clone(),
                    on: Vec::new(),
                });
                if !differs {
                    let edits = (knob.edits.iter()).fold(Edits::new(at.text), |edits, edit| {
                        edits.replace(edit.span, edit.text.clone())
                    });
                    found.review_fix(format!("Take `{}` out", knob.text), edits);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, fixes, good};

    fn kernel(decorator: &str, head: &str, load: &str) -> String {
        format!(
            "{decorator}\ndef k(x, y):{head}\n    t = ct.load(x, (0, 0), (1, 64){load}\n    \
             ct.store(y, (0, 0), t)\n"
        )
    }

    #[test]
    fn at_the_decorator_and_at_accesses() {
        let at_kernel = ")  # sm_90: same without occupancy";
        let at_load = "  # sm_90: same without latency";
        for (before, after) in [
            (
                kernel("@ct.kernel(occupancy=8)  # TP508", "", at_kernel),
                kernel("@ct.kernel", "", at_kernel),
            ),
            (
                kernel("@ct.kernel", "", &format!(", latency=3){at_load}  # TP508")),
                kernel("@ct.kernel", "", &format!("){at_load}")),
            ),
        ] {
            fixes(&RULE, &before, &after);
        }
    }

    #[test]
    fn where_and_for_what() {
        for (head, notes, message) in [
            (
                "",
                "# sm_90: same without latency",
                "`latency=3` changes nothing on sm_90: the same code comes out without it",
            ),
            (
                "  # signature: guess",
                "# sm_80 sm_90: same without latency",
                "`latency=3` changes nothing on sm_80 and sm_90 (signature guessed): the same code \
                 comes out without it",
            ),
            // It matters somewhere: there is nothing to take out.
            (
                "",
                "# sm_80: same without latency # sm_90: other without latency",
                "`latency=3` changes nothing on sm_80: the same code comes out without it",
            ),
        ] {
            let load = format!(", latency=3)  {notes}  # TP508");
            let (_, found) = bad(&RULE, &kernel("@ct.kernel", head, &load));
            assert_eq!(found[0].message, message);
            assert_eq!(found[0].fixes.is_empty(), notes.contains("other"));
        }
    }

    #[test]
    fn silent_where_it_matters_or_nobody_knows() {
        for notes in [
            "# sm_90: other without latency",
            "# sm_90: TMA 1x64",
            "# sm_90: unknown without latency",
            "",
        ] {
            good(
                &RULE,
                &kernel("@ct.kernel", "", &format!(", latency=3)  {notes}")),
            );
        }
    }
}
