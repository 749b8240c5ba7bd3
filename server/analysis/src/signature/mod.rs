//! What a kernel is compiled for: a dtype and rank for each array, a value for each constant.
//!
//! cuTile compiles a kernel anew for each signature. The best ones are those that ran: in the user's
//! compile cache, or recorded by a run. Where there are none, a [`Guesser`] reads one off the code:
//! what the launches pass that can be evaluated, and for the rest what the kernel does with its
//! parameters. A guess can be wrong; [`repair`] reads the compiler's complaint and proposes the next.
//! A [`Signature`] always says where it comes from.
//!
//! It is serialized as the compiling process takes it (server/compiler/python).

mod functions;
mod guess;
mod launches;
mod repair;
mod search;
mod tested;
#[cfg(test)]
mod tests;
mod uses;
mod values;

use serde::ser::{Serialize, SerializeMap, Serializer};
use smol_str::SmolStr;
use tileperf_syntax::Span;

use crate::eval::ModuleId;
pub use guess::Guesser;
pub use repair::{Complaint, repair};
pub use search::{Configuration, Configurations, configurations};
pub use tested::{tested_dtypes, with_tested};

/// Where a signature comes from, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The name of a kernel in the user's compile cache.
    CacheDb,
    /// A launch recorded in a run.
    Recorded,
    /// Every constant is what a launch in the code passes; ranks and dtypes are read off the code.
    Literals,
    /// As the next, with a dtype that the op's tests are parametrized with.
    Tests,
    /// Some constant is no more than plausible.
    Guess,
}

impl Origin {
    /// Whether it is no more than plausible.
    pub fn is_guess(self) -> bool {
        self >= Origin::Tests
    }

    /// In words that follow a signature: `guessed`.
    pub fn words(self) -> &'static str {
        match self {
            Origin::CacheDb => "from the compile cache",
            Origin::Recorded => "from a recorded launch",
            Origin::Literals => "from a launch in the code, dtypes assumed",
            Origin::Tests => "guessed, a dtype of the op's tests",
            Origin::Guess => "guessed",
        }
    }
}

/// A launch, or a search, in another file than the kernel's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elsewhere {
    /// The file.
    pub module: ModuleId,
    /// The whole call.
    pub call: Span,
}

/// Where a launch stands that a signature was read off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launched {
    /// The file.
    pub path: SmolStr,
    /// Its line, from 1.
    pub line: u32,
}

/// What a kernel is compiled for.
#[derive(Debug, Clone)]
pub struct Signature {
    /// One for each parameter, in order.
    pub params: Vec<Param>,
    /// Values of names that a slice has captured.
    pub globals: Vec<(SmolStr, Constant)>,
    /// Where it comes from.
    pub origin: Origin,
    /// The launch that it was read off, if that is in another file than the kernel.
    pub launched: Option<Launched>,
}

/// The same program, wherever the launch has moved.
impl PartialEq for Signature {
    fn eq(&self, other: &Self) -> bool {
        (&self.params, &self.globals, self.origin) == (&other.params, &other.globals, other.origin)
    }
}

/// A parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: SmolStr,
    /// What it is given.
    pub kind: Kind,
}

/// What a parameter is given.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Kind {
    /// An array.
    Array(Array),
    /// A number known when the kernel runs.
    Scalar {
        /// cuTile's name of its type.
        dtype: SmolStr,
    },
    /// A number known when the kernel is compiled.
    Constant(Constant),
    /// A tuple.
    Tuple {
        /// What is in it.
        items: Vec<Kind>,
    },
    /// A list of arrays.
    List {
        /// What each of them is.
        element: Array,
    },
}

/// What is assumed of an array. Where an axis can be told nothing of, there is `None` or 1.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Array {
    /// cuTile's name of the type of its elements.
    pub dtype: SmolStr,
    /// Its rank.
    pub ndim: usize,
    /// Strides that are known, in elements.
    pub stride: Vec<Option<i64>>,
    /// What strides are multiples of, in elements.
    pub stride_divisor: Vec<i64>,
    /// Extents that are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shape: Vec<Option<i64>>,
    /// What extents are multiples of.
    pub shape_divisor: Vec<i64>,
    /// What the address is a multiple of, in bytes.
    pub base_divisor: i64,
}

/// Bytes, and elements of an axis, that arrays of tensor libraries are usually multiples of.
const ALIGNED: i64 = 16;

impl Array {
    /// An array as tensor libraries make them: contiguous along the last axis, aligned to 16 bytes,
    /// extents multiples of 16.
    pub fn usual(dtype: &str, ndim: usize) -> Array {
        let rows = ndim.saturating_sub(1);
        let mut stride = vec![None; rows];
        let mut stride_divisor = vec![ALIGNED / bytes(dtype).min(ALIGNED); rows];
        if ndim > 0 {
            stride.push(Some(1));
            stride_divisor.push(1);
        }
        Array {
            dtype: dtype.into(),
            ndim,
            stride,
            stride_divisor,
            shape: Vec::new(),
            shape_divisor: vec![ALIGNED; ndim],
            base_divisor: ALIGNED,
        }
    }

    /// The same with another dtype.
    #[must_use]
    pub fn of_dtype(&self, dtype: &str) -> Array {
        Array {
            shape: self.shape.clone(),
            ..Array::usual(dtype, self.ndim)
        }
    }
}

impl Array {
    fn assumed(&self) -> String {
        let axes = |known: &[Option<i64>], divisors: &[i64]| {
            let each = divisors.iter().enumerate().map(|(axis, divisor)| {
                match (known.get(axis).copied().flatten(), divisor) {
                    (Some(value), _) => value.to_string(),
                    (None, 1) => "?".to_owned(),
                    (None, divisor) => format!("×{divisor}"),
                }
            });
            each.collect::<Vec<_>>().join(", ")
        };
        format!(
            "strides {}, extents {}, address {}",
            axes(&self.stride, &self.stride_divisor),
            axes(&self.shape, &self.shape_divisor),
            axes(&[], &[self.base_divisor]),
        )
    }
}

/// Bytes of an element.
fn bytes(dtype: &str) -> i64 {
    let bits = dtype.trim_start_matches(|c: char| c.is_alphabetic() || c == '_');
    let digits: String = bits.chars().take_while(char::is_ascii_digit).collect();
    digits.parse::<i64>().map_or(1, |bits| (bits / 8).max(1))
}

/// A constant.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)] // Python's own types.
pub enum Constant {
    Bool(bool),
    Int(i64),
    Float(f64),
    /// Nothing that cuTile takes as yet: compiling says so.
    None,
}

impl Serialize for Constant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        match self {
            Constant::Bool(value) => map.serialize_entry("value", value)?,
            Constant::Int(value) => map.serialize_entry("value", value)?,
            Constant::Float(value) if value.is_finite() => map.serialize_entry("value", value)?,
            // JSON has no such numbers.
            Constant::Float(value) if value.is_nan() => map.serialize_entry("float", "nan")?,
            Constant::Float(value) if *value > 0.0 => map.serialize_entry("float", "inf")?,
            Constant::Float(_) => map.serialize_entry("float", "-inf")?,
            Constant::None => map.serialize_entry("value", &())?,
        }
        map.end()
    }
}

impl std::fmt::Display for Constant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Constant::Bool(true) => f.write_str("True"),
            Constant::Bool(false) => f.write_str("False"),
            Constant::Int(value) => write!(f, "{value}"),
            Constant::Float(value) => write!(f, "{value:?}"),
            Constant::None => f.write_str("None"),
        }
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Kind::Array(array) => write!(f, "{}[{}]", array.dtype, array.ndim),
            Kind::Scalar { dtype } => f.write_str(dtype),
            Kind::Constant(value) => value.fmt(f),
            Kind::List { element } => write!(f, "list of {}[{}]", element.dtype, element.ndim),
            Kind::Tuple { items } => {
                f.write_str("(")?;
                for (at, item) in items.iter().enumerate() {
                    let comma = if at > 0 { ", " } else { "" };
                    write!(f, "{comma}{item}")?;
                }
                f.write_str(")")
            }
        }
    }
}

impl Signature {
    /// The same with other constants, by place. A whole number stands for a float or a truth value
    /// where there is one.
    #[must_use]
    pub fn with_constants(&self, constants: &[(usize, Constant)]) -> Signature {
        let mut out = self.clone();
        for (place, value) in constants {
            let Some(param) = out.params.get_mut(*place) else {
                continue;
            };
            if let Kind::Constant(known) = &mut param.kind {
                *known = match (*value, *known) {
                    (Constant::Int(value), Constant::Float(_)) => Constant::Float(value as f64),
                    (Constant::Int(value), Constant::Bool(_)) => Constant::Bool(value != 0),
                    (value, _) => value,
                };
            }
        }
        out
    }

    /// Where it comes from, in words that follow it: `from the launch in test_add.py:12, dtypes assumed`.
    pub fn origin_words(&self) -> String {
        match (&self.launched, self.origin) {
            (Some(at), Origin::Literals) => {
                let file = at.path.rsplit(['/', '\\']).next().unwrap_or_default();
                format!("from the launch in {file}:{}, dtypes assumed", at.line)
            }
            _ => self.origin.words().to_owned(),
        }
    }

    /// In a line: `x: float16[2], n: int32, TILE: 64`.
    pub fn shown(&self) -> String {
        let params = self
            .params
            .iter()
            .map(|p| format!("{}: {}", p.name, p.kind));
        let globals = self
            .globals
            .iter()
            .map(|(name, value)| format!("{name} = {value}"));
        params.chain(globals).collect::<Vec<_>>().join(", ")
    }

    /// What is assumed of arrays beyond dtype and rank, which decides on TMA:
    /// `x: strides ×8, 1, extents ×16, ×16, address ×16`. Strides and extents are in elements, the
    /// address in bytes; `×8` is a multiple of 8.
    pub fn assumed(&self) -> String {
        let arrays = self.params.iter().filter_map(|param| match &param.kind {
            Kind::Array(array) | Kind::List { element: array } => {
                Some(format!("{}: {}", param.name, array.assumed()))
            }
            _ => None,
        });
        arrays.collect::<Vec<_>>().join("; ")
    }
}
