//! What a cuTile Python file means. Pure: plain data in, plain data out; no I/O, no clock, no
//! global state.

pub mod arch;
pub mod body;
pub mod classify;
pub mod compiled;
pub mod digest;
pub mod eval;
pub mod knobs;
pub mod model;
pub mod plan;
pub mod playbook;
pub mod rewrite;
pub mod rules;
pub mod signature;
pub mod slice;
pub mod target;
pub mod views;
