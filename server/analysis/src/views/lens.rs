//! The line above a kernel. Its place never moves while its title changes, so that reading code does
//! not jump.

use super::counts::{Count, line};
use super::measured::Measured;
use crate::arch::Arch;

/// What a lens knows of a kernel.
#[derive(Debug, Clone, Default)]
pub struct LensFacts {
    /// Launches found in the workspace.
    pub launches: usize,
    /// Searches that time it.
    pub searches: usize,
    /// Ops whose registered implementations launch it.
    pub ops: Vec<String>,
    /// Configurations per architecture of each space that is searched for it.
    pub spaces: Vec<Vec<(Arch, Count)>>,
    /// The kernel does not parse at present.
    pub stale: bool,
    /// What compiled code shows of it ([`compiled::lens`](super::compiled::lens)).
    pub compiled: Option<String>,
    /// What was measured of it.
    pub measured: Option<Measured>,
}

/// The title: `2 launches · tuned over 12 configurations · op softmax · 0.390000 ms (2.10x)`.
pub fn title(facts: &LensFacts) -> String {
    let mut parts = vec![match facts.launches {
        0 => "no launch found".to_owned(),
        1 => "1 launch".to_owned(),
        n => format!("{n} launches"),
    }];
    let counts: Vec<String> = facts
        .spaces
        .iter()
        .map(|s| line(s))
        .filter(|s| !s.is_empty())
        .collect();
    match (facts.searches, counts.as_slice()) {
        (0, _) => parts.push("not tuned".to_owned()),
        (_, []) => parts.push("tuned".to_owned()),
        (_, [one]) => parts.push(format!("tuned over {one} configurations")),
        (_, many) => parts.push(format!("tuned over {} configurations", many.join(" / "))),
    }
    match facts.ops.as_slice() {
        [] => {}
        [op] => parts.push(format!("op {op}")),
        ops => parts.push(format!("ops {}", ops.join(", "))),
    }
    if facts.stale {
        parts.push("as last parsed".to_owned());
    }
    parts.extend(facts.compiled.clone());
    parts.extend(facts.measured.iter().flat_map(Measured::parts));
    parts.join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles() {
        assert_eq!(title(&LensFacts::default()), "no launch found · not tuned");
        let exact = |n| {
            vec![(
                Arch::Sm90,
                Count {
                    min: n,
                    max: Some(n),
                },
            )]
        };
        let facts = LensFacts {
            launches: 2,
            searches: 1,
            ops: vec!["softmax".into()],
            spaces: vec![exact(12)],
            stale: true,
            compiled: Some("sm_90: does not compile".into()),
            measured: None,
        };
        assert_eq!(
            title(&facts),
            "2 launches · tuned over 12 configurations · op softmax · as last parsed · \
             sm_90: does not compile"
        );
    }
}
