//! What a session did and found, for people.
//!
//! The journal is complete and unreadable. A report says the same in an order that somebody can check:
//! the result, what it was measured on and how, each iteration with its verdict, what was taken back
//! and why, and what is not known. [`markdown`] is for files and terminals, [`html`] for a browser or an
//! editor's panel, [`pull_request`] for those who have to approve the change, and [`applied`] and
//! [`summary`] are the short forms that other tools read.
//!
//! All are pure functions of a [`Session`](crate::Session): nothing is measured, read or asked here.
//! No number stands without where and when it was measured; an estimate is called one; what is missing
//! says why. Names and messages are other people's text and stay text.

mod applied;
mod briefly;
mod escape;
mod gaps;
mod html;
mod markdown;
mod measured_on;
mod pull_request;
mod quantity;
mod result;
mod summary;
mod words;

pub use applied::{applied, applied_in};
pub use html::html;
pub use markdown::markdown;
pub use pull_request::pull_request;
pub use summary::summary;
pub use words::experiment;

#[cfg(test)]
mod tests;
