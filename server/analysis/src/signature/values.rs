//! Plausible values and types: by what is done with a parameter first, by its name only then.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind};

use super::uses::Use;
use super::{Array, Constant, Kind};
use crate::body::{Dtype, Literal, ModuleEnv};

/// The extent of a tile along one of several axes, and of its only one.
const TILE: i64 = 64;
const ONLY_TILE: i64 = 256;
/// What a constant is that is an amount and no tile's extent.
const AMOUNT: i64 = 64;
const SMALL: i64 = 8;

/// Python's type of a constant, as far as its annotation says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Int,
    Float,
    Bool,
    Unknown,
}

/// The type within `ct.Constant[...]`, or within a module's alias for it.
pub(super) fn annotated(annotation: &str, module: &ModuleEnv) -> Type {
    let within = match module.constants.get(annotation) {
        Some(Literal::Generic { of: Some(of), .. }) => of.as_str(),
        _ => annotation,
    };
    let within = within.to_ascii_lowercase();
    let has = |word: &str| within.contains(word);
    match () {
        () if has("bool") => Type::Bool,
        () if has("float") => Type::Float,
        () if has("int") => Type::Int,
        () => Type::Unknown,
    }
}

/// A literal as a constant.
pub(super) fn literal(expr: &Expr) -> Option<Constant> {
    Some(match &expr.kind {
        ExprKind::Int(value) => Constant::Int(*value),
        ExprKind::Float(value) => Constant::Float(*value),
        ExprKind::Bool(value) => Constant::Bool(*value),
        ExprKind::Unary { op, operand } if op == "-" => match literal(operand)? {
            Constant::Int(value) => Constant::Int(value.checked_neg()?),
            Constant::Float(value) => Constant::Float(-value),
            _ => return None,
        },
        _ => return None,
    })
}

/// A value for a constant of which nothing is known but its use, its type and its name.
pub(super) fn constant(name: &str, ty: Type, used: &Use) -> Constant {
    match ty {
        Type::Bool => return Constant::Bool(false),
        Type::Float => return Constant::Float(1.0),
        Type::Int | Type::Unknown => {}
    }
    if used.extent {
        return Constant::Int(if used.only_extent { ONLY_TILE } else { TILE });
    }
    if ty == Type::Unknown && is_real(name) {
        return Constant::Float(1.0);
    }
    if used.tested || is_switch(name) {
        return Constant::Int(0);
    }
    let lower = name.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    Constant::Int(match () {
        () if has(&["stage", "latency"]) => 2,
        () if has(&["group_size_m", "group_m"]) => SMALL,
        () if has(&[
            "block", "tile", "size", "chunk", "dim", "head", "hidden", "width",
        ]) =>
        {
            AMOUNT
        }
        () if has(&["bm", "bn", "bk", "tm", "tn", "tk", "col", "row", "len"]) => AMOUNT,
        () if ["_d", "_m", "_n", "_k"]
            .iter()
            .any(|end| lower.ends_with(end)) =>
        {
            AMOUNT
        }
        () => SMALL,
    })
}

/// What a parameter is given that is no constant.
pub(super) fn runtime(name: &str, annotation: Option<&str>, used: &Use) -> Kind {
    let ndim = used.ndim.unwrap_or(used.at_least.max(2)).max(used.at_least);
    if used.sequence && !used.array {
        return Kind::List {
            element: Array::usual("float16", used.ndim.unwrap_or(2)),
        };
    }
    if used.array {
        return Kind::Array(Array::usual(element(name, used), ndim));
    }
    let float = annotation == Some("float") || used.float || is_real(name);
    let dtype = if float { "float32" } else { "int32" };
    Kind::Scalar {
        dtype: SmolStr::new_static(dtype),
    }
}

/// The type of an array's elements.
fn element(name: &str, used: &Use) -> &'static str {
    if used.mma {
        return "float16";
    }
    if used.index {
        return "int32";
    }
    match &used.stored {
        Some(Dtype::F32 | Dtype::Tf32) => return "float32",
        Some(Dtype::F64) => return "float64",
        Some(Dtype::Bf16) => return "bfloat16",
        Some(Dtype::F16) => return "float16",
        Some(Dtype::Int) => return "int32",
        Some(Dtype::Bool) => return "bool_",
        _ => {}
    }
    if used.mask {
        return "bool_";
    }
    if is_whole(name) { "int32" } else { "float16" }
}

/// Names of arrays of whole numbers.
fn is_whole(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    const PARTS: [&str; 22] = [
        "ids",
        "idx",
        "indices",
        "index",
        "offset",
        "lens",
        "length",
        "seqlen",
        "ptr",
        "table",
        "label",
        "target",
        "position",
        "cu_",
        "num_tokens",
        "block_map",
        "expert",
        "topk",
        "sorted",
        "counter",
        "lock",
        "semaphore",
    ];
    PARTS.iter().any(|part| lower.contains(part))
}

/// Names of floating-point numbers.
fn is_real(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    const PARTS: [&str; 12] = [
        "scale",
        "eps",
        "alpha",
        "beta",
        "prob",
        "temperature",
        "coef",
        "gamma",
        "slope",
        "limit",
        "softcap",
        "dropout",
    ];
    PARTS.iter().any(|part| lower.contains(part)) || matches!(lower.as_str(), "p" | "lr")
}

/// Names of switches.
fn is_switch(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    const BEGINNINGS: [&str; 9] = [
        "has_", "use_", "is_", "do_", "with_", "enable", "even", "causal", "trans",
    ];
    BEGINNINGS.iter().any(|b| lower.starts_with(b))
        || lower.contains("_is_")
        || lower.contains("causal")
}
