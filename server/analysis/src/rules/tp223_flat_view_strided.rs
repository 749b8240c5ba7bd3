//! Tensors that are passed flat although they may have strides.

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef, Stmt, StmtKind};

use crate::rules::rule::rule;
use crate::rules::{Findings, ItemContext};

rule! {
    /// A tensor that may have strides is passed to a kernel flat, or indexed as if it had none.
    ///
    /// `x.view(-1)` raises where `x` is not contiguous (a slice, a transposed or channels-last tensor), and
    /// offsets such as `n * C * H * W + c * H * W + h * W + w` are those of a contiguous NCHW tensor
    /// only. Make the tensor contiguous first, or pass `x.stride()` and compute offsets with it.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def double(x, y, TILE: ct.Constant[int]):
    ///     ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (TILE,)) * 2)
    ///
    /// def run(x, stream):
    ///     y = torch.empty(x.numel(), device=x.device)
    ///     ct.launch(stream, (64,), double, (x.view(-1), y, 128))  # TP223
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def double(x, y, TILE: ct.Constant[int]):
    ///     ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (TILE,)) * 2)
    ///
    /// def run(x, stream):
    ///     x = x.contiguous()
    ///     y = torch.empty(x.numel(), device=x.device)
    ///     ct.launch(stream, (64,), double, (x.view(-1), y, 128))
    /// ```
    TP223 "flat-view-strided" Warning,
    Item(check)
}

fn check(at: &ItemContext<'_>, out: &mut Findings<'_>) {
    for def in at.functions() {
        if at.is_device(def) {
            offsets(at, def, out);
        } else {
            flat_views(at, def, out);
        }
    }
}

fn flat_views(at: &ItemContext<'_>, def: &FunctionDef, out: &mut Findings<'_>) {
    let mut passed = Passed::default();
    launches(at, &def.body, &mut passed);
    if passed.exprs.is_empty() {
        return;
    }
    let guarded = guarded(&def.body);
    let mut report = |view: &Expr, tensor: &SmolStr| {
        if is_given(def, tensor) && !guarded.contains(tensor) {
            out.push(
                view.span,
                format!("`{tensor}.view(-1)` is passed to a kernel and raises where `{tensor}` is not contiguous; make it contiguous first"),
            );
        }
    };
    for expr in &passed.exprs {
        expr.walk(&mut |e| {
            if let Some(tensor) = flat_view(e) {
                report(e, tensor);
            }
        });
    }
    assigned(&def.body, &mut |name, value| {
        if passed.names.contains(name)
            && let Some(tensor) = flat_view(value)
        {
            report(value, tensor);
        }
    });
}

/// `x` of `x.view(-1)`.
fn flat_view(expr: &Expr) -> Option<&SmolStr> {
    let ExprKind::Call { func, args } = &expr.kind else {
        return None;
    };
    let ExprKind::Attribute { value, attr } = &func.kind else {
        return None;
    };
    let minus_one = |e: &Expr| match &e.kind {
        ExprKind::Unary { op, operand } => op == "-" && matches!(operand.kind, ExprKind::Int(1)),
        _ => false,
    };
    match &args[..] {
        [only] if attr.name == "view" && only.name.is_none() && minus_one(&only.value) => {
            value.name()
        }
        _ => None,
    }
}

/// What launches and searches of a function are passed.
#[derive(Default)]
struct Passed<'a> {
    exprs: Vec<&'a Expr>,
    names: FxHashSet<SmolStr>,
}

fn launches<'a>(at: &ItemContext<'_>, body: &'a [Stmt], out: &mut Passed<'a>) {
    for stmt in body {
        stmt.own_exprs(&mut |e| {
            e.walk(&mut |e| {
                if let ExprKind::Call { func, args } = &e.kind
                    && is_launch(at, func)
                {
                    for arg in args {
                        out.exprs.push(&arg.value);
                        arg.value.walk(&mut |e| out.names.extend(e.name().cloned()));
                    }
                }
            });
        });
        if !matches!(stmt.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_)) {
            for inner in stmt.blocks() {
                launches(at, inner, out);
            }
        }
    }
    // Arguments collected in a tuple first.
    let mut more = Vec::new();
    assigned(body, &mut |name, value| {
        if out.names.contains(name) && matches!(value.kind, ExprKind::Tuple(_) | ExprKind::List(_))
        {
            more.push(value);
        }
    });
    for value in more {
        if !out.exprs.iter().any(|e| e.span == value.span) {
            value.walk(&mut |e| out.names.extend(e.name().cloned()));
            out.exprs.push(value);
        }
    }
}

fn is_launch(at: &ItemContext<'_>, func: &Expr) -> bool {
    at.module.api(func).is_some_and(|name| {
        name == "launch" || name.ends_with("exhaustive_search") || name.ends_with("cutile_call")
    })
}

/// Calls `visit` with each name that a plain assignment binds, and its value.
fn assigned<'a>(body: &'a [Stmt], visit: &mut dyn FnMut(&SmolStr, &'a Expr)) {
    for stmt in body {
        if let StmtKind::Assign { targets, value } = &stmt.kind {
            for name in targets.iter().filter_map(Expr::name) {
                visit(name, value);
            }
        }
        if !matches!(stmt.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_)) {
            for inner in stmt.blocks() {
                assigned(inner, visit);
            }
        }
    }
}

/// A parameter, which callers may pass with strides.
fn is_given(def: &FunctionDef, tensor: &SmolStr) -> bool {
    def.params.iter().any(|p| p.name.name == *tensor)
}

/// Tensors that the function makes contiguous, or whose strides it looks at.
fn guarded(body: &[Stmt]) -> FxHashSet<SmolStr> {
    let mut out = FxHashSet::default();
    assigned(body, &mut |name, value| {
        // Bound anew to anything but a view of itself: the callee, or an allocation, decides.
        if flat_view(value) != Some(name) {
            out.insert(name.clone());
        }
    });
    strides(body, &mut out);
    out
}

fn strides(body: &[Stmt], out: &mut FxHashSet<SmolStr>) {
    for stmt in body {
        stmt.own_exprs(&mut |e| {
            e.walk(&mut |e| {
                if let ExprKind::Attribute { value, attr } = &e.kind
                    && matches!(
                        attr.name.as_str(),
                        "is_contiguous" | "contiguous" | "stride" | "as_strided"
                    )
                {
                    out.extend(value.name().cloned());
                }
            });
        });
        // A decorator or helper that is passed the tensor may check it: `check(x)` does not bind it.
        for inner in stmt.blocks() {
            strides(inner, out);
        }
    }
}

/// Offsets of a contiguous four-dimensional tensor: `n * C * H * W + c * H * W + h * W + w`.
fn offsets(at: &ItemContext<'_>, def: &FunctionDef, out: &mut Findings<'_>) {
    let strided =
        |p: &tileperf_syntax::ast::Param| p.name.name.to_ascii_lowercase().contains("stride");
    if def.params.iter().any(strided) {
        return;
    }
    let mut seen: Vec<tileperf_syntax::Span> = Vec::new();
    crate::body::walk(&def.body, &mut |expr, _| {
        if seen.iter().any(|s| s.contains(expr.span)) || !is_packed(expr) {
            return;
        }
        seen.push(expr.span);
        out.push(
            expr.span,
            format!("The offset `{}` is that of a contiguous tensor; pass the strides if it may have others", one_line(at.source(expr.span))),
        );
    });
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A sum of three products or more, each with the extents of the next and one more.
fn is_packed(expr: &Expr) -> bool {
    if !matches!(&expr.kind, ExprKind::Binary { op, .. } if op == "+") {
        return false;
    }
    let mut terms = Vec::new();
    sum(expr, &mut terms);
    let mut products: Vec<FxHashSet<SmolStr>> = terms.iter().filter_map(|t| product(t)).collect();
    products.sort_by_key(|p| std::cmp::Reverse(p.len()));
    let mut chain: Option<FxHashSet<SmolStr>> = None;
    let mut length = 0;
    for factors in products {
        let shared: FxHashSet<SmolStr> = match &chain {
            None => factors,
            Some(outer) => factors.intersection(outer).cloned().collect(),
        };
        if shared.is_empty()
            || chain
                .as_ref()
                .is_some_and(|outer| shared.len() + 1 > outer.len())
        {
            continue;
        }
        length += 1;
        chain = Some(shared);
    }
    length >= 3
}

fn sum<'a>(expr: &'a Expr, out: &mut Vec<&'a Expr>) {
    match &expr.kind {
        ExprKind::Binary { op, left, right } if op == "+" => {
            sum(left, out);
            sum(right, out);
        }
        _ => out.push(expr),
    }
}

/// The names that are multiplied, if nothing else is.
fn product(expr: &Expr) -> Option<FxHashSet<SmolStr>> {
    match &expr.kind {
        ExprKind::Name(name) => Some(std::iter::once(name.clone()).collect()),
        ExprKind::Binary { op, left, right } if op == "*" => {
            let mut all = product(left)?;
            all.extend(product(right)?);
            Some(all)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    const KERNEL: &str = "@ct.kernel\ndef k(x, y, T: ct.Constant[int]):\n    ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (T,)))\n\n";

    fn host(body: &str) -> String {
        format!(
            "{KERNEL}def run(x, y, s):\n    {}\n",
            body.replace('\n', "\n    ")
        )
    }

    #[test]
    fn every_way_to_pass_it() {
        for body in [
            "ct.launch(s, (1,), k, (x, y.view(-1), 8))  # TP223",
            "flat = x.view(-1)  # TP223\nct.launch(s, (1,), k, (flat, y, 8))",
            "x = x.view(-1)  # TP223\nct.launch(s, (1,), k, (x, y, 8))",
            "flat = x.view(-1)  # TP223\nargs = (flat, y, 8)\nct.launch(s, (1,), k, args)",
            "if s:\n    flat = x.view(-1)  # TP223\n    ct.launch(s, (1,), k, (flat, y, 8))",
            "r = ct.tune.exhaustive_search(s, s, kernel=k, args_fn=lambda c: (x.view(-1), y, 8))  # TP223",
        ] {
            bad(&RULE, &host(body));
        }
        bad(
            &RULE,
            &format!(
                "{KERNEL}class F:\n    @staticmethod\n    def forward(ctx, x):\n        y = torch.empty_like(x)\n        y_flat = y.view(-1)\n        ct.launch(0, (1,), k, (x.view(-1), y_flat, 8))  # TP223\n"
            ),
        );
    }

    #[test]
    fn silent_where_it_is_contiguous_or_not_passed() {
        for body in [
            "x = x.contiguous()\nct.launch(s, (1,), k, (x.view(-1), y, 8))",
            "ct.launch(s, (1,), k, (x.contiguous().view(-1), y, 8))",
            "assert x.is_contiguous()\nct.launch(s, (1,), k, (x.view(-1), y, 8))",
            "if not x.is_contiguous():\n    x = x.clone()\nct.launch(s, (1,), k, (x.view(-1), y, 8))",
            "ct.launch(s, (1,), k, (x.view(-1), y, x.stride(0)))",
            "flat = torch.as_strided(x, (8,), (1,))\nct.launch(s, (1,), k, (flat, y, 8))",
            "z = torch.empty(8)\nct.launch(s, (1,), k, (z.view(-1), y, 8))",
            "ct.launch(s, (1,), k, (x.view(-1, 8), y, 8))",
            "ct.launch(s, (1,), k, (x.reshape(-1), y, 8))",
            "ct.launch(s, (1,), k, (x.view(8), y, x.view(-2)))",
            "ct.launch(s, (1,), k, (x.view(dtype=-1), y, 8))",
            "flat = x.view(-1)\nprint(flat)\nct.launch(s, (1,), k, (x, y, 8))",
            "flat = x.view(-1)\nprint(flat)",
            // Made by this module, not given by a caller.
            "ct.launch(s, (1,), k, (TABLE.view(-1), y, 8))",
        ] {
            good(&RULE, &host(body));
        }
    }

    #[test]
    fn packed_offsets() {
        let kernel = |params: &str, offset: &str| {
            format!(
                "@ct.kernel\ndef k(x, y, n, c, h, w, C, H, W{params}):\n    o = {offset}\n    ct.scatter(y, o, ct.gather(x, o))\n"
            )
        };
        for offset in [
            "n * C * H * W + c * H * W + h * W + w  # TP223",
            "w + n * (C * H * W) + c * (H * W) + h * W  # TP223",
        ] {
            bad(&RULE, &kernel("", offset));
        }
        let two = "n * C * H * W + c * H * W + h * W + w  # TP223\n    p = c * H * W * n + h * W * n + w * n + 1  # TP223";
        bad(&RULE, &kernel("", two));
        for offset in [
            "n * sn + c * sc + h * sh + w",
            "n * (H * W) + h * W + w",
            "n * C + c",
            "n + c + h + w",
        ] {
            good(&RULE, &kernel("", offset));
        }
        good(
            &RULE,
            &kernel(", stride_n", "n * C * H * W + c * H * W + h * W + w"),
        );
    }

    #[test]
    fn other_calls_and_names_than_a_launch() {
        bad(
            &RULE,
            &format!(
                "import cuda.tile as ct\nfrom cuda.tile.jax import cutile_call\n{}",
                host("cutile_call((1,), k, (x.view(-1), y, 8))  # TP223")
            ),
        );
        good(&RULE, &host("ct.cdiv(x.view(-1), 8)"));
        good(
            &RULE,
            &host("z = make(s)\nct.launch(s, (1,), k, (z.view(-1), y, 8))"),
        );
    }
}
