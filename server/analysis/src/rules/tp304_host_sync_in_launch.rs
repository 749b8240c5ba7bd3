//! Waiting for the device before a launch.

use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef, Stmt, StmtKind};

use super::host;
use crate::body::{Place, argument, values, walk};
use crate::rules::rule::rule;
use crate::rules::{Findings, ItemContext};

rule! {
    /// A value is read back from the device between allocating a kernel's outputs and launching it,
    /// so that every call waits for all work before it.
    ///
    /// `.item()`, `.tolist()` and `.cpu()` block until the stream is idle: the launch cannot be queued
    /// behind the work before it, the device runs dry, and the function cannot be captured in a CUDA
    /// graph. Keep the value on the device and let the kernel load it, or read it where it is made.
    ///
    /// ```python bad
    /// def run(x, mask, stream, kernel):
    ///     out = torch.empty_like(x)
    ///     scale = 1.0 / mask.sum().item()  # TP304
    ///     ct.launch(stream, (64,), kernel, (x, out, scale))
    ///     return out
    /// ```
    ///
    /// ```python good
    /// def run(x, mask, stream, kernel):
    ///     out = torch.empty_like(x)
    ///     scale = mask.sum().reciprocal()
    ///     ct.launch(stream, (64,), kernel, (x, out, scale))
    ///     return out, scale.item()
    /// ```
    TP304 "host-sync-in-launch" Hint,
    Item(check)
}

fn check(item: &ItemContext<'_>, out: &mut Findings<'_>) {
    for def in item.functions() {
        // A test looks at what a kernel made as soon as it can.
        if !item.is_device(def) && !def.name.name.starts_with("test_") {
            function(item, def, out);
        }
    }
}

fn function(item: &ItemContext<'_>, def: &FunctionDef, out: &mut Findings<'_>) {
    let mut allocated: Option<u32> = None;
    let mut syncs: Vec<(Span, &str)> = Vec::new();
    // Only what comes before the first launch holds it up.
    let mut launched: Option<u32> = None;
    let mut lambdas: Vec<Span> = Vec::new();
    walk(&def.body, &mut |expr, place| {
        let ExprKind::Call { func, .. } = &expr.kind else {
            if matches!(expr.kind, ExprKind::Lambda { .. }) {
                lambdas.push(expr.span);
            }
            return;
        };
        if lambdas.iter().any(|l| l.contains(expr.span)) {
            return;
        }
        if item.module.api(func).is_some_and(|name| name == "launch") {
            launched.get_or_insert(expr.span.start);
        } else if allocates(item, func) {
            allocated.get_or_insert(expr.span.start);
        } else if let Some((base, name @ ("item" | "tolist" | "cpu"), [])) = host::method(expr)
            && !is_aside(expr, place)
            && !on_host(item, def, base)
        {
            syncs.push((expr.span, name));
        }
    });
    let (Some(allocated), Some(launched)) = (allocated, launched) else {
        return;
    };
    for (span, name) in syncs {
        if allocated < span.start && span.end <= launched {
            out.push(
                span,
                format!(
                    "`.{name}()` waits for the device before the kernel of `{}` is launched; keep the value \
                     on the device",
                    def.name.name
                ),
            );
        }
    }
}

/// `torch.empty(...)`, `x.new_zeros(...)`.
fn allocates(item: &ItemContext<'_>, func: &Expr) -> bool {
    let ExprKind::Attribute { attr, .. } = &func.kind else {
        return false;
    };
    let name = attr.name.as_str();
    if matches!(name, "new_empty" | "new_zeros" | "new_full" | "new_ones") {
        return true;
    }
    let makes = matches!(name, "empty" | "zeros" | "ones" | "full" | "empty_strided")
        || matches!(
            name,
            "empty_like" | "zeros_like" | "ones_like" | "full_like"
        );
    makes
        && item
            .module
            .path(func)
            .is_some_and(|path| path.starts_with("torch."))
}

/// Whether an expression is not evaluated on the way to the launch: an error's text, a cache miss,
/// a branch that leaves.
fn is_aside(expr: &Expr, place: &Place<'_>) -> bool {
    place.path.iter().any(|stmt| match &stmt.kind {
        StmtKind::Raise(_) => true,
        StmtKind::Assert { message, .. } => {
            message.as_ref().is_some_and(|m| m.span.contains(expr.span))
        }
        StmtKind::If { branches, .. } => branches.iter().any(|(test, body)| {
            let inside = body.iter().any(|s| s.span.contains(expr.span));
            inside && (leaves(body) || is_miss(test))
        }),
        _ => false,
    })
}

fn leaves(body: &[Stmt]) -> bool {
    let leaves = |s: &Stmt| matches!(s.kind, StmtKind::Return(_) | StmtKind::Raise(_));
    let launches = body.iter().any(|stmt| {
        let mut found = false;
        stmt.own_exprs(&mut |e| {
            e.walk(&mut |e| {
                if let ExprKind::Call { func, .. } = &e.kind {
                    found |= func.last_ident().is_some_and(|i| i.name == "launch");
                }
            });
        });
        found
    });
    body.last().is_some_and(leaves) && !launches
}

/// `key not in cache`, `cached is None`.
fn is_miss(test: &Expr) -> bool {
    let ExprKind::Compare { first, rest } = &test.kind else {
        return false;
    };
    let cached = first.last_ident().is_some_and(|i| i.name.contains("cache"));
    match rest.as_slice() {
        [(op, _)] if op == "not in" => true,
        [(op, right)] => op == "is" && cached && matches!(right.kind, ExprKind::None),
        _ => false,
    }
}

/// Whether a value is known not to be on a device: NumPy's, or made on the CPU.
fn on_host(item: &ItemContext<'_>, def: &FunctionDef, base: &Expr) -> bool {
    let mut root = base;
    loop {
        root = match &root.kind {
            ExprKind::Call { func, args } => {
                let cpu = |e: &Expr| matches!(&e.kind, ExprKind::Str(text) if text == "cpu");
                if argument(args, None, "device").is_some_and(cpu) {
                    return true;
                }
                let numpy = item
                    .module
                    .path(func)
                    .is_some_and(|p| p.starts_with("numpy."));
                // What comes back from the device waits there, and is said there.
                if numpy || host::method(root).is_some_and(|(_, n, _)| matches!(n, "cpu" | "numpy"))
                {
                    return true;
                }
                func
            }
            ExprKind::Attribute { value, .. } | ExprKind::Subscript { value, .. } => value,
            // What an object holds may be anywhere: tables are often kept on the host.
            ExprKind::Name(name) if name == "self" => return true,
            ExprKind::Name(name) => {
                return match values(&def.body, name).as_slice() {
                    [Some(value)] if value.span.end <= base.span.start => {
                        value.name() != Some(name) && on_host(item, def, value)
                    }
                    _ => false,
                };
            }
            _ => return false,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    fn code(before: &str) -> String {
        format!(
            "import numpy as np\nimport torch\nimport cuda.tile as ct\ndef run(x, lens, cache, key):\n    out = torch.empty_like(x)\n{before}\n    ct.launch(s, (1,), k, (x, out, n))\n    return out.cpu()\n"
        )
    }

    #[test]
    fn waits_before_the_launch() {
        for before in [
            "    n = lens.max().item()  # TP304",
            "    n = max(lens.tolist())  # TP304",
            "    m = lens.max()\n    n = m.item()  # TP304",
            "    n = lens.cpu()  # TP304",
            "    if x.any():\n        n = lens[0].item()  # TP304",
            "    n = lens.sum().item() if key else 1  # TP304",
            "    if n is None:\n        n = lens.max().item()  # TP304",
            "    if lens.sum().item() == 0:  # TP304\n        return out",
            "    if key:\n        n = lens.max().item()  # TP304\n        ct.launch(s, (1,), k, (x, out, n))\n        return out",
            "    assert lens.max().item() < 9, 'too long'  # TP304",
        ] {
            bad(&RULE, &code(before));
        }
        bad(
            &RULE,
            "import cuda.tile as ct\nimport torch\nfrom ops import k\ndef run(x, s):\n    y = torch.empty_like(x)\n    n = x.max().item()  # TP304\n    ct.launch(s, (1,), k, (x, y, n))\n",
        );
        bad(
            &RULE,
            "from cuda.tile import launch\nimport torch\nclass F:\n    @staticmethod\n    def forward(ctx, x):\n        y = x.new_zeros(4)\n        n = x.max().item()  # TP304\n        launch(s, (1,), k, (x, y, n))\n",
        );
    }

    #[test]
    fn what_waits_elsewhere_or_not_at_all() {
        for before in [
            "    n = lens.max()",
            "    if key not in cache:\n        cache[key] = lens.max().item()",
            "    if cached is None:\n        n = lens.max().item()",
            "    if x.ndim == 1:\n        return lens.max().item()",
            "    if x.ndim == 1:\n        raise ValueError(lens.max().item())",
            "    assert x.ndim == 2, lens.tolist()",
            "    n = np.prod(x.shape).item()",
            "    n = torch.arange(4, device='cpu').tolist()",
            "    h = torch.zeros(4, device='cpu')\n    n = h.max().item()",
            "    n = cache.item(key)",
            "    n = self.table.levels.tolist()",
            "    f = lambda: lens.item()",
            "    for name, value in cache.items():\n        n = value",
        ] {
            good(&RULE, &code(before));
        }
        good(
            &RULE,
            "import torch\nimport cuda.tile as ct\ndef test_it(x):\n    out = torch.empty_like(x)\n    n = x.max().item()\n    ct.launch(s, (1,), k, (x, out, n))\n\ndef twice(x):\n    out = torch.empty_like(x)\n    ct.launch(s, (1,), k, (x, out))\n    n = out.max().item()\n    ct.launch(s, (1,), k, (x, out, n))\n",
        );
        // Before anything is allocated, after the launch, without one, in a kernel.
        good(
            &RULE,
            "import torch\nimport cuda.tile as ct\ndef run(x):\n    n = x.max().item()\n    out = torch.empty(n)\n    ct.launch(s, (1,), k, (x, out))\n",
        );
        good(
            &RULE,
            "import torch\nimport cuda.tile as ct\ndef run(x):\n    out = torch.empty(4)\n    return out.max().item()\n\n@ct.kernel\ndef k(x):\n    n = ct.load(x, (0,), (1,)).item()\n",
        );
    }

    #[test]
    fn every_way_to_allocate() {
        for made in [
            "torch.empty(4)",
            "torch.zeros(4)",
            "torch.ones(4)",
            "torch.full((4,), 1)",
            "torch.empty_strided((4,), (1,))",
            "torch.zeros_like(x)",
            "x.new_full((4,), 1)",
        ] {
            let code =
                code("    n = lens.max().item()  # TP304").replace("torch.empty_like(x)", made);
            bad(&RULE, &code);
        }
        for made in ["torch.sum(x)", "x.clone()", "np.zeros(4)"] {
            good(
                &RULE,
                &code("    n = lens.max().item()").replace("torch.empty_like(x)", made),
            );
        }
        // What a lambda does, it does when it is called; beside it one waits all the same.
        good(&RULE, &code("    f = lambda: lens.max().item()"));
        bad(
            &RULE,
            &code("    f = lambda: 1\n    n = lens.max().item()  # TP304"),
        );
    }
}
