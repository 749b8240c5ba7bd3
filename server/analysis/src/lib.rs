//! Placeholder, filled in the next commits.

pub mod arch;
pub mod target;
