//! The table that people read.
