//! Padding and rounding modes.

use super::Area;
use super::knob::{class, member};

pub(super) static AREA: Area = Area {
    title: "Padding and rounding",
    source: "`_numeric_semantics.py`, `_ir/ops_utils.py`",
    knobs: &[
        class("PaddingMode", "", "What elements outside an array read as"),
        member(
            "PaddingMode.UNDETERMINED",
            "Anything; the default, and fine where the result is cut off by the store",
        ),
        member("PaddingMode.ZERO", "Zero; what TMA does by itself")
            .caveat("The neutral element of sums and matrix products"),
        member("PaddingMode.NEG_ZERO", "Negative zero").caveat("TMA cannot pad with it"),
        member("PaddingMode.NAN", "Not a number").caveat("TMA cannot pad with it"),
        member("PaddingMode.POS_INF", "Infinity, neutral for a minimum")
            .caveat("TMA cannot pad with it"),
        member(
            "PaddingMode.NEG_INF",
            "Negative infinity, neutral for a maximum and for softmax",
        )
        .caveat("TMA cannot pad with it"),
        class(
            "RoundingMode",
            "",
            "How a floating-point result is rounded, or how exact a function is",
        )
        .caveat("No function takes all of them: see its `rounding_mode`"),
        member(
            "RoundingMode.RN",
            "To the nearest, ties to even; the default of arithmetic",
        ),
        member("RoundingMode.RZ", "Towards zero"),
        member("RoundingMode.RM", "Towards negative infinity"),
        member("RoundingMode.RP", "Towards positive infinity"),
        member(
            "RoundingMode.RA",
            "To the nearest, ties away from zero; for conversions",
        )
        .since(1, 6)
        .tileiras(13, 4),
        member(
            "RoundingMode.FULL",
            "The accurate version of exp, tanh or division; float32 only",
        ),
        member(
            "RoundingMode.APPROX",
            "The fast, approximate version of exp, tanh, sqrt or division; float32 only",
        )
        .caveat("Check the result's tolerance"),
        member("RoundingMode.RZI", "To an integer, towards zero")
            .caveat("No function of cuda.tile takes it"),
    ],
};
