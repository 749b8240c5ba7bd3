//! What compiled code shows, in words: beside each access, above a kernel, and on its card.
//!
//! Architectures on which it is the same are said once; what is of an older text is marked. Facts
//! are given in the order in which they are to be shown, the main architecture first.

mod access;
mod lens;
mod section;
#[cfg(test)]
mod tests;
mod words;

pub use access::{Inlay, hover, inlays};
pub use lens::lens;
pub use section::section;
