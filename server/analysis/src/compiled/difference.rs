//! What a change has done to a kernel's machine code, in words.

use std::collections::BTreeMap;

use super::{Access, CompiledFacts, Kind, Machine, Occupancy, Outcome};

/// Two compiles of a kernel, for the same signature and architecture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// The same machine code and resources.
    Same,
    /// Another program. What is seen of that, the most telling first; never empty.
    Changed(Vec<String>),
    /// It does not compile any more, or does again. In words.
    Broken(String),
    /// One of them has no machine code.
    Unknown,
}

/// Compares two compiles.
#[must_use]
pub fn difference(before: &CompiledFacts, after: &CompiledFacts) -> Difference {
    let (old, new) = match (&before.outcome, &after.outcome) {
        (Outcome::Machine(old), Outcome::Machine(new)) => (old, new),
        (Outcome::Machine(_) | Outcome::Accepted, Outcome::Refused(refusal)) => {
            return Difference::Broken(format!("no longer compiles: {}", refusal.message));
        }
        (Outcome::Refused(_), Outcome::Machine(_) | Outcome::Accepted) => {
            return Difference::Broken("compiles, did not before".to_owned());
        }
        _ => return Difference::Unknown,
    };
    if old.code_hash == new.code_hash {
        return Difference::Same;
    }
    let mut words = Vec::new();
    operations(old, new, &mut words);
    let pairs = [
        (
            "registers",
            old.resources.registers,
            new.resources.registers,
        ),
        ("bytes of stack", old.resources.stack, new.resources.stack),
        (
            "bytes of shared memory",
            old.resources.shared,
            new.resources.shared,
        ),
        (
            "threads",
            old.resources.threads.unwrap_or(0),
            new.resources.threads.unwrap_or(0),
        ),
        (
            "blocks a cluster",
            old.resources.cluster,
            new.resources.cluster,
        ),
    ];
    for (what, was, is) in pairs {
        if was != is {
            words.push(format!("{is} {what}, was {was}"));
        }
    }
    let resident = |facts: &CompiledFacts, machine: &Machine| {
        Occupancy::of(&machine.resources, facts.arch).map(|occupancy| occupancy.blocks())
    };
    if let (Some(was), Some(is)) = (resident(before, old), resident(after, new))
        && was != is
    {
        words.push(format!("{is} CTAs/SM, was {was}"));
    }
    if words.is_empty() {
        words.push("other machine code, with the same resources and remarks".to_owned());
    }
    Difference::Changed(words)
}

/// How often each kind of operation is made in each way.
fn operations(old: &Machine, new: &Machine, words: &mut Vec<String>) {
    let (old, new) = (ways(old), ways(new));
    let all: Vec<&String> = old
        .keys()
        .chain(new.keys().filter(|k| !old.contains_key(*k)))
        .collect();
    for way in all {
        let was = old.get(way).copied().unwrap_or(0);
        let is = new.get(way).copied().unwrap_or(0);
        if was != is {
            words.push(format!("{way}: {is}, was {was}"));
        }
    }
}

fn ways(machine: &Machine) -> BTreeMap<String, u32> {
    let mut ways = BTreeMap::new();
    for placed in machine.remarks.iter().flatten() {
        let access = |access: &Access| access.word();
        let way = match &placed.remark.kind {
            Kind::Tma { access: a, .. } => format!("TMA {}", access(a)),
            Kind::Plain { access: a, .. } => format!("plain {}", access(a)),
            Kind::TensorCore { instruction, .. } => format!("tensor core {instruction}"),
            Kind::Fma { .. } => "FMA instead of tensor core".to_owned(),
            Kind::Hint { .. } | Kind::Other { .. } => continue,
        };
        *ways.entry(way).or_default() += placed.remark.count;
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::super::testing::noted;
    use super::*;
    use crate::model::{FileModel, ModelCache};

    fn facts(notes: [&str; 3]) -> CompiledFacts {
        let text = format!(
            "import cuda.tile as ct\n@ct.kernel\ndef k(x, y):  # sm_90: {}\n    \
             a = ct.load(x, (0, 0), (8, 8))  # sm_90: {}\n    \
             b = ct.mma(a, a, a)  # sm_90: {}\n",
            notes[0], notes[1], notes[2]
        );
        let parsed = tileperf_syntax::parse(&text);
        let model = FileModel::build(&parsed, &text, "", &mut ModelCache::default());
        noted(&model, &text).remove(0).remove(0)
    }

    fn with_hash(mut facts: CompiledFacts, hash: &str) -> CompiledFacts {
        if let Outcome::Machine(machine) = &mut facts.outcome {
            machine.code_hash = hash.to_owned();
        }
        facts
    }

    #[test]
    fn what_has_changed_is_said() {
        let resources = "128 registers, 256 threads, 0 stack, 1024 shared";
        let before = with_hash(facts([resources, "plain", "FMA"]), "a");
        assert_eq!(difference(&before, &before), Difference::Same);
        let other = with_hash(before.clone(), "b");
        let Difference::Changed(words) = difference(&before, &other) else {
            panic!()
        };
        assert_eq!(
            words,
            ["other machine code, with the same resources and remarks"]
        );
        let resources = "96 registers, 256 threads, 64 stack, 1024 shared";
        let after = with_hash(
            facts([resources, "TMA 8x8", "tensor core SM90 64x8x16"]),
            "c",
        );
        let Difference::Changed(words) = difference(&before, &after) else {
            panic!()
        };
        assert_eq!(
            words,
            [
                "FMA instead of tensor core: 0, was 1",
                "plain load: 0, was 1",
                "TMA load: 1, was 0",
                "tensor core SM90: 1, was 0",
                "96 registers, was 128",
                "64 bytes of stack, was 0",
            ]
        );
        let refused = CompiledFacts {
            outcome: Outcome::Failed("no time".to_owned()),
            ..before.clone()
        };
        assert_eq!(difference(&before, &refused), Difference::Unknown);
    }
}
