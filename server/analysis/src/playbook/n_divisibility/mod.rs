//! What the host knows of offsets and strides, and the compiler does not.

mod strides;

use std::collections::BTreeSet;

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, StmtKind};

use crate::body::{Ty, argument};
use crate::playbook::host::Host;
use crate::playbook::optimization::optimization;
use crate::playbook::site::{Site, only_launches};
use crate::playbook::{Actions, KernelContext};
use crate::target::Version;

optimization! {
    /// Say of which power of two an offset is a multiple: `ct.assume_divisible_by`.
    ///
    /// A slice of an array that begins at a number known only when the kernel runs may begin anywhere,
    /// so nothing of it is loaded by TMA ("base pointer not 16-byte aligned"), or in wide pieces. cuTile
    /// finds out by itself how the arrays that are passed are aligned, but not what the numbers are
    /// multiples of. If the number is no multiple what happens is undefined, so this is offered only
    /// where every launch passes a number that is one, or makes sure of it first. For a slice along an
    /// axis that is not contiguous the code stays the same.
    ///
    /// ```python before
    /// @ct.kernel
    /// def copy(x, y, first, TILE: ct.Constant[int]):
    ///     part = x.slice(axis=1, start=first, stop=first + 4096)
    ///     for j in range(4096 // TILE):
    ///         ct.store(y, (ct.bid(0), j), ct.load(part, (ct.bid(0), j), (TILE, TILE)))
    ///
    /// def columns(x, first):
    ///     if first % 64 != 0:
    ///         raise ValueError("columns are taken in groups of 64")
    ///     y = torch.empty((x.shape[0], 4096), dtype=x.dtype, device=x.device)
    ///     ct.launch(torch.cuda.current_stream(), (x.shape[0] // 64,), copy, (x, y, first, 64))
    ///     return y
    /// ```
    ///
    /// ```python after
    /// @ct.kernel
    /// def copy(x, y, first, TILE: ct.Constant[int]):
    ///     first = ct.assume_divisible_by(first, 64)
    ///     part = x.slice(axis=1, start=first, stop=first + 4096)
    ///     for j in range(4096 // TILE):
    ///         ct.store(y, (ct.bid(0), j), ct.load(part, (ct.bid(0), j), (TILE, TILE)))
    ///
    /// def columns(x, first):
    ///     if first % 64 != 0:
    ///         raise ValueError("columns are taken in groups of 64")
    ///     y = torch.empty((x.shape[0], 4096), dtype=x.dtype, device=x.device)
    ///     ct.launch(torch.cuda.current_stream(), (x.shape[0] // 64,), copy, (x, y, first, 64))
    ///     return y
    /// ```
    ///
    /// Strides are run-time numbers too, but for that of the contiguous axis. With `ct.ArrayAnnotation` they
    /// are constants of the compiled kernel, with the values of the launch, and addresses take fewer
    /// registers. Results stay the same; each other stride compiles the kernel anew. It is offered where
    /// every array of several axes that a loop reads or writes is contiguous, as the host says: then strides
    /// follow from extents.
    ///
    /// ```python before
    /// from typing import Annotated
    ///
    /// @ct.kernel
    /// def double(x, y, n, TILE: ct.Constant[int]):
    ///     rows = ct.bid(0) * TILE + ct.arange(TILE, dtype=ct.int32)
    ///     for j in range(n):
    ///         ct.scatter(y, (rows, j), ct.gather(x, (rows, j)) * 2)
    ///
    /// def doubled(x):
    ///     x = x.contiguous()
    ///     y = torch.empty_like(x)
    ///     ct.launch(torch.cuda.current_stream(), (x.shape[0] // 64,), double, (x, y, x.shape[1], 64))
    ///     return y
    /// ```
    ///
    /// ```python after strides
    /// from typing import Annotated
    ///
    /// @ct.kernel
    /// def double(x: Annotated[ct.Array, ct.ArrayAnnotation(static_stride_dims=(0, 1))], y: Annotated[ct.Array, ct.ArrayAnnotation(static_stride_dims=(0, 1))], n, TILE: ct.Constant[int]):
    ///     rows = ct.bid(0) * TILE + ct.arange(TILE, dtype=ct.int32)
    ///     for j in range(n):
    ///         ct.scatter(y, (rows, j), ct.gather(x, (rows, j)) * 2)
    ///
    /// def doubled(x):
    ///     x = x.contiguous()
    ///     y = torch.empty_like(x)
    ///     ct.launch(torch.cuda.current_stream(), (x.shape[0] // 64,), double, (x, y, x.shape[1], 64))
    ///     return y
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def copy(x, y, first, TILE: ct.Constant[int]):
    ///     part = x.slice(axis=1, start=first, stop=first + TILE)
    ///     ct.store(y, (ct.bid(0), 0), ct.load(part, (ct.bid(0), 0), (TILE, TILE)))
    ///
    /// def columns(x, y, first):
    ///     # Any number may be passed.
    ///     ct.launch(torch.cuda.current_stream(), (x.shape[0] // 64,), copy, (x, y, first, 64))
    /// ```
    N "divisibility" Vectorization Same offer,
    gain "TMA instead of plain loads" "a product of columns from an offset, float16, sm_90" "tileiras 13.4",
    gain "up to a quarter of the registers less, with `strides`" "copies of rows in a loop, float16, sm_90 and sm_100" "tileiras 13.4",
    gain "a seventh of the code" "a copy of columns from an offset, float16, sm_80 to sm_100" "tileiras 13.4",
}

/// The first version with `assume_divisible_by`.
const SINCE: Version = Version::new(1, 5, 0);

/// The largest divisor that the compiler makes use of.
const MOST: i64 = 1024;

/// How often names are followed.
const HOPS: u32 = 4;

fn offer(at: &KernelContext<'_>, out: &mut Actions<'_>) {
    multiples(at, out);
    strides::offer(at, out);
}

fn multiples(at: &KernelContext<'_>, out: &mut Actions<'_>) {
    let Some(ct) = at.ct() else { return };
    if at.file.target.cuda_tile.is_some_and(|v| v < SINCE) {
        return;
    }
    let starts = starts(at);
    if starts.is_empty() {
        return;
    }
    let Ok(launches) = only_launches(at) else {
        return;
    };
    let sites = launches.into_iter().map(|launch| Site::of(at, launch));
    let Ok(sites) = sites.collect::<Result<Vec<_>, _>>() else {
        return;
    };
    let known: Vec<(&SmolStr, i64)> = (starts.into_iter())
        .filter_map(|param| Some((param, divisor(at, &sites, param)?)))
        .collect();
    let body = at.def.node.body.iter();
    let mut first = body.skip_while(
        |stmt| matches!(&stmt.kind, StmtKind::Expr(e) if matches!(e.kind, ExprKind::Str(_))),
    );
    let edits = at.edits();
    let Some(first) = first
        .next()
        .filter(|s| edits.own_line(s.span.start).is_some())
    else {
        return;
    };
    let assume = |(param, by): &(&SmolStr, i64)| {
        format!("{param} = {ct}.assume_divisible_by({param}, {by})")
    };
    let lines: Vec<String> = known.iter().map(assume).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let facts: Vec<String> = (known.iter())
        .map(|(param, by)| format!("`{param}` is a multiple of {by}"))
        .collect();
    if facts.is_empty() {
        return;
    }
    let title = format!("Say that {}", facts.join(", and "));
    let edits = edits.lines_before(first.span.start, &lines);
    let mut described = out.push("", title, edits);
    for fact in facts {
        described = described.if_only(format!("{fact} at every launch, as the host says"));
    }
}

/// The parameters that are numbers at which slices begin, or that such numbers are made of.
fn starts<'a>(at: &KernelContext<'a>) -> BTreeSet<&'a SmolStr> {
    let mut out = BTreeSet::new();
    at.device.walk(&mut |expr, _| {
        let ExprKind::Call { func, args } = &expr.kind else {
            return;
        };
        let ExprKind::Attribute { value, attr } = &func.kind else {
            return;
        };
        if attr.name == "slice"
            && matches!(at.device.ty(value), Ty::Array(_))
            && let Some(start) = argument(args, Some(1), "start")
        {
            numbers(at, start, HOPS, &mut out);
        }
    });
    out
}

/// Adds the parameters known only at run time that a number is made of.
fn numbers<'a>(at: &KernelContext<'a>, expr: &'a Expr, hops: u32, out: &mut BTreeSet<&'a SmolStr>) {
    let Some(hops) = hops.checked_sub(1) else {
        return;
    };
    let expr = at.device.follow(expr);
    match &expr.kind {
        ExprKind::Name(name) => {
            let given = at
                .parameter(expr)
                .filter(|_| !at.device.constants.contains(name));
            out.extend(given);
        }
        ExprKind::Binary { left, right, .. } => {
            numbers(at, left, hops, out);
            numbers(at, right, hops, out);
        }
        _ => {}
    }
}

/// The largest power of two that divides what every launch passes for a parameter.
fn divisor<'a>(at: &KernelContext<'a>, sites: &[Site<'a>], param: &SmolStr) -> Option<i64> {
    let place = at.kernel.params.iter().position(|p| p.name == *param)?;
    let mut least = MOST;
    for site in sites {
        // No array's axes are counted from the end here.
        let host = Host::new(site, 0);
        let number = host.term(site.passed.get(place)?)?;
        least = least.min(host.power_of_two(&number, MOST));
    }
    (least > 1).then_some(least)
}

#[cfg(test)]
mod tests;
