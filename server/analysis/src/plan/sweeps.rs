//! Values that may be others: tile sizes and hints.

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::ExprKind;

use super::{How, Item, Subject};
use crate::arch::Arch;
use crate::classify::Class;
use crate::playbook::{Action, Principle, Proof};

type Offered = (Action, Option<(Arch, Proof)>);

/// Tile sizes, then hints. Hints are left to the search where the playbook offers one.
pub(super) fn items(subject: &Subject<'_>, all: &[Subject<'_>], actions: &[Offered]) -> Vec<Item> {
    let has_search = actions
        .iter()
        .any(|(action, _)| action.optimization.id == "C");
    let mut items = extents(subject, all);
    if !has_search && !subject.is_tuned {
        items.extend(occupancy(subject));
        items.extend(clusters(subject, all));
    }
    items
}

/// Constants that are extents of tiles.
fn extents(subject: &Subject<'_>, all: &[Subject<'_>]) -> Vec<Item> {
    let params = subject.kernel.params.iter().enumerate();
    params
        .filter(|(_, param)| param.constant)
        .filter_map(|(number, param)| extent(subject, all, number, &param.name))
        .collect()
}

fn extent(
    subject: &Subject<'_>,
    all: &[Subject<'_>],
    number: usize,
    name: &SmolStr,
) -> Option<Item> {
    let shaped: Vec<_> = all.iter().flat_map(|one| shaped_by(one, name)).collect();
    let (_, first) = shaped.first()?;
    let passed: Vec<String> = passed(subject, number);
    let now = match passed.as_slice() {
        [] => "no launch in this file shows its value".to_owned(),
        values => format!("launches pass `{}`", values.join("`, `")),
    };
    let shapes = match shaped.len() {
        1 => format!("it shapes one tile, by `ct.{first}`"),
        count => format!("it shapes {count} tiles, the first by `ct.{first}`"),
    };
    Some(Item {
        title: format!("Another `{name}`"),
        places: shaped.into_iter().map(|(span, _)| span).collect(),
        why: format!("{shapes}; {now}"),
        how: How::Edit(format!(
            "half and twice the present `{name}` where the wrapper passes it, and in the grid"
        )),
        gain: None,
        principle: Some(Principle::Locality),
    })
}

/// The calls that make tiles of which a constant of that name is an extent. A helper calls it by the same
/// name, as a rule.
fn shaped_by(subject: &Subject<'_>, name: &SmolStr) -> Vec<(Span, SmolStr)> {
    let mut shaped = Vec::new();
    subject.device.calls(&mut |call, _| {
        let shape = match call.name.as_str() {
            "load" => call.arg(2, "shape"),
            "zeros" | "ones" | "full" => call.arg(0, "shape"),
            "arange" => call.arg(0, "size"),
            _ => None,
        };
        let mut named = false;
        if let Some(shape) = shape {
            shape.walk(&mut |e| named |= e.name() == Some(name));
        }
        if named {
            shaped.push((subject.place(call.expr.span), call.name.clone()));
        }
    });
    shaped
}

/// What launches of this file pass for the n-th parameter.
fn passed(subject: &Subject<'_>, number: usize) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for launch in &subject.launches {
        let value = subject.file.expr(launch.span).and_then(|call| {
            let ExprKind::Call { args, .. } = &call.node.kind else {
                return None;
            };
            let tuple = args.get(3)?;
            let ExprKind::Tuple(items) = &tuple.value.kind else {
                return None;
            };
            let place = call.place(items.get(number)?.span);
            Some(subject.file.source(place).to_owned())
        });
        if let Some(value) = value.filter(|value| !found.contains(value)) {
            found.push(value);
        }
    }
    found
}

fn fixed<'s>(subject: &'s Subject<'_>, name: &str) -> Option<&'s str> {
    let hint = subject.kernel.hints.iter().find(|hint| hint.name == name)?;
    Some(hint.text.as_str())
}

fn decorator(subject: &Subject<'_>) -> Vec<Span> {
    vec![subject.kernel.decorator_span]
}

fn occupancy(subject: &Subject<'_>) -> Vec<Item> {
    let now = fixed(subject, "occupancy");
    let (range, of) = match subject.class {
        Class::ComputeBound => ("1, 2, 4", "compute-bound"),
        Class::Balanced | Class::Unknown => ("1, 2, 4, 8", "balanced"),
        Class::MemoryBound => ("1, 2, 4, 8, 16", "memory-bound"),
    };
    let why = match now {
        Some(now) => format!("it is fixed at {now}"),
        None => "the compiler chooses it now".to_owned(),
    };
    vec![Item {
        title: "Another `occupancy`".to_owned(),
        places: decorator(subject),
        why: format!("{why}, and nothing searches for a better one"),
        how: How::Edit(format!("{range} at the decorator, what {of} kernels take")),
        gain: None,
        principle: Some(Principle::Parallelism),
    }]
}

/// Clusters, for kernels whose blocks share tiles.
fn clusters(subject: &Subject<'_>, all: &[Subject<'_>]) -> Vec<Item> {
    let mut products = Vec::new();
    for one in all {
        one.device.calls(&mut |call, _| {
            if matches!(call.name.as_str(), "mma" | "mma_scaled" | "matmul") {
                products.push(one.place(call.expr.span));
            }
        });
    }
    let has_clusters = |arch: &Arch| *arch >= Arch::Sm90 && *arch < Arch::Sm120;
    let any = subject.file.target.archs.iter().any(has_clusters);
    if products.is_empty() || !any || fixed(subject, "num_ctas").is_some() {
        return Vec::new();
    }
    vec![Item {
        title: "`num_ctas=2`".to_owned(),
        places: products,
        why: "blocks beside each other multiply the same rows or columns and can share them"
            .to_owned(),
        how: How::Edit("2 and 4 at the decorator; the grid must be a multiple".to_owned()),
        gain: None,
        principle: Some(Principle::Locality),
    }]
}
