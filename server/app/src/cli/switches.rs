//! Switches of cuTile in the environment that make other programs of the same kernels.
//!
//! Kernels are compiled in the environment that tileperf has, as they would run in it. Where a switch for
//! testing is set, what is shown is not what runs elsewhere, which has to be said.

/// Variables of cuda-tile 1.7 (`cuda/tile/_debug.py`) that count where they are `1`, and what they do.
const SWITCHES: [(&str, &str); 2] = [
    (
        "CUDA_TILE_TESTING_DISABLE_TOKEN_ORDER",
        "without the order between memory operations",
    ),
    (
        "CUDA_TILE_TESTING_DISABLE_DIV",
        "without what is known of divisibility",
    ),
];

/// What is set, in words; `None` if nothing is.
pub(super) fn set() -> Option<String> {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| value == "1");
    let set = SWITCHES.iter().filter(|(name, _)| is_set(name));
    let words: Vec<String> = set
        .map(|(name, what)| format!("{name}=1, {what}"))
        .collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// Says so once, before anything is compiled.
pub(super) fn warn() {
    if let Some(words) = set() {
        tracing::warn!("kernels are compiled by {words}: what runs elsewhere is another program");
    }
}
