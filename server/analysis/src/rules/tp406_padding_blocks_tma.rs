//! Padding that keeps a load from the tensor memory accelerator.

use rustc_hash::FxHashSet;
use tileperf_syntax::ast::{Expr, StmtKind};

use crate::body::{ApiCall, Device, Place, Ty};
use crate::rules::bindings::target_names;
use crate::rules::rule::rule;
use crate::rules::{Claim, DeviceContext, Findings, Lowering};

rule! {
    /// Padding other than zero keeps a load that is read again and again from TMA.
    ///
    /// The tensor memory accelerator (sm_90 and later) pads with zeros only; a load with `NEG_INF`,
    /// `NAN` and the like is compiled to plain loads (remark "TMA only supports zero padding",
    /// tileiras 13.4). For data that several iterations or blocks read this costs: pad with zeros and
    /// select with `ct.where`. For data that is streamed once plain loads are often faster.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def largest(x, y, n: int, TILE: ct.Constant[int]):
    ///     best = ct.full((1, TILE), float("-inf"), ct.float32)
    ///     for j in range(ct.cdiv(n, TILE)):
    ///         tile = ct.load(x, (ct.bid(0), j), (1, TILE), padding_mode=ct.PaddingMode.NEG_INF)  # TP406
    ///         best = ct.maximum(best, ct.astype(tile, ct.float32))
    ///     for j in range(ct.cdiv(n, TILE)):
    ///         tile = ct.load(x, (ct.bid(0), j), (1, TILE))
    ///         ct.store(y, (ct.bid(0), j), tile - ct.max(best))
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def largest(x, y, n: int, TILE: ct.Constant[int]):
    ///     row = ct.bid(0)
    ///     tile = ct.load(x, (row, 0), (1, TILE), padding_mode=ct.PaddingMode.NEG_INF)
    ///     ct.store(y, (row, 0), ct.max(tile, axis=1, keepdims=True))
    /// ```
    TP406 "padding-blocks-tma" Hint,
    Device(check)
}

fn check(at: &DeviceContext<'_>, out: &mut Findings<'_>) {
    let archs: Vec<_> = (at.target.archs.iter().copied())
        .filter(|a| a.has_tma())
        .collect();
    if archs.is_empty() {
        return;
    }
    let device = &at.device;
    let mut loads = Vec::new();
    device.calls(&mut |call, place| {
        if call.name == "load" {
            loads.push((call.clone(), place.clone()));
        }
    });
    for (call, place) in &loads {
        let Some((mode, name)) = padding(device, call) else {
            continue;
        };
        let again = same_array(device, call, &loads) || repeats(device, call, place);
        if !again {
            continue;
        }
        let array = call.arg(0, "array").map_or("", |a| at.source(a.span));
        let said = |keeps: &str| {
            format!(
                "`{name}` {keeps} the repeated load from `{array}` from TMA, which pads with zeros only; pad with ZERO and select with `where`"
            )
        };
        out.push(mode.span, said("may keep"))
            .archs(archs.iter().copied())
            .claim(Claim::stated(
                call.expr.span,
                Lowering::NoTma,
                said("keeps"),
            ));
    }
}

/// The padding mode of a load, if it is one that TMA does not have.
fn padding<'a>(device: &Device<'a>, call: &ApiCall<'a>) -> Option<(&'a Expr, String)> {
    let mode = call.keyword("padding_mode")?;
    let Ty::Api(name) = device.ty(mode) else {
        return None;
    };
    let name = name.strip_prefix("PaddingMode.")?;
    (!matches!(name, "ZERO" | "UNDETERMINED")).then(|| (mode, name.to_owned()))
}

/// Another load of the function reads the same array.
fn same_array<'a>(
    device: &Device<'a>,
    call: &ApiCall<'a>,
    loads: &[(ApiCall<'a>, Place<'a>)],
) -> bool {
    let array = |c: &ApiCall<'a>| match c.arg(0, "array").map(|e| device.ty(e)) {
        Some(Ty::Array(name)) => Some(name.clone()),
        _ => None,
    };
    let mine = array(call);
    mine.is_some()
        && (loads.iter())
            .any(|(other, _)| other.expr.span != call.expr.span && array(other) == mine)
}

/// The index leaves a loop around it, or an axis of the grid, out: the same tile is read again.
fn repeats<'a>(device: &Device<'a>, call: &ApiCall<'a>, place: &Place<'a>) -> bool {
    let Some(index) = call.arg(1, "index") else {
        return false;
    };
    let mut used = FxHashSet::default();
    names(device, index, 6, &mut used);
    // A counter is made of where it starts and how it steps.
    for stmt in place.loops() {
        if let StmtKind::For { target, iter, .. } = &stmt.kind
            && target.name().is_some_and(|n| used.contains(n.as_str()))
        {
            names(device, iter, 6, &mut used);
        }
    }
    let innermost = place.loops().last();
    let counter_left_out = innermost.is_some_and(|stmt| match &stmt.kind {
        StmtKind::For { target, body, .. } => {
            let mut bound = super::bindings::bound(body);
            target_names(target, &mut |n| {
                bound.insert(n.clone());
            });
            bound.iter().all(|n| !used.contains(n.as_str()))
        }
        _ => false,
    });
    let mut grid = FxHashSet::default();
    device.calls(&mut |call, _| {
        if call.name == "bid" {
            grid.insert(axis(device, call));
        }
    });
    counter_left_out || (innermost.is_some() && grid.iter().any(|a| !used.contains(a)))
}

/// `bid(0)` as a name of its own.
fn axis(device: &Device<'_>, call: &ApiCall<'_>) -> String {
    let axis = call.arg(0, "axis").and_then(|a| device.ty(a).int());
    format!(
        "bid({})",
        axis.map_or_else(|| "?".to_owned(), |a| a.to_string())
    )
}

/// Names and block indices that an expression is made of, names followed.
fn names<'a>(device: &Device<'a>, expr: &'a Expr, hops: u32, out: &mut FxHashSet<String>) {
    expr.walk(&mut |e| {
        if let Some(call) = device.call(e)
            && call.name == "bid"
        {
            out.insert(axis(device, &call));
        }
        if let Some(name) = e.name() {
            let seen = !out.insert(name.to_string());
            let followed = device.follow(e);
            if hops > 0 && !seen && followed.span != e.span {
                names(device, followed, hops - 1, out);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::arch::Arch;
    use crate::rules::testing::{bad, good, good_for};
    use crate::target::Target;

    fn kernel(body: &str) -> String {
        format!(
            "@ct.kernel\ndef k(x, y, n: int, T: ct.Constant[int]):\n    i = ct.bid(0)\n    {}\n",
            body.replace('\n', "\n    ")
        )
    }

    const PAD: &str = "padding_mode=ct.PaddingMode";

    #[test]
    fn read_again_by_iterations_or_blocks() {
        for body in [
            // The same tile in each iteration.
            format!(
                "for j in range(n):\n    t = ct.load(x, (i, 0), (1, T), {PAD}.NEG_INF)  # TP406\n    ct.store(y, (i, j), t)"
            ),
            // The same tiles in each block of an axis.
            format!(
                "b = ct.bid(1)\nfor j in range(n):\n    t = ct.load(x, (b, j), (1, T), {PAD}.NAN)  # TP406\n    ct.store(y, (i, j), t)"
            ),
            format!(
                "for j in range(n):\n    t = ct.load(x, (0, j), (1, T), {PAD}.POS_INF)  # TP406\n    ct.store(y, (i, j), t)"
            ),
            // Twice.
            format!(
                "t = ct.load(x, (i, 0), (1, T), {PAD}.NEG_INF)  # TP406\nu = ct.load(x, (i, 0), (1, T), {PAD}.NEG_ZERO)  # TP406\nct.store(y, (i, 0), t + u)"
            ),
        ] {
            bad(&RULE, &kernel(&body));
        }
    }

    #[test]
    fn silent_on_streams_and_zeros() {
        for body in [
            format!("t = ct.load(x, (i, 0), (1, T), {PAD}.NEG_INF)\nct.store(y, (i, 0), t)"),
            format!(
                "for j in range(n):\n    t = ct.load(x, (i, j), (1, T), {PAD}.NEG_INF)\n    ct.store(y, (i, j), t)"
            ),
            format!(
                "for j in range(i, n, ct.num_blocks(0)):\n    r = j // 2\n    t = ct.load(x, (r, j), (1, T), {PAD}.NEG_INF)\n    ct.store(y, (i, j), t)"
            ),
            format!(
                "for j in range(n):\n    t = ct.load(x, (0, j), (1, T), {PAD}.ZERO)\n    ct.store(y, (i, j), t)"
            ),
            format!(
                "for j in range(n):\n    t = ct.load(x, (0, j), (1, T), {PAD}.UNDETERMINED)\n    ct.store(y, (i, j), t)"
            ),
            "for j in range(n):\n    t = ct.load(x, (0, j), (1, T))\n    ct.store(y, (i, j), t)"
                .to_owned(),
        ] {
            good(&RULE, &kernel(&body));
        }
        let ampere = Target {
            archs: vec![Arch::Sm80],
            ..Target::default()
        };
        let again = format!(
            "for j in range(n):\n    t = ct.load(x, (0, j), (1, T), {PAD}.NAN)\n    ct.store(y, (i, j), t)"
        );
        good_for(&RULE, &kernel(&again), &ampere);
    }
}
