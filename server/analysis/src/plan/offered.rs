//! What the playbook offers, an optimization an item.

use tileperf_syntax::Span;

use super::{How, Item, Known, Subject, Way};
use crate::playbook::{Action, Numerics, Proof};

/// So many changes of compiled code are named.
const NAMED: usize = 3;

/// In the order of the offer. What compiled code refutes, and what was tried in all its ways, is left out.
pub(super) fn items(subject: &Subject<'_>, known: &Known<'_>) -> Vec<Item> {
    let is_refuted = |proof: &Option<_>| matches!(proof, Some((_, Proof::Refuted(_))));
    let mut groups: Vec<Vec<&(_, _)>> = Vec::new();
    for offered in known.actions.iter().filter(|(_, proof)| !is_refuted(proof)) {
        let same = |group: &&mut Vec<&(Action, _)>| {
            (group.first()).is_some_and(|(first, _)| first.optimization == offered.0.optimization)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(offered),
            None => groups.push(vec![offered]),
        }
    }
    (groups.iter())
        .filter_map(|group| item(subject, group, known))
        .collect()
}

type Offered = (Action, Option<(crate::arch::Arch, Proof)>);

fn item(subject: &Subject<'_>, group: &[&Offered], known: &Known<'_>) -> Option<Item> {
    let ways: Vec<Way> = group.iter().map(|(a, _)| way(a, known)).collect();
    let open = ways.iter().position(|way| way.tried.is_none())?;
    let (action, proof) = group.get(open)?;
    let optimization = action.optimization;
    let mut why = vec![match group.len() {
        1 => action.title.clone(),
        _ => format!("{}, and other values of the same", action.title),
    }];
    if let Some((arch, Proof::Proven(words))) = proof {
        let words = words.iter().take(NAMED).cloned().collect::<Vec<_>>();
        why.push(format!("compiled for {arch}: {}", words.join(", ")));
    }
    if action.numerics == Numerics::Different {
        why.push("results differ in the last bits".to_owned());
    }
    why.extend(action.premises.iter().map(|p| format!("right only if {p}")));
    let gain = optimization.gains.first();
    Some(Item {
        title: format!("{}: {}", optimization.id, optimization.slug),
        places: places(subject, action),
        why: why.join("; "),
        how: How::Apply(ways),
        gain: gain.map(|gain| format!("{} ({}; {})", gain.amount, gain.scope, gain.source)),
        principle: Some(optimization.principle),
    })
}

fn way(action: &Action, known: &Known<'_>) -> Way {
    let id = action.optimization.id;
    let of_it = |tried: &&super::Tried| {
        let named = tried.action.as_ref();
        named.is_some_and(|(of, variant)| of == id && *variant == action.variant)
    };
    Way {
        id,
        variant: action.variant.clone(),
        tried: (known.tried.iter().rev().find(of_it)).map(|tried| tried.result.clone()),
    }
}

/// Where an action changes the kernel, or its file if it leaves the kernel alone.
fn places(subject: &Subject<'_>, action: &Action) -> Vec<Span> {
    let kernel = subject.kernel.span;
    let (inside, outside): (Vec<Span>, Vec<Span>) = (action.edits.iter().map(|edit| edit.span))
        .partition(|span| kernel.start <= span.start && span.end <= kernel.end);
    if inside.is_empty() { outside } else { inside }
}
