//! Where each configuration of a space is written, as far as it is written out: a statement that
//! yields it, an element of a list, a row that a loop goes over.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Clause, Expr, ExprKind, FunctionDef, Stmt, StmtKind};
use tileperf_syntax::{Item, Span};

use super::listed;
use crate::eval::{Config, Known};
use crate::rewrite::{Edits, line_end};

/// What can be taken away by itself, and which configurations go with it.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    /// What it is one of. Places are relative to the item.
    of: Whole,
    /// Which one.
    number: usize,
    /// Configurations by number.
    pub(super) configs: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Whole {
    /// The statements of a block.
    Block(Vec<Span>),
    /// The elements of a list or tuple.
    Elements { all: Vec<Span>, is_tuple: bool },
}

impl Piece {
    pub(super) fn new(of: &Whole, number: usize, configs: Vec<usize>) -> Piece {
        Piece {
            of: of.clone(),
            number,
            configs,
        }
    }

    /// Whether it is the same text, whatever it makes on the one architecture and on the other.
    pub(super) fn is(&self, other: &Piece) -> bool {
        self.number == other.number && self.of == other.of
    }
}

/// What can be taken away of a space that gives these configurations.
pub(super) fn pieces(def: &FunctionDef, configs: &[Config]) -> Vec<Piece> {
    let mut found = Vec::new();
    let made = Made {
        body: &def.body,
        configs,
    };
    block(&def.body, &made, &mut found);
    found
}

/// The configurations, by the call that makes them.
pub(super) struct Made<'c> {
    /// Of the function.
    body: &'c [Stmt],
    configs: &'c [Config],
}

impl Made<'_> {
    pub(super) fn fields(&self, config: usize) -> &[(SmolStr, Known)] {
        self.configs
            .get(config)
            .map_or(&[], |config| &config.fields)
    }

    fn at(&self, call: Span) -> Vec<usize> {
        let all = self.configs.iter().enumerate();
        all.filter(|(_, config)| config.place.is_some_and(|place| place.span == call))
            .map(|(number, _)| number)
            .collect()
    }

    /// Those of the only one that a call makes.
    fn one(&self, call: Span) -> Option<Vec<usize>> {
        Some(self.at(call)).filter(|made| made.len() == 1)
    }

    /// What each of so many rounds makes by the calls within a place. Nothing if one of the calls does
    /// not make one a round.
    pub(super) fn rounds(&self, within: Span, count: usize) -> Option<Vec<Vec<usize>>> {
        let calls = self
            .configs
            .iter()
            .filter_map(|config| Some(config.place?.span));
        let mut calls: Vec<Span> = (calls)
            .filter(|call| within.start <= call.start && call.end <= within.end)
            .collect();
        calls.sort_unstable_by_key(|call| (call.start, call.end));
        calls.dedup();
        let mut rounds = vec![Vec::new(); count];
        for call in &calls {
            let made = self.at(*call);
            if made.len() != count {
                return None;
            }
            for (round, number) in rounds.iter_mut().zip(made) {
                round.push(number);
            }
        }
        (!calls.is_empty()).then_some(rounds)
    }
}

fn block(body: &[Stmt], made: &Made<'_>, found: &mut Vec<Piece>) {
    let of = Whole::Block(body.iter().map(|stmt| stmt.span).collect());
    for (number, stmt) in body.iter().enumerate() {
        match &stmt.kind {
            StmtKind::For { iter, .. } => match iter.name() {
                Some(name) => listed::rows(made.body, name, stmt.span, made, found),
                None => over(iter, stmt.span, made, found),
            },
            StmtKind::If { .. } => {
                for inner in stmt.blocks() {
                    block(inner, made, found);
                }
            }
            StmtKind::Expr(Expr {
                kind: ExprKind::Yield(Some(value)),
                ..
            }) => {
                let configs = made.one(value.span);
                found.extend(configs.map(|configs| Piece::new(&of, number, configs)));
            }
            StmtKind::Return(_) | StmtKind::Assign { .. } | StmtKind::Expr(_) => {
                stmt.own_exprs(&mut |expr| expr.walk(&mut |expr| lists(expr, made, found)));
            }
            _ => {}
        }
    }
}

/// The rows that a loop or a comprehension goes over.
fn over(iter: &Expr, within: Span, made: &Made<'_>, found: &mut Vec<Piece>) {
    let (ExprKind::List(parts) | ExprKind::Tuple(parts)) = &iter.kind else {
        return;
    };
    let is_plain = !(parts.iter()).any(|part| matches!(part.kind, ExprKind::Starred(_)));
    let Some(rounds) = made.rounds(within, parts.len()).filter(|_| is_plain) else {
        return;
    };
    let of = elements(iter, parts);
    let rounds = rounds.into_iter().enumerate();
    found.extend(rounds.map(|(number, configs)| Piece::new(&of, number, configs)));
}

fn lists(expr: &Expr, made: &Made<'_>, found: &mut Vec<Piece>) {
    match &expr.kind {
        ExprKind::List(parts) | ExprKind::Tuple(parts) => {
            let of = elements(expr, parts);
            for (number, part) in parts.iter().enumerate() {
                let configs = made.one(part.span);
                found.extend(configs.map(|configs| Piece::new(&of, number, configs)));
            }
        }
        ExprKind::Comprehension { clauses, .. } => {
            if let [Clause::For { iter, .. }] = clauses.as_slice() {
                over(iter, expr.span, made, found);
            }
        }
        _ => {}
    }
}

pub(super) fn elements(of: &Expr, parts: &[Expr]) -> Whole {
    Whole::Elements {
        all: parts.iter().map(|part| part.span).collect(),
        is_tuple: matches!(of.kind, ExprKind::Tuple(_)),
    }
}

/// A text without some pieces.
pub(super) struct Without<'t> {
    pub(super) edits: Edits<'t>,
    /// The pieces that went, by number.
    pub(super) dropped: Vec<usize>,
}

/// A text without these pieces of an item. What would leave a block or a list with nothing stays whole.
pub(super) fn without<'t>(text: &'t str, item: &Item, pieces: &[Piece]) -> Option<Without<'t>> {
    let mut out = Without {
        edits: Edits::new(text),
        dropped: Vec::new(),
    };
    let mut wholes: Vec<&Whole> = Vec::new();
    for piece in pieces {
        if !wholes.contains(&&piece.of) {
            wholes.push(&piece.of);
        }
    }
    for whole in wholes {
        let own = || pieces.iter().filter(|piece| piece.of == *whole);
        let is_gone = |number: usize| own().any(|piece| piece.number == number);
        let (Whole::Block(all) | Whole::Elements { all, .. }) = whole;
        let all: Vec<Span> = all.iter().map(|span| item.place(*span)).collect();
        if (0..all.len()).all(is_gone) {
            continue;
        }
        out.edits = match whole {
            Whole::Block(_) => statements(out.edits, &all, is_gone)?,
            Whole::Elements { is_tuple, .. } => taken(out.edits, text, &all, *is_tuple, is_gone)?,
        };
        let numbers = pieces.iter().enumerate();
        out.dropped
            .extend(numbers.filter(|(_, p)| p.of == *whole).map(|(n, _)| n));
    }
    Some(out)
}

fn statements<'t>(
    mut edits: Edits<'t>,
    all: &[Span],
    is_gone: impl Fn(usize) -> bool,
) -> Option<Edits<'t>> {
    for (number, span) in all.iter().enumerate() {
        // Beside another statement on its line it cannot go by lines.
        let alone = edits.own_line(span.start).is_some();
        let next = all.get(number + 1);
        let alone = alone && next.is_none_or(|next| edits.own_line(next.start).is_some());
        if is_gone(number) {
            edits = edits.delete_lines(alone.then_some(*span)?);
        }
    }
    Some(edits)
}

/// Elements taken away: whole lines where each has its own, else with a comma beside them.
fn taken<'t>(
    mut edits: Edits<'t>,
    text: &'t str,
    all: &[Span],
    is_tuple: bool,
    is_gone: impl Fn(usize) -> bool,
) -> Option<Edits<'t>> {
    let between = |from: u32, to: u32| text.get(from as usize..to as usize).unwrap_or("");
    let ends_line = |span: &Span| {
        let rest = between(span.end, line_end(text, span.end)).trim_start();
        let rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        rest.is_empty() || rest.starts_with('#')
    };
    let has_comma = |end: u32| {
        let behind = text.get(end as usize..).unwrap_or("").trim_start();
        behind.starts_with(',')
    };
    let by_lines = (all.iter()).all(|s| edits.own_line(s.start).is_some() && ends_line(s));
    let kept: Vec<usize> = (0..all.len()).filter(|number| !is_gone(*number)).collect();
    let last = *all.last()?;
    // A tuple of one is one by its comma.
    let is_single = is_tuple && kept.len() == 1 && !has_comma(last.end);
    if by_lines {
        for (number, span) in all.iter().enumerate() {
            if is_gone(number) {
                edits = edits.delete_lines(*span);
            }
        }
        let is_bare = is_single && !is_gone(all.len() - 1);
        return Some(match is_bare {
            true => edits.insert(last.end, ","),
            false => edits,
        });
    }
    // Parentheses and comments between elements are not understood.
    let is_plain = |pair: &[Span]| between(pair[0].end, pair[1].start).trim() == ",";
    if !all.windows(2).all(is_plain) {
        return None;
    }
    let mut from = 0;
    for (place, number) in kept.iter().enumerate() {
        if place == 0 && *number > 0 {
            let span = Span {
                start: all[0].start,
                end: all[*number].start,
            };
            edits = edits.replace(span, "");
        } else if *number > from {
            let span = Span {
                start: all[from - 1].end,
                end: all[*number - 1].end,
            };
            edits = edits.replace(span, "");
        }
        from = *number + 1;
    }
    let comma = if is_single { "," } else { "" };
    if from < all.len() {
        let span = Span {
            start: all[from - 1].end,
            end: last.end,
        };
        edits = edits.replace(span, comma);
    } else if is_single {
        edits = edits.insert(last.end, ",");
    }
    Some(edits)
}
