//! Masks given to the access instead of a selection after it.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use super::optimization::optimization;
use super::{Actions, KernelContext};
use crate::body::{ApiCall, Const, Ty, values};
use crate::rewrite::arguments::add_argument;

optimization! {
    /// Give a gather its mask and what to read outside it, in place of a `ct.where` after it.
    ///
    /// `ct.gather` takes a `mask` and a `padding_value`; a selection that puts the same number in the
    /// same places is one step more. The results are the same as long as the mask is false wherever the
    /// indices are outside the array: there the gather gave zero before, and gives the number now.
    ///
    /// ```python before
    /// @ct.kernel
    /// def total(x, y, n, TILE: ct.Constant[int]):
    ///     columns = ct.arange(TILE, dtype=ct.int32)
    ///     row = ct.gather(x, (ct.bid(0), columns))
    ///     row = ct.where(columns < n, row, -1.0)
    ///     ct.store(y, (ct.bid(0),), ct.max(row))
    /// ```
    ///
    /// ```python after
    /// @ct.kernel
    /// def total(x, y, n, TILE: ct.Constant[int]):
    ///     columns = ct.arange(TILE, dtype=ct.int32)
    ///     row = ct.gather(x, (ct.bid(0), columns), mask=columns < n, padding_value=-1.0)
    ///     ct.store(y, (ct.bid(0),), ct.max(row))
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def total(x, y, n, TILE: ct.Constant[int]):
    ///     columns = ct.arange(TILE, dtype=ct.int32)
    ///     row = ct.gather(x, (ct.bid(0), columns))
    ///     masked = ct.where(columns < n, row, -1.0)
    ///     ct.store(y, (ct.bid(0),), ct.max(masked) - ct.max(row))
    /// ```
    P "masked-gather" Fusion Same offer,
    gain "fewer selects" "kernels over ragged rows" "TileGym's guides",
}

fn offer(at: &KernelContext<'_>, out: &mut Actions<'_>) {
    let mut edits = at.edits();
    let mut found = 0;
    let mut masks: Vec<&str> = Vec::new();
    for pair in Selection::all(at) {
        let mask = at.source(pair.mask.span);
        let padding = at.source(pair.padding.span);
        let arguments = format!("mask={mask}, padding_value={padding}");
        edits = add_argument(edits, pair.gather.expr, &arguments);
        edits = match pair.of {
            Of::Statement(stmt) => edits.delete_lines(stmt.span),
            // What is around the gather goes; the gather stays.
            Of::Call(call) => {
                let gather = pair.gather.expr.span;
                let before = tileperf_syntax::Span {
                    start: call.span.start,
                    end: gather.start,
                };
                let behind = tileperf_syntax::Span {
                    start: gather.end,
                    end: call.span.end,
                };
                edits.replace(before, "").replace(behind, "")
            }
        };
        if !masks.contains(&mask) {
            masks.push(mask);
        }
        found += 1;
    }
    let title = match found {
        0 => return,
        1 => "Give the gather its mask".to_owned(),
        n => format!("Give {n} gathers their masks"),
    };
    let premise = format!(
        "`{}` is false wherever indices are outside the array",
        masks.join("`, `")
    );
    out.push("", title, edits).if_only(premise);
}

/// A gather and the selection of its elements.
struct Selection<'a> {
    gather: ApiCall<'a>,
    mask: &'a Expr,
    padding: &'a Expr,
    of: Of<'a>,
}

/// Where the selection stands.
enum Of<'a> {
    /// It is the next statement: `t = ct.where(mask, t, 0)`.
    Statement(&'a Stmt),
    /// The gather stands in it: `ct.where(mask, ct.gather(...), 0)`.
    Call(&'a Expr),
}

impl<'a> Selection<'a> {
    fn all(at: &KernelContext<'a>) -> Vec<Selection<'a>> {
        let mut out = Vec::new();
        for called in at.calls(&["where"]) {
            let call = &called.call;
            if let Some(gather) = call.arg(1, "x").and_then(|x| plain_gather(at, x)) {
                out.extend(Selection::new(at, call, gather, Of::Call(call.expr)));
            }
        }
        Selection::statements(at, &at.def.node.body, &mut out);
        out
    }

    fn new(
        at: &KernelContext<'a>,
        select: &ApiCall<'a>,
        gather: ApiCall<'a>,
        of: Of<'a>,
    ) -> Option<Selection<'a>> {
        let (mask, padding) = (select.arg(0, "cond")?, select.arg(2, "y")?);
        let constant = matches!(
            at.device.ty(padding),
            Ty::Const(Const::Int(_) | Const::Float(_))
        );
        let plain = !at.source(select.expr.span).contains('#');
        (constant && plain).then_some(Selection {
            gather,
            mask,
            padding,
            of,
        })
    }

    /// `t = ct.gather(...)` and, next to it or nearly, `t = ct.where(mask, t, 0)`.
    fn statements(at: &KernelContext<'a>, body: &'a [Stmt], out: &mut Vec<Selection<'a>>) {
        for (number, stmt) in body.iter().enumerate() {
            for inner in stmt.blocks() {
                Selection::statements(at, inner, out);
            }
            let Some((name, value)) = assigned(stmt) else {
                continue;
            };
            let Some(gather) = plain_gather(at, value) else {
                continue;
            };
            let Some(next) = body.get(number + 1) else {
                continue;
            };
            let Some((again, value)) = assigned(next) else {
                continue;
            };
            let Some(select) = at.device.call(value).filter(|call| call.name == "where") else {
                continue;
            };
            let selects = select.arg(1, "x").is_some_and(|x| x.name() == Some(name));
            // What it was before the selection is wanted nowhere else, and the mask is not made of it.
            let kept = again == name && values(&at.def.node.body, name).len() == 2;
            let mask_uses = select.arg(0, "cond").is_none_or(|mask| uses(mask, name));
            let own = at.edits().own_line(next.span.start).is_some();
            if selects && kept && !mask_uses && own {
                out.extend(Selection::new(at, &select, gather, Of::Statement(next)));
            }
        }
    }
}

fn uses(expr: &Expr, name: &SmolStr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| found |= e.name() == Some(name));
    found
}

fn assigned(stmt: &Stmt) -> Option<(&SmolStr, &Expr)> {
    let StmtKind::Assign { targets, value } = &stmt.kind else {
        return None;
    };
    match targets.as_slice() {
        [target] => Some((target.name()?, value)),
        _ => None,
    }
}

/// A gather with neither mask nor padding of its own.
fn plain_gather<'a>(at: &KernelContext<'a>, expr: &'a Expr) -> Option<ApiCall<'a>> {
    let call = at.device.call(expr).filter(|call| call.name == "gather")?;
    let says = ["mask", "padding_value", "check_bounds"];
    let plain = !call.is_open()
        && says.iter().all(|name| call.keyword(name).is_none())
        && call.args.iter().filter(|arg| arg.name.is_none()).count() <= 2;
    (plain && matches!(expr.kind, ExprKind::Call { .. })).then_some(call)
}

#[cfg(test)]
mod tests {
    use super::OPTIMIZATION;
    use crate::playbook::testing::{after, none};

    fn kernel(body: &str) -> String {
        format!(
            "@ct.kernel\ndef k(x, y, n, T: ct.Constant[int]):\n    c = ct.arange(T, dtype=ct.int32)\n    {body}\n    ct.scatter(y, c, t)\n"
        )
    }

    #[test]
    fn in_one_expression() {
        let action = after(
            &OPTIMIZATION,
            &kernel("t = ct.where(c < n, ct.gather(x, c), 0) + 1"),
            "",
            &kernel("t = ct.gather(x, c, mask=c < n, padding_value=0) + 1"),
        );
        assert_eq!(
            action.premises,
            ["`c < n` is false wherever indices are outside the array"]
        );
    }

    #[test]
    fn what_is_not_the_same() {
        for body in [
            // The mask is made of what is read.
            "t = ct.gather(x, c)\n    t = ct.where(t > 0, t, 0.0)",
            // Another number everywhere.
            "t = ct.gather(x, c)\n    t = ct.where(c < n, t, c)",
            "t = ct.gather(x, c, padding_value=1)\n    t = ct.where(c < n, t, 0)",
            "t = ct.gather(x, c, mask=c < 4)\n    t = ct.where(c < n, t, 0)",
            // Read before.
            "t = ct.gather(x, c)\n    u = t + 1\n    t = ct.where(c < n, t, 0)",
            "t = ct.gather(x, c)\n    t = ct.where(c < n, 0, t)",
            "t = ct.gather(x, c)\n    t = ct.where(c < n, t, 0)\n    t = t + 1",
        ] {
            none(&OPTIMIZATION, &kernel(body));
        }
    }
}
