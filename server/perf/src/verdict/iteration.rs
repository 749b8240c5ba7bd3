//! What all configurations together mean for the iteration.

use serde::{Deserialize, Serialize};

use super::{
    BY_CHANCE, ConfigurationVerdict, FASTER, LARGE, SAME, SLOWER_THAN_START, Verdict, in_words,
};
use crate::readings::{Change, Key, SetComparison};
use crate::records::Status;
use crate::stats::{self, Total, Weighted};

/// What the correctness tests said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "correctness", rename_all = "snake_case")]
pub enum Correctness {
    /// All passed.
    Passed,
    /// Some did not.
    Failed {
        /// Ids of the tests that failed.
        tests: Vec<String>,
    },
    /// None ran, so nothing is known: treated as a failure.
    NothingRan,
}

/// One configuration that both sides measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// Which one.
    pub key: Key,
    /// Its weight in the total; 1 unless the project sets one.
    pub weight: f64,
    /// Its verdict.
    pub verdict: ConfigurationVerdict,
}

/// Everything an iteration is decided by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The project's tests.
    pub correctness: Correctness,
    /// Configurations that both sides measured.
    pub configurations: Vec<Judged>,
    /// Configurations that only one side measured.
    pub sets: SetComparison,
    /// The candidate's total over that of iteration 0, where both are known: 1.02 is 2 % slower.
    pub against_start: Option<f64>,
}

/// Keep, revert or neither.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// The reason, which decides.
    pub why: Why,
    /// The weighted geometric mean over configurations, where it was measured.
    pub total: Option<Total>,
    /// Configurations that are faster.
    pub faster: Vec<Key>,
    /// Configurations that are slower, certain after looking at all of them.
    pub slower: Vec<Key>,
    /// Configurations that look slower but may be so by chance, having looked at many.
    pub perhaps_slower: Vec<Key>,
    /// Configurations that look faster but may be so by chance; alone they keep nothing.
    pub perhaps_faster: Vec<Key>,
    /// Configurations that stayed undecided and count as unchanged.
    pub undecided: Vec<Key>,
    /// Configurations that the base does not have; they count for nothing here.
    pub appeared: Vec<Key>,
}

/// Why an iteration is kept or reverted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Why {
    /// Keep: 5 % or more.
    LargeGain,
    /// Keep: 2 to 5 %.
    MediumGain,
    /// Keep: less than 2 %, but real.
    SmallGain,
    /// Keep: a correctness fix that passes. Its speed is not compared with the wrong original.
    Fixed,
    /// Neither: every configuration runs the same program.
    SameProgram,
    /// Revert: wrong results.
    Incorrect {
        /// Ids of the tests that failed.
        tests: Vec<String>,
    },
    /// Revert: no correctness test ran.
    Unverified,
    /// Revert: configurations that the base has are gone, skipped, failing or without a number.
    Lost {
        /// Which, and how.
        configurations: Vec<(Key, Change)>,
    },
    /// Revert: a number that the device cannot reach.
    MeasuringError {
        /// Where.
        configurations: Vec<Key>,
    },
    /// Revert: nothing was measured on both sides.
    NothingMeasured,
    /// Revert: a configuration is slower.
    Slower,
    /// Revert, and offer to gate by shape: some are slower, others faster.
    Mixed,
    /// Revert: with it the total is more than 2 % slower than iteration 0.
    SlowerThanStart {
        /// Over the total of iteration 0.
        ratio: f64,
    },
    /// Revert: no improvement.
    NoImprovement,
}

/// What an iteration does to the count of iterations in a row without improvement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// Starts the count anew.
    Improved,
    /// Adds one.
    NotImproved,
    /// Leaves it: something was wrong or slower, which says nothing about what is left to gain.
    NotCounted,
}

/// What a kept iteration means for the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outlook {
    /// Go on.
    GoOn,
    /// Go on, this family of optimizations further down the list.
    DemoteFamily,
    /// Stop unless the user asked to go on.
    StopUnlessAsked,
}

impl Decision {
    /// Whether the change stays.
    pub fn keeps(&self) -> bool {
        self.outlook().is_some()
    }

    /// Whether this is a row of the table. Equal programs are no iteration.
    pub fn is_iteration(&self) -> bool {
        self.why != Why::SameProgram
    }

    /// Configurations whose verdict may be chance among all that were looked at. Until the plan has no
    /// more looks, they are as open as an ambiguous one: take their next look and decide again.
    pub fn open(&self) -> impl Iterator<Item = &Key> {
        self.perhaps_slower.iter().chain(&self.perhaps_faster)
    }

    /// What a kept change means for the next; `None` if it is not kept.
    pub fn outlook(&self) -> Option<Outlook> {
        match self.why {
            Why::LargeGain | Why::Fixed => Some(Outlook::GoOn),
            Why::MediumGain => Some(Outlook::DemoteFamily),
            Why::SmallGain => Some(Outlook::StopUnlessAsked),
            _ => None,
        }
    }

    /// The status in the table.
    pub fn status(&self) -> Status {
        if self.keeps() {
            Status::Keep
        } else {
            Status::Revert
        }
    }

    /// What it does to the count of iterations without improvement.
    pub fn progress(&self) -> Progress {
        match self.why {
            Why::NoImprovement => Progress::NotImproved,
            _ if self.keeps() => Progress::Improved,
            _ => Progress::NotCounted,
        }
    }

    /// Whether to offer a gate by shape, so that only the faster configurations take the change.
    pub fn offers_shape_gate(&self) -> bool {
        !self.slower.is_empty() && !self.faster.is_empty()
    }

    /// One sentence for people.
    pub fn sentence(&self) -> String {
        let total = self
            .total
            .map_or("not measured".to_owned(), |total| in_words(total.change()));
        let names = |keys: &[Key]| {
            keys.iter()
                .map(Key::to_string)
                .collect::<Vec<_>>()
                .join(", ")
        };
        match &self.why {
            Why::LargeGain => format!("Kept: {total}."),
            Why::MediumGain => format!("Kept: {total}; more of this kind comes later."),
            Why::SmallGain => format!("Kept: {total}, too little to go on unasked."),
            Why::Fixed => "Kept: the results are now right; speed was not compared.".to_owned(),
            Why::SameProgram => "No change: the compiled program is the same.".to_owned(),
            Why::Incorrect { tests } => format!("Reverted: wrong results in {}.", tests.join(", ")),
            Why::Unverified => "Reverted: no correctness test ran.".to_owned(),
            Why::Lost { configurations } => {
                let said: Vec<String> = configurations
                    .iter()
                    .map(|(key, change)| format!("{key} {}", change_in_words(change)))
                    .collect();
                format!("Reverted: {}.", said.join("; "))
            }
            Why::MeasuringError { configurations } => format!(
                "Reverted: measuring error, faster than the device can be in {}.",
                names(configurations)
            ),
            Why::NothingMeasured => "Reverted: nothing was measured on both sides.".to_owned(),
            Why::Slower => format!("Reverted: slower in {}.", names(&self.slower)),
            Why::Mixed => format!(
                "Reverted: faster in {} but slower in {}; a gate by shape could keep the gain.",
                names(&self.faster),
                names(&self.slower)
            ),
            Why::SlowerThanStart { ratio } => format!(
                "Reverted: the total would be {} than iteration 0.",
                in_words(ratio - 1.0)
            ),
            Why::NoImprovement if !self.perhaps_faster.is_empty() => format!(
                "Reverted: {total}, but that may be chance in {}.",
                names(&self.perhaps_faster)
            ),
            Why::NoImprovement => format!("Reverted: no improvement ({total})."),
        }
    }
}

fn change_in_words(change: &Change) -> String {
    match change {
        Change::Vanished => "is no longer run".to_owned(),
        Change::Appeared => "is new".to_owned(),
        Change::Skipped { reason } => format!("is now skipped ({reason})"),
        Change::Failed { message } => format!("now fails ({message})"),
        Change::Errored { message } => format!("now breaks ({message})"),
        Change::Unusable { reason } => format!("has no usable number ({reason})"),
        Change::UnitChanged { from, to } => format!("now counts {to} instead of {from}"),
    }
}

/// Decides an iteration, in the contract's order.
pub fn decide(candidate: &Candidate) -> Decision {
    let configurations = &candidate.configurations;
    let tail = one_tail(configurations);
    let slower = split(configurations, Verdict::Slower, tail, |v| {
        v.estimate.p_above(SAME.ln_1p())
    });
    let maybe = split(configurations, Verdict::Maybe, tail.min(BY_CHANCE), |v| {
        v.estimate.p_below(0.0)
    });
    let parts: Vec<Weighted> = configurations
        .iter()
        .map(|c| Weighted {
            estimate: c.verdict.counted(),
            weight: c.weight,
        })
        .collect();
    let mut decision = Decision {
        why: Why::NoImprovement,
        total: stats::total(&parts),
        faster: with_verdict(configurations, Verdict::Faster),
        slower: slower.certain,
        perhaps_slower: slower.perhaps,
        perhaps_faster: maybe.perhaps,
        undecided: with_verdict(configurations, Verdict::Ambiguous),
        appeared: candidate.sets.appeared().cloned().collect(),
    };
    // Many that each may be chance can together be none.
    let together = !decision.perhaps_faster.is_empty()
        && decision
            .total
            .is_some_and(|total| total.p_faster <= BY_CHANCE);
    let real = !decision.faster.is_empty() || !maybe.certain.is_empty() || together;
    decision.why = reason(candidate, &decision, real);
    decision
}

fn with_verdict(configurations: &[Judged], verdict: Verdict) -> Vec<Key> {
    let matching = configurations
        .iter()
        .filter(|c| c.verdict.verdict == verdict);
    matching.map(|c| c.key.clone()).collect()
}

fn reason(candidate: &Candidate, found: &Decision, real: bool) -> Why {
    match &candidate.correctness {
        Correctness::Failed { tests } => {
            return Why::Incorrect {
                tests: tests.clone(),
            };
        }
        Correctness::NothingRan => return Why::Unverified,
        Correctness::Passed => {}
    }
    let configurations = &candidate.configurations;
    let lost: Vec<(Key, Change)> = candidate.sets.losses().cloned().collect();
    if !lost.is_empty() {
        return Why::Lost {
            configurations: lost,
        };
    }
    let Some(total) = found.total else {
        return Why::NothingMeasured;
    };
    if configurations
        .iter()
        .all(|c| c.verdict.verdict == Verdict::NoChange)
    {
        return Why::SameProgram;
    }
    let impossible = with_verdict(configurations, Verdict::MeasuringError);
    if !impossible.is_empty() {
        return Why::MeasuringError {
            configurations: impossible,
        };
    }
    if !found.slower.is_empty() {
        return if found.faster.is_empty() {
            Why::Slower
        } else {
            Why::Mixed
        };
    }
    if let Some(ratio) = candidate
        .against_start
        .filter(|ratio| *ratio > 1.0 + SLOWER_THAN_START)
    {
        return Why::SlowerThanStart { ratio };
    }
    match total.improvement() {
        improvement if !real || improvement <= 0.0 => Why::NoImprovement,
        improvement if improvement >= LARGE => Why::LargeGain,
        improvement if improvement >= FASTER => Why::MediumGain,
        _ => Why::SmallGain,
    }
}

/// One tail of the narrowest interval that was measured: what a single verdict may err.
fn one_tail(configurations: &[Judged]) -> f64 {
    let levels = measured(configurations).map(|c| c.verdict.estimate.level);
    (1.0 - levels.fold(1.0, f64::min)) / 2.0
}

fn measured(configurations: &[Judged]) -> impl Iterator<Item = &Judged> {
    configurations
        .iter()
        .filter(|c| c.verdict.verdict != Verdict::NoChange)
}

struct Split {
    certain: Vec<Key>,
    perhaps: Vec<Key>,
}

/// The configurations with a verdict, parted by Holm's correction for all that were measured.
fn split(
    configurations: &[Judged],
    verdict: Verdict,
    alpha: f64,
    p_value: impl Fn(&ConfigurationVerdict) -> f64,
) -> Split {
    let p_values: Vec<f64> = measured(configurations)
        .map(|c| {
            let p = p_value(&c.verdict);
            let tail = (1.0 - c.verdict.estimate.level) / 2.0;
            // A clear interval is itself a test at its tail; with one configuration it decides.
            if c.verdict.verdict == verdict {
                p.min(tail)
            } else {
                p
            }
        })
        .collect();
    let significant = stats::holm(&p_values, alpha);
    let mut split = Split {
        certain: Vec::new(),
        perhaps: Vec::new(),
    };
    for (configuration, significant) in measured(configurations).zip(significant) {
        if configuration.verdict.verdict == verdict {
            let side = if significant {
                &mut split.certain
            } else {
                &mut split.perhaps
            };
            side.push(configuration.key.clone());
        }
    }
    split
}

/// What becomes of a session after its baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BaselineDecision {
    /// Iterate.
    GoOn,
    /// Iterate; the original is wrong, so the first thing to keep is a fix.
    FixFirst,
    /// The original is wrong, and the session is about speed.
    Stop,
}

/// Decides a baseline: one that fails correctness stops the session, unless it was started as a
/// correctness fix.
pub fn decide_baseline(correctness: &Correctness, is_fix: bool) -> BaselineDecision {
    match (correctness, is_fix) {
        (Correctness::Passed, _) => BaselineDecision::GoOn,
        (Correctness::Failed { .. } | Correctness::NothingRan, true) => BaselineDecision::FixFirst,
        (Correctness::Failed { .. } | Correctness::NothingRan, false) => BaselineDecision::Stop,
    }
}

/// Decides a candidate of a correctness fix while the base is still wrong: only its tests count.
pub fn decide_fix(correctness: &Correctness) -> Decision {
    let why = match correctness {
        Correctness::Passed => Why::Fixed,
        Correctness::Failed { tests } => Why::Incorrect {
            tests: tests.clone(),
        },
        Correctness::NothingRan => Why::Unverified,
    };
    Decision {
        why,
        total: None,
        faster: Vec::new(),
        slower: Vec::new(),
        perhaps_slower: Vec::new(),
        perhaps_faster: Vec::new(),
        undecided: Vec::new(),
        appeared: Vec::new(),
    }
}
