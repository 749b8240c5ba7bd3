//! The kinds of thing that an expression of device code can be.

use std::sync::Arc;

use smol_str::SmolStr;
use tileperf_syntax::Span;

/// What an expression is. Cheap to clone: a walk keeps what every name is at every branch.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Ty {
    /// Nobody knows.
    #[default]
    Unknown,
    /// A tile.
    Tile(Arc<Tile>),
    /// An array parameter, by its name.
    Array(SmolStr),
    /// A number known only when the kernel runs. `block`: made from block indices or loop counters.
    Scalar {
        /// It comes from `bid`, `num_blocks` or a loop's counter.
        block: bool,
    },
    /// Known when the kernel is compiled.
    Const(Const),
    /// A tuple or list.
    Tuple(Arc<[Ty]>),
    /// A dtype.
    Dtype(Dtype),
    /// Something of `cuda.tile` that is no call's result: `PaddingMode.ZERO`.
    Api(SmolStr),
    /// The literal `None`.
    None,
}

/// A compile-time constant.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Const {
    Int(i64),
    Float(f64),
    Bool(bool),
    Str,
    /// A constant parameter, or a name from outside the kernel.
    Name(SmolStr),
    /// Made of constants.
    Other,
}

/// A tile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tile {
    /// Of its elements.
    pub dtype: Dtype,
    /// Extents, if the rank is known.
    pub shape: Option<Vec<Extent>>,
    /// Reads whose values are still in it element by element, padding included.
    pub sources: Vec<Source>,
    /// Made of constants alone: `zeros`, `full`, `arange`.
    pub constant: bool,
    /// Its elements are `arange` plus or times something: offsets.
    pub offsets: bool,
    /// Its elements are what comparisons gave, whatever they were cast to since.
    pub mask: bool,
}

/// The extent of a tile along one axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extent {
    /// A number.
    Int(i64),
    /// A constant, by name.
    Name(SmolStr),
    /// Known when compiled, but not here.
    Other,
}

/// A read of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// Which call.
    pub span: Span,
    /// How it reads.
    pub kind: SourceKind,
}

/// How memory is read, as far as elements outside the array matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceKind {
    /// `load` without a padding mode: what is outside is undefined.
    Unpadded,
    /// `load` with one.
    Padded,
    /// `gather` with neither mask nor padding value.
    Gather,
    /// `gather` with a mask or a padding value.
    Masked,
}

/// A dtype, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[allow(missing_docs)] // cuTile's own names.
pub enum Dtype {
    #[default]
    Unknown,
    /// Whatever an array parameter has.
    Of(SmolStr),
    F64,
    F32,
    Tf32,
    F16,
    Bf16,
    F8,
    /// Whole numbers, signed or not.
    Int,
    Bool,
    /// Of a plain number: takes the other operand's.
    Weak,
}

impl Dtype {
    /// By cuTile's name for it.
    pub fn named(name: &str) -> Option<Dtype> {
        Some(match name {
            "float64" => Dtype::F64,
            "float32" => Dtype::F32,
            "tfloat32" => Dtype::Tf32,
            "float16" => Dtype::F16,
            "bfloat16" => Dtype::Bf16,
            "bool_" | "bool" => Dtype::Bool,
            name if name.starts_with("float8") || name.starts_with("float4") => Dtype::F8,
            name if name.starts_with("int") || name.starts_with("uint") => {
                let digits = name.trim_start_matches("uint").trim_start_matches("int");
                return digits.parse::<u32>().ok().map(|_| Dtype::Int);
            }
            _ => return None,
        })
    }

    /// Two bytes or less, floating.
    pub fn is_half(&self) -> bool {
        matches!(self, Dtype::F16 | Dtype::Bf16 | Dtype::F8)
    }

    /// Surely floating.
    pub fn is_float(&self) -> bool {
        matches!(
            self,
            Dtype::F64 | Dtype::F32 | Dtype::Tf32 | Dtype::F16 | Dtype::Bf16 | Dtype::F8
        )
    }

    /// What an operation on both gives.
    pub fn join(&self, other: &Dtype) -> Dtype {
        use Dtype as D;
        match (self, other) {
            (a, b) if a == b => a.clone(),
            (D::Weak, other) | (other, D::Weak) => other.clone(),
            (D::Unknown, _) | (_, D::Unknown) => D::Unknown,
            (D::F64, _) | (_, D::F64) => D::F64,
            (D::F32, other) | (other, D::F32) if !matches!(other, D::Of(_)) => D::F32,
            // With a float32 operand the result has at least that, unless the array's is float64.
            (D::F32, D::Of(_)) | (D::Of(_), D::F32) => D::F32,
            (D::Int | D::Bool, other) | (other, D::Int | D::Bool) if other.is_float() => {
                other.clone()
            }
            (D::Bool, D::Int) | (D::Int, D::Bool) => D::Int,
            (D::Bool, D::Of(name)) | (D::Of(name), D::Bool) => D::Of(name.clone()),
            _ => D::Unknown,
        }
    }
}

impl Tile {
    /// A tile as a type.
    pub fn ty(self) -> Ty {
        Ty::Tile(Arc::new(self))
    }

    /// Both, element by element.
    pub(super) fn combine(&self, other: &Tile) -> Tile {
        let shape = match (&self.shape, &other.shape) {
            (Some(a), Some(b)) => Some(broadcast(a, b)),
            _ => None,
        };
        let mut sources = self.sources.clone();
        for source in &other.sources {
            if !sources.contains(source) && sources.len() < 16 {
                sources.push(*source);
            }
        }
        Tile {
            dtype: self.dtype.join(&other.dtype),
            shape,
            sources,
            constant: self.constant && other.constant,
            offsets: self.offsets || other.offsets,
            mask: self.mask && other.mask,
        }
    }
}

fn broadcast(a: &[Extent], b: &[Extent]) -> Vec<Extent> {
    let rank = a.len().max(b.len());
    let at = |s: &[Extent], i: usize| (i + s.len()).checked_sub(rank).map(|i| s[i].clone());
    (0..rank)
        .map(|i| match (at(a, i), at(b, i)) {
            (Some(Extent::Int(1)), Some(other)) | (Some(other), Some(Extent::Int(1))) => other,
            (Some(x), Some(y)) if x == y => x,
            (Some(x), None) | (None, Some(x)) => x,
            _ => Extent::Other,
        })
        .collect()
}

impl Ty {
    /// Known when the kernel is compiled.
    pub fn is_const(&self) -> bool {
        match self {
            Ty::Const(_) | Ty::Dtype(_) | Ty::Api(_) | Ty::None => true,
            Ty::Tuple(parts) => parts.iter().all(Ty::is_const),
            _ => false,
        }
    }

    /// The whole number that it is.
    pub fn int(&self) -> Option<i64> {
        match self {
            Ty::Const(Const::Int(value)) => Some(*value),
            _ => None,
        }
    }

    /// As an extent of a shape.
    pub(crate) fn extent(&self) -> Extent {
        match self {
            Ty::Const(Const::Int(value)) => Extent::Int(*value),
            Ty::Const(Const::Name(name)) => Extent::Name(name.clone()),
            _ => Extent::Other,
        }
    }

    /// What a value is that is one of both.
    pub(super) fn join(&self, other: &Ty) -> Ty {
        match (self, other) {
            (a, b) if a == b => a.clone(),
            (Ty::Tile(a), Ty::Tile(b)) => {
                let mut both = a.combine(b);
                if a.shape != b.shape {
                    both.shape = None;
                }
                if a.dtype != b.dtype {
                    both.dtype = Dtype::Unknown;
                }
                both.offsets = a.offsets && b.offsets;
                both.mask = a.mask && b.mask;
                both.ty()
            }
            (Ty::Scalar { block: a }, Ty::Scalar { block: b }) => Ty::Scalar { block: *a || *b },
            (Ty::Scalar { block }, Ty::Const(_)) | (Ty::Const(_), Ty::Scalar { block }) => {
                Ty::Scalar { block: *block }
            }
            (Ty::Const(_), Ty::Const(_)) => Ty::Const(Const::Other),
            (Ty::Tuple(a), Ty::Tuple(b)) if a.len() == b.len() => {
                Ty::Tuple(a.iter().zip(b.iter()).map(|(a, b)| a.join(b)).collect())
            }
            _ => Ty::Unknown,
        }
    }
}
