//! Tiles made anew in each iteration of a loop.

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use crate::body::{Device, Extent, Place, Tile};
use crate::rewrite::Edits;
use crate::rules::bindings;
use crate::rules::rule::rule;
use crate::rules::{Claim, DeviceContext, Findings};

rule! {
    /// A tile of constants, or a mask, is made anew in each iteration of a loop.
    ///
    /// Nothing in it changes from one iteration to the next: made before the loop it says so, and does
    /// not depend on the compiler to move it (tileiras 13.4 does in simple loops: where compiled code is
    /// known to be the same, nothing is said). Accumulators that an iteration starts from, and goes on to change, stay.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def copy(x, y, n: int, TILE: ct.Constant[int]):
    ///     for i in range(ct.cdiv(n, TILE)):
    ///         offsets = i * TILE + ct.arange(TILE, dtype=ct.int32)  # TP409
    ///         ct.scatter(y, offsets, ct.gather(x, offsets))
    /// ```
    ///
    /// ```python fixed
    /// @ct.kernel
    /// def copy(x, y, n: int, TILE: ct.Constant[int]):
    ///     arange = ct.arange(TILE, dtype=ct.int32)
    ///     for i in range(ct.cdiv(n, TILE)):
    ///         offsets = i * TILE + arange
    ///         ct.scatter(y, offsets, ct.gather(x, offsets))
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def product(a, b, c, n: int, T: ct.Constant[int]):
    ///     for i in range(ct.bid(0), n, ct.num_blocks(0)):
    ///         acc = ct.zeros((T, T), dtype=ct.float32)
    ///         for k in range(ct.num_tiles(a, axis=1, shape=(T, T))):
    ///             acc = ct.mma(ct.load(a, (i, k), (T, T)), ct.load(b, (k, i), (T, T)), acc)
    ///         ct.store(c, (i, i), acc)
    /// ```
    TP409 "loop-invariant-tile" Hint,
    Device(check)
}

/// What is asked of a loop for each expression in it.
struct Around {
    hot: bool,
    changed: FxHashSet<SmolStr>,
}

fn check(at: &DeviceContext<'_>, out: &mut Findings<'_>) {
    let device = &at.device;
    let mut loops: FxHashMap<Span, Around> = FxHashMap::default();
    let mut done: Vec<Span> = Vec::new();
    let mut accumulators: Vec<Span> = Vec::new();
    device.walk(&mut |expr, place| {
        let Some(around) = place.loops().last() else {
            return;
        };
        // Where a product starts from: that zero costs nothing.
        if let Some(call) = device.call(expr)
            && matches!(call.name.as_str(), "mma" | "mma_scaled")
        {
            let place = if call.name == "mma" { 2 } else { 4 };
            accumulators.extend(call.arg(place, "acc").map(|e| e.span));
        }
        if !is_candidate(device, expr) || accumulators.contains(&expr.span) {
            return;
        }
        let known = loops.entry(around.span).or_insert_with(|| Around {
            hot: is_hot(device, around),
            changed: changed(around),
        });
        if !known.hot || done.iter().any(|s| s.contains(expr.span)) {
            return;
        }
        if is_start(expr, place, &known.changed, around) {
            done.push(expr.span);
        } else if is_invariant(device, expr, &known.changed) {
            done.push(expr.span);
            report(at, expr, around, place, out);
        }
    });
}

/// A tile of constants or a mask, of more than one element, that is made here.
fn is_candidate(device: &Device<'_>, expr: &Expr) -> bool {
    device
        .tile(expr)
        .is_some_and(|tile| (tile.constant || tile.mask) && !is_one(tile) && is_made(device, expr))
}

fn report<'a>(
    at: &DeviceContext<'a>,
    expr: &'a Expr,
    around: &'a Stmt,
    place: &Place<'a>,
    out: &mut Findings<'_>,
) {
    let text = at.source(expr.span);
    let shown = if text.contains('\n') {
        "The tile"
    } else {
        text
    };
    let quoted = if shown == text {
        format!("`{text}`")
    } else {
        shown.to_owned()
    };
    let described = out.push(
        expr.span,
        format!("{quoted} is the same in every iteration; make it before the loop"),
    );
    let name = fresh(at, expr);
    let edits = Edits::new(at.text);
    let edits = match place.stmt().map(|s| (s, &s.kind)) {
        // The whole of a statement that is the only one to bind its name.
        Some((stmt, StmtKind::Assign { targets, value }))
            if value.span == expr.span
                && alone(at, stmt, targets)
                && edits.own_line(stmt.span.start).is_some() =>
        {
            let line = at.source(stmt.span);
            if line.contains('\n')
                || at.text[stmt.span.end as usize..]
                    .lines()
                    .next()
                    .is_some_and(|rest| rest.contains(';'))
            {
                return;
            }
            edits
                .lines_before(around.span.start, &[line])
                .delete_lines(stmt.span)
        }
        _ if text.contains('\n') => return,
        _ => edits
            .lines_before(around.span.start, &[&format!("{name} = {text}")])
            .replace(expr.span, name),
    };
    if Edits::new(at.text).own_line(around.span.start).is_some() {
        described
            .claim(Claim::Matters(edits.clone().finish()))
            .safe_fix("Make it before the loop", edits);
    }
}

/// The statement binds one name, nothing else does, and it is not the only one of its block.
fn alone(at: &DeviceContext<'_>, stmt: &Stmt, targets: &[Expr]) -> bool {
    let [target] = targets else {
        return false;
    };
    target.name().is_some()
        && at.device.follow(target).span != target.span
        && has_siblings(&at.device.def.body, stmt)
}

fn has_siblings(body: &[Stmt], stmt: &Stmt) -> bool {
    if body.iter().any(|s| s.span == stmt.span) {
        return body.len() > 1;
    }
    (body.iter().flat_map(Stmt::blocks)).any(|inner| has_siblings(inner, stmt))
}

/// A name that the function does not know yet.
fn fresh(at: &DeviceContext<'_>, expr: &Expr) -> String {
    let base = match at.device.call(expr) {
        Some(call) => call.name.to_string(),
        None if at.device.tile(expr).is_some_and(|t| t.mask) => "mask".to_owned(),
        None => "tile".to_owned(),
    };
    let is_taken = |name: &str| {
        let mut read = false;
        at.device
            .walk(&mut |e, _| read |= e.name().is_some_and(|n| n == name));
        read || at.device.binds(name) || at.device.param(name).is_some()
    };
    let numbered = (2..).map(|n| format!("{base}_{n}"));
    std::iter::once(base.clone())
        .chain(numbered)
        .find(|name| !is_taken(name))
        .unwrap_or(base)
}

/// Names that a loop binds.
fn changed(around: &Stmt) -> FxHashSet<SmolStr> {
    let mut names = FxHashSet::default();
    if let StmtKind::For { target, .. } = &around.kind {
        bindings::target_names(target, &mut |n| {
            names.insert(n.clone());
        });
    }
    for inner in around.blocks() {
        names.extend(bindings::bound(inner));
    }
    names
}

/// A loop that is neither unrolled when it is compiled nor mostly spent in loops within it.
fn is_hot(device: &Device<'_>, around: &Stmt) -> bool {
    !is_unrolled(device, around) && !around.blocks().into_iter().any(|b| loops(device, b))
}

fn is_unrolled(device: &Device<'_>, around: &Stmt) -> bool {
    matches!(&around.kind, StmtKind::For { iter, .. } if device.call(iter).is_some_and(|c| c.name == "static_iter"))
}

fn loops(device: &Device<'_>, body: &[Stmt]) -> bool {
    body.iter().any(|stmt| {
        let itself = matches!(stmt.kind, StmtKind::For { .. } | StmtKind::While { .. });
        (itself && !is_unrolled(device, stmt))
            || stmt.blocks().into_iter().any(|b| loops(device, b))
    })
}

/// A single element: nothing to save.
fn is_one(tile: &Tile) -> bool {
    (tile.shape.as_ref()).is_some_and(|s| s.iter().all(|e| *e == Extent::Int(1)))
}

/// Something is made, not only named or looked at in another shape.
fn is_made(device: &Device<'_>, expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Compare { .. } | ExprKind::Binary { .. } => true,
        ExprKind::Subscript { value, .. } => is_made(device, value),
        ExprKind::Call { .. } => device.call(expr).is_some_and(|c| match c.name.as_str() {
            "reshape" | "expand_dims" | "broadcast_to" => {
                c.arg(0, "x").is_some_and(|e| is_made(device, e))
            }
            name => PURE.contains(&name),
        }),
        _ => false,
    }
}

const PURE: [&str; 18] = [
    "zeros",
    "ones",
    "full",
    "arange",
    "astype",
    "reshape",
    "expand_dims",
    "broadcast_to",
    "where",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "equal",
    "not_equal",
    "add",
    "mul",
    "sub",
];

fn is_invariant(device: &Device<'_>, expr: &Expr, changed: &FxHashSet<SmolStr>) -> bool {
    match &expr.kind {
        ExprKind::Name(name) => !changed.contains(name),
        ExprKind::Call { func, args } => {
            let pure = match device.call(expr) {
                Some(call) => {
                    PURE.contains(&call.name.as_str())
                        || matches!(call.name.as_str(), "bid" | "cdiv")
                        || crate::body::Dtype::named(&call.name).is_some()
                }
                None => func
                    .name()
                    .is_some_and(|n| matches!(n.as_str(), "float" | "int" | "min" | "max")),
            };
            pure && args
                .iter()
                .all(|a| a.stars == 0 && is_invariant(device, &a.value, changed))
        }
        ExprKind::Lambda { .. } | ExprKind::Comprehension { .. } | ExprKind::Named { .. } => false,
        _ => {
            let mut all = true;
            expr.children(&mut |e| all &= is_invariant(device, e, changed));
            all
        }
    }
}

/// What an iteration starts from and changes: its name is bound again in the loop.
fn is_start(expr: &Expr, place: &Place<'_>, changed: &FxHashSet<SmolStr>, around: &Stmt) -> bool {
    let Some(StmtKind::Assign { targets, value }) = place.stmt().map(|s| &s.kind) else {
        return false;
    };
    let [target] = &targets[..] else {
        return false;
    };
    let whole = value.span == expr.span || matches!(value.kind, ExprKind::Tuple(_));
    whole
        && match &target.kind {
            ExprKind::Name(name) => changed.contains(name) && times_bound(around, name) > 1,
            ExprKind::Tuple(_) => true,
            _ => false,
        }
}

fn times_bound(around: &Stmt, name: &SmolStr) -> usize {
    fn count(body: &[Stmt], name: &SmolStr) -> usize {
        let mut times = 0;
        for stmt in body {
            match &stmt.kind {
                StmtKind::Assign { targets, .. } => {
                    for target in targets {
                        bindings::target_names(target, &mut |n| times += usize::from(n == name));
                    }
                }
                StmtKind::AugAssign { target, .. } | StmtKind::For { target, .. } => {
                    bindings::target_names(target, &mut |n| times += usize::from(n == name));
                }
                _ => {}
            }
            times += stmt
                .blocks()
                .into_iter()
                .map(|b| count(b, name))
                .sum::<usize>();
        }
        times
    }
    around.blocks().into_iter().map(|b| count(b, name)).sum()
}

#[cfg(test)]
mod tests;
