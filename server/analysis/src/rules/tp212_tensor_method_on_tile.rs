//! Methods and subscripts of tensors on tiles and kernel arrays.

use tileperf_syntax::ast::{Arg, Expr, ExprKind, Ident, StmtKind};

use super::tensor_methods::{Base, METHODS, instead, rewritten};
use crate::body::{Const, Place, Ty};
use crate::rewrite::Edits;
use crate::rules::rule::rule;
use crate::rules::{Claim, DeviceContext, Findings};

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

fn check(device: &DeviceContext<'_>, out: &mut Findings<'_>) {
    let mut loaded_from = Vec::new();
    device.walk(&mut |expr, place| match &expr.kind {
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
                Base::Tile => {
                    is_bare(device, expr, index) || index.iter().any(|i| picks(device, i))
                }
                Base::Array => !loaded_from.contains(&expr.span) && !is_one_case(device, place),
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
            (is_param && !device.binds(name)).then_some(Base::Array)
        }
        _ => None,
    }
}

/// Whether a branch that is chosen when the kernel is compiled stands around: in another the name
/// may well be a tuple of arrays.
fn is_one_case(device: &DeviceContext<'_>, place: &Place<'_>) -> bool {
    place.path.iter().any(|stmt| match &stmt.kind {
        StmtKind::If { branches, .. } => {
            (branches.iter()).any(|(test, _)| device.ty(test).is_const())
        }
        _ => false,
    })
}

/// `t[:]`, `t[...]`: taken in a tuple only, as in `t[:, None]`.
fn is_bare(device: &DeviceContext<'_>, whole: &Expr, index: &[Expr]) -> bool {
    let source = device.source(whole.span).trim_end_matches(']').trim_end();
    let [only] = index else { return false };
    let bare = matches!(only.kind, ExprKind::Slice { .. } | ExprKind::Ellipsis);
    bare && !source.ends_with(',')
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
    let is_matrix = device
        .tile(value)
        .is_some_and(|t| t.shape.as_ref().is_some_and(|s| s.len() == 2));
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
        Base::Array => {
            format!("`{written}` is an array, which has no subscript; use `ct.load` or `ct.gather`")
        }
    };
    out.push(whole.span, message).claim(Claim::Errors);
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
            (
                "u = (t * 2).to(x.dtype) + 1",
                "u = (t * 2).astype(x.dtype) + 1",
            ),
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
            "u = t.view(i, 8)",
            "u = t.view(*i)",
            "u = t.to(dtype=ct.float16)",
            "u = t.mT",
            "u = ct.sum(t, 0).T",
            "u = x.T",
            "u = x.view(-1)",
            "u = x.numel()",
            "u = x.to(ct.float32)",
            "u = x[i]",
            "u = x[0, 1]",
            "u = x[0:4]",
            "if i > 2:\n        u = x[i]",
            "x[i] = 1",
            "u = t[0]",
            "u = t[i]",
            "u = t[N]",
            "u = t[-1]",
            "u = t[(None, 0)]",
            "u = t[0, :]",
            "u = t[:4]",
            "u = t[:]",
            "u = t[...]",
            "u = t[1:, None]",
            "u = t[t > 0]",
            "t[0] = 1",
        ] {
            bad(&RULE, &kernel(&format!("{line}  # TP212")));
        }
    }

    #[test]
    fn messages_name_what_to_use() {
        for (line, want) in [
            (
                "t.to(ct.float16)",
                "`t` is a tile, which has no `to`; use `astype`",
            ),
            ("t.cast(i)", "has no `cast`; use `astype`"),
            ("t.type(i)", "; use `astype`"),
            ("t.float()", "; use `astype`"),
            ("t.half()", "; use `astype`"),
            ("t.bfloat16()", "; use `astype`"),
            ("t.double()", "; use `astype`"),
            ("t.int()", "; use `astype`"),
            ("t.long()", "; use `astype`"),
            ("t.view(i)", "; use `reshape`"),
            ("t.flatten()", "; use `reshape`"),
            ("t.squeeze()", "; use `reshape`"),
            ("t.unsqueeze(0)", "; use `ct.expand_dims`"),
            ("t.expand(1)", "; use `ct.broadcast_to`"),
            ("t.expand_as(t)", "; use `ct.broadcast_to`"),
            ("t.repeat(1)", "; use `ct.broadcast_to`"),
            ("t.t()", "; use `transpose`"),
            (
                "x.size()",
                "`x` is an array, which has no `size`; use `shape`",
            ),
            ("x.numel()", "; use `shape`"),
            ("x.stride()", "; use `strides`"),
            ("x.sum()", "; load a tile of it first"),
            ("t.sum()", "`t` is a tile, which has no `sum`"),
        ] {
            let (_, found) = bad(&RULE, &kernel(&format!("u = {line}  # TP212")));
            assert!(found[0].message.ends_with(want), "{}", found[0].message);
        }
    }

    #[test]
    fn what_cannot_be_rewritten_has_no_fix() {
        for line in [
            "t.to(N, ct.float16)",
            "t.to(dtype=ct.float16)",
            "t.to('cuda')",
            "t.float(1)",
            "t.view(i, 8)",
            "t.view(8, i)",
            "t.view(*i)",
            "t.view(shape=i)",
            "t.sum()",
            "t.sum(0)",
            "x.size()",
            "x.size(*i)",
            "x.dim(1)",
            "x.view(-1)",
            "x.T",
            "ct.sum(t, 0).T",
        ] {
            let (_, found) = bad(&RULE, &kernel(&format!("u = {line}  # TP212")));
            assert!(found[0].fixes.is_empty(), "{line}: {:?}", found[0].fixes);
        }
    }

    #[test]
    fn what_tiles_and_arrays_have() {
        for line in [
            "u = t.astype(ct.float16).reshape((16, 8)).permute((1, 0)).transpose()",
            "u = t.extract((0, 0), (4, 4)).item()",
            "u = t[:, None]",
            "u = t[None]",
            "u = t[(None, ...)]",
            "u = t[:,]",
            "u = t[..., ]",
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
            "@ct.kernel\ndef k(x, MANY: ct.Constant[bool]):\n    if MANY:\n        first = x[0]\n    else:\n        first = x\n    ct.store(first, (0,), ct.load(x, (0,), (8,)))\n",
            "@ct.kernel\ndef k(x, n, MANY: ct.Constant[bool]):\n    if n > 1:\n        first = x\n    elif MANY:\n        first = x[0]\n    ct.store(x, (0,), ct.load(x, (0,), (8,)))\n",
            "@ct.kernel\ndef k(x):\n    x = x[0]\n    ct.store(x, (0,), ct.load(x, (0,), (8,)))\n",
            "@ct.kernel\ndef k(x, F: ct.Constant[bool]):\n    if F:\n        u = ct.load(x, (0,), (8,))\n    else:\n        u = (1, 2)\n    v = u[0]\n    ct.store(x, (0,), v)\n",
        ] {
            good(&RULE, code);
        }
    }

    #[test]
    fn elements_among_the_parts_of_an_index() {
        bad(&RULE, &kernel("u = t[None, i]  # TP212"));
        bad(&RULE, &kernel("u = t[:, 1:2]  # TP212"));
        good(&RULE, &kernel("u = t[:, None]"));
    }
}
