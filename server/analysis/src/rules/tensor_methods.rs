//! What tensors can do and tiles cannot, and what to write instead.

use tileperf_syntax::ast::{Arg, Expr};

use super::DeviceContext;
use crate::body::{Const, Ty};

/// Methods of tensors that tiles and arrays do not have. What cuTile may add one day under another
/// name is not among them.
pub(super) const METHODS: [&str; 64] = [
    "abs",
    "add",
    "add_",
    "all",
    "any",
    "bfloat16",
    "bool",
    "bmm",
    "byte",
    "cast",
    "clamp",
    "clone",
    "contiguous",
    "copy_",
    "cpu",
    "cuda",
    "cumsum",
    "data_ptr",
    "detach",
    "dim",
    "div",
    "double",
    "exp",
    "exp2",
    "expand",
    "expand_as",
    "fill_",
    "flatten",
    "float",
    "half",
    "int",
    "log",
    "log2",
    "long",
    "masked_fill",
    "matmul",
    "max",
    "mean",
    "min",
    "mm",
    "mul",
    "mul_",
    "neg",
    "numel",
    "numpy",
    "pow",
    "repeat",
    "rsqrt",
    "short",
    "sigmoid",
    "size",
    "sqrt",
    "squeeze",
    "stride",
    "sub",
    "sum",
    "t",
    "tanh",
    "to",
    "tolist",
    "type",
    "unsqueeze",
    "view",
    "zero_",
];

/// What a method or subscript is used on.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Base {
    Tile,
    Array,
}

impl Base {
    pub(super) fn word(self) -> &'static str {
        match self {
            Base::Tile => "a tile",
            Base::Array => "an array",
        }
    }
}

/// What to write for `name(args)`.
pub(super) fn rewritten(
    device: &DeviceContext<'_>,
    name: &str,
    args: &[Arg],
    base: Base,
) -> Option<String> {
    let plain = args.iter().all(|a| a.name.is_none() && a.stars == 0);
    let only = match args {
        [only] if plain => Some(&only.value),
        _ => None,
    };
    let source = |e: &Expr| device.source(e.span);
    match (base, name, only) {
        (Base::Tile, "to" | "cast" | "type", Some(dtype)) => {
            (matches!(device.ty(dtype), Ty::Dtype(_)) || device.module.dtype(dtype).is_some())
                .then(|| format!("astype({})", source(dtype)))
        }
        (Base::Tile, name, None) if args.is_empty() => {
            let dtype = match name {
                "float" => "float32",
                "half" => "float16",
                "bfloat16" => "bfloat16",
                "double" => "float64",
                "int" => "int32",
                "long" => "int64",
                _ => return None,
            };
            Some(format!("astype({}.{dtype})", module_name(device)?))
        }
        (Base::Tile, "view", Some(shape)) if matches!(device.ty(shape), Ty::Tuple(_)) => {
            Some(format!("reshape({})", source(shape)))
        }
        (Base::Tile, "view", _) if plain && !args.is_empty() => {
            let fine = |a: &Arg| {
                matches!(
                    device.ty(&a.value),
                    Ty::Const(Const::Int(_) | Const::Name(_))
                )
            };
            let shape: Vec<&str> = args.iter().map(|a| source(&a.value)).collect();
            let comma = if shape.len() == 1 { "," } else { "" };
            (args.iter().all(fine)).then(|| format!("reshape(({}{comma}))", shape.join(", ")))
        }
        (Base::Array, "size", Some(axis)) => Some(format!("shape[{}]", source(axis))),
        (Base::Array, "stride", Some(axis)) => Some(format!("strides[{}]", source(axis))),
        (Base::Array, "dim", None) if args.is_empty() => Some("ndim".to_owned()),
        _ => None,
    }
}

/// What to use in place of a method, for the message.
pub(super) fn instead(name: &str, base: Base) -> &'static str {
    match (base, name) {
        (
            Base::Tile,
            "to" | "cast" | "type" | "float" | "half" | "bfloat16" | "double" | "int" | "long",
        ) => "; use `astype`",
        (Base::Tile, "view" | "flatten" | "squeeze") => "; use `reshape`",
        (Base::Tile, "unsqueeze") => "; use `ct.expand_dims`",
        (Base::Tile, "expand" | "expand_as" | "repeat") => "; use `ct.broadcast_to`",
        (Base::Tile, "t") => "; use `transpose`",
        (Base::Array, "size" | "numel") => "; use `shape`",
        (Base::Array, "stride") => "; use `strides`",
        (Base::Array, _) => "; load a tile of it first",
        (Base::Tile, _) => "",
    }
}

/// The name by which the file knows `cuda.tile`.
fn module_name<'a>(device: &DeviceContext<'a>) -> Option<&'a str> {
    let imports = &device.device.module.imports;
    let mut names: Vec<&str> = (imports.iter())
        .filter(|(_, path)| *path == "cuda.tile")
        .map(|(name, _)| name.as_str())
        .collect();
    names.sort_unstable();
    names.first().copied()
}
