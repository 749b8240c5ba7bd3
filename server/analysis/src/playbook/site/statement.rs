//! The statement that a launch is.

use tileperf_syntax::Item;
use tileperf_syntax::ast::{Expr, FunctionDef, Stmt, StmtKind};

use super::Refused;
use crate::body::walk;
use crate::rewrite::Edits;
use crate::rules::FileContext;

/// The statement that is a call, if it has its lines to itself, and the loops around it.
pub(super) fn statement<'a>(
    file: &FileContext<'a>,
    item: &'a Item,
    around: &[&'a FunctionDef],
    call: &Expr,
) -> Result<(&'a Stmt, Vec<&'a Stmt>), Refused> {
    let def = *around.first().ok_or("it is launched outside functions")?;
    if def.is_async {
        return Err("it is launched in a coroutine");
    }
    let mut found = None;
    walk(&def.body, &mut |expr, place| {
        if expr.span == call.span {
            found = place.stmt().map(|stmt| (stmt, place.loops().collect()));
        }
    });
    let (stmt, loops) = found.ok_or("the launch is not a statement of its own")?;
    if !matches!(&stmt.kind, StmtKind::Expr(e) if e.span == call.span) {
        return Err("the launch is not a statement of its own");
    }
    let place = item.place(stmt.span);
    let alone = Edits::new(file.text).own_line(place.start).is_some();
    let rest = file
        .text
        .get(place.end as usize..crate::rewrite::line_end(file.text, place.end) as usize);
    let ends = rest.is_some_and(|rest| rest.trim().is_empty() || rest.trim().starts_with('#'));
    if alone && ends {
        Ok((stmt, loops))
    } else {
        Err("the launch shares its line")
    }
}
