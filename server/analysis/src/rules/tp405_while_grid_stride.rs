//! Grid-stride loops written with `while`.

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use crate::body::{Device, Ty, values};
use crate::rewrite::{self, Edits};
use crate::rules::rule::rule;
use crate::rules::{DeviceContext, Findings};

rule! {
    /// A persistent kernel walks over its blocks with `while` and adds `num_blocks` by hand; a `for`
    /// over a `range` says the same and can be pipelined.
    ///
    /// The compiler knows how often `for i in range(start, n, ct.num_blocks(0))` runs before it
    /// enters the loop, and that `i` only grows; of a `while` it knows neither. Of a copy of rows of
    /// 1024 halves the `for` gave code that loads ahead (6,272 bytes, 48 registers on sm_90), the
    /// `while` code that loads, waits and stores (2,304 bytes, 22 registers); the same on sm_80,
    /// sm_100 and sm_120 (cuda-tile 1.7, tileiras 13.4).
    ///
    /// ```python bad
    /// @ct.kernel
    /// def scale(x, n):
    ///     i = ct.bid(0)
    ///     while i < n:  # TP405
    ///         ct.store(x, (i,), ct.load(x, (i,), (128,)) * 2)
    ///         i += ct.num_blocks(0)
    /// ```
    ///
    /// ```python fixed
    /// @ct.kernel
    /// def scale(x, n):
    ///     for i in range(ct.bid(0), n, ct.num_blocks(0)):
    ///         ct.store(x, (i,), ct.load(x, (i,), (128,)) * 2)
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def scale(x, n):
    ///     i = ct.bid(0)
    ///     while i < n and ct.gather(x, i).item() > 0:
    ///         ct.scatter(x, i, 0)
    ///         i += ct.num_blocks(0)
    /// ```
    TP405 "while-grid-stride" Warning,
    Device(check)
}

fn check(device: &DeviceContext<'_>, out: &mut Findings<'_>) {
    block(device, &device.def.body, out);
}

fn block(device: &DeviceContext<'_>, body: &[Stmt], out: &mut Findings<'_>) {
    for (number, stmt) in body.iter().enumerate() {
        if let Some(found) = GridStride::of(&device.device, stmt) {
            let before = number.checked_sub(1).and_then(|n| body.get(n));
            found.report(device, before, out);
        }
        if !matches!(stmt.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_)) {
            stmt.blocks()
                .into_iter()
                .for_each(|b| block(device, b, out));
        }
    }
}

/// `while counter < end: ...; counter += step`.
struct GridStride<'a> {
    stmt: &'a Stmt,
    test: &'a Expr,
    counter: &'a SmolStr,
    end: &'a Expr,
    step: &'a Expr,
    /// The statement that adds the step, and whether it is the last.
    increment: &'a Stmt,
    is_last: bool,
    body: &'a [Stmt],
}

impl<'a> GridStride<'a> {
    fn of(device: &Device<'a>, stmt: &'a Stmt) -> Option<GridStride<'a>> {
        let StmtKind::While { test, body, orelse } = &stmt.kind else {
            return None;
        };
        let ExprKind::Compare { first, rest } = &test.kind else {
            return None;
        };
        let [(op, second)] = rest.as_slice() else {
            return None;
        };
        let (counter, end) = match op.as_str() {
            "<" => (first.name()?, second),
            ">" => (second.name()?, &**first),
            _ => return None,
        };
        let increments: Vec<(usize, &Expr)> = (body.iter().enumerate())
            .filter_map(|(number, stmt)| Some((number, increment(stmt, counter)?)))
            .collect();
        let [(number, step)] = increments.as_slice() else {
            return None;
        };
        if !orelse.is_empty() || values(body, counter).len() != 1 || !is_stride(device, step) {
            return None;
        }
        Some(GridStride {
            stmt,
            test,
            counter,
            end,
            step,
            increment: &body[*number],
            is_last: number + 1 == body.len(),
            body,
        })
    }

    fn report(&self, device: &DeviceContext<'_>, before: Option<&Stmt>, out: &mut Findings<'_>) {
        let counter = self.counter;
        let (end, step) = (device.source(self.end.span), device.source(self.step.span));
        let found = out.push(
            self.test.span,
            format!(
                "`while` steps `{counter}` over the grid by hand; write `for {counter} in range(..., {end}, {step})`"
            ),
        );
        if let Some(edits) = self.edits(device, before) {
            found.safe_fix("Make it a `for` over a `range`", edits);
        }
    }

    /// The loop as a `for`, where nothing else depends on how it counts.
    fn edits<'t>(&self, device: &DeviceContext<'t>, before: Option<&Stmt>) -> Option<Edits<'t>> {
        let text = device.text;
        let (end, step) = (device.source(self.end.span), device.source(self.step.span));
        let movable = self.is_last
            && self.body.len() > 1
            && alone(text, self.increment.span)
            && !has_continue(self.body)
            && !is_read_after(device, self.counter, self.stmt.span)
            && is_fixed(self.body, self.end)
            && is_fixed(self.body, self.step);
        if !movable {
            return None;
        }
        let mut edits = Edits::new(text);
        let mut start = self.counter.to_string();
        if let Some(init) = before
            && let StmtKind::Assign { targets, value } = &init.kind
            && let [target] = targets.as_slice()
            && target.name() == Some(self.counter)
            && alone(text, init.span)
            && rewrite::line_end(text, init.span.start)
                == rewrite::line_start(text, self.stmt.span.start)
        {
            start = device.source(value.span).to_owned();
            edits = edits.delete_lines(init.span);
        } else if is_nested(device, self.test) {
            // The second time around, `while` goes on where it ended.
            return None;
        }
        let head = Span {
            start: self.stmt.span.start,
            end: self.test.span.end,
        };
        // `while (i < n):` has its parentheses outside the test.
        if !text
            .get(head.start as usize..self.test.span.start as usize)?
            .trim_end()
            .ends_with("while")
        {
            return None;
        }
        let counter = self.counter;
        Some(
            edits
                .replace(
                    head,
                    format!("for {counter} in range({start}, {end}, {step})"),
                )
                .replace(with_line_before(text, self.increment.span)?, ""),
        )
    }
}

/// What a statement adds to the counter.
fn increment<'a>(stmt: &'a Stmt, counter: &SmolStr) -> Option<&'a Expr> {
    match &stmt.kind {
        StmtKind::AugAssign { target, op, value } => {
            (op.trim_end_matches('=') == "+" && target.name() == Some(counter)).then_some(value)
        }
        StmtKind::Assign { targets, value } => {
            let [target] = targets.as_slice() else {
                return None;
            };
            let ExprKind::Binary { op, left, right } = &value.kind else {
                return None;
            };
            let adds = op == "+" && target.name() == Some(counter);
            match (left.name() == Some(counter), right.name() == Some(counter)) {
                (true, false) if adds => Some(right),
                (false, true) if adds => Some(left),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether a step is the number of blocks, or a multiple of it.
fn is_stride<'a>(device: &Device<'a>, step: &'a Expr) -> bool {
    let step = device.follow(step);
    if device
        .call(step)
        .is_some_and(|call| call.name == "num_blocks")
    {
        return true;
    }
    let ExprKind::Binary { op, left, right } = &step.kind else {
        return false;
    };
    let constant = |e: &Expr| matches!(device.ty(e), Ty::Const(_));
    op == "*"
        && (is_stride(device, left) && constant(right)
            || is_stride(device, right) && constant(left))
}

/// Whether a statement has its lines to itself.
fn alone(text: &str, span: Span) -> bool {
    let start = rewrite::line_start(text, span.start) as usize;
    let end = rewrite::line_end(text, span.end) as usize;
    let blank = |part: Option<&str>| part.is_some_and(|part| part.trim().is_empty());
    blank(text.get(start..span.start as usize)) && blank(text.get(span.end as usize..end))
}

/// A statement from the end of the line before: an item's text may end with the statement, without
/// the line end.
fn with_line_before(text: &str, span: Span) -> Option<Span> {
    let start = rewrite::line_start(text, span.start) as usize;
    let before = text.get(..start)?.strip_suffix('\n')?;
    let before = before.strip_suffix('\r').unwrap_or(before);
    Some(Span::new(before.len(), span.end as usize))
}

/// A `continue` of this loop would skip the step.
fn has_continue(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match &stmt.kind {
        StmtKind::Continue => true,
        StmtKind::For { .. } | StmtKind::While { .. } => false,
        _ => stmt.blocks().into_iter().any(has_continue),
    })
}

/// Whether a loop with this test is in another one.
fn is_nested(device: &DeviceContext<'_>, test: &Expr) -> bool {
    let mut nested = false;
    device.walk(&mut |expr, place| {
        nested |= std::ptr::eq(expr, test) && place.in_loop();
    });
    nested
}

/// Whether the counter's last value is wanted: after the loop, or again in a loop around it.
fn is_read_after(device: &DeviceContext<'_>, counter: &SmolStr, stmt: Span) -> bool {
    let mut read = false;
    device.walk(&mut |expr, place| {
        let outer = || place.loops().any(|l| l.span.contains(stmt));
        let elsewhere = !stmt.contains(expr.span) && (expr.span.start > stmt.end || outer());
        let bound = place.stmt().is_some_and(|s| match &s.kind {
            StmtKind::Assign { targets, .. } => targets.iter().any(|t| std::ptr::eq(t, expr)),
            _ => false,
        });
        read |= expr.name() == Some(counter) && elsewhere && !bound;
    });
    read
}

/// Whether nothing that an expression reads is given another value in the loop: `range` asks once.
fn is_fixed(body: &[Stmt], expr: &Expr) -> bool {
    let mut fixed = true;
    expr.walk(&mut |e| {
        if let Some(name) = e.name() {
            fixed &= values(body, name).is_empty();
        }
    });
    fixed
}

#[cfg(test)]
mod tests;
