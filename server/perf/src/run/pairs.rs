//! Samples of two variants, taken in turns until each configuration is decided or the time is up.
//!
//! Where the benchmark is pytest's, one process for each variant runs every item once, untimed, and
//! then repeats items on request: A B B A within seconds, so that neither clocks nor temperature can
//! favour one side. Anything else gives one sample a run, and needs as many runs as there are samples.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tileperf_proc::Running;

use crate::command;
use crate::error::Error;
use crate::plan::Probe;
use crate::readings::{self, Key, Reading, SetComparison, Unit, compare_sets, junit};
use crate::stats::{Pair, Plan, Sample, Variant, order};

use super::control::{Conversation, Listener, Said};
use super::execute::{Bench, blame, keep_log, name};
use super::record::{self, Ran};

/// Kept back from the iteration's time for deciding and cleaning up.
const RESERVE: Duration = Duration::from_secs(5);

/// The first look of many samples must be reached in this time; where one sample takes long, few have
/// to do.
const FIRST_LOOK: Duration = Duration::from_secs(120);

/// How long a process may take to end once it was told to.
const FAREWELL: Duration = Duration::from_secs(3);

/// The most looks that are taken under a plan.
pub type Looks = fn(Plan) -> usize;

/// What the loop wants to know while samples are taken.
pub trait Watcher {
    /// Makes `variant` the code in its root, before a process of it starts, and returns that root.
    ///
    /// # Errors
    /// Any; it ends the measuring.
    fn place(&mut self, variant: Variant) -> Result<PathBuf, Error>;

    /// A process of this variant starts.
    ///
    /// # Errors
    /// Any; it ends the measuring.
    fn warming(&mut self, variant: Variant) -> Result<(), Error>;

    /// Whether more pairs of this configuration are wanted, at a look.
    /// `repeated`: all pairs are from the same two processes.
    fn wants_more(
        &mut self,
        key: &Key,
        pairs: &[Pair],
        plan: Plan,
        repeated: bool,
        more: bool,
    ) -> bool;

    /// After a look at all: configurations that must be looked at again although each by itself is
    /// decided, because it may be so by chance among so many.
    fn open(&mut self, sets: &SetComparison) -> Vec<Key>;

    /// A look was taken: pairs so far, configurations decided, configurations in all.
    ///
    /// # Errors
    /// Any; it ends the measuring.
    fn looked(&mut self, pairs: usize, decided: usize, of: usize) -> Result<(), Error>;
}

/// Everything that was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    /// Pairs by configuration, in the order they were taken.
    pub pairs: BTreeMap<Key, Vec<Pair>>,
    /// Whether the costs of a configuration are milliseconds.
    pub is_time: BTreeMap<Key, bool>,
    /// How the two sides' configurations differ.
    pub sets: SetComparison,
    /// Under which plan they were looked at.
    pub plan: Plan,
    /// All pairs are from the same two processes.
    pub repeated: bool,
    /// What the recorder saw: base, candidate.
    pub ran: [Ran; 2],
}

impl Bench<'_> {
    /// Measures the two variants against each other, up to what `looks` allows. Where both get one
    /// process, that of `first` is started before the other: with it go the core and the memory that
    /// were free, so a comparison made again begins with the other side.
    ///
    /// # Errors
    /// As [`Bench::run`]; [`Error::WrongCode`] if other code ran; [`Error::Readings`] for output that
    /// cannot be read; whatever the watcher says.
    pub fn pairs(
        &self,
        probe: &dyn Probe,
        watcher: &mut dyn Watcher,
        looks: Looks,
        first: Variant,
    ) -> Result<Sampled, Error> {
        let sampled = match self.repeated(probe, watcher, looks, first)? {
            Some(sampled) => sampled,
            None => self.whole_runs(probe, watcher, looks)?,
        };
        Ok(sampled)
    }

    /// One process for each variant. Nothing, if the command's processes cannot repeat items.
    fn repeated(
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

    /// A whole run of the command for each sample; the first of each variant is not counted.
    fn whole_runs(
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

struct Process {
    variant: Variant,
    root: PathBuf,
    record: PathBuf,
    log: PathBuf,
    running: Option<Running>,
    conversation: Option<Conversation>,
    first: Vec<Reading>,
}

impl Process {
    /// What to say of a process that did not do what it should: its own last words.
    fn broken(&mut self, bench: &Bench<'_>, how: &str) -> Error {
        self.conversation = None;
        let Some(running) = self.running.take() else {
            return Error::Crash(format!("the benchmark {how}"));
        };
        // It ends by itself now that nobody listens; if not, it is ended.
        let began = Instant::now();
        while !running.is_finished() && began.elapsed() < FAREWELL {
            std::thread::sleep(Duration::from_millis(20));
        }
        if !running.is_finished() {
            running.cancel();
        }
        let report = match running.wait() {
            Ok(report) => report,
            Err(error) => return error.into(),
        };
        keep_log(&self.log, &report);
        if let Err(error) = bench.check() {
            return error;
        }
        match bench.ended("benchmark", report) {
            Ok(ended) if ended.code == 4 => Error::Command {
                what: "benchmark",
                why: format!("failed with exit code 4:\n{}", ended.tail()),
            },
            Ok(ended) if ended.code == 5 => Error::Command {
                what: "benchmark",
                why: format!("selects no test:\n{}", ended.tail()),
            },
            Ok(ended) => Error::Crash(format!("the benchmark {how}:\n{}", ended.tail())),
            Err(Error::Cancelled) => Error::Crash(format!("the benchmark {how} and did not end")),
            Err(error) => error,
        }
    }

    fn stop(&mut self) {
        self.conversation = None;
        if let Some(running) = self.running.take() {
            running.cancel();
            let _ = running.wait();
        }
    }
}

struct Processes {
    base: Process,
    candidate: Process,
}

impl Processes {
    fn of(&mut self, variant: Variant) -> &mut Process {
        match variant {
            Variant::Base => &mut self.base,
            Variant::Candidate => &mut self.candidate,
        }
    }

    fn stop(&mut self) {
        self.base.stop();
        self.candidate.stop();
    }

    /// Lets both end and reads what their recorders saw.
    fn end(self, bench: &Bench<'_>) -> Result<[Ran; 2], Error> {
        let mut ran = [Ran::default(), Ran::default()];
        for mut process in [self.base, self.candidate] {
            if let Some(conversation) = &mut process.conversation {
                conversation.bid_farewell();
            }
            let began = Instant::now();
            if let Some(running) = process.running.take() {
                while !running.is_finished() && began.elapsed() < FAREWELL {
                    std::thread::sleep(Duration::from_millis(5));
                }
                running.cancel();
                keep_log(&process.log, &running.wait()?);
            }
            if bench.helper.is_some() {
                let seen = record::read(&process.record)?;
                seen.proves(&process.root, &bench.plan.files)?;
                ran[process.variant as usize] = seen;
            }
        }
        Ok(ran)
    }
}

/// A benchmark that times several backends side by side is about cuTile's.
fn under_test(readings: Vec<Reading>) -> Vec<Reading> {
    let ours = |r: &Reading| r.backend.as_deref() == Some("cutile");
    if !readings.iter().any(ours) {
        return readings;
    }
    let keep = |r: &Reading| ours(r) || r.backend.is_none();
    readings.into_iter().filter(keep).collect()
}

/// What both sides measured.
fn common_keys(base: &[Reading], candidate: &[Reading]) -> Vec<Key> {
    let there: BTreeSet<Key> = candidate.iter().filter_map(Reading::key).collect();
    let keys: BTreeSet<Key> = base.iter().filter_map(Reading::key).collect();
    keys.intersection(&there).cloned().collect()
}

/// The items that have these configurations, each once.
fn items_of(keys: &BTreeSet<Key>) -> Vec<String> {
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

fn is_time(readings: &[Reading]) -> BTreeMap<Key, bool> {
    (readings.iter())
        .filter_map(|r| {
            let unit = r.timing.as_ref()?.median.unit;
            Some((r.key()?, unit == Unit::Milliseconds))
        })
        .collect()
}

fn said(reading: &Reading) -> String {
    use readings::Outcome as O;
    match &reading.outcome {
        O::Passed => "nothing".to_owned(),
        O::Failed { message } | O::Error { message } => message.clone(),
        O::Skipped { reason } | O::Unusable { reason } => reason.clone(),
    }
}

fn nothing_measured(base: &[Reading]) -> Error {
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
