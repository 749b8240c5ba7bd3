//! A kernel with a part of it written otherwise, compiled beside what it is.
//!
//! Whether a construct does anything shows in no remark: only two compiles tell it. The engine makes
//! the second one and asks whether the machine code is the same.

use crate::arch::Arch;
use crate::rewrite::TextEdit;
use crate::signature::Origin;

/// What a kernel compiles to with some of its text replaced.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// What is replaced, at the places of the present text.
    pub edits: Vec<TextEdit>,
    /// For which architecture.
    pub arch: Arch,
    /// Where the signature comes from that both were compiled for.
    pub origin: Origin,
    /// Whether both give the same machine code. `None` if that cannot be told: it does not compile so,
    /// or would take too long.
    pub same: Option<bool>,
    /// The kernel, or something that it needs, was edited since.
    pub stale: bool,
}
