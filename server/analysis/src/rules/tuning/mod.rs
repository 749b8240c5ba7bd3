//! What the rules about autotuning share: the search call and its surroundings, its space, the key
//! of its cache, and how the code around it is changed.

mod beside;
pub(super) mod cache_key;
pub(super) mod extents;
pub(super) mod fallback;
pub(super) mod keys;
pub(super) mod old_search;
mod reads;
pub(super) mod remake;
pub(super) mod search_call;
pub(super) mod spaces;
