//! Machine code that no SM can run.

use super::compiled::ByPlace;
use crate::compiled::{Limit, Occupancy, Resources, occupancy::kib};
use crate::rules::rule::rule;
use crate::rules::{CompiledContext, Findings, Severity};

rule! {
    /// A block of the compiled kernel takes more than an SM has: launching it fails.
    ///
    /// Registers, shared memory or threads of one block exceed the limits of the architecture. The
    /// compiler mostly keeps within them; what it did not is told here before a launch fails. Smaller
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

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::Severity;
    use crate::rules::testing::{bad, good};

    fn kernel(notes: &str) -> String {
        format!("@ct.kernel\ndef k(x):{notes}\n    ct.store(x, (0,), 1)\n")
    }

    #[test]
    fn what_there_is_too_much_of() {
        for (notes, message) in [
            (
                "# sm_90: 255 registers, 384 threads",
                "`k` cannot be launched on sm_90: 255 registers for each of 384 threads are more than 65536",
            ),
            (
                "# sm_80: 64 registers, 128 threads, 167936 shared",
                "`k` cannot be launched on sm_80: 165 KiB of shared memory a block are more than 164 KiB",
            ),
            (
                "# sm_90: 16 registers, 2048 threads",
                "`k` cannot be launched on sm_90: 2048 threads a block are more than 1024",
            ),
        ] {
            let (_, found) = bad(&RULE, &kernel(&format!("  {notes}  # TP506")));
            assert_eq!(
                (found[0].message.as_str(), found[0].severity),
                (message, Severity::Error)
            );
        }
        let guessed = "  # signature: guess # sm_90: 255 registers, 384 threads  # TP506";
        assert_eq!(
            bad(&RULE, &kernel(guessed)).1[0].severity,
            Severity::Warning
        );
    }

    #[test]
    fn silent_where_one_block_fits() {
        for notes in [
            "# sm_90: 168 registers, 384 threads, 232448 shared",
            "# sm_80: 255 registers, 256 threads, 166912 shared",
        ] {
            good(&RULE, &kernel(&format!("  {notes}")));
        }
    }
}
