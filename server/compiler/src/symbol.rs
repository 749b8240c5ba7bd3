//! The name of a compiled kernel, which says what it was compiled for: `scale_Kt1_A2f16_2t1_p16_I64`
//! is `scale` with a contiguous float16 matrix whose address is a multiple of 16, and the constant
//! 64. It has no shapes, grid, runtime values, architecture or hints.
//!
//! The grammar is that of cuda-tile 1.7 (`compilation/_name_mangling.py`), calling conventions `t1`
//! and `t2`:
//! ```text
//! symbol := function "_K" convention ("_" param)*
//! param  := "A" array | "L" ("g" hex)* "i"? "A" array | "T" count param{count} | "S" dtype
//!         | "B" ("0" | "1") | "I" int | "F" hex{16} (the bits of a double)
//! array  := rank dtype ("_" hexmask predicate+)* ("_" extras)?         bit i of a mask is axis i
//! predicate := "s" int | "i" int | "t" int | "v" int | "l" int          in this order, each at most once
//! extras := ("p" int)? ("g" hex)* "i"? ("u" | "w")?                     at least one of them
//! int    := digits | "_" digits
//! ```

mod parse;
#[cfg(test)]
mod tests;
mod write;

use serde::{Deserialize, Serialize};

/// A kernel's name, taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    /// The Python function's name.
    pub function: String,
    /// The calling convention's code: `t1`.
    pub convention: String,
    /// What each parameter was compiled for.
    pub params: Vec<Param>,
}

/// What a parameter was compiled for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Param {
    /// An array.
    Array(Array),
    /// A list of arrays.
    List {
        /// Groups of parameters that may overlap with it.
        alias_groups: Vec<u32>,
        /// Whether its arrays may overlap.
        elements_alias: bool,
        /// What is known of each array.
        element: Array,
    },
    /// A tuple.
    Tuple {
        /// Its items.
        items: Vec<Param>,
    },
    /// A value that is given at launch.
    Scalar {
        /// Its type, by cuTile's short name.
        dtype: Dtype,
    },
    /// A constant.
    Bool {
        /// Its value.
        value: bool,
    },
    /// A constant. As text, because Python's whole numbers have no bounds.
    Int {
        /// Its decimal digits, with a minus sign if negative.
        value: String,
    },
    /// A constant.
    Float {
        /// The bits of the double: they tell the zeros and the NaNs apart.
        bits: u64,
    },
}

/// What is known of an array.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Array {
    /// The elements' type.
    pub dtype: Dtype,
    /// One for each axis.
    pub axes: Vec<Axis>,
    /// The address is a multiple of it; 1 if nothing is known. Bytes.
    pub base_divisor: i64,
    /// Groups of parameters that may overlap with it.
    pub alias_groups: Vec<u32>,
    /// Whether two of its elements may be one.
    pub overlaps: bool,
    /// The type of its shapes and strides.
    pub index: Index,
}

/// What is known of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// Its length.
    pub shape: Option<i64>,
    /// Its length is a multiple of it; 1 if nothing is known.
    pub shape_divisor: i64,
    /// Its stride, in elements.
    pub stride: Option<i64>,
    /// Its stride is a multiple of it, in elements; 1 if nothing is known.
    pub stride_divisor: i64,
    /// Its stride is not less.
    pub stride_min: Option<i64>,
}

impl Axis {
    /// An axis of which nothing is known.
    pub const UNKNOWN: Self = Self {
        shape: None,
        shape_divisor: 1,
        stride: None,
        stride_divisor: 1,
        stride_min: None,
    };
}

/// The type of shapes and strides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it all")]
pub enum Index {
    Int32,
    Uint32,
    Int64,
}

macro_rules! dtypes {
    ($($variant:ident $code:literal $name:literal,)*) => {
        /// A type of elements, in the order of cuTile's own table.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[expect(missing_docs, reason = "`name` says what each is")]
        pub enum Dtype {
            $(#[serde(rename = $name)] $variant,)*
        }

        impl Dtype {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// As `cuda.tile` calls it: `float16`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// As it stands in a symbol: `f16`.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }
        }
    };
}

dtypes! {
    Bool "b8" "bool_",
    Uint8 "u8" "uint8",
    Uint16 "u16" "uint16",
    Uint32 "u32" "uint32",
    Uint64 "u64" "uint64",
    Int8 "i8" "int8",
    Int16 "i16" "int16",
    Int32 "i32" "int32",
    Int64 "i64" "int64",
    Float16 "f16" "float16",
    Float32 "f32" "float32",
    Float64 "f64" "float64",
    Bfloat16 "bf16" "bfloat16",
    Tfloat32 "tf32" "tfloat32",
    Float8E4m3fn "f8m3fn" "float8_e4m3fn",
    Float8E5m2 "f8m2" "float8_e5m2",
    Float8E8m0fnu "f8m0fnu" "float8_e8m0fnu",
}

/// Why a text is no symbol of cuTile's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at byte {at}: {what}")]
pub struct NotASymbol {
    /// Where, in bytes.
    pub at: usize,
    /// What was expected.
    pub what: &'static str,
}
