//! Waiting for the device before a launch.

use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef, Stmt, StmtKind};

use super::waits::{Wait, wait, wait_within};
use crate::body::{ModuleEnv, Place, walk};
use crate::rules::rule::rule;
use crate::rules::{FileContext, Findings, InItem, ItemContext, Links};

rule! {
    /// A value is read back from the device between allocating a kernel's outputs and launching it,
    /// so that every call waits for all work before it.
    ///
    /// `.item()`, `.tolist()` and `.cpu()` block until the stream is idle, and so does
    /// `torch.cuda.synchronize()`: the launch cannot be queued behind the work before it, the device
    /// runs dry, and the function cannot be captured in a CUDA graph. Keep the value on the device and
    /// let the kernel load it, or read it where it is made. Functions of the workspace that are called
    /// on the way are looked into; one that waits in some case only is not reported.
    ///
    /// ```python bad
    /// def run(x, mask, stream, kernel):
    ///     out = torch.empty_like(x)
    ///     scale = 1.0 / mask.sum().item()  # TP304
    ///     ct.launch(stream, (64,), kernel, (x, out, scale))
    ///     return out
    ///
    /// def longest(lens):
    ///     return int(lens.max().item())
    ///
    /// def run_ragged(x, lens, stream, kernel):
    ///     out = torch.empty_like(x)
    ///     n = longest(lens)  # TP304
    ///     ct.launch(stream, (n,), kernel, (x, out))
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
    Item(check), Workspace(check_called)
}

fn check(item: &ItemContext<'_>, out: &mut Findings<'_>) {
    for def in item.functions() {
        if item.is_device(def) || is_test(def) {
            continue;
        }
        let waits = before_launch(item.module, def, &|call| wait(item.module, def, call));
        for (call, wait) in waits {
            out.push(call.span, message(&format!("`{}`", wait.how), def, &wait));
        }
    }
}

/// Functions called on the way to a launch, of this file or another.
fn check_called(file: &FileContext<'_>, links: &dyn Links, out: &mut Findings<'_>) {
    let mut seen: Vec<Span> = Vec::new();
    for launch in file.model.launches.iter().filter(|l| !l.stale) {
        let Some(def) = file.functions_around(launch.span).first().copied() else {
            continue;
        };
        let place = def.place(def.node.def_span);
        if seen.contains(&place) || is_test(def.node) {
            continue;
        }
        seen.push(place);
        let waits = before_launch(file.module, def.node, &|call| {
            wait_within(file, links, def, call)
        });
        for (call, wait) in waits {
            let what = format!(
                "`{}` calls `{}`, which",
                called(file, def.with(call)),
                wait.how
            );
            let found = out.push(def.place(call.span), message(&what, def.node, &wait));
            if let Some(at) = wait.at {
                found.related(at, "waits here");
            }
        }
    }
}

/// A test looks at what a kernel made as soon as it can.
fn is_test(def: &FunctionDef) -> bool {
    def.name.name.trim_start_matches('_').starts_with("test_")
}

/// What is called, as written.
fn called<'a>(file: &FileContext<'a>, call: InItem<'a, Expr>) -> &'a str {
    match &call.node.kind {
        ExprKind::Call { func, .. } => file.source(call.place(func.span)),
        _ => "",
    }
}

fn message(what: &str, def: &FunctionDef, wait: &Wait) -> String {
    let instead = if wait.how.starts_with('.') {
        "keep the value on the device"
    } else {
        "one stream runs in order without it"
    };
    format!(
        "{what} waits for the device before the kernel of `{}` is launched; {instead}",
        def.name.name
    )
}

/// Calls on the way from the first allocation to the first launch, as far as they wait: what comes
/// after that launch does not hold it up.
fn before_launch<'a>(
    module: &ModuleEnv,
    def: &'a FunctionDef,
    wait: &dyn Fn(&'a Expr) -> Option<Wait>,
) -> Vec<(&'a Expr, Wait)> {
    let mut allocated = false;
    let mut launched: Option<Span> = None;
    let mut waits = Vec::new();
    let mut lambdas: Vec<Span> = Vec::new();
    walk(&def.body, &mut |expr, place| {
        let ExprKind::Call { func, .. } = &expr.kind else {
            if matches!(expr.kind, ExprKind::Lambda { .. }) {
                lambdas.push(expr.span);
            }
            return;
        };
        // What the launch is given is evaluated before it.
        let is_after = launched.is_some_and(|launch| !launch.contains(expr.span));
        if is_after || lambdas.iter().any(|l| l.contains(expr.span)) {
            return;
        }
        if module.api(func).is_some_and(|name| name == "launch") {
            launched = Some(expr.span);
        } else if allocates(module, func) {
            allocated = true;
        } else if allocated && !is_aside(expr, place) {
            waits.extend(wait(expr).map(|wait| (expr, wait)));
        }
    });
    launched.map_or_else(Vec::new, |_| waits)
}

/// `torch.empty(...)`, `x.new_zeros(...)`.
fn allocates(module: &ModuleEnv, func: &Expr) -> bool {
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
        && module
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

#[cfg(test)]
mod tests;
