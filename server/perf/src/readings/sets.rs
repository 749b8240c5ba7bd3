//! Which configurations two runs have in common, and what became of the others.
//!
//! A candidate must not win by losing its slowest configuration, so every difference between the
//! sets is named before any time is compared.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::{Key, Outcome, Reading, Unit};

/// What became of a configuration that the base measured, or that only the candidate has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// Measured before, now not even run.
    Vanished,
    /// Measured now, not before.
    Appeared,
    /// Measured before, now skipped.
    Skipped {
        /// The project's reason.
        reason: String,
    },
    /// Measured before, now failing.
    Failed {
        /// The first lines of the exception.
        message: String,
    },
    /// Measured before, now broken in set-up, tear-down or collection.
    Errored {
        /// The first lines of the exception.
        message: String,
    },
    /// Measured before, now without a usable number.
    Unusable {
        /// What was reported instead.
        reason: String,
    },
    /// The number now counts something else: milliseconds cannot be compared with GB/s.
    UnitChanged {
        /// The base's unit.
        from: Unit,
        /// The candidate's unit.
        to: Unit,
    },
}

impl Change {
    /// Whether the candidate lost something that the base had.
    pub fn is_loss(&self) -> bool {
        !matches!(self, Change::Appeared)
    }
}

/// The difference between the sets of two runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetComparison {
    /// Measured in both, in the base's order.
    pub common: Vec<Key>,
    /// Measured in one only, and why: the base's in its order, then those that appeared.
    pub changes: Vec<(Key, Change)>,
    /// Without a number in both runs (skipped, usually): not part of the comparison.
    pub unmeasured: Vec<SmolStr>,
}

impl SetComparison {
    /// The changes by which the candidate lost a configuration.
    pub fn losses(&self) -> impl Iterator<Item = &(Key, Change)> {
        self.changes.iter().filter(|(_, change)| change.is_loss())
    }

    /// The configurations that only the candidate has.
    pub fn appeared(&self) -> impl Iterator<Item = &Key> {
        self.changes
            .iter()
            .filter(|(_, change)| !change.is_loss())
            .map(|(key, _)| key)
    }
}

/// Compares what two runs measured. Only readings of the given backends should be passed where a
/// benchmark also times others.
pub fn compare_sets(base: &[Reading], candidate: &[Reading]) -> SetComparison {
    let units = |readings: &[Reading]| -> BTreeMap<Key, Unit> {
        readings
            .iter()
            .filter_map(|r| Some((r.key()?, r.timing.as_ref()?.median.unit)))
            .collect()
    };
    let (before, after) = (units(base), units(candidate));
    let mut comparison = SetComparison::default();
    let mut seen = BTreeSet::new();
    for key in base.iter().filter_map(Reading::key) {
        if !seen.insert(key.clone()) {
            continue;
        }
        match (before.get(&key), after.get(&key)) {
            (Some(from), Some(to)) if from != to => {
                comparison.changes.push((
                    key,
                    Change::UnitChanged {
                        from: *from,
                        to: *to,
                    },
                ));
            }
            (_, Some(_)) => comparison.common.push(key),
            (_, None) => {
                let change = fate(&key, candidate);
                comparison.changes.push((key, change));
            }
        }
    }
    for key in candidate.iter().filter_map(Reading::key) {
        if seen.insert(key.clone()) {
            comparison.changes.push((key, Change::Appeared));
        }
    }
    let measured: BTreeSet<&SmolStr> = seen.iter().map(|key| &key.configuration).collect();
    let mut named = BTreeSet::new();
    for reading in base.iter().chain(candidate) {
        let configuration = &reading.configuration;
        if !measured.contains(configuration) && named.insert(configuration.clone()) {
            comparison.unmeasured.push(configuration.clone());
        }
    }
    comparison
}

/// What a run says about a configuration for which it has no number.
fn fate(key: &Key, readings: &[Reading]) -> Change {
    let same_pass = |reading: &&Reading| {
        reading
            .backend
            .as_ref()
            .is_none_or(|backend| *backend == key.backend)
            && reading
                .direction
                .as_ref()
                .is_none_or(|direction| *direction == key.direction)
    };
    let worst = readings
        .iter()
        .filter(|reading| reading.configuration == key.configuration)
        .filter(same_pass)
        .max_by_key(|reading| reading.outcome.severity());
    match worst.map(|reading| reading.outcome.clone()) {
        Some(Outcome::Skipped { reason }) => Change::Skipped { reason },
        Some(Outcome::Failed { message }) => Change::Failed { message },
        Some(Outcome::Error { message }) => Change::Errored { message },
        Some(Outcome::Unusable { reason }) => Change::Unusable { reason },
        // It ran and passed without saying a number.
        Some(Outcome::Passed) => Change::Unusable {
            reason: "no number was reported".to_owned(),
        },
        None => Change::Vanished,
    }
}
