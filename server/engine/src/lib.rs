//! Placeholder, filled in the next commits.

pub mod settings;
