//! What a benchmark said.
