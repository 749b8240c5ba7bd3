//! Judging samples while they are taken, and what they come to.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::error::Error;
use crate::event::{Event, Measured, Stage};
use crate::readings::{Key, SetComparison};
use crate::run::pairs::{Looks, Sampled, Watcher};
use crate::stats::{
    Estimate, Pair, Plan, Ratios, Repeated, Variant, between_processes, estimate, noise,
};
use crate::verdict::{
    Candidate, ConfigurationVerdict, Correctness, Evidence, Judged, decide, judge,
};

use super::Loop;
use super::run::Running;

/// Everything that a comparison gave.
pub(super) struct Comparison {
    /// By configuration.
    pub(super) measured: Vec<Measured>,
    /// How the two sides' configurations differ.
    pub(super) sets: SetComparison,
    /// Versions of what they were measured with.
    pub(super) versions: BTreeMap<String, String>,
}

impl Loop<'_> {
    /// Measures the two variants of a run against each other. `looks`: at most so many. `before`: how
    /// often it was done in this run; every second time the candidate's process starts first.
    pub(super) fn compare(
        &mut self,
        running: &mut Running,
        looks: Looks,
        before: usize,
    ) -> Result<(Sampled, Comparison), Error> {
        let probe = self.options.probe;
        let mut watcher = Watch {
            owner: self,
            running,
            decided: BTreeMap::new(),
            stage: None,
        };
        // The bench borrows what the watcher changes; it needs none of that.
        let (plan, root) = (
            watcher.owner.session.plan.clone(),
            watcher.owner.store.root().to_owned(),
        );
        let (folder, bytecode, helper) = (
            watcher.running.folder.clone(),
            watcher.running.bytecode.clone(),
            watcher.running.helper.clone(),
        );
        let gpu = watcher.running.gpu.clone();
        let environment = watcher.running.environment.clone();
        let cancel = watcher.owner.options.cancel.clone();
        let bench = crate::run::Bench {
            plan: &plan,
            root: &root,
            helper: helper.as_deref(),
            folder: &folder,
            bytecode: &bytecode,
            gpu: gpu.as_deref(),
            environment: &environment,
            deadline: watcher.running.deadline,
            cancel: &cancel,
        };
        let first = match before % 2 {
            0 => Variant::Base,
            _ => Variant::Candidate,
        };
        let sampled = bench.pairs(probe, &mut watcher, looks, first)?;
        let decided = watcher.decided;
        let mut measured = Vec::new();
        for (key, pairs) in &sampled.pairs {
            let Some(verdict) = decided.get(key) else {
                continue;
            };
            measured.push(Measured {
                weight: self.weight(key),
                base: median(pairs.iter().map(|p| p.base.cost)),
                candidate: median(pairs.iter().map(|p| p.candidate.cost)),
                is_time: sampled.is_time.get(key).copied().unwrap_or(true),
                verdict: verdict.clone(),
                key: key.clone(),
            });
        }
        let sets = sampled.sets.clone();
        let versions = (sampled.ran.iter())
            .flat_map(|ran| ran.versions.clone())
            .collect();
        let comparison = Comparison {
            measured,
            sets,
            versions,
        };
        Ok((sampled, comparison))
    }

    /// What a configuration counts in the total.
    pub(super) fn weight(&self, key: &Key) -> f64 {
        (self.session.plan.weights.iter())
            .find(|(part, _)| key.configuration.contains(part.as_str()))
            .map_or(1.0, |(_, weight)| *weight)
    }

    /// The noise of the base against itself by configuration, from one or more comparisons, each with
    /// processes of its own. A configuration whose samples give none is left out and counts as too
    /// noisy for any FASTER.
    pub(super) fn noise_of(rounds: &[Sampled]) -> Vec<(Key, crate::stats::Noise)> {
        let Some(first) = rounds.first() else {
            return Vec::new();
        };
        let plan = first.plan;
        let mut found = Vec::new();
        let mut repeated = Vec::new();
        for key in first.pairs.keys() {
            let lists: Vec<&Vec<Pair>> = rounds.iter().filter_map(|r| r.pairs.get(key)).collect();
            let own: Vec<Estimate> = (lists.iter())
                .filter_map(|pairs| estimate(&Ratios::of(pairs).ok()?, plan).ok())
                .collect();
            let all: Vec<Pair> = lists.into_iter().flatten().copied().collect();
            let costs: Vec<f64> = all.iter().map(|p| p.base.cost).collect();
            let all = Ratios::of(&all).and_then(|ratios| noise(&ratios, plan, plan.last_look()));
            if let Ok(all) = all {
                found.push((key.clone(), all));
                repeated.push(Repeated {
                    cost: median(costs.into_iter()),
                    effects: own,
                });
            }
        }
        // Where each sample is of a new process, their spread is in the pairs already.
        if first.repeated {
            let between = between_processes(&repeated);
            for ((_, noise), (between, draws)) in found.iter_mut().zip(between) {
                *noise = noise.with_processes(between, draws, plan.last_look());
            }
        }
        found
    }
}

/// What can be found where nothing is known of the noise: no change below 100 %.
pub(super) const UNKNOWN: f64 = 1.0;

/// Takes part in a measurement: puts variants in place, judges at each look, writes events.
struct Watch<'w, 'l> {
    owner: &'w mut Loop<'l>,
    running: &'w mut Running,
    decided: BTreeMap<Key, ConfigurationVerdict>,
    stage: Option<Stage>,
}

impl Watcher for Watch<'_, '_> {
    fn place(&mut self, variant: Variant) -> Result<PathBuf, Error> {
        self.owner.place(self.running, variant)
    }

    fn warming(&mut self, variant: Variant) -> Result<(), Error> {
        if self.stage == Some(Stage::Measuring) {
            return Ok(());
        }
        self.stage = Some(Stage::Warming);
        let note = crate::run::execute::name(variant);
        self.owner.stage(self.running, Stage::Warming, Some(note))
    }

    fn wants_more(
        &mut self,
        key: &Key,
        pairs: &[Pair],
        plan: Plan,
        repeated: bool,
        more: bool,
    ) -> bool {
        let found = Ratios::of(pairs).and_then(|ratios| estimate(&ratios, plan));
        let Ok(mut estimate) = found else {
            return more;
        };
        let detectable = match self.owner.session.noise(key) {
            Some(noise) => {
                if repeated {
                    estimate = estimate.widened(noise.between, noise.draws);
                }
                noise.detectable
            }
            // Never compared with itself: nothing is known of how quiet it is. (JSON has no infinity.)
            None => UNKNOWN,
        };
        let verdict = judge(&Evidence {
            estimate,
            detectable,
            more,
            floor: None,
        });
        let wants_more = verdict.wants_more();
        self.decided.insert(key.clone(), verdict);
        wants_more
    }

    fn open(&mut self, sets: &SetComparison) -> Vec<Key> {
        let configurations = (self.decided.iter())
            .map(|(key, verdict)| Judged {
                key: key.clone(),
                weight: self.owner.weight(key),
                verdict: verdict.clone(),
            })
            .collect();
        let decision = decide(&Candidate {
            correctness: Correctness::Passed,
            configurations,
            sets: sets.clone(),
            against_start: None,
        });
        decision.open().cloned().collect()
    }

    fn looked(&mut self, pairs: usize, decided: usize, of: usize) -> Result<(), Error> {
        if self.stage != Some(Stage::Measuring) {
            self.stage = Some(Stage::Measuring);
            self.owner.stage(self.running, Stage::Measuring, None)?;
        }
        self.owner.record(Event::Looked {
            run: self.running.run,
            pairs,
            decided,
            of,
        })
    }
}

pub(super) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
    }
}
