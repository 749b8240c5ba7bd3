//! One sample a run of the command.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use super::sides::{common_keys, is_time, nothing_measured, under_test};
use super::{Looks, RESERVE, Sampled, Watcher};
use crate::command;
use crate::error::Error;
use crate::plan::Probe;
use crate::readings::{self, Key, Reading, compare_sets, junit};
use crate::run::execute::{Bench, blame};
use crate::run::record::{self, Ran};
use crate::stats::{Pair, Plan, Sample, Variant, order};

impl Bench<'_> {
    /// A whole run of the command for each sample; the first of each variant is not counted.
    pub(super) fn whole_runs(
        &self,
        probe: &dyn Probe,
        watcher: &mut dyn Watcher,
        looks: Looks,
    ) -> Result<Sampled, Error> {
        let plan = Plan::WholeRuns;
        let steps = &plan.looks()[..looks(plan).min(plan.looks().len())];
        let last = steps[steps.len() - 1];
        let began = Instant::now();
        let mut ran = [Ran::default(), Ran::default()];
        let mut run = |variant| {
            self.whole_run(probe, watcher, variant, &mut ran)
                .map_err(|error| blame(variant, error))
        };
        let (base, candidate) = (run(Variant::Base)?, run(Variant::Candidate)?);
        let mut each = began.elapsed() / 2;
        let sets = compare_sets(&base.0, &candidate.0);
        let keys = common_keys(&base.0, &candidate.0);
        if keys.is_empty() && base.0.iter().all(|r| r.timing.is_none()) {
            return Err(nothing_measured(&base.0));
        }
        let mut pairs: BTreeMap<Key, Vec<Pair>> =
            keys.iter().map(|k| (k.clone(), vec![])).collect();
        let mut active = match sets.losses().next() {
            Some(_) => BTreeSet::new(),
            None => keys.iter().cloned().collect::<BTreeSet<Key>>(),
        };
        let mut sides = order(last);
        let mut taken = 0;
        while !active.is_empty() {
            let mut samples: [BTreeMap<Key, Sample>; 2] = Default::default();
            for side in sides.by_ref().take(2) {
                let began = Instant::now();
                let (readings, clock) = (self.whole_run(probe, watcher, side, &mut ran))
                    .map_err(|error| blame(side, error))?;
                each = each.max(began.elapsed());
                for reading in &readings {
                    if let (Some(key), Some(timing)) = (reading.key(), &reading.timing) {
                        samples[side as usize].insert(
                            key,
                            Sample {
                                cost: timing.median.cost(),
                                clock_mhz: clock,
                            },
                        );
                    }
                }
            }
            let [bases, candidates] = samples;
            for key in &active {
                match (bases.get(key), candidates.get(key), pairs.get_mut(key)) {
                    (Some(base), Some(candidate), Some(list)) => list.push(Pair {
                        base: *base,
                        candidate: *candidate,
                    }),
                    _ => {
                        return Err(Error::Crash(format!(
                            "the benchmark {key} gave a number once and then did not"
                        )));
                    }
                }
            }
            taken += 1;
            let out_of_time = each * 2 > self.left().saturating_sub(RESERVE);
            if steps.contains(&taken) || out_of_time {
                let more = taken < last && !out_of_time;
                active
                    .retain(|key| watcher.wants_more(key, &pairs[key], plan, false, more) && more);
                if more {
                    active.extend(watcher.open(&sets));
                }
                watcher.looked(taken, keys.len() - active.len(), keys.len())?;
            }
        }
        Ok(Sampled {
            pairs,
            is_time: is_time(&base.0),
            sets,
            plan,
            repeated: false,
            ran,
        })
    }

    fn whole_run(
        &self,
        probe: &dyn Probe,
        watcher: &mut dyn Watcher,
        variant: Variant,
        ran: &mut [Ran; 2],
    ) -> Result<(Vec<Reading>, Option<f64>), Error> {
        const WHAT: &str = "benchmark";
        let root = watcher.place(variant)?;
        watcher.warming(variant)?;
        let stem = format!("{WHAT}-{}", variant.in_paths());
        let junit = self.folder.join(format!("{stem}.xml"));
        let record = self.folder.join(format!("{stem}.jsonl"));
        let _ = std::fs::remove_file(&record);
        let _ = std::fs::remove_file(&junit);
        let filled = command::fill(WHAT, &self.plan.benchmark, self.plan, &root, &junit)?;
        let guarded = self.guarded(&filled, &root, variant, &record, None);
        let before = probe.clock_mhz();
        let ended = self.run(WHAT, guarded, &self.folder.join(format!("{stem}.log")))?;
        let clock = match (before, probe.clock_mhz()) {
            (Some(a), Some(b)) => Some(f64::min(a, b)),
            (a, b) => a.or(b),
        };
        let from_junit = match std::fs::read_to_string(&junit) {
            Ok(text) if command::is_pytest(&filled) => junit::parse(&text)?.readings(),
            _ => Vec::new(),
        };
        let measured = from_junit.iter().any(|r| r.timing.is_some());
        let readings = under_test(if measured {
            from_junit
        } else {
            match readings::from_output(&ended.stdout) {
                Ok(readings) => readings,
                // Tests that failed or were skipped say more than the lack of a record.
                Err(_) if !from_junit.is_empty() => from_junit,
                Err(readings::ReadingsError::Nothing) if ended.code != 0 => {
                    return Err(Error::Command {
                        what: WHAT,
                        why: format!("failed with exit code {}:\n{}", ended.code, ended.tail()),
                    });
                }
                Err(error) => return Err(error.into()),
            }
        });
        if self.helper.is_some() {
            let seen = record::read(&record)?;
            seen.proves(&root, &self.plan.files)?;
            ran[variant as usize] = seen;
        }
        Ok((readings, clock))
    }
}
