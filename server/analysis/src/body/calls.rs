//! What calls in device code give.

use std::sync::Arc;

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Arg, Expr, ExprKind};

use super::infer::Infer;
use super::shape::{permuted, transposed};
use super::{Const, Dtype, Extent, Source, SourceKind, Tile, Ty, argument, operators};

impl Infer<'_> {
    pub(super) fn call(&mut self, whole: &Expr, func: &Expr, args: &[Arg]) -> Ty {
        let api = self.module.api(func);
        let method = match (&api, &func.kind) {
            (None, ExprKind::Attribute { value, attr }) => Some((self.expr(value), &attr.name)),
            (None, _) => {
                self.expr(func);
                None
            }
            _ => None,
        };
        let types: Vec<Ty> = args.iter().map(|a| self.expr(&a.value)).collect();
        if let Some(api) = api {
            return self.api_call(&api, whole.span, args, &types);
        }
        match method {
            Some((base, method)) => self.method(&base, method, whole.span, args),
            None => self.builtin(func, &types),
        }
    }

    /// `min(a, b)`, `float("inf")` and the like.
    fn builtin(&self, func: &Expr, types: &[Ty]) -> Ty {
        match func.name().map(SmolStr::as_str) {
            Some("float") => Ty::Const(Const::Float(f64::NAN)),
            Some("min" | "max" | "int" | "abs" | "len" | "bool") => types
                .iter()
                .cloned()
                .reduce(|a, b| a.join(&b))
                .map_or(Ty::Unknown, |ty| match ty {
                    Ty::Const(_) => Ty::Const(Const::Other),
                    ty => ty,
                }),
            _ => Ty::Unknown,
        }
    }

    pub(super) fn typed(&self, args: &[Arg], place: usize, name: &str) -> Ty {
        argument(args, Some(place), name).map_or(Ty::Unknown, |e| self.body.ty(e).clone())
    }

    fn dtype_of(&self, args: &[Arg], place: usize, name: &str) -> Dtype {
        match self.typed(args, place, name) {
            Ty::Dtype(dtype) => dtype,
            _ => Dtype::Unknown,
        }
    }

    /// The array parameter that an access names.
    fn array(&self, args: &[Arg]) -> Option<SmolStr> {
        match self.typed(args, 0, "array") {
            Ty::Array(name) => Some(name),
            _ => None,
        }
    }

    fn api_call(&mut self, name: &str, span: Span, args: &[Arg], types: &[Ty]) -> Ty {
        if let Some(dtype) = Dtype::named(name) {
            // `ct.float32(0)`.
            return match types.first() {
                Some(Ty::Tile(tile)) => Tile {
                    dtype,
                    ..(**tile).clone()
                }
                .ty(),
                Some(Ty::Const(_)) => Ty::Const(Const::Other),
                _ => Ty::Scalar { block: false },
            };
        }
        match name {
            "load" => {
                let kind = match argument(args, None, "padding_mode") {
                    Some(mode)
                        if self
                            .module
                            .api(mode)
                            .is_none_or(|m| m != "PaddingMode.UNDETERMINED") =>
                    {
                        SourceKind::Padded
                    }
                    _ => SourceKind::Unpadded,
                };
                self.read(args, span, kind, self.shape_of(args, 2, "shape"))
            }
            "gather" => {
                let masked = ["mask", "padding_value"]
                    .iter()
                    .any(|name| argument(args, None, name).is_some());
                let kind = if masked {
                    SourceKind::Masked
                } else {
                    SourceKind::Gather
                };
                let shape = match self.typed(args, 1, "indices") {
                    Ty::Tile(tile) => tile.shape.clone(),
                    Ty::Tuple(parts) => parts
                        .iter()
                        .filter_map(|p| match p {
                            Ty::Tile(tile) => Some((**tile).clone()),
                            _ => None,
                        })
                        .reduce(|a, b| a.combine(&b))
                        .and_then(|t| t.shape),
                    _ => None,
                };
                self.read(args, span, kind, shape)
            }
            "store" | "scatter" => {
                let array = self.array(args);
                self.body.stored.extend(array);
                Ty::None
            }
            "zeros" | "ones" | "full" => {
                let place = if name == "full" { 2 } else { 1 };
                let tile = Tile {
                    dtype: self.dtype_of(args, place, "dtype"),
                    shape: self.shape_of(args, 0, "shape"),
                    constant: true,
                    ..Tile::default()
                };
                tile.ty()
            }
            "arange" => {
                let size = self.typed(args, 0, "size");
                let tile = Tile {
                    dtype: self.dtype_of(args, 1, "dtype"),
                    shape: Some(vec![size.extent()]),
                    constant: true,
                    offsets: true,
                    ..Tile::default()
                };
                tile.ty()
            }
            "bid" | "num_blocks" => Ty::Scalar { block: true },
            "num_tiles" => Ty::Scalar { block: false },
            "cdiv" | "ensure_constant" | "assume_divisible_by" => types
                .iter()
                .cloned()
                .reduce(|a, b| a.join(&b))
                .unwrap_or_default(),
            "astype" | "bitcast" => {
                let dtype = self.dtype_of(args, 1, "dtype");
                match types.first() {
                    Some(Ty::Tile(tile)) => Tile {
                        dtype,
                        ..(**tile).clone()
                    }
                    .ty(),
                    Some(other) => other.clone(),
                    None => Ty::Unknown,
                }
            }
            "where" => {
                let (a, b) = (self.typed(args, 1, "x"), self.typed(args, 2, "y"));
                let mut tile = match operators::binary("+", &a, &b) {
                    Ty::Tile(tile) => Arc::unwrap_or_clone(tile),
                    _ => Tile::default(),
                };
                if let (Some(Ty::Tile(mask)), None) = (types.first(), &tile.shape) {
                    tile.shape.clone_from(&mask.shape);
                }
                // The mask decides what counts.
                tile.sources.clear();
                tile.offsets = false;
                tile.mask = false;
                tile.ty()
            }
            "sum" | "max" | "min" | "prod" | "argmax" | "argmin" | "reduce" => {
                let Some(Ty::Tile(tile)) = types.first() else {
                    return Ty::Unknown;
                };
                let dtype = if name.starts_with("arg") {
                    Dtype::Int
                } else {
                    tile.dtype.clone()
                };
                let tile = Tile {
                    dtype,
                    shape: self.reduced(args, tile),
                    ..Tile::default()
                };
                tile.ty()
            }
            "cumsum" | "cumprod" | "scan" => match types.first() {
                Some(Ty::Tile(tile)) => Tile {
                    sources: Vec::new(),
                    ..(**tile).clone()
                }
                .ty(),
                _ => Ty::Unknown,
            },
            "mma" | "mma_scaled" => match self.typed(args, 2, "acc") {
                Ty::Tile(acc) => acc.ty_without_sources(),
                _ => Tile::default().ty(),
            },
            "matmul" => Tile::default().ty(),
            "reshape" | "broadcast_to" | "expand_dims" | "permute" | "transpose" | "extract"
            | "cat" | "astile" | "insert" => {
                let base = match types.first() {
                    Some(Ty::Tile(tile)) => (**tile).clone(),
                    Some(Ty::Tuple(parts)) => parts
                        .iter()
                        .filter_map(|p| match p {
                            Ty::Tile(tile) => Some((**tile).clone()),
                            _ => None,
                        })
                        .reduce(|a, b| a.combine(&b))
                        .unwrap_or_default(),
                    _ => Tile::default(),
                };
                let shape = match name {
                    "reshape" | "broadcast_to" => self.shape_of(args, 1, "shape"),
                    "extract" => self.shape_of(args, 2, "shape"),
                    "transpose" => transposed(
                        &base,
                        &self.typed(args, 1, "axis0"),
                        &self.typed(args, 2, "axis1"),
                    ),
                    "permute" => permuted(&base, &self.typed(args, 1, "axes")),
                    _ => None,
                };
                Tile { shape, ..base }.ty()
            }
            "add" | "sub" | "mul" | "truediv" | "floordiv" | "mod" | "pow" | "maximum"
            | "minimum" | "bitwise_and" | "bitwise_or" | "bitwise_xor" | "bitwise_lshift"
            | "bitwise_rshift" | "atan2" => match types {
                [a, b, ..] => {
                    let op = match name {
                        "add" => "+",
                        "sub" => "-",
                        "mul" => "*",
                        "truediv" => "/",
                        "floordiv" => "//",
                        "mod" => "%",
                        _ => name,
                    };
                    operators::binary(op, a, b)
                }
                _ => Ty::Unknown,
            },
            "equal" | "not_equal" | "less" | "less_equal" | "greater" | "greater_equal" => {
                match types {
                    [Ty::Tile(a), Ty::Tile(b), ..] => Tile {
                        dtype: Dtype::Bool,
                        offsets: false,
                        mask: true,
                        ..a.combine(b)
                    }
                    .ty(),
                    [Ty::Tile(a), ..] | [_, Ty::Tile(a), ..] => Tile {
                        dtype: Dtype::Bool,
                        offsets: false,
                        mask: true,
                        ..(**a).clone()
                    }
                    .ty(),
                    _ => Ty::Scalar { block: false },
                }
            }
            "exp" | "exp2" | "log" | "log2" | "sqrt" | "rsqrt" | "sin" | "cos" | "tan" | "sinh"
            | "cosh" | "tanh" | "floor" | "ceil" | "abs" | "negative" | "bitwise_not"
            | "sigmoid" => match types.first() {
                Some(Ty::Tile(tile)) => Tile {
                    offsets: false,
                    ..(**tile).clone()
                }
                .ty(),
                Some(other) => other.clone(),
                None => Ty::Unknown,
            },
            "isnan" => match types.first() {
                Some(Ty::Tile(tile)) => Tile {
                    dtype: Dtype::Bool,
                    mask: true,
                    ..(**tile).clone()
                }
                .ty(),
                _ => Ty::Unknown,
            },
            name if name.starts_with("atomic_") => {
                let array = self.array(args);
                self.body.stored.extend(array.clone());
                let tile = Tile {
                    dtype: array.map_or(Dtype::Unknown, Dtype::Of),
                    ..Tile::default()
                };
                tile.ty()
            }
            _ => Ty::Unknown,
        }
    }

    fn read(
        &mut self,
        args: &[Arg],
        span: Span,
        kind: SourceKind,
        shape: Option<Vec<Extent>>,
    ) -> Ty {
        let array = self.array(args);
        array.iter().for_each(|array| self.loads(array));
        let tile = Tile {
            dtype: array.map_or(Dtype::Unknown, Dtype::Of),
            shape,
            sources: vec![Source { span, kind }],
            ..Tile::default()
        };
        tile.ty()
    }

    fn loads(&mut self, array: &SmolStr) {
        self.body.loaded.insert(array.clone());
        if !self.body.stored.contains(array) {
            self.body.read_first.insert(array.clone());
        }
    }

    /// A method of a tile or array.
    fn method(&mut self, base: &Ty, method: &str, span: Span, args: &[Arg]) -> Ty {
        match (base, method) {
            (Ty::Tile(tile), "astype") => Tile {
                dtype: self.dtype_of(args, 0, "dtype"),
                ..(**tile).clone()
            }
            .ty(),
            (Ty::Tile(tile), "reshape") => Tile {
                shape: self.shape_of(args, 0, "shape"),
                ..(**tile).clone()
            }
            .ty(),
            (Ty::Tile(tile), "transpose") => Tile {
                shape: transposed(
                    tile,
                    &self.typed(args, 0, "axis0"),
                    &self.typed(args, 1, "axis1"),
                ),
                ..(**tile).clone()
            }
            .ty(),
            (Ty::Tile(tile), "permute") => Tile {
                shape: permuted(tile, &self.typed(args, 0, "axes")),
                ..(**tile).clone()
            }
            .ty(),
            (Ty::Tile(tile), "extract" | "insert") => Tile {
                shape: None,
                ..(**tile).clone()
            }
            .ty(),
            (Ty::Tile(_), "item") => Ty::Scalar { block: false },
            // The same memory.
            (Ty::Array(_), "slice" | "tiled_view") => base.clone(),
            (Ty::Array(array), "load") => {
                let kind = SourceKind::Unpadded;
                self.loads(array);
                let tile = Tile {
                    dtype: Dtype::Of(array.clone()),
                    sources: vec![Source { span, kind }],
                    ..Tile::default()
                };
                tile.ty()
            }
            (Ty::Array(array), "store") => {
                self.body.stored.insert(array.clone());
                Ty::None
            }
            _ => Ty::Unknown,
        }
    }
}

impl Tile {
    fn ty_without_sources(&self) -> Ty {
        Tile {
            sources: Vec::new(),
            constant: false,
            ..self.clone()
        }
        .ty()
    }
}
