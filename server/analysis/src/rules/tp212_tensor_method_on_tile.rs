//! Methods and subscripts of tensors on tiles and kernel arrays.

use tileperf_syntax::ast::{Arg, Expr, ExprKind, Ident};

use crate::body::{Bound, Const, Ty, bound, walk};
use crate::rewrite::Edits;
use crate::rules::rule::rule;
use crate::rules::{Claim, DeviceContext, Findings};

/// Methods of tensors that tiles and arrays do not have. What cuTile may add one day under another
/// name is not among them.
const METHODS: [&str; 64] = [
    "abs", "add", "add_", "all", "any", "bfloat16", "bool", "bmm", "byte", "cast", "clamp",
    "clone", "contiguous", "copy_", "cpu", "cuda", "cumsum", "data_ptr", "detach", "dim", "div",
    "double", "exp", "exp2", "expand", "expand_as", "fill_", "flatten", "float", "half", "int",
    "log", "log2", "long", "masked_fill", "matmul", "max", "mean", "min", "mm", "mul", "mul_",
    "neg", "numel", "numpy", "pow", "repeat", "rsqrt", "short", "sigmoid", "size", "sqrt",
    "squeeze", "stride", "sub", "sum", "t", "tanh", "to", "tolist", "type", "unsqueeze", "view",
    "zero_",
];

rule! {
    /// A tensor's method or subscript is used on a tile or on an array of a kernel, which have neither.
    ///
    /// Tiles have `astype`, `reshape`, `permute`, `transpose`, `extract`, `insert` and `item`; all
    /// else is a function of `cuda.tile`. A subscript of a tile only adds axes (`t[:, None]`). Arrays
    /// are read with `ct.load` and `ct.gather`. Seen with cuda-tile 1.7: the kernel does not compile.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def double(x, BLOCK: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     y = ct.load(x, (i,), (BLOCK,)).to(ct.float32)  # TP212
    ///     ct.store(x, (i,), y * x[0])  # TP212
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def double(x, BLOCK: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     y = ct.load(x, (i,), (BLOCK,)).astype(ct.float32)
    ///     ct.store(x, (i,), y * ct.load(x, (0,), ()))
    /// ```
    TP212 "tensor-method-on-tile" Error,
    Device(check)
}

/// What a method or subscript is used on.
#[derive(Clone, Copy, PartialEq)]
enum Base {
    Tile,
    Array,
}

impl Base {
    fn word(self) -> &'static str {
        match self {
            Base::Tile => "a tile",
            Base::Array => "an array",
        }
    }
}

fn check(device: &DeviceContext<'_>, out: &mut Findings<'_>) {
    let mut loaded_from = Vec::new();
    walk(&device.def.body, &mut |expr, _| match &expr.kind {
        ExprKind::Call { func, args } => {
            if let ExprKind::Attribute { value, attr } = &func.kind
                && METHODS.contains(&attr.name.as_str())
                && let Some(base) = base(device, value)
            {
                method(device, expr, value, attr, args, base, out);
            }
            // `ct.load(x[0], ...)`: of several arrays in a tuple.
            if device.call(expr).is_some()
                && let Some(first) = args.first()
            {
                loaded_from.push(first.value.span);
            }
        }
        ExprKind::Attribute { value, attr } if matches!(attr.name.as_str(), "T" | "mT") => {
            if let Some(base) = base(device, value) {
                transposed(device, expr, value, base, out);
            }
        }
        ExprKind::Subscript { value, index } => {
            let Some(base) = base(device, value) else {
                return;
            };
            let wrong = match base {
                Base::Tile => index.iter().any(|i| picks(device, i)),
                Base::Array => !loaded_from.contains(&expr.span),
            };
            if wrong {
                subscript(device, expr, value, base, out);
            }
        }
        _ => {}
    });
}

/// What an expression surely is.
fn base(device: &DeviceContext<'_>, value: &Expr) -> Option<Base> {
    match device.ty(value) {
        Ty::Tile(_) => Some(Base::Tile),
        // A name that is given another value could have been a tuple of arrays before.
        Ty::Array(name) => {
            let is_param = value.name() == Some(name);
            let kept = bound(&device.def.body, name) == Bound::Nowhere;
            (is_param && kept).then_some(Base::Array)
        }
        _ => None,
    }
}

/// Whether an index picks elements of a tile, which none can.
fn picks(device: &DeviceContext<'_>, index: &Expr) -> bool {
    match &index.kind {
        ExprKind::Slice { lower, upper, step } => {
            lower.is_some() || upper.is_some() || step.is_some()
        }
        ExprKind::Tuple(items) => items.iter().any(|i| picks(device, i)),
        _ => match device.ty(index) {
            Ty::Scalar { .. } | Ty::Tile(_) | Ty::Const(Const::Int(_)) => true,
            Ty::Const(Const::Name(name)) => device.constants.contains(name),
            _ => false,
        },
    }
}

fn method<'a>(
    device: &DeviceContext<'a>,
    call: &'a Expr,
    value: &'a Expr,
    attr: &'a Ident,
    args: &'a [Arg],
    base: Base,
    out: &mut Findings<'_>,
) {
    let name = &attr.name;
    let message = format!(
        "`{}` is {}, which has no `{name}`{}",
        short(device.source(value.span)),
        base.word(),
        instead(name, base),
    );
    let found = out.push(attr.span, message).claim(Claim::Errors);
    let start = attr.span.start as usize;
    let rest = tileperf_syntax::Span::new(start, call.span.end as usize);
    if let Some(text) = rewritten(device, name, args, base) {
        let edits = Edits::new(device.text).replace(rest, text.clone());
        found.safe_fix(format!("Write `{text}`"), edits);
    }
}

/// What to write for `name(args)`.
fn rewritten(device: &DeviceContext<'_>, name: &str, args: &[Arg], base: Base) -> Option<String> {
    let plain = args.iter().all(|a| a.name.is_none() && a.stars == 0);
    let only = match args {
        [only] if plain => Some(&only.value),
        _ => None,
    };
    let source = |e: &Expr| device.source(e.span);
    match (base, name, only) {
        (Base::Tile, "to" | "cast" | "type", Some(dtype)) => {
            (matches!(device.ty(dtype), Ty::Dtype(_)) || device.module.dtype(dtype).is_some()).then(|| format!("astype({})", source(dtype)))
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
            let fine = |a: &Arg| matches!(device.ty(&a.value), Ty::Const(Const::Int(_) | Const::Name(_)));
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
fn instead(name: &str, base: Base) -> &'static str {
    match (base, name) {
        (Base::Tile, "to" | "cast" | "type" | "float" | "half" | "bfloat16" | "double" | "int" | "long") => {
            "; use `astype`"
        }
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

fn transposed<'a>(
    device: &DeviceContext<'a>,
    whole: &'a Expr,
    value: &'a Expr,
    base: Base,
    out: &mut Findings<'_>,
) {
    let written = device.source(value.span);
    let message = format!("`{}` is {}, which has no `T`", short(written), base.word());
    let found = out.push(whole.span, message).claim(Claim::Errors);
    let is_matrix = device.tile(value).is_some_and(|t| t.shape.as_ref().is_some_and(|s| s.len() == 2));
    if is_matrix {
        let dot = tileperf_syntax::Span::new(value.span.end as usize, whole.span.end as usize);
        let edits = Edits::new(device.text).replace(dot, ".transpose()");
        found.safe_fix("Write `transpose()`", edits);
    }
}

fn subscript(
    device: &DeviceContext<'_>,
    whole: &Expr,
    value: &Expr,
    base: Base,
    out: &mut Findings<'_>,
) {
    let written = short(device.source(value.span));
    let message = match base {
        Base::Tile => format!(
            "`{written}` is a tile, whose elements cannot be picked by a subscript; use `extract` or `ct.gather`"
        ),
        Base::Array => format!(
            "`{written}` is an array, which has no subscript; use `ct.load` or `ct.gather`"
        ),
    };
    out.push(whole.span, message).claim(Claim::Errors);
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

/// An expression as a message shows it.
fn short(written: &str) -> String {
    let line = written.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(40) {
        Some((at, _)) => format!("{}...", &line[..at]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, fixes, good};

    fn kernel(line: &str) -> String {
        format!(
            "@ct.kernel\ndef k(x, y, N: ct.Constant[int]):\n    i = ct.bid(0)\n    t = ct.load(x, (i, 0), (8, 16))\n    ct.store(y, (i, 0), t)\n    {line}\n"
        )
    }

    #[test]
    fn methods_with_a_counterpart_are_rewritten() {
        for (line, fixed) in [
            ("u = t.to(ct.float16)", "u = t.astype(ct.float16)"),
            ("u = t.cast(ct.float16)", "u = t.astype(ct.float16)"),
            ("u = (t * 2).to(x.dtype) + 1", "u = (t * 2).astype(x.dtype) + 1"),
            ("u = t.to(torch.float16)", "u = t.astype(torch.float16)"),
            ("u = t.float()", "u = t.astype(ct.float32)"),
            ("u = t.half()", "u = t.astype(ct.float16)"),
            ("u = t.bfloat16()", "u = t.astype(ct.bfloat16)"),
            ("u = t.double()", "u = t.astype(ct.float64)"),
            ("u = t.int()", "u = t.astype(ct.int32)"),
            ("u = t.long()", "u = t.astype(ct.int64)"),
            ("u = t.view(16, 8)", "u = t.reshape((16, 8))"),
            ("u = t.view(-1)", "u = t.reshape((-1,))"),
            ("u = t.view((16, 8))", "u = t.reshape((16, 8))"),
            ("u = t.T", "u = t.transpose()"),
            ("u = x.size(0)", "u = x.shape[0]"),
            ("u = x.stride(1)", "u = x.strides[1]"),
            ("u = x.dim()", "u = x.ndim"),
        ] {
            fixes(&RULE, &kernel(&format!("{line}  # TP212")), &kernel(fixed));
        }
    }

    #[test]
    fn methods_and_subscripts_without_one_are_reported() {
        for line in [
            "u = t.to(N, ct.float16)",
            "u = t.to('cuda')",
            "u = t.sum(0)",
            "u = t.max()",
            "u = t.unsqueeze(0)",
            "u = ct.exp(t).contiguous()",
            "u = t.view(ct.int16)",
            "u = x.T",
            "u = x.view(-1)",
            "u = x.numel()",
            "u = x.to(ct.float32)",
            "u = x[i]",
            "u = x[0, 1]",
            "u = x[0:4]",
            "x[i] = 1",
            "u = t[0]",
            "u = t[i]",
            "u = t[N]",
            "u = t[-1]",
            "u = t[0, :]",
            "u = t[:4]",
            "u = t[1:, None]",
            "u = t[t > 0]",
            "t[0] = 1",
        ] {
            bad(&RULE, &kernel(&format!("{line}  # TP212")));
        }
    }

    #[test]
    fn what_tiles_and_arrays_have() {
        for line in [
            "u = t.astype(ct.float16).reshape((16, 8)).permute((1, 0)).transpose()",
            "u = t.extract((0, 0), (4, 4)).item()",
            "u = t[:, None]",
            "u = t[None]",
            "u = t[..., None]",
            "u = t[:, None, :]",
            "u = t[:, np.newaxis]",
            "u = t[NEW]",
            "u = x.shape[0] + x.strides[1] + x.ndim",
            "u = t.shape[0]",
            "u = x.slice(axis=0, start=0, stop=4)",
            "u = x.tiled_view((8, 16)).load((0, 0))",
            "u = (t, t)[0]",
            "u = (t, t)[i]",
            "u = other.to(ct.float32)",
            "u = N.to(ct.float32)",
            "u = torch.sum(t)",
            "u = ct.load(x[0], (i, 0), (8, 16))",
        ] {
            good(&RULE, &kernel(line));
        }
        for code in [
            "def host(x):\n    y = x.to(torch.float16)[0].view(-1)\n    return y.T.float()\n",
            "@ct.kernel\ndef k(xs):\n    ct.store(xs[0], (0,), ct.load(xs[1], (0,), (8,)))\n",
            "@ct.kernel\ndef k(x):\n    x = x[0]\n    ct.store(x, (0,), ct.load(x, (0,), (8,)))\n",
            "@ct.kernel\ndef k(x, F: ct.Constant[bool]):\n    if F:\n        u = ct.load(x, (0,), (8,))\n    else:\n        u = (1, 2)\n    v = u[0]\n    ct.store(x, (0,), v)\n",
        ] {
            good(&RULE, code);
        }
    }
}
