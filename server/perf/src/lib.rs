//! The experiment loop: one change at a time, correctness, benchmark, a verdict by rule, keep or
//! revert, and a journal that says what happened.

pub mod readings;
pub mod records;
pub mod stats;
pub mod verdict;
