//! What people read, made from plain data: symbols, lens titles, hover cards, inlay hints. One file
//! a view, each a pure function.

pub mod card;
pub mod compiled;
pub mod counts;
pub mod hints;
pub mod lens;
pub mod measured;
pub mod symbols;
