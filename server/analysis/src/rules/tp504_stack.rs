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
    /// @ct.kernel
    /// def product(a, b, c):  # sm_90: 255 registers, 256 threads, 1008 stack  # TP504
    ///     i, j = ct.bid(0), ct.bid(1)
    ///     total = ct.full((64, 64), 0, dtype=ct.float32)
    ///     for k in range(ct.num_tiles(a, axis=1, shape=(64, 32))):
    ///         x = ct.load(a, (i, k), (64, 32))
    ///         y = ct.load(b, (k, j), (32, 64))
    ///         total = ct.mma(x, y, total)
    ///     ct.store(c, (i, j), total)
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def product(a, b, c):  # sm_90: 255 registers, 256 threads, 189760 shared
    ///     i, j = ct.bid(0), ct.bid(1)
    ///     total = ct.full((64, 64), 0, dtype=ct.float32)
    ///     for k in range(ct.num_tiles(a, axis=1, shape=(64, 32))):
    ///         x = ct.astype(ct.load(a, (i, k), (64, 32)), ct.tfloat32)
    ///         y = ct.astype(ct.load(b, (k, j), (32, 64)), ct.tfloat32)
    ///         total = ct.mma(x, y, total)
    ///     ct.store(c, (i, j), total)
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
        let message = format!(
            "`{kernel}` keeps values on a stack in memory{}",
            shown.said(at)
        );
        out.push(shown.span, message).archs(shown.archs(at));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    #[test]
    fn of_each_architecture() {
        let kernel =
            |head: &str| format!("@ct.kernel\ndef k(x):{head}\n    ct.store(x, (0,), 1)\n");
        let notes =
            "  # sm_80: 255 registers, 96 stack # sm_90 sm_100: 255 registers, 3584 stack  # TP504";
        let (text, found) = bad(&RULE, &kernel(notes));
        assert_eq!(
            found[0].message,
            "`k` keeps values on a stack in memory on sm_80: 96 bytes a thread; on sm_90 and sm_100: 3584 bytes a thread"
        );
        assert_eq!((&text[found[0].span.range()], found.len()), ("k", 1));
        good(&RULE, &kernel("  # sm_90: 255 registers, 0 stack"));
    }
}
