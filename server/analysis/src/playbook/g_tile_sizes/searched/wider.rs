//! Further values for what has one only, in the branch of an architecture.

use rustc_hash::FxHashSet;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use super::{Change, Chosen, Searched, chosen, number};
use crate::eval::Config;
use crate::playbook::c_autotune::flow::one_line;
use crate::playbook::c_autotune::space::Alike;
use crate::playbook::c_autotune::template::Template;
use crate::playbook::c_autotune::tiles::Dim;
use crate::rewrite::arguments::add_element;
use crate::rewrite::{Edits, indent, line_end};

/// More configurations than these are not worth the time to compile them.
const MOST: usize = 30;

impl<'a> Searched<'_, 'a> {
    /// The space with a second value for each of what has one only.
    pub(super) fn widened(&self, kind: Alike) -> Option<Change<'a>> {
        let configs = self.on(kind);
        let own = self.exclusive(kind);
        let is_own = |config: &&Config| config.place.is_some_and(|p| own.contains(&p.span));
        let last = own.iter().max_by_key(|span| span.start)?;
        let first = configs.iter().find(is_own)?;
        let (call, args) = self.made_at(first.place?.span)?;
        let mut texts: Vec<String> = Vec::new();
        let mut wider: Vec<&str> = Vec::new();
        for arg in args {
            let name = &arg.name.as_ref()?.name;
            let Some(chosen) = chosen(name) else { continue };
            let is_counted = match chosen {
                Chosen::Tile(Dim::K) => false,
                Chosen::Ctas => kind.has_clusters(),
                _ => true,
            };
            let values: Option<FxHashSet<i64>> =
                configs.iter().map(|config| number(config, name)).collect();
            let values = values?;
            let (Some(value), 1) = (values.iter().next(), values.len()) else {
                continue;
            };
            // Written as something else it may be a loop's.
            if !is_counted || !matches!(arg.value.kind, ExprKind::Int(_)) {
                continue;
            }
            let other = another(chosen, *value, kind)?;
            let from = (arg.value.span.start - call.span.start) as usize;
            let to = (arg.value.span.end - call.span.start) as usize;
            let mut text = self.source(call.span).to_owned();
            text.replace_range(from..to, &other.to_string());
            texts.push(text);
            wider.push(name);
        }
        if texts.is_empty() || configs.len() + texts.len() > MOST {
            return None;
        }
        let (after, _) = self.made_at(*last)?;
        let edits = self.appended(after, &texts)?;
        let arch = kind.first();
        let title = format!(
            "Search on {arch} over further values of {} in `{}`",
            wider.join(", "),
            self.def.name.name
        );
        Some((format!("widen={arch}"), title, edits))
    }

    /// Further configurations behind one that is yielded by a statement or stands last in a list.
    fn appended(&self, after: &'a Expr, texts: &[String]) -> Option<Edits<'a>> {
        let text = self.at.file.text;
        let edits = Edits::new(text);
        if let Some(stmt) = yielded(&self.def.body, after) {
            let place = self.item.place(stmt.span);
            edits.own_line(place.start)?;
            let margin = indent(text, place.start);
            let block: String = (texts.iter())
                .map(|made| format!("{margin}yield {made}\n"))
                .collect();
            let end = line_end(text, place.end);
            let ends = text.get(..end as usize)?.ends_with('\n');
            return match ends {
                true => Some(edits.insert(end, block)),
                false => Some(edits.insert(end, format!("\n{}", block.trim_end()))),
            };
        }
        let mut list = None;
        crate::body::walk(&self.def.body, &mut |expr, place| {
            if let ExprKind::List(parts) = &expr.kind
                && parts.last().is_some_and(|p| p.span == after.span)
                && !place.in_loop()
            {
                list = Some(expr);
            }
        });
        let list: &Expr = list?;
        let close = self.item.place(list.span).end - 1;
        let element: Option<Vec<String>> = texts.iter().map(|t| one_line(t)).collect();
        let element = element?.join(", ");
        let last = self.item.place(after.span);
        Some(add_element(edits, last, close, &element))
    }
}

/// A value beside the only one there is, within what is tried on an architecture.
fn another(chosen: Chosen, value: i64, kind: Alike) -> Option<i64> {
    let rows = kind.rows(Template::Matmul);
    let most = match chosen {
        Chosen::Occupancy | Chosen::Ctas => return Some(if value == 1 { 2 } else { value / 2 }),
        Chosen::Tile(Dim::M) => rows.iter().map(|r| r.0).max()?,
        Chosen::Tile(Dim::N) => rows.iter().map(|r| r.1).max()?,
        Chosen::Tile(Dim::K) => rows.iter().map(|r| r.2).max()?,
    };
    match value {
        v if v > most => Some(most),
        v if v >= 128 => Some(v / 2),
        v => Some(v * 2).filter(|v| *v <= most),
    }
}

/// The statement that yields a configuration, outside loops.
fn yielded<'a>(body: &'a [Stmt], made: &Expr) -> Option<&'a Stmt> {
    body.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Expr(Expr {
            kind: ExprKind::Yield(Some(value)),
            ..
        }) if value.span == made.span => Some(stmt),
        StmtKind::If { .. } => (stmt.blocks().into_iter()).find_map(|inner| yielded(inner, made)),
        _ => None,
    })
}
