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
    /// def wide(x, y):  # sm_90: 128 registers, 128 threads, 100000 shared
    ///     ct.store(y, (0, 0), ct.load(x, (0, 0), (256, 128)))
    /// ```
    ///
    /// ```python good
    /// @ct.kernel(occupancy=2)
    /// def wide(x, y):  # sm_90: 128 registers, 128 threads, 100000 shared
    ///     ct.store(y, (0, 0), ct.load(x, (0, 0), (256, 128)))
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
