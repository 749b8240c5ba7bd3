//! What two compiles say of an action.

use super::{Action, Effect};
use crate::compiled::{CompiledFacts, Difference, Kind, Outcome, difference};

/// What is known of an action's effect on compiled code.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case", tag = "proof", content = "words")]
pub enum Proof {
    /// It does what it is for. What has changed, the most telling first; never empty.
    Proven(Vec<String>),
    /// It does not. Why, in words.
    Refuted(String),
    /// Not compiled, one of the two does not compile for reasons of its own, or compiled code has
    /// nothing to say of it.
    Unknown,
}

/// Holds an action against its kernel's machine code before and after, for the same signature and
/// architecture.
#[must_use]
pub fn present(action: &Action, before: &CompiledFacts, after: &CompiledFacts) -> Proof {
    let words = match difference(before, after) {
        Difference::Broken(why) => return Proof::Refuted(why),
        _ if !action.shows_in_code() => return Proof::Unknown,
        Difference::Unknown => return Proof::Unknown,
        Difference::Same => return Proof::Refuted("the machine code stays the same".to_owned()),
        Difference::Changed(words) => words,
    };
    for effect in &action.effects {
        let (what, count): (_, fn(&CompiledFacts) -> u32) = match effect {
            Effect::Code => continue,
            Effect::Tma => ("no further access is made by TMA", tma),
            Effect::TensorCores => ("no further product uses tensor cores", tensor_cores),
        };
        if count(after) <= count(before) {
            return Proof::Refuted(what.to_owned());
        }
    }
    Proof::Proven(words)
}

fn tma(facts: &CompiledFacts) -> u32 {
    count(facts, |kind| matches!(kind, Kind::Tma { .. }))
}

fn tensor_cores(facts: &CompiledFacts) -> u32 {
    count(facts, |kind| matches!(kind, Kind::TensorCore { .. }))
}

fn count(facts: &CompiledFacts, is: fn(&Kind) -> bool) -> u32 {
    let Outcome::Machine(machine) = &facts.outcome else {
        return 0;
    };
    let remarks = machine
        .remarks
        .iter()
        .flatten()
        .map(|placed| &placed.remark);
    remarks.filter(|r| is(&r.kind)).map(|r| r.count).sum()
}
