//! The name somebody probably meant.

use super::table::{self, Setting};

/// The setting whose name is closest to `written` among those that `may_set` admits, unless none
/// is close.
pub(super) fn nearest_setting(
    written: &str,
    may_set: impl Fn(&Setting) -> bool,
) -> Option<&'static Setting> {
    let written = comparable(strip_section(written));
    table::TABLE
        .iter()
        .filter(|setting| may_set(setting))
        .map(|setting| {
            (
                distance_between(&written, &comparable(setting.key)),
                setting,
            )
        })
        .min_by_key(|&(distance, _)| distance)
        .filter(|&(distance, _)| distance <= tolerance(&written))
        .map(|(_, setting)| setting)
}

/// People copy the header of one file into the other.
fn strip_section(written: &str) -> &str {
    written
        .strip_prefix("tool.tileperf.")
        .or_else(|| written.strip_prefix("tileperf."))
        .unwrap_or(written)
}

/// `inlayHints`, `inlay_hints` and `inlay-hints` are one name in three spellings.
fn comparable(name: &str) -> Vec<char> {
    name.chars()
        .filter(|c| !matches!(c, '-' | '_'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// A third of the name may be wrong, but short names must be nearly right.
fn tolerance(name: &[char]) -> usize {
    (name.len() / 3).clamp(1, 4)
}

/// The fewest single-character edits and swaps of neighbours that turn one name into the other.
fn distance_between(from: &[char], to: &[char]) -> usize {
    // Names of settings are short; what is much longer is not one of them.
    if from.len().abs_diff(to.len()) > tolerance(from) {
        return usize::MAX;
    }
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (row, &a) in from.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, &b) in to.iter().enumerate() {
            let mut best = (last[column] + usize::from(a != b))
                .min(last[column + 1] + 1)
                .min(current[column] + 1);
            let swapped = row > 0 && column > 0 && a == to[column - 1] && from[row - 1] == b;
            if swapped {
                best = best.min(before_last[column - 1] + 1);
            }
            current.push(best);
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last[to.len()]
}
