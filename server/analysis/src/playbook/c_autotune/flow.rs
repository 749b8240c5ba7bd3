//! What follows from a launch's constants, and how it is said of a configuration instead.
//!
//! Tiles become fields of a configuration only where nothing but the launch's grid and numbers
//! follows from them: a buffer of that many tiles, a padded copy, a test, would still be made for the
//! old ones.

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use crate::playbook::site::{Meaning, Site};

/// Constants and everything that follows from them.
pub(in crate::playbook) struct Flow<'s, 'a> {
    site: &'s Site<'a>,
    /// By name, what they are of a configuration.
    roots: FxHashMap<SmolStr, String>,
    /// By place, the same for numbers that have no name.
    numbers: FxHashMap<Span, String>,
    derived: FxHashSet<SmolStr>,
}

impl<'s, 'a> Flow<'s, 'a> {
    /// From nothing.
    pub(super) fn none(site: &'s Site<'a>) -> Flow<'s, 'a> {
        Flow {
            site,
            roots: FxHashMap::default(),
            numbers: FxHashMap::default(),
            derived: FxHashSet::default(),
        }
    }

    /// From names and numbers, if nothing but the launch uses what follows from them. `arrays` says
    /// which of the arguments are arrays.
    pub(in crate::playbook) fn of(
        site: &'s Site<'a>,
        roots: FxHashMap<SmolStr, String>,
        numbers: FxHashMap<Span, String>,
        arrays: &[bool],
    ) -> Option<Flow<'s, 'a>> {
        let mut flow = Flow {
            roots,
            numbers,
            ..Flow::none(site)
        };
        let body = &site.def()?.body;
        loop {
            let before = flow.derived.len();
            flow.block(body)?;
            if flow.derived.len() == before {
                break;
            }
        }
        let passed = site.passed.iter().zip(arrays);
        let in_arrays = passed
            .filter(|(_, is_array)| **is_array)
            .any(|(e, _)| flow.mentions(e));
        let fine = !in_arrays
            && !flow.mentions(site.stream)
            && !flow.mentions(site.kernel)
            && flow.rounds_up(site.grid)
            && site.passed.iter().all(|e| flow.rounds_up(e));
        fine.then_some(flow)
    }

    /// Whether an expression follows from them.
    pub(in crate::playbook) fn mentions(&self, expr: &Expr) -> bool {
        let mut found = false;
        expr.walk(&mut |e| {
            found |= self.numbers.contains_key(&e.span)
                || e.name()
                    .is_some_and(|n| self.roots.contains_key(n) || self.derived.contains(n));
        });
        found
    }

    fn block(&mut self, body: &'a [Stmt]) -> Option<()> {
        for stmt in body.iter().filter(|s| s.span != self.site.stmt.span) {
            match &stmt.kind {
                StmtKind::FunctionDef(_) | StmtKind::ClassDef(_) => {
                    if self.is_anywhere_in(stmt) {
                        return None;
                    }
                }
                StmtKind::Assign { targets, value } => {
                    for target in targets {
                        self.assigned(target, value)?;
                    }
                }
                StmtKind::AnnAssign {
                    target,
                    value: Some(value),
                    ..
                } => self.assigned(target, value)?,
                _ => {
                    let mut used = false;
                    stmt.own_exprs(&mut |e| used |= self.mentions(e));
                    if used {
                        return None;
                    }
                    for inner in stmt.blocks() {
                        self.block(inner)?;
                    }
                }
            }
        }
        Some(())
    }

    fn is_anywhere_in(&self, stmt: &Stmt) -> bool {
        let mut found = false;
        stmt.own_exprs(&mut |e| found |= self.mentions(e));
        found || (stmt.blocks().into_iter().flatten()).any(|inner| self.is_anywhere_in(inner))
    }

    fn assigned(&mut self, target: &'a Expr, value: &'a Expr) -> Option<()> {
        match (&target.kind, &value.kind) {
            (ExprKind::Name(name), _) if self.roots.contains_key(name) => Some(()),
            (ExprKind::Name(name), _) if self.mentions(value) => {
                let once = matches!(self.site.meaning(name), Meaning::Value(_));
                if !once || !self.rounds_up(value) {
                    return None;
                }
                self.derived.insert(name.clone());
                Some(())
            }
            (ExprKind::Tuple(targets), ExprKind::Tuple(values))
                if targets.len() == values.len() =>
            {
                for (target, value) in targets.iter().zip(values) {
                    self.assigned(target, value)?;
                }
                Some(())
            }
            (ExprKind::Name(_), _) => Some(()),
            _ => (!self.mentions(value) && !self.mentions(target)).then_some(()),
        }
    }

    /// Whether no quotient by one of them drops a rest: with another tile a part of the work would be
    /// left out where today's divides.
    fn rounds_up(&self, expr: &Expr) -> bool {
        let mut in_ceil: FxHashSet<Span> = FxHashSet::default();
        let mut fine = true;
        expr.walk(&mut |e| match &e.kind {
            ExprKind::Call { func, args }
                if func.last_ident().is_some_and(|i| i.name == "ceil") =>
            {
                in_ceil.extend(args.iter().map(|a| a.value.span));
            }
            ExprKind::Binary { op, left, right } if self.mentions(right) => match op.as_str() {
                "//" => {
                    // `(n + t - 1) // t`, `-(-n // t)`
                    fine &= self.mentions(left) || matches!(left.kind, ExprKind::Unary { .. });
                }
                "/" => fine &= in_ceil.contains(&e.span),
                _ => {}
            },
            _ => {}
        });
        fine
    }

    /// Whether the grid and all that is passed can be said of a configuration.
    pub(super) fn can_be_written(&self) -> bool {
        let mut all = std::iter::once(self.site.grid).chain(self.site.passed);
        all.all(|e| !self.mentions(e) || self.written(e).is_some())
    }

    /// An expression as it is of a configuration, on one line.
    pub(super) fn written(&self, expr: &Expr) -> Option<String> {
        let text = self.within(expr, HOPS)?;
        (text.len() <= LONGEST).then_some(text)
    }

    fn within(&self, expr: &Expr, hops: u32) -> Option<String> {
        let hops = hops.checked_sub(1)?;
        let mut text = self.site.source(expr.span).to_owned();
        let mut places: Vec<(Span, String)> = Vec::new();
        let mut fine = true;
        expr.walk(&mut |e| {
            if let Some(field) = self.numbers.get(&e.span) {
                places.push((e.span, field.clone()));
            } else if let Some(name) = e.name() {
                if let Some(field) = self.roots.get(name) {
                    places.push((e.span, field.clone()));
                } else if self.derived.contains(name) {
                    match self.inlined(name, e.span == expr.span, hops) {
                        Some(value) => places.push((e.span, value)),
                        None => fine = false,
                    }
                }
            } else if binds(e) && self.mentions(e) {
                fine = false;
            }
        });
        if !fine {
            return None;
        }
        places.sort_by_key(|(span, _)| span.start);
        for (span, value) in places.into_iter().rev() {
            let from = (span.start - expr.span.start) as usize;
            let to = (span.end - expr.span.start) as usize;
            text.replace_range(from..to, &value);
        }
        one_line(&text)
    }

    fn inlined(&self, name: &SmolStr, alone: bool, hops: u32) -> Option<String> {
        let Meaning::Value(value) = self.site.meaning(name) else {
            return None;
        };
        let mut steady = true;
        value.walk(&mut |e| {
            let changes = |n: &SmolStr| matches!(self.site.meaning(n), Meaning::Changing);
            steady &= !e.name().is_some_and(changes);
        });
        let text = self.within(value, hops).filter(|_| steady)?;
        let closed = matches!(
            value.kind,
            ExprKind::Name(_)
                | ExprKind::Call { .. }
                | ExprKind::Attribute { .. }
                | ExprKind::Subscript { .. }
                | ExprKind::List(_)
        );
        let parenthesized = text.starts_with('(') && matches!(value.kind, ExprKind::Tuple(_));
        Some(
            if closed || parenthesized || alone && !matches!(value.kind, ExprKind::Tuple(_)) {
                text
            } else {
                format!("({text})")
            },
        )
    }
}

/// How many names are followed one after the other, and how long an expression may become by that.
const HOPS: u32 = 6;
const LONGEST: usize = 600;

/// It has names of its own.
fn binds(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Lambda { .. } | ExprKind::Comprehension { .. } | ExprKind::Named { .. }
    )
}

/// A text on one line; nothing if a comment or a string of several lines is in it.
pub(in crate::playbook) fn one_line(text: &str) -> Option<String> {
    if !text.contains('\n') {
        return Some(text.to_owned());
    }
    if text.contains('#') || text.contains("\"\"\"") || text.contains("'''") {
        return None;
    }
    let parts: Vec<&str> = (text.lines())
        .map(|line| line.trim().trim_end_matches('\\').trim_end())
        .filter(|line| !line.is_empty())
        .collect();
    let joined = parts.join(" ");
    if joined.contains(['"', '\'']) {
        return Some(joined);
    }
    // `f( a, b )`: as if it had been written on one line.
    let joined = joined.replace("( ", "(").replace(" )", ")");
    Some(joined.replace("[ ", "[").replace(" ]", "]"))
}
