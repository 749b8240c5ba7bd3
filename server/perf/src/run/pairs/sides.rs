//! What the two sides of a comparison have in common.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Error;
use crate::readings::{self, Key, Reading, Unit};

/// A benchmark that times several backends side by side is about cuTile's.
pub(super) fn under_test(readings: Vec<Reading>) -> Vec<Reading> {
    let ours = |r: &Reading| r.backend.as_deref() == Some("cutile");
    if !readings.iter().any(ours) {
        return readings;
    }
    let keep = |r: &Reading| ours(r) || r.backend.is_none();
    readings.into_iter().filter(keep).collect()
}

/// What both sides measured.
pub(super) fn common_keys(base: &[Reading], candidate: &[Reading]) -> Vec<Key> {
    let there: BTreeSet<Key> = candidate.iter().filter_map(Reading::key).collect();
    let keys: BTreeSet<Key> = base.iter().filter_map(Reading::key).collect();
    keys.intersection(&there).cloned().collect()
}

/// The items that have these configurations, each once.
pub(super) fn items_of(keys: &BTreeSet<Key>) -> Vec<String> {
    let items: BTreeSet<&str> = keys
        .iter()
        .map(|k| match k.configuration.rsplit_once('#') {
            // `#2` tells apart several records of one item.
            Some((item, number)) if number.parse::<u32>().is_ok() => item,
            _ => &k.configuration,
        })
        .collect();
    items.into_iter().map(str::to_owned).collect()
}

/// Which configurations are told in milliseconds.
pub(super) fn is_time(readings: &[Reading]) -> BTreeMap<Key, bool> {
    (readings.iter())
        .filter_map(|r| {
            let unit = r.timing.as_ref()?.median.unit;
            Some((r.key()?, unit == Unit::Milliseconds))
        })
        .collect()
}

/// What a reading says where it has no number.
pub(super) fn said(reading: &Reading) -> String {
    use readings::Outcome as O;
    match &reading.outcome {
        O::Passed => "nothing".to_owned(),
        O::Failed { message } | O::Error { message } => message.clone(),
        O::Skipped { reason } | O::Unusable { reason } => reason.clone(),
    }
}

/// Why there is nothing to compare.
pub(super) fn nothing_measured(base: &[Reading]) -> Error {
    let why = match base.iter().find(|r| r.outcome != readings::Outcome::Passed) {
        Some(reading) => format!(
            "gave no number: {}: {}",
            reading.configuration,
            said(reading)
        ),
        None => "gave no number: its tests record no `benchmark` property and print no record"
            .to_owned(),
    };
    Error::Command {
        what: "benchmark",
        why,
    }
}
