//! Configuration counts in few words: `sm_80 sm_86 12, sm_90 8-16`.

use std::fmt;

use serde::Serialize;

use crate::arch::Arch;

/// How many configurations a space has: exact when both ends are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Count {
    /// At least this many.
    pub min: u64,
    /// At most this many; nothing when there is no bound.
    pub max: Option<u64>,
}

/// `12`, `0-8`, `at least 2`, `unknown`.
impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.min, self.max) {
            (min, Some(max)) if min == max => write!(f, "{min}"),
            (min, Some(max)) => write!(f, "{min}-{max}"),
            (0, None) => f.write_str("unknown"),
            (min, None) => write!(f, "at least {min}"),
        }
    }
}

/// Counts of all architectures in one line: a single count when all agree, else equal ones together,
/// neighbours as a range: `8 on sm_80-89, 4 on sm_90`. `counts` is in the order of the architectures.
pub fn line(counts: &[(Arch, Count)]) -> String {
    let Some((_, first)) = counts.first() else {
        return String::new();
    };
    if counts.iter().all(|(_, c)| c == first) {
        return first.to_string();
    }
    // Runs of neighbours by count, in order of first appearance.
    let mut groups: Vec<(Count, Vec<(Arch, Arch)>)> = Vec::new();
    let mut before: Option<Count> = None;
    for (arch, count) in counts {
        let at = groups
            .iter()
            .position(|(c, _)| c == count)
            .unwrap_or_else(|| {
                groups.push((*count, Vec::new()));
                groups.len() - 1
            });
        match groups[at].1.last_mut() {
            Some(run) if before == Some(*count) => run.1 = *arch,
            _ => groups[at].1.push((*arch, *arch)),
        }
        before = Some(*count);
    }
    let run = |(from, to): &(Arch, Arch)| {
        if from == to {
            from.to_string()
        } else {
            format!("{from}-{}", to.sm())
        }
    };
    let parts: Vec<String> = groups
        .iter()
        .map(|(count, runs)| {
            format!(
                "{count} on {}",
                runs.iter().map(run).collect::<Vec<_>>().join(" ")
            )
        })
        .collect();
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_in_few_words() {
        let exact = |n| Count {
            min: n,
            max: Some(n),
        };
        assert_eq!(line(&[(Arch::Sm80, exact(3)), (Arch::Sm90, exact(3))]), "3");
        let mixed = [
            (Arch::Sm80, exact(3)),
            (Arch::Sm86, exact(3)),
            (
                Arch::Sm90,
                Count {
                    min: 0,
                    max: Some(8),
                },
            ),
            (Arch::Sm120, exact(3)),
            (Arch::Sm121, Count { min: 2, max: None }),
        ];
        assert_eq!(
            line(&mixed),
            "3 on sm_80-86 sm_120, 0-8 on sm_90, at least 2 on sm_121"
        );
        assert_eq!(Count { min: 0, max: None }.to_string(), "unknown");
    }
}
