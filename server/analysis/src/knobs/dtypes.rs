//! Data types of elements.

use super::Area;
use super::knob::{Effect, attribute, class, dtype};
use crate::arch::Arch;

pub(super) static AREA: Area = Area {
    title: "Data types",
    source: "`_datatype.py`, `_passes/check_dtype_support.py`",
    knobs: &[
        class(
            "DType",
            "",
            "A data type; called with a constant it makes a constant of that type, `ct.int16(5)`",
        )
        .both(),
        attribute("DType.bitwidth", "Bits of an element").both(),
        attribute("DType.name", "The type's name").both(),
        dtype("bool_", "True or False"),
        dtype("int8", "Signed integer of 8 bits; multiplies on tensor cores into int32"),
        dtype("int16", "Signed integer of 16 bits"),
        dtype("int32", "Signed integer of 32 bits; what integers are by default"),
        dtype("int64", "Signed integer of 64 bits").caveat("Twice the registers of int32"),
        dtype("uint8", "Unsigned integer of 8 bits; multiplies on tensor cores into int32"),
        dtype("uint16", "Unsigned integer of 16 bits"),
        dtype("uint32", "Unsigned integer of 32 bits"),
        dtype("uint64", "Unsigned integer of 64 bits"),
        dtype(
            "float16",
            "IEEE half precision: 5 bits exponent, 10 bits fraction; multiplies on tensor cores \
             into float16 or float32",
        ),
        dtype(
            "bfloat16",
            "Half the bits with float32's range: 8 bits exponent, 7 bits fraction; multiplies on \
             tensor cores into float32",
        ),
        dtype(
            "float32",
            "IEEE single precision; what floats are by default",
        )
        .caveat(
            "`ct.mma` on it runs without tensor cores and needs a large stack: convert the operands \
             to `ct.tfloat32`",
        )
        .measured(),
        dtype(
            "tfloat32",
            "float32's range with 10 bits of fraction, for operands of `ct.mma` only",
        )
        .caveat("It cannot be computed with or stored: convert, multiply, accumulate in float32")
        .measured(),
        dtype("float64", "IEEE double precision")
            .caveat("`ct.mma` on it runs without tensor cores")
            .measured(),
        dtype(
            "float8_e4m3fn",
            "8-bit float, 3 bits of fraction, no infinity; for memory and `ct.mma`, not for \
             arithmetic",
        )
        .effect(Effect::From(Arch::Sm90))
        .caveat("A compile error below sm_90, on sm_89 too")
        .measured(),
        dtype(
            "float8_e5m2",
            "8-bit float, 2 bits of fraction; for memory and `ct.mma`, not for arithmetic",
        )
        .effect(Effect::From(Arch::Sm90))
        .caveat("A compile error below sm_90, on sm_89 too"),
        dtype(
            "float8_e8m0fnu",
            "8-bit power of two, for scales of `ct.mma_scaled`",
        )
        .effect(Effect::From(Arch::Sm100))
        .since(1, 4)
        .caveat("A compile error below sm_100")
        .measured(),
        dtype(
            "float8_e5m3fnu",
            "Unsigned 8-bit float, for scales of 4-bit `ct.mma_scaled` on Rubin",
        )
        .effect(Effect::Only(&[Arch::Sm107]))
        .since(1, 6)
        .tileiras(13, 4)
        .caveat("A compile error elsewhere, on sm_120 only from tileiras")
        .measured(),
        dtype(
            "float4_e2m1fn",
            "4-bit float, for operands of `ct.mma_scaled`",
        )
        .effect(Effect::From(Arch::Sm100))
        .since(1, 4)
        .tileiras(13, 3)
        .caveat("A compile error below sm_100; two share a byte in memory")
        .measured(),
    ],
};
