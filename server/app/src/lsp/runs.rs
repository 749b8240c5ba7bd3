//! `tileperf/run`: the state of one kernel's experiments, for decorations, virtual text and panels.
//!
//! The object holds everything that a client shows, so that a client keeps the last one of each session
//! and nothing else.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tileperf_engine::DocId;
use tileperf_engine::runs::{LastRun, Result, RunNote, RunState};
use tileperf_perf::event::{RunKind, Stage};
use tileperf_perf::session::Phase;
use tower_lsp::ls_types::notification::Notification;
use tower_lsp::ls_types::{Range, Uri};

use super::convert::Converter;

/// Sent when a state changes.
pub(super) enum RunNotification {}

impl Notification for RunNotification {
    /// A [`Run`].
    type Params = Value;
    const METHOD: &'static str = "tileperf/run";
}

/// The state of one kernel's experiments.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Run {
    session: String,
    kernel: String,
    uri: Uri,
    /// Of the kernel's name in the present text. Where it was last, if it is no longer there, and the
    /// beginning of the file if it never was.
    range: Range,
    phase: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<String>,
    running: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    holder: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<Iteration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency: Option<Latency>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<String>,
    results: Vec<Configuration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    measured_on: Option<MeasuredOn>,
    stale: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stale_reason: Option<String>,
    failures: Vec<Failure>,
    table: String,
}

/// The last run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Iteration {
    run: u32,
    iteration: u32,
    kind: RunKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    optimization: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<Stage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pairs: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decided: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<usize>,
    began: String,
    limit: u64,
    state: &'static str,
    sentence: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Latency {
    current: f64,
    baseline: f64,
    unit: &'static str,
    text: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Configuration {
    configuration: String,
    short: String,
    direction: String,
    backend: String,
    base: f64,
    candidate: f64,
    unit: &'static str,
    change: f64,
    low: f64,
    high: f64,
    verdict: String,
    sentence: String,
}

/// What the results rest on.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct MeasuredOn {
    of: String,
    device: String,
    at: String,
    pairs: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    detectable: Option<f64>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Failure {
    uri: Uri,
    line: u32,
    test: String,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
}

impl Run {
    /// A note for one client; none if its file has no URI.
    pub(super) fn new(note: &RunNote, convert: &Converter) -> Option<Self> {
        let place = note
            .place
            .as_ref()
            .and_then(|place| convert.location(place));
        Some(Self {
            session: note.session.clone(),
            kernel: note.kernel.to_string(),
            uri: convert.uri(&note.doc)?,
            range: place.map_or_else(Range::default, |place| place.range),
            phase: phase(note.phase),
            stop_reason: match note.phase {
                Phase::Stopped { stop } => Some(stop.sentence()),
                _ => None,
            },
            running: note.running,
            holder: note.holder.clone(),
            run: note.run.as_ref().map(iteration),
            latency: note
                .latency
                .filter(|l| l.current.is_finite())
                .map(|latency| Latency {
                    current: latency.current,
                    baseline: latency.baseline,
                    unit: unit(latency.is_time),
                    text: latency.text(),
                }),
            verdict: note.verdict.clone(),
            results: note.results.iter().map(configuration).collect(),
            measured_on: note.measured_on.as_ref().map(|on| MeasuredOn {
                of: on.of.clone(),
                device: on.device.clone(),
                at: on.at.clone(),
                pairs: on.pairs,
                detectable: on.detectable,
            }),
            stale: note.stale.is_some(),
            stale_reason: note.stale.clone(),
            failures: (note.failures.iter())
                .filter_map(|failure| {
                    Some(Failure {
                        uri: convert.uri(&DocId::file(&failure.file))?,
                        line: failure.line,
                        test: failure.test.clone(),
                        message: failure.message.clone(),
                        cause: failure.cause.clone(),
                    })
                })
                .collect(),
            table: note.table.clone(),
        })
    }
}

fn iteration(run: &LastRun) -> Iteration {
    Iteration {
        run: run.run,
        iteration: run.iteration,
        kind: run.kind,
        optimization: run.optimization.clone(),
        stage: run.stage,
        note: run.detail.clone(),
        pairs: run.pairs,
        decided: run.decided.map(|(decided, _)| decided),
        of: run.decided.map(|(_, of)| of),
        began: run.began.clone(),
        limit: run.limit,
        state: match run.state {
            RunState::Running => "running",
            RunState::Kept => "kept",
            RunState::Reverted => "reverted",
            RunState::Crashed => "crashed",
            RunState::NoChange => "noChange",
            RunState::Cited => "cited",
            RunState::Cancelled => "cancelled",
            RunState::Interrupted => "interrupted",
            RunState::Refused => "refused",
        },
        sentence: run.sentence.clone(),
    }
}

fn configuration(result: &Result) -> Configuration {
    Configuration {
        configuration: result.configuration.to_string(),
        short: result.short.clone(),
        direction: result.direction.clone(),
        backend: result.backend.to_string(),
        base: result.base,
        candidate: result.candidate,
        unit: unit(result.is_time),
        change: result.change,
        low: result.interval.0,
        high: result.interval.1,
        verdict: result.verdict.clone(),
        sentence: result.sentence.clone(),
    }
}

fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::SetUp => "setUp",
        Phase::Ready => "ready",
        Phase::Stopped { .. } => "stopped",
        Phase::Finished => "finished",
        Phase::Abandoned => "abandoned",
    }
}

fn unit(is_time: bool) -> &'static str {
    if is_time { "ms" } else { "cost" }
}
