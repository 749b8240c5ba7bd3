//! What the compiler could not do for the kernel.

use super::{How, Item, Known, Subject};
use crate::compiled::{CompiledFacts, Kind, Machine};
use crate::playbook::{Effect, Principle};

/// From which share of a thread's registers on there is hardly room for a second block.
const MANY: u32 = 200;

/// One item for each thing that the compiler gave up, and why.
pub(super) fn items(subject: &Subject<'_>, known: &Known<'_>) -> Vec<Item> {
    let Some((facts, machine)) = known.compiled.and_then(|f| Some((f, f.machine()?))) else {
        return Vec::new();
    };
    let mut items = memory(subject, facts, machine);
    for placed in machine.remarks.iter().flatten() {
        let (title, why, principle) = match &placed.remark.kind {
            Kind::Plain { access, reasons } if !reasons.is_empty() => (
                format!("TMA for each {access} that goes without"),
                reasons.join(", "),
                Principle::Async,
            ),
            Kind::Fma { reasons } if !known.offers(Effect::TensorCores) => (
                "Tensor cores for the product that goes without".to_owned(),
                reasons.join(", "),
                Principle::Vectorization,
            ),
            _ => continue,
        };
        let why = match why.is_empty() {
            true => format!("the compiler for {} says nothing of why", facts.arch),
            false => format!("the compiler for {} says: {why}", facts.arch),
        };
        let known = items.iter_mut().find(|i| i.title == title && i.why == why);
        match known {
            Some(known) => known.places.extend(placed.span),
            None => items.push(Item {
                title,
                places: placed.span.into_iter().collect(),
                why,
                how: How::Edit("change what the reason names".to_owned()),
                gain: None,
                principle: Some(principle),
            }),
        }
    }
    items
}

/// Registers and stack.
fn memory(subject: &Subject<'_>, facts: &CompiledFacts, machine: &Machine) -> Vec<Item> {
    let resources = &machine.resources;
    let (arch, registers, stack) = (facts.arch, resources.registers, resources.stack);
    let (title, why) = if stack > 0 {
        (
            format!("The {stack} bytes of stack back into registers"),
            format!(
                "on {arch} each thread keeps {stack} bytes in memory beside {registers} registers"
            ),
        )
    } else if registers >= MANY {
        (
            "Room for a second block".to_owned(),
            format!("on {arch} each thread takes {registers} registers"),
        )
    } else {
        return Vec::new();
    };
    vec![Item {
        title,
        places: vec![subject.kernel.name_span],
        why,
        how: How::Edit(
            "smaller tiles, or fewer of them alive at once: the isolations below tell which"
                .to_owned(),
        ),
        gain: None,
        principle: Some(Principle::Locality),
    }]
}
