//! The writing side, in repositories made by the real `git`, which then says what it thinks of them.
#![allow(
    clippy::disallowed_methods,
    reason = "the crate starts nothing; its tests do"
)]
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests fail as the tests themselves do"
)]

#[path = "../support/mod.rs"]
mod support;

mod committing;
mod converting;
mod ending;
mod large;
mod racing;
mod reading;
mod starting;
mod swapping;
mod undoing;
mod worktrees;
