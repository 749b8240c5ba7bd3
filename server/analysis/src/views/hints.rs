//! Inlay hints: what an expression comes to, at the place where it is written.

use super::counts::{Count, line};
use crate::arch::Arch;

/// At a space: how many configurations it gives.
pub fn configurations(counts: &[(Arch, Count)]) -> String {
    match counts.first() {
        None => String::new(),
        Some((
            _,
            Count {
                min: 1,
                max: Some(1),
            },
        )) if counts.iter().all(|(_, c)| c.min == 1 && c.max == Some(1)) => {
            "1 configuration".to_owned()
        }
        Some(_) => format!("{} configurations", line(counts)),
    }
}

/// At a launch whose kernel argument does not name a kernel itself: the kernels it can be.
pub fn resolved_kernels(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [a, b] => format!("{a} or {b}"),
        [a, rest @ ..] => format!("{a} or {} others", rest.len()),
    }
}
