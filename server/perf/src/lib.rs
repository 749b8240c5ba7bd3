//! The experiment loop: one change at a time, correctness, benchmark, a verdict by rule, keep or
//! revert, and a journal that says what happened.
//!
//! [`flow`] is the state machine; [`event`] is what it can do, [`journal`] where that is kept and
//! [`session`] what it adds up to. [`run`] runs the user's commands, [`readings`] reads what they
//! said, [`stats`] and [`verdict`] are the pure rules. Nobody else writes the journal; everybody may
//! read it.

mod causes;
mod clock;
pub mod command;
pub mod custom_plan;
mod error;
pub mod event;
pub mod flow;
mod git;
mod helper;
pub mod journal;
pub mod lock;
mod patch;
pub mod plan;
pub mod readings;
pub mod records;
pub mod report;
pub mod revision;
pub mod run;
pub mod session;
pub mod stats;
pub mod store;
pub mod verdict;
mod workplace;

pub use error::Error;
pub use session::Session;
