//! Occupancy hints that the code cannot have.

use super::compiled::ByPlace;
use crate::arch::Arch;
use crate::compiled::Occupancy;
use crate::model::{ByTarget, Hint};
use crate::rules::rule::rule;
use crate::rules::{CompiledContext, Findings};

rule! {
    /// The `occupancy` hint asks for more blocks on an SM than the compiled code leaves room for.
    ///
    /// The hint makes the compiler use fewer registers. Where shared memory, threads or registers still
    /// allow fewer blocks than it names, it is a promise that is not kept; often a smaller value gives
    /// the same code. How many blocks fit is calculated from the compiled kernel's registers, shared
    /// memory and threads by CUDA's rules.
    ///
    /// ```python bad
    /// @ct.kernel(occupancy=4)  # TP507
    /// def product(a, b, c):  # sm_90: 128 registers, 256 threads, 107648 shared
    ///     i, j = ct.bid(0), ct.bid(1)
    ///     total = ct.full((128, 128), 0, dtype=ct.float32)
    ///     for k in range(ct.num_tiles(a, axis=1, shape=(128, 64))):
    ///         x = ct.load(a, (i, k), (128, 64))
    ///         y = ct.load(b, (k, j), (64, 128))
    ///         total = ct.mma(x, y, total)
    ///     ct.store(c, (i, j), ct.astype(total, c.dtype))
    /// ```
    ///
    /// ```python good
    /// @ct.kernel(occupancy=2)
    /// def product(a, b, c):  # sm_90: 128 registers, 256 threads, 107648 shared
    ///     i, j = ct.bid(0), ct.bid(1)
    ///     total = ct.full((128, 128), 0, dtype=ct.float32)
    ///     for k in range(ct.num_tiles(a, axis=1, shape=(128, 64))):
    ///         x = ct.load(a, (i, k), (128, 64))
    ///         y = ct.load(b, (k, j), (64, 128))
    ///         total = ct.mma(x, y, total)
    ///     ct.store(c, (i, j), ct.astype(total, c.dtype))
    /// ```
    TP507 "occupancy-not-reached" Hint,
    Compiled(check)
}

fn check(at: &CompiledContext<'_>, out: &mut Findings<'_>) {
    let mut places: ByPlace<u32> = ByPlace::new();
    for (known, facts, machine) in at.machines() {
        let Some(hint) = known.kernel.hints.iter().find(|h| h.name == "occupancy") else {
            continue;
        };
        let asked = asked(hint, facts.arch);
        let occupancy = Occupancy::of(&machine.resources, facts.arch);
        if let (Some(asked), Some(occupancy)) = (asked, occupancy)
            && (1..asked).contains(&occupancy.blocks())
        {
            let what = format!("{occupancy}, {}", occupancy.limited_by());
            places.add(hint.span, asked, facts, what);
        }
    }
    for (asked, shown) in places.all() {
        let message = format!("`occupancy={asked}` is not reached{}", shown.said(at));
        out.push(shown.span, message).archs(shown.archs(at));
    }
}

/// The value of a hint on an architecture, if it is written out.
fn asked(hint: &Hint, arch: Arch) -> Option<u32> {
    let text = match ByTarget::read(&hint.text) {
        Some(choices) => choices.on(arch)?,
        None => hint.text.as_str(),
    };
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    fn kernel(hint: &str, notes: &str) -> String {
        format!("@ct.kernel({hint}\ndef k(x):  {notes}\n    ct.store(x, (0,), 1)\n")
    }

    #[test]
    fn by_target_as_well() {
        let notes = "# sm_90 sm_120: 128 registers, 128 threads, 50176 shared";
        for (hint, message) in [
            (
                "occupancy=4)  # TP507",
                "`occupancy=4` is not reached on sm_120: 2 CTAs/SM, limited by shared memory",
            ),
            (
                "occupancy=8)  # TP507",
                "`occupancy=8` is not reached on sm_90: 4 CTAs/SM, limited by registers and shared memory; on sm_120: 2 CTAs/SM, limited by shared memory",
            ),
            (
                "occupancy=ct.ByTarget(sm_90=6, default=2))  # TP507",
                "`occupancy=6` is not reached on sm_90: 4 CTAs/SM, limited by registers and shared memory",
            ),
        ] {
            let (_, found) = bad(&RULE, &kernel(hint, notes));
            assert_eq!(found[0].message, message);
        }
        for hint in [
            "occupancy=2)",
            "occupancy=MANY)",
            "num_ctas=8)",
            "occupancy=ct.ByTarget(sm_80=8))",
        ] {
            good(&RULE, &kernel(hint, notes));
        }
        // What cannot be launched at all is not said twice.
        good(
            &RULE,
            &kernel("occupancy=2)", "# sm_90: 255 registers, 384 threads"),
        );
    }
}
