//! What does a part cost? It is replaced by something trivial, and the difference in time is its price.

use super::{How, Item, Subject};
use crate::body::ApiCall;

/// Most of them in a plan.
const MOST: usize = 8;
/// How much more a call counts for each loop around it.
const ROUNDS: u32 = 8;

/// What a call does, as far as its price goes.
#[derive(Clone, Copy)]
enum Part {
    Product,
    Read,
    Reduction,
    Function,
    Atomic,
    Write,
}

impl Part {
    fn of(name: &str) -> Option<Part> {
        Some(match name {
            "mma" | "mma_scaled" | "matmul" => Part::Product,
            "load" | "gather" => Part::Read,
            "sum" | "max" | "min" | "prod" | "argmax" | "argmin" | "cumsum" | "cumprod" => {
                Part::Reduction
            }
            "exp" | "exp2" | "log" | "log2" | "tanh" | "sin" | "cos" | "rsqrt" | "sqrt" | "pow"
            | "truediv" => Part::Function,
            "store" | "scatter" => Part::Write,
            atomic if atomic.starts_with("atomic_") => Part::Atomic,
            _ => return None,
        })
    }

    /// What it may cost beside others. An order, no measurement.
    fn weight(self) -> u32 {
        match self {
            Part::Product => 6,
            Part::Read => 5,
            Part::Atomic => 4,
            Part::Reduction => 3,
            Part::Write => 2,
            Part::Function => 1,
        }
    }
}

/// The costliest parts first, `room` at most.
pub(super) fn items(subjects: &[Subject<'_>], room: usize) -> Vec<Item> {
    let mut found: Vec<(u32, Item)> = Vec::new();
    for subject in subjects {
        parts(subject, &mut found);
    }
    // Stable: equal ones stay in the order of the text.
    found.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    found.truncate(MOST.min(room));
    found.into_iter().map(|(_, item)| item).collect()
}

/// The parts of a function, and how much each counts.
fn parts(subject: &Subject<'_>, found: &mut Vec<(u32, Item)>) {
    subject.device.calls(&mut |call, place| {
        let Some(part) = Part::of(&call.name) else {
            return;
        };
        let loops = subject.around + place.loops().count();
        let loops = u32::try_from(loops).unwrap_or(u32::MAX);
        let weight = part.weight().saturating_mul(ROUNDS.saturating_pow(loops));
        let item = item(subject, call, part, loops);
        let same = found
            .iter_mut()
            .find(|(_, known)| known.title == item.title);
        match same {
            Some((_, known)) => known.places.extend(item.places),
            None => found.push((weight, item)),
        }
    });
}

fn item(subject: &Subject<'_>, call: &ApiCall<'_>, part: Part, loops: u32) -> Item {
    let source = subject.source(call.expr.span);
    let often = match loops {
        0 => "runs once a block".to_owned(),
        1 => "runs in each round of a loop".to_owned(),
        n => format!("runs in each round of {n} loops"),
    };
    Item {
        title: format!("What `{source}` costs"),
        places: vec![subject.place(call.expr.span)],
        why: format!("it {often}; if hardly any time is won without it, work on something else"),
        how: How::Isolate(instead(subject, call, part)),
        gain: None,
        principle: None,
    }
}

/// What stands in its place.
fn instead(subject: &Subject<'_>, call: &ApiCall<'_>, part: Part) -> String {
    let written = |place: usize, name: &str| {
        let expr = call.arg(place, name)?;
        Some(subject.source(expr.span))
    };
    match part {
        Part::Product => match written(if call.name == "mma_scaled" { 4 } else { 2 }, "acc") {
            Some(acc) => format!("its accumulator, `{acc}`, in its place"),
            None => "a tile of zeros of its shape in its place".to_owned(),
        },
        Part::Read => match (written(0, "array"), written(2, "shape"), call.name.as_str()) {
            (Some(array), Some(shape), "load") => {
                format!("`ct.full({shape}, 1, dtype={array}.dtype)` in its place")
            }
            _ => "a tile of ones of its shape and dtype in its place".to_owned(),
        },
        Part::Reduction => "a tile of ones of its result's shape in its place".to_owned(),
        Part::Function => match written(0, "x") {
            Some(operand) => format!("its operand, `{operand}`, in its place"),
            None => "its operand in its place".to_owned(),
        },
        Part::Atomic => "nothing in its place".to_owned(),
        Part::Write => {
            "a tile of ones in place of what it writes: what was only computed for it falls \
                        away with it, so this is the price of the writing alone"
                .to_owned()
        }
    }
}
