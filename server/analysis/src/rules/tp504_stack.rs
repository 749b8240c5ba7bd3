//! Kernels that keep values in memory for want of registers.

use super::compiled::ByPlace;
use crate::rules::rule::rule;
use crate::rules::{CompiledContext, Findings};

rule! {
    /// The compiled kernel has a stack: values that found no register are kept in memory.
    ///
    /// It is information, not a fault: a configuration that spills can be the fastest one. Smaller
    /// tiles, a smaller `occupancy` hint or fewer values alive in the loop make the stack go away;
    /// measure before and after.
    ///
    /// ```python bad
    /// @ct.kernel(occupancy=8)
    /// def wide(x, y):  # sm_90: 64 registers, 128 threads, 480 stack  # TP504
    ///     ct.store(y, (0, 0), ct.load(x, (0, 0), (64, 256)))
    /// ```
    ///
    /// ```python good
    /// @ct.kernel(occupancy=2)
    /// def wide(x, y):  # sm_90: 128 registers, 128 threads
    ///     ct.store(y, (0, 0), ct.load(x, (0, 0), (64, 256)))
    /// ```
    TP504 "stack" Hint,
    Compiled(check)
}

fn check(at: &CompiledContext<'_>, out: &mut Findings<'_>) {
    let mut places: ByPlace<String> = ByPlace::new();
    for (known, facts, machine) in at.machines() {
        let stack = machine.resources.stack;
        if stack > 0 {
            let name = known.kernel.name.to_string();
            let what = format!("{stack} bytes a thread");
            places.add(known.kernel.name_span, name, facts, what);
        }
    }
    for (kernel, shown) in places.all() {
        let message = format!("`{kernel}` keeps values on a stack in memory{}", shown.said(at));
        out.push(shown.span, message).archs(shown.archs(at));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    #[test]
    fn of_each_architecture() {
        let kernel = |head: &str| format!("@ct.kernel\ndef k(x):{head}\n    ct.store(x, (0,), 1)\n");
        let notes = "  # sm_80: 255 registers, 96 stack # sm_90 sm_100: 255 registers, 3584 stack  # TP504";
        let (text, found) = bad(&RULE, &kernel(notes));
        assert_eq!(
            found[0].message,
            "`k` keeps values on a stack in memory on sm_80: 96 bytes a thread; on sm_90 and sm_100: 3584 bytes a thread"
        );
        assert_eq!((&text[found[0].span.range()], found.len()), ("k", 1));
        good(&RULE, &kernel("  # sm_90: 255 registers, 0 stack"));
    }
}
