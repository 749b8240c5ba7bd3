//! Keep or revert, by rule.
//!
//! Three questions, each a pure function of plain data: what one configuration's pairs show
//! ([`configuration`]), what that means for the iteration ([`iteration`]), and whether the session
//! goes on ([`stop`]). Every answer carries its reason as a type, for programs, and as one sentence,
//! for people.

pub mod configuration;
pub mod iteration;
pub mod stop;

use serde::{Deserialize, Serialize};

pub use configuration::{ConfigurationVerdict, Evidence, Reason, Verdict, judge};
pub use iteration::{
    BaselineDecision, Candidate, Correctness, Decision, Judged, Outlook, Progress, Why, decide,
    decide_baseline, decide_fix,
};
pub use stop::{Ending, Goal, GoalError, GoalState, RootCause, Session, Standing, Stop, stop};

/// Below this relative change, faster or slower, two times count as the same.
pub const SAME: f64 = 0.01;
/// The least improvement that is called faster, and the most that the noise may hide.
pub const FASTER: f64 = 0.02;
/// The improvement from which on a family of optimizations is worth going on with.
pub const LARGE: f64 = 0.05;
/// How much slower than iteration 0 the total may ever be.
pub const SLOWER_THAN_START: f64 = 0.02;

/// The chance that a change which does nothing passes for faster at one look. A single interval of
/// 98.75 % lets one in 160 pass on the fast side, and four looks one in a hundred; that is too many
/// for a loop that runs unwatched.
pub const BY_CHANCE: f64 = 0.0005;

/// Whether base and candidate are the same program, as compiled code and launches show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "identity", rename_all = "snake_case")]
pub enum Identity {
    /// Equal code and equal launch for every known signature, architecture under test and
    /// configuration the search can reach.
    Same {
        /// What was compared.
        proof: String,
    },
    /// The compiled code or a launch differs.
    Different,
    /// Not known; measure.
    Unknown {
        /// Why not.
        reason: String,
    },
}

/// A relative change as people read it: "4.2 % faster".
pub(crate) fn in_words(change: f64) -> String {
    let percent = change * 100.0;
    if percent.abs() < 0.005 {
        "unchanged".to_owned()
    } else if percent < 0.0 {
        format!("{:.2} % faster", -percent)
    } else {
        format!("{percent:.2} % slower")
    }
}

#[cfg(test)]
mod tests;
