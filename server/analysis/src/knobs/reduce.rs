//! Reductions, scans and matrix multiplication.

use super::Area;
use super::knob::{Effect, change, function, keyword};
use crate::arch::Arch;

const REDUCTIONS: &[&str] = &["sum", "prod", "max", "min", "argmax", "argmin"];

pub(super) static AREA: Area = Area {
    title: "Reductions, scans and matrix multiplication",
    source: "`_stub.py`, `_ir/ops.py`, `_datatype.py`",
    knobs: &[
        function(
            "sum",
            "ct.sum(x, axis=None, keepdims=False, ...)",
            "The sum along axes",
        )
        .caveat("It adds in the element type: convert 16-bit floats to float32 first"),
        function(
            "prod",
            "ct.prod(x, axis=None, keepdims=False, ...)",
            "The product along axes",
        ),
        function(
            "max",
            "ct.max(x, axis=None, keepdims=False, ...)",
            "The largest along axes",
        ),
        function(
            "min",
            "ct.min(x, axis=None, keepdims=False, ...)",
            "The smallest along axes",
        ),
        function(
            "argmax",
            "ct.argmax(x, axis=None, keepdims=False, ...)",
            "Where the largest along an axis is",
        )
        .changes(&[change(1, 6, "NaN is ignored, as `ct.max` does")]),
        function(
            "argmin",
            "ct.argmin(x, axis=None, keepdims=False, ...)",
            "Where the smallest along an axis is",
        )
        .changes(&[change(1, 6, "NaN is ignored, as `ct.min` does")]),
        keyword(REDUCTIONS, "axis", "What to reduce")
            .range("an axis or a tuple of axes, constant, or None for all; argmax and argmin take one axis")
            .default("None"),
        keyword(
            &["sum", "prod", "max", "min", "argmax", "argmin", "reduce"],
            "keepdims",
            "Keeps the axis with extent 1, ready to broadcast",
        )
        .range("True or False, constant")
        .default("False"),
        keyword(
            &["max", "min", "argmax", "argmin", "maximum", "minimum"],
            "propagate_nan",
            "Whether a NaN makes the result NaN, or is ignored",
        )
        .range("True or False, constant")
        .default("False")
        .since(1, 6),
        function(
            "reduce",
            "ct.reduce(x, axis, func, identity, keepdims=False)",
            "Reduces along an axis with a function of one's own, several tiles at once if need be",
        )
        .since(1, 1),
        function(
            "cumsum",
            "ct.cumsum(x, axis=0, reverse=False, ...)",
            "Running sums along an axis",
        )
        .caveat("It adds in the element type: convert 16-bit floats to float32 first"),
        function(
            "cumprod",
            "ct.cumprod(x, axis=0, reverse=False, ...)",
            "Running products along an axis",
        ),
        function(
            "scan",
            "ct.scan(x, axis, func, identity, reverse=False)",
            "Running results along an axis with a function of one's own",
        )
        .since(1, 2),
        keyword(&["cumsum", "cumprod"], "axis", "The axis to run along")
            .range("constant")
            .default("0"),
        keyword(&["reduce"], "axis", "The axis to reduce")
            .range("one axis, constant")
            .since(1, 1),
        keyword(&["scan"], "axis", "The axis to run along")
            .range("one axis, constant")
            .since(1, 2),
        keyword(
            &["cumsum", "cumprod", "scan"],
            "reverse",
            "Runs from the end",
        )
        .range("True or False, constant")
        .default("False"),
        keyword(
            &["reduce", "scan"],
            "func",
            "Combines two values; of n tiles it takes 2n arguments and returns n",
        )
        .range("an associative function, such as a lambda or `operator.add`")
        .since(1, 1),
        keyword(
            &["reduce", "scan"],
            "identity",
            "The value that changes nothing when combined",
        )
        .range("a constant, or a tuple with one for each tile")
        .since(1, 1),
        function(
            "mma",
            "ct.mma(x, y, acc, use_fast_acc=False)",
            "Matrix product plus accumulator, `x @ y + acc`, in the accumulator's type",
        )
        .range(
            "x and y of one type, 2-D or 3-D: float16 (acc float16, float32), bfloat16, tfloat32, \
             float32 (acc float32), float64 (float64), float8 (float16, float32), int8 and uint8 \
             mixed freely (int32)",
        )
        .caveat(
            "float32 and float64 operands run without tensor cores; convert float32 to \
             `ct.tfloat32`",
        )
        .measured(),
        keyword(
            &["mma", "mma_scaled"],
            "acc",
            "What is added to; carry it through the loop, starting from `ct.zeros` in float32",
        )
        .caveat("It cannot be left out: for a plain product give zeros, or use `ct.matmul`"),
        keyword(
            &["mma"],
            "use_fast_acc",
            "Adds up 8-bit products less exactly and faster",
        )
        .range("True or False, constant; only with float8_e4m3fn and float8_e5m2")
        .default("False")
        .effect(Effect::Only(&[Arch::Sm90]))
        .since(1, 4)
        .tileiras(13, 3)
        .caveat("On sm_100 and sm_120 the code is the same; with other types it is an error")
        .measured(),
        function(
            "mma_scaled",
            "ct.mma_scaled(x, x_scale, y, y_scale, acc)",
            "Matrix product of 8- or 4-bit operands with a scale for every 16 or 32 elements",
        )
        .range(
            "float8 with scales float8_e8m0fnu per 32; float4_e2m1fn with float8_e8m0fnu per 16 or \
             32, or float8_e4m3fn per 16; acc float32",
        )
        .effect(Effect::From(Arch::Sm100))
        .since(1, 4)
        .tileiras(13, 3)
        .changes(&[change(1, 6, "scales of float8_e5m3fnu on sm_107")])
        .caveat("A compile error below sm_100, where the scales' types do not exist"),
        function(
            "matmul",
            "ct.matmul(x, y)",
            "Matrix product, as `x @ y`, in the operands' common type",
        )
        .caveat("16-bit operands give a 16-bit result: in a loop use `ct.mma` with a float32 accumulator"),
    ],
};
