//! Machine code that no SM can run.

use super::compiled::ByPlace;
use crate::compiled::{Limit, Occupancy, Resources, occupancy::kib};
use crate::rules::rule::rule;
use crate::rules::{CompiledContext, Findings, Severity};

rule! {
    /// A block of the compiled kernel takes more than an SM has: launching it fails.
    ///
    /// Registers, shared memory or threads of one block exceed the limits of the architecture. Smaller
    /// tiles, or fewer stages of the loop in flight (`latency`), take less.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def wide(x, y):  # sm_120: 128 registers, 128 threads, 131072 shared  # TP506
    ///     ct.store(y, (0, 0), ct.load(x, (0, 0), (256, 256)))
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def wide(x, y):  # sm_90 sm_100: 128 registers, 128 threads, 131072 shared
    ///     ct.store(y, (0, 0), ct.load(x, (0, 0), (256, 256)))
    /// ```
    TP506 "does-not-fit" Error,
    Compiled(check)
}

fn check(at: &CompiledContext<'_>, out: &mut Findings<'_>) {
    let mut places: ByPlace<String> = ByPlace::new();
    for (known, facts, machine) in at.machines() {
        let occupancy = Occupancy::of(&machine.resources, facts.arch);
        if let Some(occupancy) = occupancy.filter(|o| o.blocks() == 0) {
            let name = known.kernel.name.to_string();
            let what = exceeds(&occupancy, &machine.resources);
            places.add(known.kernel.name_span, name, facts, what);
        }
    }
    for (kernel, shown) in places.all() {
        let message = format!("`{kernel}` cannot be launched{}", shown.said(at));
        let found = out.push(shown.span, message).archs(shown.archs(at));
        if shown.guessed {
            found.severity(Severity::Warning);
        }
    }
}

/// What a block takes too much of.
fn exceeds(occupancy: &Occupancy, resources: &Resources) -> String {
    let limits = occupancy.arch.limits();
    let parts = occupancy.limits().into_iter().map(|limit| match limit {
        Limit::Registers => format!(
            "{} registers for each of {} threads are more than {}",
            resources.registers,
            resources.threads.unwrap_or_default(),
            limits.registers_per_sm
        ),
        Limit::Shared => format!(
            "{} of shared memory a block are more than {}",
            kib(occupancy.shared_of_block),
            kib(limits.shared_per_sm)
        ),
        Limit::Warps | Limit::Blocks => format!(
            "{} threads a block are more than {}",
            resources.threads.unwrap_or_default(),
            limits.threads_per_block
        ),
    });
    parts.collect::<Vec<_>>().join(", ")
}
