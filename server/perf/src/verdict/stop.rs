//! When a session ends.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Outlook, Progress};

/// Iterations a session may have, iteration 0 not counted.
pub const MOST_ITERATIONS: u32 = 25;
/// Iterations in a row without improvement after which it stops.
pub const MOST_WITHOUT_IMPROVEMENT: u32 = 2;

/// What the user wants to reach. Written `0.30ms`, `1.2x` or `85%sol`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Goal {
    /// A total latency in milliseconds.
    Latency(f64),
    /// So many times faster than iteration 0.
    Speedup(f64),
    /// A part of the device's speed of light: 0.85 is 85 %.
    SpeedOfLight(f64),
}

/// Why a text is no goal.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text:?} is no goal: write a time (0.30ms), a speed-up (1.2x) or a share (85%sol)")]
pub struct GoalError {
    /// What was written.
    pub text: String,
}

impl FromStr for Goal {
    type Err = GoalError;

    fn from_str(text: &str) -> Result<Self, GoalError> {
        let compact: String = text
            .chars()
            .filter(|c| !c.is_whitespace())
            .collect::<String>()
            .to_lowercase();
        let goal = if let Some(number) = compact.strip_suffix("%sol") {
            positive(number)
                .map(|percent| percent / 100.0)
                .filter(|s| *s <= 1.0)
                .map(Self::SpeedOfLight)
        } else if let Some(number) = compact.strip_suffix("ms") {
            positive(number).map(Self::Latency)
        } else if let Some(number) = compact.strip_suffix("us").or(compact.strip_suffix("µs")) {
            positive(number).map(|us| Self::Latency(us / 1000.0))
        } else if let Some(number) = compact.strip_suffix('x') {
            positive(number).map(Self::Speedup)
        } else {
            None
        };
        goal.ok_or_else(|| GoalError {
            text: text.to_owned(),
        })
    }
}

/// A positive decimal number; `inf`, `nan` and the like are words, not numbers.
fn positive(text: &str) -> Option<f64> {
    let plain = text.chars().all(|c| c.is_ascii_digit() || c == '.');
    text.parse::<f64>()
        .ok()
        .filter(|value| plain && *value > 0.0)
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Goal::Latency(ms) => write!(f, "{ms}ms"),
            Goal::Speedup(times) => write!(f, "{times}x"),
            // Undo the division's rounding: 0.29 * 100 is not 29.
            Goal::SpeedOfLight(share) => write!(f, "{}%sol", (share * 1e8).round() / 1e6),
        }
    }
}

impl From<Goal> for String {
    fn from(goal: Goal) -> String {
        goal.to_string()
    }
}

impl TryFrom<String> for Goal {
    type Error = GoalError;

    fn try_from(text: String) -> Result<Self, GoalError> {
        text.parse()
    }
}

/// Where a session stands, for its goal.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// Total latency of iteration 0, in milliseconds or as a cost.
    pub start: f64,
    /// Total latency of the last kept iteration, in the same unit.
    pub current: f64,
    /// Whether the two are milliseconds. Rates have no latency.
    pub is_time: bool,
    /// The least total latency in milliseconds that the device allows, where known.
    pub least_ms: Option<f64>,
}

/// Whether a goal is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalState {
    /// Yes.
    Reached,
    /// No.
    NotReached,
    /// The benchmark reports rates, and the goal needs a time.
    NoTime,
    /// The device's speed of light is not known for this kernel.
    NoCeiling,
}

impl Goal {
    /// Whether a session that stands there has reached it.
    pub fn state(self, at: &Standing) -> GoalState {
        // 0.6 / 0.4 is a hair below 1.5.
        let at_least = |have: f64, wanted: f64| have >= wanted * (1.0 - 1e-9);
        let reached = match self {
            Goal::Speedup(times) => at_least(at.start / at.current, times),
            _ if !at.is_time => return GoalState::NoTime,
            Goal::Latency(ms) => at_least(ms, at.current),
            Goal::SpeedOfLight(share) => match at.least_ms {
                Some(least) => at_least(least / at.current, share),
                None => return GoalState::NoCeiling,
            },
        };
        if reached {
            GoalState::Reached
        } else {
            GoalState::NotReached
        }
    }
}

/// A root cause that no optimization of ours addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RootCause {
    /// Spare bandwidth and compute, enough occupancy, and no remark explains it.
    Scheduling,
    /// Nothing explains it.
    Unknown,
}

/// What the session knows after an iteration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// The goal and where the session stands, if it has one.
    pub goal: Option<(Goal, Standing)>,
    /// Iterations so far, iteration 0 not counted.
    pub iterations: u32,
    /// What each iteration did to the count without improvement, oldest first.
    pub progress: Vec<Progress>,
    /// What the last iteration means for the next, if it was kept.
    pub outlook: Option<Outlook>,
    /// Whether anything applicable is left to try; `None` where the user makes the changes.
    pub left_to_try: Option<usize>,
    /// The root cause, where it is one to escalate.
    pub root_cause: Option<RootCause>,
    /// The user asked to go on after small gains.
    pub go_on: bool,
    /// The user asked to stop.
    pub stop_asked: bool,
}

/// Why a session stops.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "stop", rename_all = "snake_case")]
pub enum Stop {
    /// The user asked.
    User,
    /// The goal is reached.
    GoalReached {
        /// Which.
        goal: Goal,
    },
    /// The root cause is one for people.
    Escalated {
        /// Which.
        cause: RootCause,
    },
    /// The kept improvement was under 2 %.
    SmallGain,
    /// Two in a row without improvement.
    NoImprovement,
    /// 25 iterations.
    IterationLimit,
    /// Everything applicable was tried.
    EverythingTried,
}

/// The state a session ends in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Nothing is left to do.
    Done,
    /// Ended by a limit or the user; could go on.
    Stopped,
    /// Handed to people.
    Escalated,
}

impl Stop {
    /// The state the session ends in.
    pub fn ending(self) -> Ending {
        match self {
            Stop::GoalReached { .. } | Stop::EverythingTried => Ending::Done,
            Stop::Escalated { .. } => Ending::Escalated,
            Stop::User | Stop::SmallGain | Stop::NoImprovement | Stop::IterationLimit => {
                Ending::Stopped
            }
        }
    }

    /// One sentence for people.
    pub fn sentence(self) -> String {
        match self {
            Stop::User => "Stopped as asked.".to_owned(),
            Stop::GoalReached { goal } => format!("Done: the goal {goal} is reached."),
            Stop::Escalated {
                cause: RootCause::Scheduling,
            } => "Escalated: bandwidth, compute and occupancy are to spare and no remark explains \
                 the time, which points to scheduling."
                .to_owned(),
            Stop::Escalated {
                cause: RootCause::Unknown,
            } => "Escalated: the cause of the time is unknown.".to_owned(),
            Stop::SmallGain => {
                "Stopped: the last kept improvement is under 2 %; ask to go on for more.".to_owned()
            }
            Stop::NoImprovement => {
                format!("Stopped: {MOST_WITHOUT_IMPROVEMENT} in a row without improvement.")
            }
            Stop::IterationLimit => format!("Stopped: {MOST_ITERATIONS} iterations."),
            Stop::EverythingTried => "Done: everything applicable was tried.".to_owned(),
        }
    }
}

/// Whether a session stops now. Of several reasons, the first in this order: the user, the goal,
/// escalation, a small gain, no improvement, the limit, nothing left.
pub fn stop(session: &Session) -> Option<Stop> {
    if session.stop_asked {
        return Some(Stop::User);
    }
    if let Some((goal, at)) = session.goal
        && goal.state(&at) == GoalState::Reached
    {
        return Some(Stop::GoalReached { goal });
    }
    if let Some(cause) = session.root_cause {
        return Some(Stop::Escalated { cause });
    }
    if session.outlook == Some(Outlook::StopUnlessAsked) && !session.go_on {
        return Some(Stop::SmallGain);
    }
    if without_improvement(&session.progress) >= MOST_WITHOUT_IMPROVEMENT {
        return Some(Stop::NoImprovement);
    }
    if session.iterations >= MOST_ITERATIONS {
        return Some(Stop::IterationLimit);
    }
    (session.left_to_try == Some(0)).then_some(Stop::EverythingTried)
}

/// How many iterations since the last improvement showed none.
fn without_improvement(progress: &[Progress]) -> u32 {
    progress.iter().fold(0, |count, step| match step {
        Progress::Improved => 0,
        Progress::NotImproved => count + 1,
        Progress::NotCounted => count,
    })
}
