//! Rows that stand in a list with a name, one for each branch: as generated searches have them.

use rustc_hash::FxHashSet;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt};

use super::written::{Made, Piece, elements};
use crate::body::{bindings, walk};
use crate::eval::Known;

/// The rows that a loop goes over by the name of their list, of the one list that makes these
/// configurations: on another architecture it may be another.
pub(super) fn rows(
    body: &[Stmt],
    name: &str,
    within: Span,
    made: &Made<'_>,
    found: &mut Vec<Piece>,
) {
    let Some(lists) = lists(body, name) else {
        return;
    };
    let mut fitting = (lists.iter()).filter_map(|(list, parts)| {
        let rounds = made.rounds(within, parts.len())?;
        let mut pairs = parts.iter().zip(&rounds);
        pairs
            .all(|(part, round)| is_of(part, round, made))
            .then_some((*list, *parts, rounds))
    });
    if let (Some((list, parts, rounds)), None) = (fitting.next(), fitting.next()) {
        let of = elements(list, parts);
        let rounds = rounds.into_iter().enumerate();
        found.extend(rounds.map(|(number, configs)| Piece::new(&of, number, configs)));
    }
}

/// The lists that a name is given, if it is given nothing else and read by the loop alone.
fn lists<'a>(body: &'a [Stmt], name: &str) -> Option<Vec<(&'a Expr, &'a [Expr])>> {
    let mut values = Vec::new();
    bindings(body, name, &mut |value| values.push(value));
    let mut mentions = 0;
    walk(body, &mut |expr, _| {
        mentions += usize::from(expr.name().is_some_and(|n| n == name));
    });
    let is_read_once = mentions == values.len() + 1;
    let list = |value: Option<&'a Expr>| {
        let value = value?;
        let (ExprKind::List(parts) | ExprKind::Tuple(parts)) = &value.kind else {
            return None;
        };
        let is_plain = |part: &Expr| !matches!(part.kind, ExprKind::Starred(_));
        parts
            .iter()
            .all(is_plain)
            .then_some((value, parts.as_slice()))
    };
    let all: Option<Vec<_>> = values.into_iter().map(list).collect();
    all.filter(|_| is_read_once)
}

/// Whether the numbers of a row are among the fields of what a round makes.
fn is_of(row: &Expr, round: &[usize], made: &Made<'_>) -> bool {
    let mut numbers: FxHashSet<i64> = FxHashSet::default();
    row.walk(&mut |expr| {
        if let ExprKind::Int(number) = expr.kind {
            numbers.insert(number);
        }
    });
    round.iter().all(|config| {
        let fields = made.fields(*config);
        let has = |number: &i64| {
            fields
                .iter()
                .any(|(_, value)| *value == Known::Int(*number))
        };
        numbers.iter().all(has)
    })
}
