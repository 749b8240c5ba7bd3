//! Put into the mutated copy of the analysis crate: chooses the mutant that a process is.

#![allow(dead_code, missing_docs, unreachable_pub)]

use std::sync::LazyLock;

/// None is the original.
static CHOSEN: LazyLock<Option<u32>> =
    LazyLock::new(|| std::env::var("TILEPERF_MUTANT").ok()?.parse().ok());

pub(crate) fn on(number: u32) -> bool {
    *CHOSEN == Some(number)
}

/// `negated` makes a condition its opposite, `yes` makes it hold, `no` makes it fail; 0 is no
/// mutant.
pub(crate) fn cond(negated: u32, yes: u32, no: u32, value: bool) -> bool {
    match *CHOSEN {
        Some(0) | None => value,
        Some(number) if number == negated => !value,
        Some(number) if number == yes => true,
        Some(number) if number == no => false,
        _ => value,
    }
}

/// `<` that may be `<=`.
pub(crate) fn less<T: PartialOrd + ?Sized>(number: u32, left: &T, right: &T) -> bool {
    if on(number) {
        left <= right
    } else {
        left < right
    }
}

/// `<=` that may be `<`.
pub(crate) fn at_most<T: PartialOrd + ?Sized>(number: u32, left: &T, right: &T) -> bool {
    if on(number) {
        left < right
    } else {
        left <= right
    }
}

/// The title of a fix; without one the fix is not attached.
pub(crate) fn title(number: u32, title: impl Into<String>) -> String {
    if on(number) {
        String::new()
    } else {
        title.into()
    }
}
