//! Running the user's commands on one variant of the code, and knowing that it was that variant.

pub mod control;
pub mod execute;
pub mod pairs;
pub mod record;
pub mod tests;

pub use execute::{Bench, Ended, Variants};
