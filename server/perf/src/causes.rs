//! The likely cause of a wrong result, from what the change touched.
//!
//! Seed of the rule set: the loop's contract names them. A guess, said as one.

/// What a change may do to results, by words that it adds or removes.
const CAUSES: [(&[&str], Side, &str); 8] = [
    (
        &["flush_to_zero"],
        Side::Either,
        "flush-to-zero turns small numbers into 0",
    ),
    (
        &["APPROX", "rounding_mode", "use_fast_acc"],
        Side::Either,
        "approximate arithmetic changes the last digits",
    ),
    (
        &["allow_tma"],
        Side::Either,
        "allow_tma changes how a tile is read at the edges",
    ),
    (
        &["num_programs", "num_blocks", "persistent"],
        Side::Either,
        "the bound of the persistent loop leaves tiles out or runs over the end",
    ),
    (
        &["ct.where", "mask", "padding_mode", "check_bounds"],
        Side::Removed,
        "a mask or padding was removed, so elements beyond the end count",
    ),
    (
        &["check_bounds=False"],
        Side::Added,
        "bounds are no longer checked, so every tile must be full",
    ),
    (
        &["TILE", "BLOCK", "tile_size", "shape="],
        Side::Either,
        "a tile reaches over the bounds",
    ),
    (
        &["float16", "bfloat16", "astype", "tf32"],
        Side::Either,
        "arithmetic in a narrower type",
    ),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Added,
    Removed,
    Either,
}

/// The first cause that fits a change, given the lines that it removes and adds.
pub(crate) fn likely(removed: &[&str], added: &[&str]) -> Option<&'static str> {
    let has = |lines: &[&str], words: &[&str]| {
        lines
            .iter()
            .any(|line| words.iter().any(|word| line.contains(word)))
    };
    let fits = |(words, side, _): &&(&[&str], Side, &str)| match side {
        Side::Added => has(added, words),
        Side::Removed => has(removed, words) && !has(added, words),
        Side::Either => has(added, words) || has(removed, words),
    };
    CAUSES.iter().find(fits).map(|(_, _, cause)| *cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_points_at_its_likely_fault() {
        let of = |removed: &[&str], added: &[&str]| likely(removed, added).unwrap_or("none");
        assert!(of(&["x = ct.exp(y)"], &["x = ct.exp(y, flush_to_zero=True)"]).contains("small"));
        assert!(of(&["s = ct.where(m, s, 0)"], &["s = s"]).contains("mask"));
        assert!(!of(&["ct.where(m, s, 0)"], &["ct.where(n, s, 0)"]).contains("mask"));
        assert!(of(&["TILE = 64"], &["TILE = 128"]).contains("bounds"));
        assert_eq!(of(&["a = 1"], &["a = 2"]), "none");
    }
}
