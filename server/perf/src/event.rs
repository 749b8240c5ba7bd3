//! What can happen in a session, as the journal keeps it.
//!
//! The journal is the truth: the table, the report, the editor's lens and the next start after a
//! crash are all made from these events. An event that announces an action (`Decided`, `Placing`) is
//! written and flushed before the action, so that whoever finds the journal later knows what may have
//! been done and can finish it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::plan::{Device, Place, Plan};
use crate::readings::Key;
use crate::records::Row;
use crate::stats::{Noise, Variant};
use crate::verdict::{Candidate, ConfigurationVerdict, Decision, Identity, Stop};

/// Version of the journal's lines.
pub const SCHEMA: u32 = 1;

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// [`SCHEMA`] when it was written.
    pub schema: u32,
    /// Position in the journal, from 0.
    pub seq: u64,
    /// When, in UTC (RFC 3339).
    pub at: String,
    /// What.
    #[serde(flatten)]
    pub event: Event,
}

/// A version of a changeable file: what the session's store holds under that hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stored {
    /// Relative to the session's root.
    pub path: PathBuf,
    /// SHA-256 of its bytes; absent where there is no such file.
    pub hash: Option<String>,
    /// Its executable bit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
}

/// One change under test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// What it is called in the table.
    pub optimization: String,
    /// Who made it.
    pub origin: Origin,
    /// It was made for this run and is in the user's tree only once it is kept; else it was there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub proposed: bool,
    /// The changeable files before it.
    pub base: Vec<Stored>,
    /// The changeable files with it.
    pub candidate: Vec<Stored>,
    /// Variables that only the candidate's commands have.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Files outside the changeable ones that differ from the last commit: left alone, not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<PathBuf>,
}

/// Who made a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Origin {
    /// The user's saved edit.
    User,
    /// An optimization of the playbook.
    Playbook {
        /// Its id.
        id: String,
        /// Which of its ways; empty if it has only one.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        variant: String,
    },
    /// A configured command.
    Agent {
        /// Its name.
        name: String,
    },
}

/// What a run is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunKind {
    /// Iteration 0.
    Baseline,
    /// A change.
    Iteration,
    /// The original against the current code.
    Check,
    /// Something that is never kept: what a part costs, what a switch does.
    Experiment,
}

/// A part of a run, as it is shown while it lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Trees and files are made ready.
    Preparing,
    /// The project's tests run.
    Correctness,
    /// Benchmark processes start; nothing is timed yet.
    Warming,
    /// Pairs are sampled.
    Measuring,
    /// Keep or revert is carried out.
    Deciding,
}

/// The correctness tests of one variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tests {
    /// Which variant.
    pub variant: Variant,
    /// With the project's disable switch: the search is off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub search_off: bool,
    /// Ids that passed.
    pub passed: Vec<String>,
    /// What failed or broke.
    pub failures: Vec<Failure>,
    /// Ids that were skipped.
    pub skipped: Vec<String>,
    /// Wall time in seconds.
    pub seconds: f64,
}

/// A failing test, as far as it can be pointed at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The test's id.
    pub test: String,
    /// The first lines of what it said.
    pub message: String,
    /// File of the failing assertion, relative to the session's root where it lies inside.
    pub file: Option<PathBuf>,
    /// Its line, 1-based.
    pub line: Option<u32>,
    /// The likely cause, from what the change touched.
    pub cause: Option<String>,
}

/// What was measured of one configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Which.
    pub key: Key,
    /// Its weight in the total.
    pub weight: f64,
    /// The base's median over all samples, in the benchmark's unit of cost (milliseconds, or the
    /// reciprocal of a rate).
    pub base: f64,
    /// The candidate's.
    pub candidate: f64,
    /// Whether the two are milliseconds.
    pub is_time: bool,
    /// What follows.
    pub verdict: ConfigurationVerdict,
}

impl Measured {
    /// What the rules of the iteration need.
    pub fn judged(&self) -> crate::verdict::Judged {
        crate::verdict::Judged {
            key: self.key.clone(),
            weight: self.weight,
            verdict: self.verdict.clone(),
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ended", rename_all = "snake_case")]
pub enum RunEnd {
    /// With a decision, carried out.
    Completed,
    /// The change is the last kept code, or nothing was changed.
    NothingToTry,
    /// The compiled code is the same; no iteration.
    NoChange,
    /// The same code was measured before in this session; no iteration.
    Cited {
        /// The run with the result.
        run: u32,
    },
    /// Something broke, or the time ran out: the row says `crash`.
    Crashed {
        /// What, for people.
        why: String,
    },
    /// The user cancelled; no iteration.
    Cancelled,
    /// The process that ran it vanished; found by the next start. No iteration.
    Interrupted,
    /// It could not be begun or was refused for a reason that is no result; no iteration.
    Refused {
        /// The reason, for people.
        why: String,
    },
}

/// Everything that can happen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A session begins.
    SetUp {
        /// Its name, also that of its folder.
        session: String,
        /// The root of the tree it works in.
        root: PathBuf,
        /// Where it is measured.
        plan: Box<Plan>,
        /// The repository, where there is one.
        git: Option<GitStart>,
        /// The changeable files at the start, as on the disk.
        found: Vec<Stored>,
        /// The changeable files of the last commit (or as on the disk, without git).
        base: Vec<Stored>,
    },
    /// A process begins a run.
    RunStarted {
        /// Counts runs, from 0.
        run: u32,
        /// What for.
        kind: RunKind,
        /// The iteration that it will be, if it becomes one.
        iteration: u32,
        /// Who runs it.
        pid: u32,
        /// On which machine.
        host: String,
        /// The change.
        tried: Option<Tried>,
        /// The device and what else is known of the machine at this moment.
        device: Box<Device>,
        /// When the run must end, in seconds from its start.
        limit: u64,
        /// The version of tileperf.
        tileperf: String,
    },
    /// Where the variants are run.
    Placed {
        /// The run.
        run: u32,
        /// Where.
        place: Place,
        /// Why not in trees of their own.
        why: Option<String>,
    },
    /// Files of the user's tree are about to be put to a variant's (only when measuring in place).
    Placing {
        /// The run.
        run: u32,
        /// What is expected there.
        from: Vec<Stored>,
        /// What will be there.
        to: Vec<Stored>,
    },
    /// A stage begins.
    Stage {
        /// The run.
        run: u32,
        /// Which.
        stage: Stage,
        /// A few words on it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// Correctness tests ended.
    Tested {
        /// The run.
        run: u32,
        /// What they said.
        tests: Tests,
    },
    /// Pairs were looked at.
    Looked {
        /// The run.
        run: u32,
        /// Pairs of each configuration so far.
        pairs: usize,
        /// Configurations that are decided.
        decided: usize,
        /// Configurations in all.
        of: usize,
    },
    /// The base against itself.
    Noise {
        /// The run.
        run: u32,
        /// By configuration.
        noise: Vec<(Key, Noise)>,
    },
    /// The measurements ended.
    Measured {
        /// The run.
        run: u32,
        /// By configuration.
        configurations: Vec<Measured>,
        /// Versions of what was measured with: cuda-tile, driver, ...
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        versions: BTreeMap<String, String>,
    },
    /// Whether the compiled code is the same.
    Compared {
        /// The run.
        run: u32,
        /// The answer.
        identity: Identity,
    },
    /// The rule's answer; what follows is announced by it.
    Decided {
        /// The run.
        run: u32,
        /// What it rests on.
        candidate: Box<Candidate>,
        /// The answer.
        decision: Box<Decision>,
    },
    /// What all that was kept adds up to, against iteration 0.
    Summed {
        /// The run.
        run: u32,
        /// What it rests on.
        candidate: Box<Candidate>,
        /// The answer; nothing is kept or reverted by it.
        decision: Box<Decision>,
    },
    /// What an experiment found; nothing is kept or reverted by it.
    Found {
        /// The run.
        run: u32,
        /// What it rests on.
        candidate: Box<Candidate>,
        /// What the rules would say of a change.
        decision: Box<Decision>,
    },
    /// A baseline is accepted.
    BaselineKept {
        /// The run.
        run: u32,
    },
    /// A change is kept: it is the base from now on.
    Kept {
        /// The run.
        run: u32,
        /// The commit, with git.
        commit: Option<String>,
    },
    /// A change is taken back: the files are those of the base.
    Reverted {
        /// The run.
        run: u32,
    },
    /// A change broke its processes or used up the time: it is about to be taken back.
    Broke {
        /// The run.
        run: u32,
        /// What happened, for people.
        why: String,
    },
    /// A change could not be taken back: somebody changed the files meanwhile. They are left alone.
    Conflict {
        /// The run.
        run: u32,
        /// Which files.
        files: Vec<PathBuf>,
        /// Where both versions are.
        kept_at: PathBuf,
    },
    /// The run is over.
    RunEnded {
        /// The run.
        run: u32,
        /// How.
        end: RunEnd,
        /// Its row of the table, if it is an iteration.
        row: Option<Row>,
        /// Wall time in seconds.
        seconds: f64,
    },
    /// The session stops; `resume` goes on.
    Stopped {
        /// Why.
        stop: Stop,
    },
    /// The session goes on after a stop.
    Resumed {
        /// Go on after small gains, too.
        go_on: bool,
    },
    /// Something that changes branch and files is about to be done. If its process dies, the next
    /// one does it again or finds it done.
    Intended {
        /// What.
        intent: Intent,
    },
    /// What was announced last could not be done, and nothing was changed.
    Withdrawn,
    /// A kept iteration was undone.
    Undone {
        /// Its iteration.
        iteration: u32,
        /// The commit that does it.
        commit: Option<String>,
        /// The changeable files after it: the base from now on.
        base: Vec<Stored>,
    },
    /// The session's result is on the branch it started from.
    Finished {
        /// The commit, with git.
        commit: Option<String>,
        /// As one commit.
        squashed: bool,
    },
    /// The session was given up: the files are as they were before it.
    Abandoned,
    /// Something worth reading later.
    Note {
        /// What.
        text: String,
    },
}

/// What the user asked for that ends or shortens a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "intent", rename_all = "snake_case")]
pub enum Intent {
    /// The result goes to the branch that the session started from.
    Finish {
        /// As one commit.
        squash: bool,
    },
    /// Everything as it was before.
    Abandon,
    /// One kept iteration is taken back.
    Undo {
        /// Which.
        iteration: u32,
    },
}

/// What the repository looked like when a session began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitStart {
    /// The branch that was checked out; none if a bare commit was.
    pub branch: Option<String>,
    /// The commit that was checked out.
    pub commit: String,
    /// The session's own branch.
    pub session_branch: String,
}
