//! Launches of a kernel in other files: a wrapper often lives apart from the kernel that it launches.

#[cfg(test)]
mod tests;

use tileperf_syntax::Span;

use crate::model::Launch;
use crate::rewrite::TextEdit;
use crate::rules::FileContext;

/// Another file of the workspace that launches the kernel.
#[derive(Clone, Copy)]
pub struct Elsewhere<'w> {
    /// The file. Its device code is not looked at.
    pub file: FileContext<'w>,
    /// The launches that can only be of this kernel, by their calls.
    pub launches: &'w [Span],
}

/// A launch of the kernel, and where it is.
#[derive(Clone, Copy)]
pub struct Launched<'a> {
    /// The file that it is in.
    pub file: FileContext<'a>,
    /// What the file says of it.
    pub launch: &'a Launch,
    /// Which of [`Surroundings::elsewhere`](super::Surroundings) the file is; nothing for the
    /// kernel's own.
    pub elsewhere: Option<usize>,
}

/// The change of another file.
#[derive(Debug, Clone, PartialEq)]
pub struct EditsElsewhere {
    /// Which of [`Surroundings::elsewhere`](super::Surroundings).
    pub file: usize,
    /// In that file.
    pub edits: Vec<TextEdit>,
}
