//! What is known of one kernel's experiments, as plain data.

use std::path::PathBuf;
use std::time::SystemTime;

use smol_str::SmolStr;
use tileperf_analysis::playbook::Mixed;
use tileperf_analysis::views::measured::{self, Measured, MeasuredCard};
use tileperf_perf::event::{RunKind, Stage};
use tileperf_perf::session::Phase;

use crate::{DocId, Location};

/// What is known of one kernel's experiments.
#[derive(Debug, Clone)]
pub struct RunNote {
    /// The session's name.
    pub session: String,
    /// The folder that its `sandbox` is in, by the path that the editor uses.
    pub root: PathBuf,
    /// The kernel's qualified name.
    pub kernel: SmolStr,
    /// The kernel's file.
    pub doc: DocId,
    /// The kernel's name in the present text; where it was last, if it is no longer there.
    pub place: Option<Location>,
    /// The files that a change may touch, absolute.
    pub files: Vec<PathBuf>,
    /// The same with the hash of each as of the last kept iteration; none for one that is not there.
    pub kept: Vec<(PathBuf, Option<String>)>,
    /// The test file, absolute.
    pub test_file: Option<PathBuf>,
    /// What it is measured on, as its plan names it.
    pub device: String,
    /// Where the session is.
    pub phase: Phase,
    /// A process runs the session now.
    pub running: bool,
    /// Which, for people.
    pub holder: Option<String>,
    /// Iteration 0 was measured.
    pub has_baseline: bool,
    /// Iterations so far, iteration 0 not counted.
    pub iterations: u32,
    /// The last run.
    pub run: Option<LastRun>,
    /// Total latency, now and at iteration 0.
    pub latency: Option<measured::Latency>,
    /// The last decision in few words.
    pub verdict: Option<String>,
    /// The last measurement by configuration.
    pub results: Vec<Result>,
    /// What it was measured on.
    pub measured_on: Option<MeasuredOn>,
    /// Why the present text is not what was measured.
    pub stale: Option<String>,
    /// Failing tests of the last run, as long as their file is what it was.
    pub failures: Vec<FailureNote>,
    /// Changes that made some configurations faster and others slower.
    pub mixed: Vec<Mixed>,
    /// The table as Markdown.
    pub table: String,
}

/// The last run of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct LastRun {
    /// Counts runs, from 0.
    pub run: u32,
    /// What for.
    pub kind: RunKind,
    /// The iteration that it is or would have become.
    pub iteration: u32,
    /// The change.
    pub optimization: Option<String>,
    /// The present stage, while it runs.
    pub stage: Option<Stage>,
    /// A few words on the stage.
    pub detail: Option<String>,
    /// Pairs of each configuration so far.
    pub pairs: Option<usize>,
    /// Configurations that are decided, and all.
    pub decided: Option<(usize, usize)>,
    /// When it began (RFC 3339, UTC).
    pub began: String,
    /// When it must be over, if its beginning can be read.
    pub must_end: Option<SystemTime>,
    /// Seconds that it may take.
    pub limit: u64,
    /// How it stands.
    pub state: RunState,
    /// The same for people.
    pub sentence: String,
}

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // The words of `tileperf_perf::event::RunEnd`.
pub enum RunState {
    Running,
    /// A baseline that was accepted and a check that was made, too.
    Kept,
    Reverted,
    Crashed,
    NoChange,
    Cited,
    Cancelled,
    Interrupted,
    Refused,
}

/// One configuration of a measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Result {
    /// The test's id with its parameters, or a table's name with its row.
    pub configuration: SmolStr,
    /// The same in few letters, different from all others of the measurement.
    pub short: String,
    /// `forward`, `backward` or a project's own word.
    pub direction: String,
    /// Whose number it is.
    pub backend: SmolStr,
    /// Median before the change, in milliseconds or as a cost.
    pub base: f64,
    /// Median with the change.
    pub candidate: f64,
    /// The two are milliseconds.
    pub is_time: bool,
    /// Relative change: -0.05 is 5 % faster.
    pub change: f64,
    /// The ends of its interval.
    pub interval: (f64, f64),
    /// `FASTER`, `SAME`, ...; [`BASELINE`] where the code was only compared with itself.
    pub verdict: String,
    /// The same as a sentence.
    pub sentence: String,
}

/// The verdict of a configuration of iteration 0.
pub const BASELINE: &str = "BASELINE";

/// What a measurement rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredOn {
    /// `iteration 3: occupancy=4`.
    pub of: String,
    /// The device, for people.
    pub device: String,
    /// When (RFC 3339, UTC).
    pub at: String,
    /// The fewest pairs behind a configuration.
    pub pairs: usize,
    /// The smallest change that can be told from noise in every configuration; 0.02 is 2 %.
    pub detectable: Option<f64>,
}

/// A failing test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureNote {
    /// The file of the failing assertion, absolute.
    pub file: PathBuf,
    /// Its line, zero-based.
    pub line: u32,
    /// The test's id.
    pub test: String,
    /// The first lines of what it said.
    pub message: String,
    /// The likely cause, from what the change touched.
    pub cause: Option<String>,
}

/// Equal if a client would show the same. Of the kernel's place only line and column count: the rest
/// of the text is not shown.
impl PartialEq for RunNote {
    fn eq(&self, other: &Self) -> bool {
        let place = |note: &Self| {
            let at = note.place.as_ref()?;
            Some(at.text.line_column(at.span.start as usize))
        };
        (&self.session, &self.root, &self.kernel, &self.doc)
            == (&other.session, &other.root, &other.kernel, &other.doc)
            && (&self.files, &self.test_file, &self.device)
                == (&other.files, &other.test_file, &other.device)
            && (self.phase, self.running, &self.holder)
                == (other.phase, other.running, &other.holder)
            && (self.has_baseline, self.iterations) == (other.has_baseline, other.iterations)
            && (&self.kept, &self.mixed) == (&other.kept, &other.mixed)
            && (&self.run, &self.latency, &self.verdict)
                == (&other.run, &other.latency, &other.verdict)
            && (&self.results, &self.measured_on) == (&other.results, &other.measured_on)
            && (&self.stale, &self.failures, &self.table)
                == (&other.stale, &other.failures, &other.table)
            && place(self) == place(other)
    }
}

impl RunNote {
    /// Whether its numbers belong to the code. Those of a session that was given up do not.
    fn counts(&self) -> bool {
        self.phase != Phase::Abandoned
    }

    /// What a lens says of measurements.
    pub fn for_lens(&self) -> Option<Measured> {
        self.counts().then(|| Measured {
            latency: self.latency,
            verdict: self.verdict.clone(),
            stale: self.stale.is_some(),
        })
    }

    /// What a card says of measurements.
    pub fn for_card(&self) -> Option<MeasuredCard> {
        if !self.counts() {
            return None;
        }
        let row = |result: &Result| measured::Row {
            configuration: result.short.clone(),
            direction: result.direction.clone(),
            base: result.base,
            candidate: result.candidate,
            is_time: result.is_time,
            change: result.change,
            interval: result.interval,
            verdict: (result.verdict != BASELINE).then(|| result.verdict.clone()),
        };
        let mut conditions = Vec::new();
        if let Some(on) = &self.measured_on {
            conditions.push(format!("measured on {}, {}", on.device, moment(&on.at)));
            let noise = on.detectable.map_or(String::new(), |least| {
                format!(
                    "; changes of {:.2} % and more can be told from noise",
                    least * 100.0
                )
            });
            conditions.push(format!("{} pairs or more{noise}", on.pairs));
        }
        conditions.push(format!("session {}", self.session));
        Some(MeasuredCard {
            latency: self.latency,
            verdict: self.verdict.clone(),
            of: (self.measured_on.as_ref()).map_or_else(String::new, |on| on.of.clone()),
            rows: self.results.iter().map(row).collect(),
            conditions,
            stale: self.stale.clone(),
        })
    }

    /// The title of the lens that starts a run, which tells the state of one that goes on.
    pub fn action_title(&self) -> String {
        match &self.run {
            Some(run) if run.state == RunState::Running => {
                format!("{}: {} …", run.title(), run.stage_in_words())
            }
            _ => ACTION.to_owned(),
        }
    }
}

/// The title of the command in every user interface.
pub const ACTION: &str = "Run perf iteration";

impl LastRun {
    /// `Perf iteration 3`, `Perf baseline`, `Perf check of the sum`.
    pub fn title(&self) -> String {
        match self.kind {
            RunKind::Baseline => "Perf baseline".to_owned(),
            RunKind::Iteration => format!("Perf iteration {}", self.iteration),
            RunKind::Check => "Perf check of the sum".to_owned(),
            RunKind::Experiment => "Perf experiment".to_owned(),
        }
    }

    /// `measuring (60 pairs)`, `correctness (candidate)`.
    pub fn stage_in_words(&self) -> String {
        let stage = self.stage.map_or("starting", super::words::stage);
        match (self.stage, self.pairs, &self.detail) {
            (Some(Stage::Measuring), Some(pairs), _) => format!("{stage} ({pairs} pairs)"),
            (_, _, Some(detail)) => format!("{stage} ({detail})"),
            _ => stage.to_owned(),
        }
    }
}

/// `2026-11-29 10:15 UTC` of a journal's time; what is no time stays as it is.
fn moment(at: &str) -> String {
    match at.parse::<jiff::Timestamp>() {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        Err(_) => at.to_owned(),
    }
}
