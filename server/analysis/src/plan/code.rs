//! What the kernel's own code shows: work that is done more often than it need be.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use super::{How, Item, Subject};
use crate::body::{ApiCall, Place, values};
use crate::playbook::Principle;

/// Calls that read an array.
const READS: [&str; 2] = ["load", "gather"];
/// Calls that write one.
const WRITES: [&str; 3] = ["store", "scatter", "atomic_"];

/// A call and the loops around it, outermost first.
struct Read<'a> {
    call: ApiCall<'a>,
    loops: Vec<&'a Stmt>,
}

/// In the order in which they promise.
pub(super) fn items(subject: &Subject<'_>) -> Vec<Item> {
    let mut items = same_in_each_round(subject);
    items.extend(read_again(subject));
    items.extend(sums_in_loops(subject));
    items.extend(turned_after_loading(subject));
    items
}

/// Reads of arrays that the kernel does not write.
fn reads<'a>(subject: &Subject<'a>) -> Vec<Read<'a>> {
    let (mut reads, mut written) = (Vec::new(), Vec::new());
    subject.device.calls(&mut |call, place| {
        if WRITES.iter().any(|name| call.name.starts_with(name)) {
            written.extend(array(call).cloned());
        } else if READS.contains(&call.name.as_str()) && !call.is_open() {
            reads.push(Read {
                call: call.clone(),
                loops: place.loops().collect(),
            });
        }
    });
    reads.retain(|read| array(&read.call).is_some_and(|name| !written.contains(name)));
    reads
}

/// The array that a call is about, by its name.
fn array<'a>(call: &ApiCall<'a>) -> Option<&'a SmolStr> {
    call.arg(0, "array")?.name()
}

/// Loads in a loop that give the same in each round.
fn same_in_each_round(subject: &Subject<'_>) -> Vec<Item> {
    let mut items = Vec::new();
    for read in reads(subject) {
        let Some(round) = read.loops.last() else {
            continue;
        };
        if changes_in(read.call.expr, round) {
            continue;
        }
        let source = subject.source(read.call.expr.span);
        items.push(Item {
            title: format!("Read `{source}` once, before the loop"),
            places: vec![subject.place(read.call.expr.span)],
            why: "nothing in it changes from one round to the next; it costs registers instead"
                .to_owned(),
            how: How::Edit("move the read in front of the loop".to_owned()),
            gain: None,
            principle: Some(Principle::Locality),
        });
    }
    items
}

/// Whether a loop binds a name that an expression reads.
fn changes_in(expr: &Expr, round: &Stmt) -> bool {
    let mut changes = false;
    expr.walk(&mut |e| {
        if let Some(name) = e.name() {
            let target = match &round.kind {
                StmtKind::For { target, .. } => binds(target, name),
                _ => false,
            };
            let body = round.blocks().into_iter();
            changes |= target || body.flat_map(|b| values(b, name)).next().is_some();
        }
    });
    changes
}

fn binds(target: &Expr, name: &SmolStr) -> bool {
    let mut found = false;
    target.walk(&mut |e| found |= e.name() == Some(name));
    found
}

/// The same read written twice, in the same loops, of names that have one value.
fn read_again(subject: &Subject<'_>) -> Vec<Item> {
    let reads = reads(subject);
    let mut groups: Vec<(String, Vec<&Read<'_>>)> = Vec::new();
    for read in reads.iter().filter(|read| is_steady(subject, read)) {
        let source = subject.source(read.call.expr.span);
        let same = |(text, of): &&mut (String, Vec<&Read<'_>>)| {
            let loops = of.first().map(|first| &first.loops);
            let equal = |a: &&Stmt, b: &&Stmt| std::ptr::eq(*a, *b);
            *text == source
                && loops.is_some_and(|l| {
                    l.len() == read.loops.len()
                        && l.iter().zip(&read.loops).all(|(a, b)| equal(a, b))
                })
        };
        match groups.iter_mut().find(same) {
            Some((_, group)) => group.push(read),
            None => groups.push((source, vec![read])),
        }
    }
    let several = groups.into_iter().filter(|(_, group)| group.len() > 1);
    several
        .map(|(source, group)| Item {
            title: format!("Keep what `{source}` read"),
            places: (group.iter())
                .map(|read| subject.place(read.call.expr.span))
                .collect(),
            why: format!(
                "it is read {} times; a tile that is kept costs registers instead",
                group.len()
            ),
            how: How::Edit("read it once and use the tile again".to_owned()),
            gain: None,
            principle: Some(Principle::Locality),
        })
        .collect()
}

/// Whether the names that a read depends on have one value within a round of its loops.
fn is_steady(subject: &Subject<'_>, read: &Read<'_>) -> bool {
    let mut steady = true;
    read.call.expr.walk(&mut |e| {
        if let Some(name) = e.name() {
            let of_loop = |stmt: &&Stmt| match &stmt.kind {
                StmtKind::For { target, .. } => binds(target, name),
                _ => false,
            };
            let loops = read.loops.iter().filter(|stmt| of_loop(stmt)).count();
            let all = values(&subject.device.def.body, name).len();
            steady &= all.saturating_sub(loops) <= usize::from(loops == 0);
        }
    });
    steady
}

/// Sums over a tile in each round of a loop that adds them up.
fn sums_in_loops(subject: &Subject<'_>) -> Vec<Item> {
    let mut items = Vec::new();
    subject.device.calls(&mut |call, place| {
        let Some(total) = (call.name == "sum" && place.in_loop())
            .then(|| added_to(place))
            .flatten()
        else {
            return;
        };
        let source = subject.source(call.expr.span);
        items.push(Item {
            title: format!("Add up tiles in the loop and reduce once behind it: `{source}`"),
            places: vec![subject.place(call.expr.span)],
            why: format!(
                "each round reduces across threads only to be added to `{total}`; a tile of partial \
                 sums needs one reduction in all, at the price of its registers"
            ),
            how: How::Edit(format!(
                "make `{total}` a tile of the operand's shape, add the operand to it, and take the \
                 sum after the loop"
            )),
            gain: None,
            principle: Some(Principle::Fusion),
        });
    });
    items
}

/// The name that a statement adds something to.
fn added_to<'a>(place: &Place<'a>) -> Option<&'a SmolStr> {
    match &place.stmt()?.kind {
        StmtKind::AugAssign { target, op, .. } if op.starts_with('+') => target.name(),
        StmtKind::Assign { targets, value } => {
            let [target] = targets.as_slice() else {
                return None;
            };
            let ExprKind::Binary { op, left, right } = &value.kind else {
                return None;
            };
            let name = target.name()?;
            let adds = op == "+" && [left.name(), right.name()].contains(&Some(name));
            adds.then_some(name)
        }
        _ => None,
    }
}

/// Tiles that are loaded one way and turned at once.
fn turned_after_loading(subject: &Subject<'_>) -> Vec<Item> {
    let mut items = Vec::new();
    subject.device.calls(&mut |call, place| {
        let turns = matches!(call.name.as_str(), "transpose" | "permute");
        let Some(tile) = call.arg(0, "x").filter(|_| turns) else {
            return;
        };
        let loaded = subject.device.call(subject.device.follow(tile));
        let Some(load) = loaded.filter(|c| c.name == "load" && c.keyword("order").is_none()) else {
            return;
        };
        let often = if place.in_loop() {
            "in each round"
        } else {
            "once"
        };
        items.push(Item {
            title: format!("Load turned: `{}`", subject.source(call.expr.span)),
            places: vec![subject.place(load.expr.span), subject.place(call.expr.span)],
            why: format!(
                "the tile of `{}` is turned {often}, through shared memory unless the compiler can \
                 turn the copy",
                subject.source(load.expr.span)
            ),
            how: How::Edit(
                "give the load `order=` with the axes turned, index and shape too".to_owned(),
            ),
            gain: None,
            principle: Some(Principle::Locality),
        });
    });
    items
}
