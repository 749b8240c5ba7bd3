//! Blocks of a matrix product taken in groups.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use super::optimization::optimization;
use super::{Actions, KernelContext};
use crate::body::values;
use crate::rewrite::autotune::fresh;
use crate::rules::in_plain_order;

optimization! {
    /// Take the tiles of a product's result in groups of rows, so that blocks that run together share
    /// what they read.
    ///
    /// Blocks start in the order of their numbers. In plain order those that run at the same time work on
    /// one long row of the result and share one operand only; in groups of 4, 8 or 16 rows they work on a
    /// compact patch, and each operand is read from memory once for all of it. Every tile is still made
    /// once, by some block. Products whose operands fit in L2 gain nothing.
    ///
    /// ```python before
    /// @ct.kernel
    /// def matmul(a, b, c, T: ct.Constant[int]):
    ///     m = ct.bid(0)
    ///     n = ct.bid(1)
    ///     acc = ct.zeros((T, T), dtype=ct.float32)
    ///     for k in range(ct.num_tiles(a, axis=1, shape=(T, T))):
    ///         acc = ct.mma(ct.load(a, (m, k), (T, T)), ct.load(b, (k, n), (T, T)), acc)
    ///     ct.store(c, (m, n), ct.astype(acc, c.dtype))
    /// ```
    ///
    /// ```python after group=8
    /// @ct.kernel
    /// def matmul(a, b, c, T: ct.Constant[int]):
    ///     m = ct.bid(0)
    ///     n = ct.bid(1)
    ///     # Blocks in groups of 8 rows of tiles, which share operands in L2.
    ///     block = n * ct.num_blocks(0) + m
    ///     group = block // (8 * ct.num_blocks(1))
    ///     rows = min(ct.num_blocks(0) - group * 8, 8)
    ///     m = group * 8 + block % (8 * ct.num_blocks(1)) % rows
    ///     n = block % (8 * ct.num_blocks(1)) // rows
    ///     acc = ct.zeros((T, T), dtype=ct.float32)
    ///     for k in range(ct.num_tiles(a, axis=1, shape=(T, T))):
    ///         acc = ct.mma(ct.load(a, (m, k), (T, T)), ct.load(b, (k, n), (T, T)), acc)
    ///     ct.store(c, (m, n), ct.astype(acc, c.dtype))
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def row(a, c, T: ct.Constant[int]):
    ///     m = ct.bid(0)
    ///     n = ct.bid(1)
    ///     ct.store(c, (m, n), ct.load(a, (m, n), (T, T)) * 2)
    /// ```
    I "block-swizzle" Locality Same offer,
    gain "5-15 %" "large products, B200" "TileGym's guides",
}

/// Rows of tiles that are taken together.
const GROUPS: [u32; 3] = [4, 8, 16];

fn offer(at: &KernelContext<'_>, out: &mut Actions<'_>) {
    let Some(ct) = at.ct() else { return };
    if !in_plain_order(&at.as_device()) {
        return;
    }
    let Some(blocks) = Blocks::of(at) else { return };
    let text = at.text();
    let [block, group, rows] = ["block", "group", "rows"].map(|name| fresh(text, name));
    let (m, n) = (blocks.rows, blocks.columns);
    for size in GROUPS {
        let of_group = format!("{size} * {ct}.num_blocks(1)");
        let lines = [
            format!("# Blocks in groups of {size} rows of tiles, which share operands in L2."),
            format!("{block} = {n} * {ct}.num_blocks(0) + {m}"),
            format!("{group} = {block} // ({of_group})"),
            format!("{rows} = min({ct}.num_blocks(0) - {group} * {size}, {size})"),
            format!("{m} = {group} * {size} + {block} % ({of_group}) % {rows}"),
            format!("{n} = {block} % ({of_group}) // {rows}"),
        ];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let last = blocks.last.span;
        let edits = at.edits().lines_after(last.end, last.start, &lines);
        out.push(
            format!("group={size}"),
            format!("Take the tiles of the result in groups of {size} rows"),
            edits,
        );
    }
}

/// Where a kernel asks which block it is.
struct Blocks<'a> {
    rows: &'a SmolStr,
    columns: &'a SmolStr,
    /// The later of the statements.
    last: &'a Stmt,
}

impl<'a> Blocks<'a> {
    /// `m = ct.bid(0)` and `n = ct.bid(1)` among the kernel's own statements, or both in one, if the
    /// kernel asks nowhere else and binds the names nowhere else.
    fn of(at: &KernelContext<'a>) -> Option<Blocks<'a>> {
        let body = at.def.node.body.as_slice();
        let mut found: [Option<(&SmolStr, &Stmt)>; 2] = [None, None];
        for stmt in body {
            let StmtKind::Assign { targets, value } = &stmt.kind else {
                continue;
            };
            let [target] = targets.as_slice() else {
                continue;
            };
            for (target, value) in pairs(target, value) {
                if let (Some(name), Some(axis @ (0 | 1))) = (target.name(), axis(at, value)) {
                    found[axis].get_or_insert((name, stmt));
                }
            }
        }
        let [Some((rows, first)), Some((columns, second))] = found else {
            return None;
        };
        let last = match first.span.start > second.span.start {
            true => first,
            false => second,
        };
        let asked: usize = ["bid", "num_blocks"]
            .iter()
            .map(|name| {
                at.calls(&[name])
                    .iter()
                    .filter(|c| is_plane(at, c.call.arg(0, "axis")))
                    .count()
            })
            .sum();
        let once = |name: &SmolStr| values(body, name).len() == 1;
        let own_line = at.edits().own_line(last.span.start).is_some();
        (asked == 2 && once(rows) && once(columns) && own_line).then_some(Blocks {
            rows,
            columns,
            last,
        })
    }
}

/// Targets and values, one by one where both are tuples.
fn pairs<'a>(target: &'a Expr, value: &'a Expr) -> Vec<(&'a Expr, &'a Expr)> {
    match (&target.kind, &value.kind) {
        (ExprKind::Tuple(targets), ExprKind::Tuple(values)) if targets.len() == values.len() => {
            targets.iter().zip(values).collect()
        }
        _ => vec![(target, value)],
    }
}

/// The axis of a block's index.
fn axis(at: &KernelContext<'_>, value: &Expr) -> Option<usize> {
    let ExprKind::Call { args, .. } = &value.kind else {
        return None;
    };
    let [only] = args.as_slice() else { return None };
    let is_bid = at
        .file
        .module
        .api(callee(value)?)
        .is_some_and(|name| name == "bid");
    match &only.value.kind {
        ExprKind::Int(axis) if is_bid => usize::try_from(*axis).ok(),
        _ => None,
    }
}

fn callee(value: &Expr) -> Option<&Expr> {
    match &value.kind {
        ExprKind::Call { func, .. } => Some(func),
        _ => None,
    }
}

/// Whether an axis is one of the first two, or not written out.
fn is_plane(at: &KernelContext<'_>, axis: Option<&Expr>) -> bool {
    match axis.map(|axis| at.device.ty(axis).int()) {
        Some(Some(axis)) => axis < 2,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::OPTIMIZATION;
    use crate::playbook::testing::{none, variants};

    fn kernel(blocks: &str) -> String {
        format!(
            "@ct.kernel\ndef k(a, b, c, T: ct.Constant[int]):\n    {blocks}\n    acc = ct.zeros((T, T), dtype=ct.float32)\n    for i in range(ct.num_tiles(a, axis=1, shape=(T, T))):\n        acc = ct.mma(ct.load(a, (m, i), (T, T)), ct.load(b, (i, n), (T, T)), acc)\n    ct.store(c, (m, n), ct.astype(acc, c.dtype))\n"
        )
    }

    #[test]
    fn however_the_blocks_are_asked_for() {
        for blocks in [
            "m = ct.bid(0)\n    n = ct.bid(1)",
            "n = ct.bid(1)\n    # Rows.\n    m = ct.bid(0)",
            "m, n = ct.bid(0), ct.bid(1)",
            "z = ct.bid(2)\n    m, n = ct.bid(0), ct.bid(1)",
        ] {
            let all = variants(&OPTIMIZATION, &kernel(blocks));
            assert_eq!(all, ["group=4", "group=8", "group=16"], "{blocks}");
        }
    }

    #[test]
    fn not_where_blocks_are_used_otherwise() {
        for blocks in [
            "m = ct.bid(0)\n    n = ct.bid(1)\n    first = ct.bid(0)",
            "m = ct.bid(0)\n    n = ct.bid(1)\n    n = n + 1",
            "m = ct.bid(0)\n    n = ct.bid(1)\n    all = ct.num_blocks(1)",
            "if T > 8:\n        m = ct.bid(0)\n    n = ct.bid(1)",
            "m = ct.bid(0); n = ct.bid(1)",
        ] {
            none(&OPTIMIZATION, &kernel(blocks));
        }
    }

    #[test]
    fn every_tile_is_made_once() {
        for (rows, columns, size) in [(1, 1, 4), (7, 3, 4), (16, 5, 8), (9, 2, 16), (3, 9, 8)] {
            let mut made = vec![0; rows * columns];
            for n in 0..columns {
                for m in 0..rows {
                    let block = n * rows + m;
                    let group = block / (size * columns);
                    let height = (rows - group * size).min(size);
                    let at_m = group * size + block % (size * columns) % height;
                    let at_n = block % (size * columns) / height;
                    made[at_n * rows + at_m] += 1;
                }
            }
            assert!(made.iter().all(|times| *times == 1), "{rows} x {columns}");
        }
    }
}
