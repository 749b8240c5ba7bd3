//! Reports of sessions folded from journals written by hand.

mod journal;
mod outcome;
mod page;
mod properties;
mod scenes;
mod text;
