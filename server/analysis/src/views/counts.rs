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

/// Counts of all architectures in one line, equal ones together; a single count when all agree.
pub fn line(counts: &[(Arch, Count)]) -> String {
    let Some((_, first)) = counts.first() else {
        return String::new();
    };
    if counts.iter().all(|(_, c)| c == first) {
        return first.to_string();
    }
    let mut groups: Vec<(Count, Vec<String>)> = Vec::new();
    for (arch, count) in counts {
        match groups.iter_mut().find(|(c, _)| c == count) {
            Some((_, archs)) => archs.push(arch.to_string()),
            None => groups.push((*count, vec![arch.to_string()])),
        }
    }
    let parts: Vec<String> = groups
        .iter()
        .map(|(count, archs)| format!("{} on {}", count, archs.join(" ")))
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
            "3 on sm_80 sm_120, 0-8 on sm_90, at least 2 on sm_121"
        );
        assert_eq!(Count { min: 0, max: None }.to_string(), "unknown");
    }
}
