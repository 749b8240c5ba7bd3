//! The launch's side: the grid whose first axis is the number of items.

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef, Stmt};

use super::super::site::{Meaning, Refused, Site};
use super::super::{KernelContext, Launched};
use crate::body::walk;
use crate::rewrite::Edits;
use crate::rewrite::arguments::add_element;
use crate::rewrite::autotune::fresh;
use crate::rules::SM_COUNT;

/// A launch with a block for each item.
pub(super) struct Grid<'a> {
    pub(super) site: Site<'a>,
    /// The number of items: the grid's first axis.
    count: &'a Expr,
    /// The statement that makes the grid.
    stmt: &'a Stmt,
}

impl<'a> Grid<'a> {
    pub(super) fn of(at: &KernelContext<'a>, launch: Launched<'a>) -> Result<Grid<'a>, Refused> {
        const FORM: Refused = "its grid is not one axis, written out";
        let site = Site::of(at, launch)?;
        let def = site.def().ok_or("it is launched outside functions")?;
        let is_plain =
            |args: &Expr| matches!(args.kind, ExprKind::Tuple(_)) && !site.passed.is_empty();
        if !is_plain(site.args) {
            return Err("its arguments are not written at the launch");
        }
        let grid = match site.grid.name() {
            None => site.grid,
            Some(name) => match site.meaning(name) {
                // It is made for this launch alone: once named there, once here.
                Meaning::Value(value) if site.named_within(name) == 2 => value,
                _ => return Err(FORM),
            },
        };
        let ExprKind::Tuple(axes) = &grid.kind else {
            return Err(FORM);
        };
        let [count, rest @ ..] = axes.as_slice() else {
            return Err(FORM);
        };
        if !rest
            .iter()
            .all(|axis| matches!(axis.kind, ExprKind::Int(1)))
        {
            return Err(FORM);
        }
        let stmt = statement(def, grid).ok_or("its grid is made in a loop or elsewhere")?;
        let own_line = Edits::new(site.text()).own_line(stmt.span.start).is_some();
        let grid = Grid { site, count, stmt };
        match own_line && grid.is_count() {
            true => Ok(grid),
            false => Err("its grid is not a number of items"),
        }
    }

    /// Whether the first axis can be a number of items: nothing that is fixed or cut off already, and
    /// the same wherever it is read.
    fn is_count(&self) -> bool {
        let source = self.site.source(self.count.span);
        let mut steady = !source.contains(['\n', '#']);
        self.count.walk(&mut |e| {
            steady &= match &e.kind {
                ExprKind::Name(name) => {
                    name != "min"
                        && !is_fixed(name)
                        && !matches!(self.site.meaning(name), Meaning::Changing)
                }
                ExprKind::Starred(_) | ExprKind::Named { .. } => false,
                _ => true,
            };
        });
        steady && !matches!(self.count.kind, ExprKind::Int(_))
    }

    /// What the number of items is called.
    pub(super) fn count_name(&self) -> Option<&'a SmolStr> {
        self.count.name()
    }

    /// The grid of a few blocks a multiprocessor, and the number of items as a further argument.
    pub(super) fn shortened<'t>(
        &self,
        edits: Edits<'t>,
        per_sm: i64,
        is_passed: bool,
    ) -> Edits<'t> {
        let site = &self.site;
        let place = |span: Span| site.item.place(span);
        let mut lines = Vec::new();
        let count = match self.count_name() {
            Some(name) => name.to_string(),
            None => {
                let name = fresh(site.text(), "n_items");
                lines.push(format!("{name} = {}", site.source(self.count.span)));
                name
            }
        };
        let sms = fresh(site.text(), "num_sms");
        lines.push(format!("{sms} = {SM_COUNT}"));
        let blocks = match per_sm {
            1 => sms,
            n => format!("{sms} * {n}"),
        };
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let edits = edits
            .lines_before(place(self.stmt.span).start, &lines)
            .replace(place(self.count.span), format!("min({blocks}, {count})"));
        match site.passed.last() {
            Some(last) if is_passed => {
                let close = place(site.args.span).end.saturating_sub(1);
                add_element(edits, place(last.span), close, &count)
            }
            _ => edits,
        }
    }
}

/// Whether a name is one for a number of blocks that follows from the device, not from the items.
fn is_fixed(name: &str) -> bool {
    const WORDS: [&str; 8] = [
        "sm",
        "sms",
        "cta",
        "ctas",
        "programs",
        "progs",
        "workers",
        "persistent",
    ];
    let lower = name.to_ascii_lowercase();
    lower.split('_').any(|part| WORDS.contains(&part))
}

/// The statement that an expression stands in, if it is run once.
fn statement<'a>(def: &'a FunctionDef, expr: &Expr) -> Option<&'a Stmt> {
    let mut found = None;
    walk(&def.body, &mut |e, place| {
        if std::ptr::eq(e, expr) && !place.in_loop() {
            found = place.stmt();
        }
    });
    found
}
