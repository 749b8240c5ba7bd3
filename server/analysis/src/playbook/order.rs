//! Which optimization is tried first.
//!
//! The orders are those of TileGym's guides for kernels bound by memory, by both, and by arithmetic.
//! A float32 product without tensor cores comes first wherever arithmetic matters at all: it is several
//! times slower than it need be. What is in no order comes after, by letter.

use super::Action;
use crate::classify::Class;

/// The letters in the order in which they promise most.
fn letters(class: Class) -> &'static str {
    match class {
        Class::MemoryBound => "ABCFGEH",
        Class::Balanced | Class::Unknown => "DACBGFHE",
        Class::ComputeBound => "DGCIBEH",
    }
}

/// Sorts actions, the most promising first; those of one optimization stay in their order.
pub(super) fn by_promise(actions: &mut [Action], class: Class) {
    let letters = letters(class);
    let place = |action: &Action| {
        let id = action.optimization.id;
        (letters.find(id).unwrap_or(letters.len()), id)
    };
    actions.sort_by_key(place);
}
