//! How far ahead accesses in loops are made.

use super::context::Called;
use super::optimization::optimization;
use super::{Actions, KernelContext};
use crate::rewrite::arguments::add_argument;

optimization! {
    /// Say how heavy the memory traffic of a loop's reads, or stores, is.
    ///
    /// The compiler pipelines loops on its own; `latency=` from 1 (light) to 10 (heavy) says how deep it
    /// should prefetch, at the price of shared memory or registers. Which number is best is found by
    /// trying 1, 2, 3, 6 and 10; several often give the same program. Accesses outside loops and
    /// scatters are compiled alike whatever is said (tileiras 13.4).
    ///
    /// ```python before
    /// @ct.kernel
    /// def total(x, y, n: int, TILE: ct.Constant[int]):
    ///     acc = ct.zeros((TILE,), dtype=ct.float32)
    ///     for i in range(n):
    ///         acc = acc + ct.load(x, (i,), (TILE,))
    ///     ct.store(y, (0,), acc)
    /// ```
    ///
    /// ```python after latency=3
    /// @ct.kernel
    /// def total(x, y, n: int, TILE: ct.Constant[int]):
    ///     acc = ct.zeros((TILE,), dtype=ct.float32)
    ///     for i in range(n):
    ///         acc = acc + ct.load(x, (i,), (TILE,), latency=3)
    ///     ct.store(y, (0,), acc)
    /// ```
    ///
    /// Nothing runs ahead of an access that is made once:
    ///
    /// ```python good
    /// @ct.kernel
    /// def copy(x, y, TILE: ct.Constant[int]):
    ///     ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (TILE,)))
    /// ```
    E "latency-hints" Pipeline Same offer,
    gain "1-5 %" "kernels with loops, B200, cuda-tile 1.2" "TileGym's guides",
    gain "18.6 %, lost without the hints" "an FP8 GEMM, RTX 5090" "TileGym's guides",
}

/// Tried one after the other.
const LATENCIES: [u32; 5] = [1, 2, 3, 6, 10];

fn offer(at: &KernelContext<'_>, out: &mut Actions<'_>) {
    each(at, &["load", "gather"], "", "read", out);
    each(at, &["store"], "stores ", "store", out);
}

fn each(at: &KernelContext<'_>, names: &[&str], kind: &str, verb: &str, out: &mut Actions<'_>) {
    let mut calls = at.calls(names);
    calls.retain(|c| c.in_loop && c.call.keyword("latency").is_none());
    let what = match calls.as_slice() {
        [] => return,
        [Called { call, .. }] => format!("the {} in the loop", call.name),
        calls => format!("the {} {verb}s in loops", calls.len()),
    };
    for latency in LATENCIES {
        let hint = format!("latency={latency}");
        let mut edits = at.edits();
        for Called { call, .. } in &calls {
            edits = add_argument(edits, call.expr, &hint);
        }
        out.push(
            format!("{kind}{hint}"),
            format!("Hint {hint} on {what}"),
            edits,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::OPTIMIZATION;
    use crate::playbook::testing::{after, none, variants};

    fn kernel(body: &str) -> String {
        format!(
            "@ct.kernel\ndef k(x, y, n: int, T: ct.Constant[int]):\n    for i in range(n):\n        {body}\n"
        )
    }

    #[test]
    fn reads_and_writes_apart() {
        let code = kernel("ct.store(y, (i,), ct.gather(x, i) + ct.load(x, (i,), (T,)))");
        let all = variants(&OPTIMIZATION, &code);
        assert_eq!(all.len(), 10);
        assert_eq!(all[0], "latency=1");
        assert_eq!(all[9], "stores latency=10");
        after(
            &OPTIMIZATION,
            &code,
            "latency=6",
            &kernel(
                "ct.store(y, (i,), ct.gather(x, i, latency=6) + ct.load(x, (i,), (T,), latency=6))",
            ),
        );
        after(
            &OPTIMIZATION,
            &code,
            "stores latency=2",
            &kernel("ct.store(y, (i,), ct.gather(x, i) + ct.load(x, (i,), (T,)), latency=2)"),
        );
    }

    #[test]
    fn hints_that_are_there_stay() {
        none(
            &OPTIMIZATION,
            &kernel("t = ct.load(x, (i,), (T,), latency=4)"),
        );
        none(
            &OPTIMIZATION,
            &kernel("t = ct.load(x, (i,), (T,), **hints)"),
        );
        none(&OPTIMIZATION, &kernel("ct.scatter(y, i, T)"));
        after(
            &OPTIMIZATION,
            &kernel("t = ct.load(x, (i,), (T,), latency=4) + ct.load(y, (i,), (T,))"),
            "latency=1",
            &kernel("t = ct.load(x, (i,), (T,), latency=4) + ct.load(y, (i,), (T,), latency=1)"),
        );
    }
}
