//! Events as they come, for a terminal or for a program.

use std::io::{self, Write};

use tileperf_perf::event::{Entry, Event, RunEnd, RunKind, Stage};
use tileperf_perf::plan::Place;

use super::session::Format;

/// Shows events on standard output.
pub(super) struct Shown {
    format: Format,
}

impl Shown {
    pub(super) fn new(format: Format) -> Self {
        Self { format }
    }

    /// Shows one event.
    ///
    /// # Errors
    /// The reader has gone.
    pub(super) fn show(&self, entry: &Entry) -> io::Result<()> {
        let mut out = io::stdout().lock();
        match self.format {
            Format::Json => {
                serde_json::to_writer(&mut out, entry).map_err(io::Error::from)?;
                writeln!(out)?;
            }
            Format::Text => {
                for line in lines(&entry.event) {
                    writeln!(out, "{line}")?;
                }
            }
        }
        out.flush()
    }
}

/// What there is to say of an event.
fn lines(event: &Event) -> Vec<String> {
    match event {
        Event::SetUp {
            session, plan, git, ..
        } => {
            let mut out = vec![format!("session {session} for {}", plan.kernel)];
            if let Some(git) = git {
                out.push(format!("  on the branch {}", git.session_branch));
            }
            out
        }
        Event::RunStarted {
            kind,
            iteration,
            tried,
            device,
            ..
        } => {
            let what = match kind {
                RunKind::Baseline => "iteration 0: baseline".to_owned(),
                RunKind::Experiment => format!(
                    "experiment: {}",
                    tried.as_ref().map_or("", |t| &t.optimization)
                ),
                RunKind::Check => "the original against the current code".to_owned(),
                RunKind::Iteration => format!(
                    "iteration {iteration}: {}",
                    tried.as_ref().map_or("", |t| &t.optimization)
                ),
            };
            let mut out = vec![format!("{what}, on {}", device.name)];
            for other in &device.others {
                out.push(format!("  warning: {other} uses the device too"));
            }
            if let Some(tried) = tried.as_ref().filter(|t| !t.ignored.is_empty()) {
                let names: Vec<String> = tried
                    .ignored
                    .iter()
                    .map(|p| p.display().to_string())
                    .collect();
                out.push(format!(
                    "  not part of the change, left alone: {}",
                    names.join(", ")
                ));
            }
            out
        }
        Event::Placed { place, why, .. } => match (place, why) {
            (Place::InPlace, Some(why)) => vec![format!("  measured in place: {why}")],
            _ => Vec::new(),
        },
        Event::Stage { stage, note, .. } => {
            let stage = match stage {
                Stage::Preparing => return Vec::new(),
                Stage::Correctness => "correctness",
                Stage::Warming => "starting the benchmark",
                Stage::Measuring => "measuring",
                Stage::Deciding => "deciding",
            };
            let note = note.as_ref().map(|n| format!(" ({n})")).unwrap_or_default();
            vec![format!("  {stage}{note} ...")]
        }
        Event::Tested { tests, .. } => {
            let mut out = vec![format!(
                "  {} passed, {} failed, {} skipped in {:.1} s",
                tests.passed.len(),
                tests.failures.len(),
                tests.skipped.len(),
                tests.seconds
            )];
            for failure in tests.failures.iter().take(5) {
                let first = failure.message.lines().next().unwrap_or_default();
                out.push(format!("    {}: {first}", failure.test));
                if let Some(cause) = &failure.cause {
                    out.push(format!("      likely cause: {cause}"));
                }
            }
            out
        }
        Event::Looked {
            pairs, decided, of, ..
        } => vec![format!(
            "  {pairs} pairs, {decided} of {of} configurations decided"
        )],
        Event::Noise { noise, .. } => noise
            .iter()
            .map(|(key, noise)| {
                format!(
                    "  {key}: changes of {:.1} % can be told from noise",
                    noise.detectable * 100.0
                )
            })
            .collect(),
        Event::Measured { configurations, .. } => configurations
            .iter()
            .map(|m| {
                let unit = if m.is_time { " ms" } else { "" };
                format!(
                    "  {}: {:.6}{unit} -> {:.6}{unit}, {} ({:+.2} %)",
                    m.key,
                    m.base,
                    m.candidate,
                    m.verdict.verdict,
                    m.verdict.estimate.change() * 100.0
                )
            })
            .collect(),
        Event::Decided { decision, .. } => vec![decision.sentence()],
        Event::Summed { decision, .. } => vec![match decision.total {
            Some(total) => format!(
                "  in all {:+.2} % against iteration 0",
                total.change() * 100.0
            ),
            None => "  the sum could not be measured".to_owned(),
        }],
        Event::Found { decision, .. } => vec![match decision.total {
            Some(total) => format!("  {:+.2} % in all; never kept", total.change() * 100.0),
            None => "  it could not be measured".to_owned(),
        }],
        Event::Kept { commit, .. } => match commit {
            Some(commit) => vec![format!(
                "  committed as {}",
                &commit[..10.min(commit.len())]
            )],
            None => Vec::new(),
        },
        Event::Conflict { files, kept_at, .. } => {
            let names: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
            vec![format!(
                "  {} changed meanwhile and is left as it is; both versions are in {}",
                names.join(", "),
                kept_at.display()
            )]
        }
        Event::RunEnded { end, row, .. } => ended(end, row.as_ref()),
        Event::Stopped { stop } => vec![stop.sentence()],
        Event::Resumed { .. } => vec!["the session goes on".to_owned()],
        Event::Undone { iteration, .. } => vec![format!("iteration {iteration} is undone")],
        Event::Finished { commit, .. } => match commit {
            Some(commit) => vec![format!("finished at {}", &commit[..10.min(commit.len())])],
            None => vec!["finished".to_owned()],
        },
        Event::Abandoned => vec!["abandoned: the files are as they were before".to_owned()],
        Event::Note { text } => vec![text.clone()],
        Event::Placing { .. }
        | Event::Compared { .. }
        | Event::BaselineKept { .. }
        | Event::Broke { .. }
        | Event::Intended { .. }
        | Event::Withdrawn
        | Event::Reverted { .. } => Vec::new(),
    }
}

fn ended(end: &RunEnd, row: Option<&tileperf_perf::records::Row>) -> Vec<String> {
    let mut out = match end {
        RunEnd::Completed => Vec::new(),
        RunEnd::NothingToTry => vec!["nothing was changed".to_owned()],
        RunEnd::NoChange => vec!["no change: the compiled code is the same".to_owned()],
        RunEnd::Cited { run } => vec![format!(
            "this code was measured before, in run {run}; its result stands"
        )],
        RunEnd::Crashed { why } => vec![format!("crash, taken back: {why}")],
        RunEnd::Cancelled => vec!["cancelled; the files are as they were when it began".to_owned()],
        RunEnd::Interrupted => vec!["the run was interrupted".to_owned()],
        RunEnd::Refused { .. } => Vec::new(),
    };
    out.extend(row.map(ToString::to_string));
    out
}
