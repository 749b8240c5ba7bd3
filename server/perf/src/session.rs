//! What the journal says, put together: where a session is and what it has found.
//!
//! A pure fold over events. The state machine asks it what may be done next; the editor, the report
//! and `perf status` show it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::event::{
    Entry, Event, GitStart, Intent, Measured, Origin, RunEnd, RunKind, Stage, Stored, Tests, Tried,
};
use crate::plan::{Device, Place, Plan};
use crate::readings::Key;
use crate::records::Row;
use crate::stats::{Noise, geometric_mean};
use crate::verdict::{Candidate, Decision, Identity, Progress, Standing, Stop};

/// Where a session is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum Phase {
    /// Set up; iteration 0 is still to be measured.
    SetUp,
    /// Ready for the next change.
    Ready,
    /// Ended by a limit, a rule or the user; can be resumed.
    Stopped {
        /// Why.
        stop: Stop,
    },
    /// Its result is where it was wanted.
    Finished,
    /// Given up.
    Abandoned,
}

impl Phase {
    /// Whether nothing more will come.
    pub fn is_over(self) -> bool {
        matches!(self, Phase::Finished | Phase::Abandoned)
    }
}

/// One run, finished or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Counts runs, from 0.
    pub run: u32,
    /// What for.
    pub kind: RunKind,
    /// The iteration that it is, or would have become.
    pub iteration: u32,
    /// Process and machine that ran it.
    pub by: (u32, String),
    /// When it began (RFC 3339, UTC).
    pub began: String,
    /// The change.
    pub tried: Option<Tried>,
    /// The device.
    pub device: Device,
    /// Where it ran, once known.
    pub place: Option<Place>,
    /// Why not in trees of their own.
    pub place_reason: Option<String>,
    /// The last stage that began.
    pub stage: Option<Stage>,
    /// Pairs so far, configurations decided, configurations in all.
    pub looked: Option<(usize, usize, usize)>,
    /// Test results.
    pub tests: Vec<Tests>,
    /// The base against itself.
    pub noise: Vec<(Key, Noise)>,
    /// Measurements by configuration.
    pub measured: Vec<Measured>,
    /// Versions of what they were made with.
    pub versions: BTreeMap<String, String>,
    /// Whether the compiled code differs.
    pub identity: Option<Identity>,
    /// What it was decided by, and the answer.
    pub decision: Option<(Candidate, Decision)>,
    /// The commit of a kept change.
    pub commit: Option<String>,
    /// It is the base from now on.
    pub kept: bool,
    /// It was undone later.
    pub undone: bool,
    /// Files of the user's tree stand as a variant has them: what is there, and what was before.
    pub placing: Option<(Vec<Stored>, Vec<Stored>)>,
    /// How the change broke, where it did.
    pub broke: Option<String>,
    /// Files that could not be taken back.
    pub conflict: Option<(Vec<PathBuf>, PathBuf)>,
    /// How it ended; none while it runs or after a crash that nobody has cleaned up.
    pub end: Option<RunEnd>,
    /// Its row.
    pub row: Option<Row>,
    /// Wall time in seconds.
    pub seconds: f64,
}

/// A session as its journal says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Its name.
    pub name: String,
    /// The root of its tree.
    pub root: PathBuf,
    /// What it works on.
    pub plan: Plan,
    /// The repository at the start.
    pub git: Option<GitStart>,
    /// The changeable files as they were on the disk before it.
    pub found: Vec<Stored>,
    /// The changeable files of iteration 0.
    pub first_base: Vec<Stored>,
    /// The changeable files of the last kept iteration.
    pub base: Vec<Stored>,
    /// The last kept commit, with git.
    pub base_commit: Option<String>,
    /// Where it is.
    pub phase: Phase,
    /// All runs.
    pub runs: Vec<Run>,
    /// Go on after small gains.
    pub go_on: bool,
    /// Iterations before this do not count for the rules: the user resumed after them.
    pub counted_from: u32,
    /// What the last event announced: done, or half done by a process that died.
    pub intent: Option<Intent>,
}

impl Session {
    /// Folds a journal. Nothing if it does not begin with a setup.
    pub fn fold(entries: &[Entry]) -> Option<Self> {
        let mut entries = entries.iter();
        let first = entries.next()?;
        let Event::SetUp {
            session,
            root,
            plan,
            git,
            found,
            base,
        } = &first.event
        else {
            return None;
        };
        let mut out = Self {
            name: session.clone(),
            root: root.clone(),
            plan: (**plan).clone(),
            git: git.clone(),
            found: found.clone(),
            first_base: base.clone(),
            base: base.clone(),
            base_commit: git.as_ref().map(|g| g.commit.clone()),
            phase: Phase::SetUp,
            runs: Vec::new(),
            go_on: plan.go_on,
            counted_from: 0,
            intent: None,
        };
        entries.for_each(|entry| out.apply(entry));
        Some(out)
    }

    /// Takes in one more event.
    pub fn apply(&mut self, entry: &Entry) {
        self.intent = None;
        match &entry.event {
            Event::SetUp { .. } | Event::Note { .. } | Event::Withdrawn => {}
            Event::RunStarted {
                run,
                kind,
                iteration,
                pid,
                host,
                tried,
                device,
                ..
            } => self.runs.push(Run {
                run: *run,
                kind: *kind,
                iteration: *iteration,
                by: (*pid, host.clone()),
                began: entry.at.clone(),
                tried: tried.clone(),
                device: (**device).clone(),
                place: None,
                place_reason: None,
                stage: None,
                looked: None,
                tests: Vec::new(),
                noise: Vec::new(),
                measured: Vec::new(),
                versions: BTreeMap::new(),
                identity: None,
                decision: None,
                commit: None,
                kept: false,
                undone: false,
                placing: None,
                broke: None,
                conflict: None,
                end: None,
                row: None,
                seconds: 0.0,
            }),
            Event::Intended { intent } => self.intent = Some(*intent),
            Event::Stopped { stop } => self.phase = Phase::Stopped { stop: *stop },
            Event::Resumed { go_on } => {
                self.go_on = *go_on;
                self.counted_from = self.runs.len() as u32;
                self.phase = if self.has_baseline() {
                    Phase::Ready
                } else {
                    Phase::SetUp
                };
            }
            Event::Undone {
                iteration,
                commit,
                base,
            } => {
                self.base.clone_from(base);
                self.base_commit = commit.clone().or(self.base_commit.take());
                let undone = |r: &&mut Run| r.kept && r.iteration == *iteration;
                if let Some(run) = self.runs.iter_mut().rev().find(undone) {
                    run.undone = true;
                }
            }
            Event::Finished { .. } => self.phase = Phase::Finished,
            Event::Abandoned => self.phase = Phase::Abandoned,
            event => self.apply_to_run(event),
        }
    }

    fn apply_to_run(&mut self, event: &Event) {
        let Some(number) = run_of(event) else { return };
        let Some(run) = self.runs.iter_mut().rev().find(|r| r.run == number) else {
            return;
        };
        match event {
            Event::Placed { place, why, .. } => {
                run.place = Some(*place);
                run.place_reason.clone_from(why);
            }
            Event::Placing { from, to, .. } => run.placing = Some((to.clone(), from.clone())),
            Event::Stage { stage, .. } => run.stage = Some(*stage),
            Event::Tested { tests, .. } => run.tests.push(tests.clone()),
            Event::Looked {
                pairs, decided, of, ..
            } => run.looked = Some((*pairs, *decided, *of)),
            Event::Noise { noise, .. } => run.noise.clone_from(noise),
            Event::Measured {
                configurations,
                versions,
                ..
            } => {
                run.measured.clone_from(configurations);
                run.versions.clone_from(versions);
            }
            Event::Compared { identity, .. } => run.identity = Some(identity.clone()),
            Event::Decided {
                candidate,
                decision,
                ..
            }
            | Event::Summed {
                candidate,
                decision,
                ..
            }
            | Event::Found {
                candidate,
                decision,
                ..
            } => run.decision = Some(((**candidate).clone(), (**decision).clone())),
            Event::BaselineKept { .. } => {
                run.kept = true;
                if self.phase == Phase::SetUp {
                    self.phase = Phase::Ready;
                }
            }
            Event::Kept { commit, .. } => {
                run.kept = true;
                run.commit.clone_from(commit);
                if let Some(tried) = &run.tried {
                    self.base.clone_from(&tried.candidate);
                }
                self.base_commit = commit.clone().or(self.base_commit.take());
            }
            Event::Reverted { .. } => {}
            Event::Broke { why, .. } => run.broke = Some(why.clone()),
            Event::Conflict { files, kept_at, .. } => {
                run.conflict = Some((files.clone(), kept_at.clone()));
            }
            Event::RunEnded {
                end, row, seconds, ..
            } => {
                run.end = Some(end.clone());
                run.row.clone_from(row);
                run.seconds = *seconds;
                run.placing = None;
            }
            _ => {}
        }
    }

    /// Whether iteration 0 was measured.
    pub fn has_baseline(&self) -> bool {
        self.baseline().is_some()
    }

    /// The run of iteration 0.
    pub fn baseline(&self) -> Option<&Run> {
        (self.runs.iter().rev()).find(|r| r.kind == RunKind::Baseline && r.kept)
    }

    /// The run that nobody ended: it goes on, or its process died.
    pub fn open_run(&self) -> Option<&Run> {
        self.runs.last().filter(|r| r.end.is_none())
    }

    /// The table's rows.
    pub fn rows(&self) -> Vec<Row> {
        self.runs.iter().filter_map(|r| r.row.clone()).collect()
    }

    /// Iterations so far, iteration 0 not counted.
    pub fn iterations(&self) -> u32 {
        self.counted().count() as u32
    }

    fn counted(&self) -> impl Iterator<Item = &Run> {
        (self.runs.iter()).filter(|r| r.kind == RunKind::Iteration && r.row.is_some())
    }

    /// The last kept run: where the session stands.
    pub fn current(&self) -> Option<&Run> {
        self.runs.iter().rev().find(|r| r.kept && !r.undone)
    }

    /// The total latency of the present base: that of iteration 0 times the ratio of everything that
    /// is kept. An undone change is not in it, also where others were kept after it.
    pub fn latency(&self) -> Option<f64> {
        let kept = |r: &&Run| r.kept && !r.undone && r.iteration > 0;
        let first = self.first_latency()?;
        Some(self.runs.iter().filter(kept).fold(first, |latency, run| {
            latency * total_latency(&run.measured, |m| m.candidate / m.base).unwrap_or(1.0)
        }))
    }

    /// The total latency of iteration 0.
    pub fn first_latency(&self) -> Option<f64> {
        self.baseline()
            .and_then(|r| r.row.as_ref())
            .map(|r| r.latency_ms)
    }

    /// The result of the same code measured earlier in this session.
    pub fn measured_before(&self, candidate: &[Stored]) -> Option<&Run> {
        self.runs.iter().rev().find(|r| {
            r.decision.is_some()
                && r.row.is_some()
                && r.tried
                    .as_ref()
                    .is_some_and(|t| t.candidate == candidate && t.base == self.base)
        })
    }

    /// The noise of the base against itself, from iteration 0.
    pub fn noise(&self, key: &Key) -> Option<&Noise> {
        let of = |run: &'_ &Run| !run.noise.is_empty();
        let run = self.runs.iter().rev().find(of)?;
        run.noise.iter().find(|(k, _)| k == key).map(|(_, n)| n)
    }

    /// What the stop rules need to know.
    pub fn standing(&self, left_to_try: Option<usize>) -> crate::verdict::Session {
        let counted: Vec<&Run> = self.counted().collect();
        let since: Vec<&&Run> = (counted.iter())
            .filter(|r| r.run >= self.counted_from)
            .collect();
        let progress = |r: &Run| match &r.decision {
            Some((_, decision)) => decision.progress(),
            None => Progress::NotCounted,
        };
        let goal = self.plan.goal.and_then(|goal| {
            let standing = Standing {
                start: self.first_latency()?,
                current: self.latency()?,
                is_time: self.baseline()?.measured.iter().all(|m| m.is_time),
                least_ms: None,
            };
            Some((goal, standing))
        });
        crate::verdict::Session {
            goal,
            iterations: counted.len() as u32,
            progress: since.iter().map(|r| progress(r)).collect(),
            outlook: since
                .last()
                .and_then(|r| r.decision.as_ref())
                .and_then(|(_, d)| d.outlook()),
            left_to_try,
            root_cause: None,
            go_on: self.go_on,
            stop_asked: false,
        }
    }

    /// The number of the next run and of the next iteration.
    pub fn next(&self) -> (u32, u32) {
        let run = self.runs.last().map_or(0, |r| r.run + 1);
        (run, self.iterations() + 1)
    }
}

/// The total that a table shows: weighted geometric mean over configurations of the medians.
pub fn total_latency(measured: &[Measured], of: impl Fn(&Measured) -> f64) -> Option<f64> {
    let values: Vec<(f64, f64)> = measured.iter().map(|m| (of(m), m.weight)).collect();
    geometric_mean(&values)
}

/// How a change is called in a commit.
pub fn author(origin: &Origin) -> String {
    match origin {
        Origin::User => "edit".to_owned(),
        Origin::Playbook { id, variant } => {
            format!("playbook {id} {variant}").trim_end().to_owned()
        }
        Origin::Agent { name } => name.clone(),
    }
}

fn run_of(event: &Event) -> Option<u32> {
    match event {
        Event::Placed { run, .. }
        | Event::Placing { run, .. }
        | Event::Stage { run, .. }
        | Event::Tested { run, .. }
        | Event::Looked { run, .. }
        | Event::Noise { run, .. }
        | Event::Measured { run, .. }
        | Event::Compared { run, .. }
        | Event::Decided { run, .. }
        | Event::Summed { run, .. }
        | Event::Found { run, .. }
        | Event::BaselineKept { run }
        | Event::Kept { run, .. }
        | Event::Reverted { run }
        | Event::Broke { run, .. }
        | Event::Conflict { run, .. }
        | Event::RunEnded { run, .. } => Some(*run),
        _ => None,
    }
}
