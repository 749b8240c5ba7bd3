//! Arithmetic, bits and comparisons, element by element.

use super::Area;
use super::knob::{change, function, keyword};

pub(super) static AREA: Area = Area {
    title: "Arithmetic and comparisons",
    source: "`_stub.py`, `_ir/arithmetic_ops.py`, `_ir/ops_utils.py`",
    knobs: &[
        function(
            "add",
            "ct.add(x, y, rounding_mode=None, flush_to_zero=False)",
            "Sum, as `x + y`",
        ),
        function(
            "sub",
            "ct.sub(x, y, rounding_mode=None, flush_to_zero=False)",
            "Difference, as `x - y`",
        ),
        function(
            "mul",
            "ct.mul(x, y, rounding_mode=None, flush_to_zero=False)",
            "Product, as `x * y`",
        ),
        function(
            "truediv",
            "ct.truediv(x, y, rounding_mode=None, flush_to_zero=False)",
            "Quotient, as `x / y`",
        )
        .caveat("In float32, `rounding_mode=ct.RoundingMode.APPROX` needs about half the code on sm_90 and is less exact")
        .measured(),
        function(
            "floordiv",
            "ct.floordiv(x, y)",
            "Quotient rounded down, as `x // y`",
        )
        .changes(&[change(1, 4, "floats")]),
        function("mod", "ct.mod(x, y)", "Remainder, as `x % y`"),
        function(
            "divmod",
            "ct.divmod(x, y)",
            "Quotient and remainder of integers",
        )
        .since(1, 6),
        function(
            "cdiv",
            "ct.cdiv(x, y)",
            "Quotient of integers rounded up: how many tiles cover an extent",
        )
        .both(),
        function("pow", "ct.pow(x, y)", "Power, as `x ** y`").changes(&[change(
            1,
            6,
            "an integer exponent of a float stays an integer, with tileiras 13.4",
        )]),
        function("negative", "ct.negative(x)", "`-x`"),
        function("abs", "ct.abs(x)", "Absolute value").since(1, 1),
        function(
            "maximum",
            "ct.maximum(x, y, flush_to_zero=False, propagate_nan=False)",
            "The larger of two, element by element, as `max(x, y)`",
        ),
        function(
            "minimum",
            "ct.minimum(x, y, flush_to_zero=False, propagate_nan=False)",
            "The smaller of two, element by element, as `min(x, y)`",
        ),
        keyword(
            &["add", "sub", "mul", "sum", "prod", "cumsum", "cumprod"],
            "rounding_mode",
            "How results are rounded",
        )
        .range("RN, RZ, RM, RP, or None for RN; floats only")
        .default("None")
        .measured(),
        keyword(
            &["truediv"],
            "rounding_mode",
            "How quotients are rounded, or how exact they are",
        )
        .range("RN, RZ, RM, RP, or None for RN; FULL and APPROX in float32")
        .default("None")
        .measured(),
        keyword(
            &[
                "add", "sub", "mul", "truediv", "maximum", "minimum", "sum", "prod", "max", "min",
                "cumsum", "cumprod", "exp2", "sqrt", "rsqrt",
            ],
            "flush_to_zero",
            "Treats denormal inputs and results as zero",
        )
        .range("True or False, constant; True only in float32")
        .default("False")
        .caveat(
            "In other types it is an error. It shortens exp2, rsqrt and approximate division, not \
             sums and products",
        )
        .measured(),
        function("equal", "ct.equal(x, y)", "Comparison, as `x == y`"),
        function("not_equal", "ct.not_equal(x, y)", "Comparison, as `x != y`"),
        function("less", "ct.less(x, y)", "Comparison, as `x < y`"),
        function("less_equal", "ct.less_equal(x, y)", "Comparison, as `x <= y`"),
        function("greater", "ct.greater(x, y)", "Comparison, as `x > y`"),
        function(
            "greater_equal",
            "ct.greater_equal(x, y)",
            "Comparison, as `x >= y`",
        ),
        function(
            "bitwise_and",
            "ct.bitwise_and(x, y)",
            "Bits of both, as `x & y`; on booleans a logical and",
        ),
        function(
            "bitwise_or",
            "ct.bitwise_or(x, y)",
            "Bits of either, as `x | y`; on booleans a logical or",
        ),
        function(
            "bitwise_xor",
            "ct.bitwise_xor(x, y)",
            "Bits that differ, as `x ^ y`",
        ),
        function(
            "bitwise_not",
            "ct.bitwise_not(x)",
            "Inverted bits, as `~x`; on booleans a logical not",
        )
        .changes(&[change(1, 2, "`~` on a constant boolean is an error, this function is not")]),
        function(
            "bitwise_lshift",
            "ct.bitwise_lshift(x, y)",
            "Bits moved up, as `x << y`",
        ),
        function(
            "bitwise_rshift",
            "ct.bitwise_rshift(x, y)",
            "Bits moved down, as `x >> y`",
        ),
    ],
};
