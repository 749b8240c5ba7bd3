//! Mathematical functions, element by element.

use super::Area;
use super::knob::{change, function, keyword};

pub(super) static AREA: Area = Area {
    title: "Mathematical functions",
    source: "`_stub.py`, `_ir/ops_utils.py`",
    knobs: &[
        function(
            "exp",
            "ct.exp(x, rounding_mode=None)",
            "e to the power of x",
        )
        .changes(&[change(1, 4, "`rounding_mode`")])
        .caveat(
            "`ct.exp2` with log2(e) folded into a scale is less code, and less still with `flush_to_zero`",
        )
        .measured(),
        keyword(&["exp"], "rounding_mode", "Accurate or fast")
            .range("FULL or APPROX, float32 only; None is FULL")
            .default("None")
            .since(1, 4)
            .tileiras(13, 3)
            .caveat("APPROX is less code and less exact")
            .measured(),
        function(
            "exp2",
            "ct.exp2(x, flush_to_zero=False)",
            "2 to the power of x",
        ),
        function("log", "ct.log(x)", "Natural logarithm"),
        function(
            "log2",
            "ct.log2(x)",
            "Logarithm to base 2",
        ),
        function(
            "sqrt",
            "ct.sqrt(x, rounding_mode=None, flush_to_zero=False)",
            "Square root",
        ),
        keyword(
            &["sqrt"],
            "rounding_mode",
            "How roots are rounded, or how exact they are",
        )
        .range("RN, RZ, RM, RP, or None for RN; APPROX in float32")
        .default("None")
        .measured(),
        function(
            "rsqrt",
            "ct.rsqrt(x, flush_to_zero=False)",
            "One over the square root, with far less code than `1 / ct.sqrt(x)`",
        )
        .measured(),
        function("sin", "ct.sin(x)", "Sine"),
        function("cos", "ct.cos(x)", "Cosine"),
        function("tan", "ct.tan(x)", "Tangent"),
        function("sinh", "ct.sinh(x)", "Hyperbolic sine"),
        function("cosh", "ct.cosh(x)", "Hyperbolic cosine"),
        function(
            "tanh",
            "ct.tanh(x, rounding_mode=None)",
            "Hyperbolic tangent",
        )
        .changes(&[change(1, 2, "`rounding_mode`")]),
        keyword(&["tanh"], "rounding_mode", "Accurate or fast")
            .range("FULL or APPROX, float32 only; None is FULL")
            .default("None")
            .since(1, 2)
            .caveat("APPROX is the hardware's instruction, less exact, and needs tileiras 13.2")
            .measured(),
        function("atan2", "ct.atan2(y, x)", "Angle of the point (x, y)")
            .since(1, 2)
            .tileiras(13, 2),
        function("floor", "ct.floor(x)", "Rounded down"),
        function("ceil", "ct.ceil(x)", "Rounded up"),
        function("isnan", "ct.isnan(x)", "Whether elements are NaN").since(1, 2),
    ],
};
