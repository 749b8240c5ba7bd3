//! What the pairs of one configuration (a test's parameter id, or a recorded launch) show.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{FASTER, Identity, SAME, in_words};
use crate::stats::Estimate;

/// The verdict of one configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING-KEBAB-CASE")]
pub enum Verdict {
    /// Proven to be the same program; not measured.
    NoChange,
    /// The interval lies below 0 and the effect is at least 2 %.
    Faster,
    /// The interval lies above +1 %.
    Slower,
    /// The interval lies inside +-1 %.
    Same,
    /// The interval lies below 0, but the effect is small or the noise large.
    Maybe,
    /// None of these. Before the last look: take more pairs. After it, it counts as unchanged.
    Ambiguous,
    /// The number is faster than the device can be: something else was measured.
    MeasuringError,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::NoChange => "NO-CHANGE",
            Verdict::Faster => "FASTER",
            Verdict::Slower => "SLOWER",
            Verdict::Same => "SAME",
            Verdict::Maybe => "MAYBE",
            Verdict::Ambiguous => "AMBIGUOUS",
            Verdict::MeasuringError => "MEASURING-ERROR",
        })
    }
}

/// What is known about a configuration when it is judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The effect at this look.
    pub estimate: Estimate,
    /// The smallest change that can be found here (0.02 is 2 %), from the base against itself
    /// ([`Noise::detectable`](crate::stats::Noise)).
    pub detectable: f64,
    /// Whether more pairs can still be taken.
    pub more: bool,
    /// The candidate's median in milliseconds and the least time that the device's measured
    /// ceilings allow for its bytes and operations, where both are known.
    pub floor: Option<Floor>,
}

/// A time and the least that it can be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    /// The candidate's median in milliseconds.
    pub measured_ms: f64,
    /// The least time in milliseconds.
    pub least_ms: f64,
}

/// Why a verdict is what it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Reason {
    /// The programs are equal.
    ProvenEqual {
        /// What was compared.
        proof: String,
    },
    /// Below 0, and at least 2 %.
    ClearlyFaster,
    /// Above +1 %.
    ClearlySlower,
    /// Inside +-1 %.
    WithinOnePercent,
    /// Below 0, but less than 2 %.
    SmallEffect,
    /// Below 0, but the machine cannot tell 2 % apart.
    Noisy {
        /// The smallest change that can be found, as a fraction.
        detectable: f64,
    },
    /// The interval is too wide for any verdict, and more pairs can narrow it.
    NextLook,
    /// The interval is still too wide at the last look: counts as unchanged.
    Undecided,
    /// Faster than the device's measured ceilings.
    FasterThanDevice(Floor),
}

/// A verdict, what it rests on and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfigurationVerdict {
    /// The verdict.
    pub verdict: Verdict,
    /// The effect it rests on.
    pub estimate: Estimate,
    /// Why.
    pub reason: Reason,
}

impl ConfigurationVerdict {
    /// The verdict of equal programs, which needs no measuring; `None` if they are not proven
    /// equal.
    pub fn from_identity(identity: &Identity) -> Option<Self> {
        match identity {
            Identity::Same { proof } => Some(ConfigurationVerdict {
                verdict: Verdict::NoChange,
                estimate: Estimate::unchanged(),
                reason: Reason::ProvenEqual {
                    proof: proof.clone(),
                },
            }),
            Identity::Different | Identity::Unknown { .. } => None,
        }
    }

    /// Whether more pairs should be taken before this is final.
    pub fn wants_more(&self) -> bool {
        self.reason == Reason::NextLook
    }

    /// The effect that counts in a total. What stayed undecided counts as unchanged; its interval
    /// still says how wrong that may be.
    pub fn counted(&self) -> Estimate {
        match self.verdict {
            Verdict::Ambiguous => Estimate {
                effect: 0.0,
                low: self.estimate.low.min(0.0),
                high: self.estimate.high.max(0.0),
                ..self.estimate
            },
            _ => self.estimate,
        }
    }

    /// One sentence for people.
    pub fn sentence(&self) -> String {
        let change = in_words(self.estimate.change());
        let (low, high) = self.estimate.change_interval();
        let interval = format!(
            "{:+.2} % to {:+.2} % at {:.2} %, {} pairs",
            low * 100.0,
            high * 100.0,
            self.estimate.level * 100.0,
            self.estimate.pairs
        );
        match &self.reason {
            Reason::ProvenEqual { proof } => format!("The same program: {proof}."),
            Reason::ClearlyFaster => format!("It is {change} ({interval})."),
            Reason::ClearlySlower => format!("It is {change} ({interval})."),
            Reason::WithinOnePercent => {
                format!("Within 1 % of the base: {change} ({interval}).")
            }
            Reason::SmallEffect => {
                format!("It seems {change}, which is less than 2 % ({interval}).")
            }
            Reason::Noisy { detectable } => format!(
                "It seems {change} ({interval}), but changes below {:.1} % cannot be told from \
                 noise here.",
                detectable * 100.0
            ),
            Reason::NextLook => format!("Not decided yet: {change} ({interval})."),
            Reason::Undecided => {
                format!("Not decided at the last look, counts as unchanged: {change} ({interval}).")
            }
            Reason::FasterThanDevice(floor) => format!(
                "Measuring error: {:.6} ms is below the {:.6} ms that the device needs at least.",
                floor.measured_ms, floor.least_ms
            ),
        }
    }
}

/// Judges one configuration, in the contract's order.
pub fn judge(evidence: &Evidence) -> ConfigurationVerdict {
    let (verdict, reason) = verdict(evidence);
    ConfigurationVerdict {
        verdict,
        estimate: evidence.estimate,
        reason,
    }
}

fn verdict(evidence: &Evidence) -> (Verdict, Reason) {
    if let Some(floor) = evidence
        .floor
        .filter(|floor| floor.measured_ms < floor.least_ms)
    {
        return (Verdict::MeasuringError, Reason::FasterThanDevice(floor));
    }
    let Estimate { low, high, .. } = evidence.estimate;
    let improvement = -evidence.estimate.change();
    let noisy = evidence.detectable.is_nan() || evidence.detectable > FASTER;
    if high < 0.0 && improvement >= FASTER && !noisy {
        return (Verdict::Faster, Reason::ClearlyFaster);
    }
    if low > SAME.ln_1p() {
        return (Verdict::Slower, Reason::ClearlySlower);
    }
    if low >= (-SAME).ln_1p() && high <= SAME.ln_1p() {
        return (Verdict::Same, Reason::WithinOnePercent);
    }
    if high < 0.0 {
        let reason = match improvement >= FASTER {
            true => Reason::Noisy {
                detectable: evidence.detectable,
            },
            false => Reason::SmallEffect,
        };
        return (Verdict::Maybe, reason);
    }
    let reason = if evidence.more {
        Reason::NextLook
    } else {
        Reason::Undecided
    };
    (Verdict::Ambiguous, reason)
}
