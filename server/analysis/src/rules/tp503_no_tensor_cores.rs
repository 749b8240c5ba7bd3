//! Multiplications that do not use tensor cores.

use super::compiled::ByPlace;
use crate::compiled::Kind;
use crate::rules::rule::rule;
use crate::rules::{Claim, CompiledContext, Findings, Lowering};

rule! {
    /// A matrix product is made of fused multiply-adds, not on tensor cores.
    ///
    /// The compiler says so of float32 operands that are not cast to `tfloat32`, of float64, and of
    /// tiles too small for an instruction (tileiras 13.4, all architectures). It is several times
    /// slower; of float32 it also takes kilobytes of stack and ten times as long to compile. Cast
    /// operands to float16, bfloat16 or tfloat32, or make the tiles larger.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def product(a, b, c):
    ///     i, j = ct.bid(0), ct.bid(1)
    ///     total = ct.full((64, 64), 0, dtype=ct.float32)
    ///     for k in range(ct.num_tiles(a, axis=1, shape=(64, 32))):
    ///         x = ct.load(a, (i, k), (64, 32))
    ///         y = ct.load(b, (k, j), (32, 64))
    ///         total = ct.mma(x, y, total)  # sm_90: FMA  # TP503
    ///     ct.store(c, (i, j), total)
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def product(a, b, c):
    ///     i, j = ct.bid(0), ct.bid(1)
    ///     total = ct.full((64, 64), 0, dtype=ct.float32)
    ///     for k in range(ct.num_tiles(a, axis=1, shape=(64, 32))):
    ///         x = ct.astype(ct.load(a, (i, k), (64, 32)), ct.tfloat32)
    ///         y = ct.astype(ct.load(b, (k, j), (32, 64)), ct.tfloat32)
    ///         total = ct.mma(x, y, total)  # sm_90: tensor core SM90 64x64x8
    ///     ct.store(c, (i, j), total)
    /// ```
    TP503 "no-tensor-cores" Warning,
    Compiled(check)
}

fn check(at: &CompiledContext<'_>, out: &mut Findings<'_>) {
    let mut places: ByPlace<()> = ByPlace::new();
    for (_, facts, placed) in at.remarks() {
        if let (Kind::Fma { reasons }, Some(span)) = (&placed.remark.kind, placed.span) {
            places.add(span, (), facts, reasons.join(", "));
        }
    }
    for ((), shown) in places.all() {
        let said = shown.said(at);
        let message = format!("this product does not use tensor cores but multiply-adds{said}");
        out.push(shown.span, message)
            .archs(shown.archs(at))
            .claim(Claim::access(shown.span, Lowering::Fma));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    fn kernel(notes: &str) -> String {
        format!(
            "@ct.kernel\ndef k(x, y, c):\n    t = ct.mma(x, y, c){notes}\n    ct.store(c, (0, 0), t)\n"
        )
    }

    #[test]
    fn where_and_why() {
        for (notes, message) in [
            (
                "# sm_90: FMA",
                "this product does not use tensor cores but multiply-adds on sm_90",
            ),
            (
                "# sm_80: FMA: too small # sm_90: tensor core SM90 64x8x16",
                "this product does not use tensor cores but multiply-adds on sm_80: too small",
            ),
        ] {
            let (_, found) = bad(&RULE, &kernel(&format!("  {notes}  # TP503")));
            assert_eq!(found[0].message, message);
        }
        good(&RULE, &kernel("  # sm_80 sm_90: tensor core SM80 16x8x16"));
    }
}
