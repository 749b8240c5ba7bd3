//! One process for each variant, which repeats items on request.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use tileperf_proc::Running;

use super::process::{Process, Processes};
use super::sides::{common_keys, is_time, items_of, nothing_measured, said, under_test};
use super::{Looks, RESERVE, Sampled, Watcher};
use crate::command;
use crate::error::Error;
use crate::plan::Probe;
use crate::readings::{self, Key, Reading, compare_sets};
use crate::run::control::{Listener, Said};
use crate::run::execute::{Bench, blame, name};
use crate::run::record;
use crate::stats::{Pair, Plan, Sample, Variant};

/// The first look of many samples must be reached in this time; where one sample takes long, few have
/// to do.
const FIRST_LOOK: Duration = Duration::from_secs(120);

impl Bench<'_> {
    /// One process for each variant. Nothing, if the command's processes cannot repeat items.
    pub(super) fn repeated(
        &self,
        probe: &dyn Probe,
        watcher: &mut dyn Watcher,
        looks: Looks,
        first: Variant,
    ) -> Result<Option<Sampled>, Error> {
        let junit = self.folder.join("none.xml");
        let filled = command::fill(
            "benchmark",
            &self.plan.benchmark,
            self.plan,
            self.root,
            &junit,
        )?;
        if !self.plan.repeat || self.helper.is_none() || !command::is_pytest(&filled) {
            return Ok(None);
        }
        let Some(one) = self.start(watcher, first)? else {
            return Ok(None);
        };
        let Some(other) = self.start(watcher, first.other())? else {
            return Ok(None);
        };
        let (base, candidate) = match first {
            Variant::Base => (one, other),
            Variant::Candidate => (other, one),
        };
        let mut processes = Processes { base, candidate };
        let sets = compare_sets(&processes.base.first, &processes.candidate.first);
        let keys = common_keys(&processes.base.first, &processes.candidate.first);
        if processes.base.first.iter().all(|r| r.timing.is_none()) {
            let passed = |r: &Reading| r.outcome == readings::Outcome::Passed;
            if processes.base.first.iter().any(passed) {
                // What it printed may not have been captured (`-s`): a whole run shows it.
                processes.stop();
                return Ok(None);
            }
            return Err(nothing_measured(&processes.base.first));
        }
        let mut pairs: BTreeMap<Key, Vec<Pair>> =
            keys.iter().map(|k| (k.clone(), vec![])).collect();
        // The rest tells nothing more once a configuration is lost: the change will be taken back.
        let mut active: BTreeSet<Key> = match sets.losses().next() {
            Some(_) => BTreeSet::new(),
            None => keys.iter().cloned().collect(),
        };
        let mut plan = None;
        let mut taken = 0;
        while !active.is_empty() {
            let began = Instant::now();
            for item in items_of(&active) {
                self.check()?;
                // A B and B A, next to each other.
                for (base_first, first, second) in [
                    (true, Variant::Base, Variant::Candidate),
                    (false, Variant::Candidate, Variant::Base),
                ] {
                    let one = self.sample(probe, processes.of(first), &item)?;
                    let two = self.sample(probe, processes.of(second), &item)?;
                    let (base, candidate) = if base_first { (one, two) } else { (two, one) };
                    for (key, base) in base {
                        if let (Some(candidate), Some(list)) =
                            (candidate.get(&key), pairs.get_mut(&key))
                        {
                            list.push(Pair {
                                base,
                                candidate: *candidate,
                            });
                        }
                    }
                }
            }
            taken += 2;
            let round = began.elapsed();
            let chosen = *plan.get_or_insert_with(|| {
                let first = Plan::Samples.looks()[0] as u32;
                let time = self.left().saturating_sub(RESERVE).min(FIRST_LOOK);
                if round * (first / 2) < time {
                    Plan::Samples
                } else {
                    Plan::WholeRuns
                }
            });
            let steps = &chosen.looks()[..looks(chosen).min(chosen.looks().len())];
            let last = steps[steps.len() - 1];
            let out_of_time = round > self.left().saturating_sub(RESERVE);
            if steps.contains(&taken) || out_of_time {
                let more = taken < last && !out_of_time;
                active
                    .retain(|key| watcher.wants_more(key, &pairs[key], chosen, true, more) && more);
                if more {
                    active.extend(watcher.open(&sets));
                }
                watcher.looked(taken, keys.len() - active.len(), keys.len())?;
            }
        }
        let is_time = is_time(&processes.base.first);
        let ran = processes.end(self)?;
        Ok(Some(Sampled {
            pairs,
            is_time,
            sets,
            plan: plan.unwrap_or(Plan::Samples),
            repeated: true,
            ran,
        }))
    }

    /// Starts a process and lets every item run once.
    fn start(&self, watcher: &mut dyn Watcher, variant: Variant) -> Result<Option<Process>, Error> {
        self.start_one(watcher, variant)
            .map_err(|error| blame(variant, error))
    }

    fn start_one(
        &self,
        watcher: &mut dyn Watcher,
        variant: Variant,
    ) -> Result<Option<Process>, Error> {
        let root = watcher.place(variant)?;
        watcher.warming(variant)?;
        let stem = format!("benchmark-{}", variant.in_paths());
        let junit = self.folder.join(format!("{stem}.xml"));
        let record = self.folder.join(format!("{stem}.jsonl"));
        let _ = std::fs::remove_file(&record);
        let filled = command::fill("benchmark", &self.plan.benchmark, self.plan, &root, &junit)?;
        let listener = Listener::open()?;
        let guarded = self.guarded(&filled, &root, variant, &record, Some(listener.path()));
        let running = guarded.spawn()?;
        let mut process = Process {
            variant,
            root,
            record,
            log: self.folder.join(format!("{stem}.log")),
            running: Some(running),
            conversation: None,
            first: Vec::new(),
        };
        let over = || process.running.as_ref().is_none_or(Running::is_finished);
        let Some(mut conversation) = listener.accept(&|| self.check(), &over)? else {
            return Err(process.broken(self, "ended before its first test"));
        };
        loop {
            match conversation.hear(&|| self.check())? {
                Some(Said::Ran(ran)) => process.first.extend(ran.readings()?),
                Some(Said::Ready) => break,
                Some(Said::Unsupported { why }) => {
                    tracing::info!("benchmark items cannot be repeated: {why}");
                    process.stop();
                    return Ok(None);
                }
                Some(Said::Stopped { why }) => return Err(process.broken(self, &why)),
                Some(Said::Fault { message }) => {
                    tracing::warn!("the pytest plugin failed: {message}");
                }
                Some(Said::Finished) | None => {
                    return Err(process.broken(self, "ended before all tests ran"));
                }
                Some(_) => {}
            }
        }
        let first = readings::number_repetitions(std::mem::take(&mut process.first));
        process.first = under_test(first);
        process.conversation = Some(conversation);
        if self.helper.is_some() {
            record::read(&process.record)?.proves(&process.root, &self.plan.files)?;
        }
        Ok(Some(process))
    }

    /// One run of an item.
    fn sample(
        &self,
        probe: &dyn Probe,
        process: &mut Process,
        item: &str,
    ) -> Result<BTreeMap<Key, Sample>, Error> {
        let before = probe.clock_mhz();
        let answer = self.run_again(process, item);
        let answer = match answer {
            Err(Error::Io { .. }) => return Err(process.broken(self, "hung up")),
            answer => answer?,
        };
        let clock = match (before, probe.clock_mhz()) {
            (Some(a), Some(b)) => Some(f64::min(a, b)),
            (a, b) => a.or(b),
        };
        let mut samples = BTreeMap::new();
        for reading in answer {
            if let (Some(key), Some(timing)) = (reading.key(), &reading.timing) {
                samples.insert(
                    key,
                    Sample {
                        cost: timing.median.cost(),
                        clock_mhz: clock,
                    },
                );
            } else if reading.outcome != readings::Outcome::Passed {
                return Err(Error::Crash(format!(
                    "the benchmark {item} passed once and then did not, on the {}: {}",
                    name(process.variant),
                    said(&reading),
                )));
            }
        }
        Ok(samples)
    }

    fn run_again(&self, process: &mut Process, item: &str) -> Result<Vec<Reading>, Error> {
        let Some(conversation) = &mut process.conversation else {
            return Err(process.broken(self, "hung up"));
        };
        conversation.ask_to_run(&[item.to_owned()])?;
        let mut out = Vec::new();
        loop {
            match conversation.hear(&|| self.check())? {
                Some(Said::Ran(ran)) if ran.item == item => out.extend(ran.readings()?),
                Some(Said::Done) => return Ok(out),
                Some(Said::Refused { why } | Said::Stopped { why }) => {
                    return Err(process.broken(self, &why));
                }
                None | Some(Said::Finished) => return Err(process.broken(self, "hung up")),
                Some(_) => {}
            }
        }
    }
}
