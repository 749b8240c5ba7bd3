//! What is read out of a message and out of code.

const DTYPES: [&str; 17] = [
    "bool_",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "tfloat32",
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e8m0fnu",
];

/// The data types that a text names.
pub(super) fn dtypes(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| DTYPES.contains(word)).collect()
}

/// How many elements each shape has that a text names: `(64, 2)` has 128.
pub(super) fn elements(text: &str) -> Vec<i64> {
    let shapes = text
        .split('(')
        .skip(1)
        .filter_map(|rest| rest.split_once(')'));
    let count = |(within, _): (&str, &str)| {
        let parts = within.split(',').map(str::trim).filter(|p| !p.is_empty());
        let extents: Option<Vec<i64>> = parts.map(|p| p.parse().ok()).collect();
        extents?.into_iter().try_fold(1_i64, i64::checked_mul)
    };
    shapes.filter_map(count).collect()
}

/// Whether a text has a number with a fraction: `0.0`.
pub(super) fn has_fraction(text: &str) -> bool {
    text.split_whitespace()
        .any(|word| word.contains('.') && word.parse::<f64>().is_ok())
}

/// The whole numbers in a text, those within words left out.
pub(super) fn numbers(text: &str) -> Vec<usize> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter_map(|word| word.parse().ok()).collect()
}

/// Whether a text has a word.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(of_word) && !after.is_some_and(of_word)
    })
}
