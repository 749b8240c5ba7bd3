//! Placeholder, filled in the next commits.
fn main() {}
