//! Runs as the client's progress displays, each of which can be cancelled.
//!
//! A display belongs to a run and not to whoever started it: runs of a terminal have one, too, and one
//! that the window was reloaded over gets a new one. It is created by asking the client, so its state
//! is kept here until the client has answered; what is sent goes through one task, in order.

mod activity;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tileperf_engine::runs::{LastRun, RunNote, RunState};
use tileperf_perf::event::{RunKind, Stage};
use tileperf_perf::flow;
use tileperf_perf::store::Store;
use tileperf_proc::CancelToken;
use tokio::sync::mpsc;
use tower_lsp::Client;
use tower_lsp::ls_types::notification::Progress as ProgressNotification;
use tower_lsp::ls_types::request::WorkDoneProgressCreate;
use tower_lsp::ls_types::{
    NumberOrString, ProgressParams, ProgressParamsValue, ProgressToken, WorkDoneProgress,
    WorkDoneProgressBegin, WorkDoneProgressCreateParams, WorkDoneProgressEnd,
    WorkDoneProgressReport,
};

use super::pool;
use super::questions::Questions;

/// Between two reports of the time that is left, while nothing else happens.
const TICK: Duration = Duration::from_secs(5);
/// The last look of a plan whose first has at least [`FIRST_OF_SAMPLES`] pairs, and of any other.
const LAST_LOOK: (f64, f64) = (240.0, 10.0);
const FIRST_OF_SAMPLES: usize = 30;

/// The displays; cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Progress {
    questions: Questions,
    shown: Arc<Mutex<Shown>>,
    out: mpsc::UnboundedSender<ProgressParams>,
}

#[derive(Debug, Default)]
struct Shown {
    displays: HashMap<Key, Display>,
    /// The server's own work, with what cancels it.
    activities: HashMap<ProgressToken, CancelToken>,
    created: u64,
}

/// Root and name of a session.
type Key = (PathBuf, String);

#[derive(Debug)]
struct Display {
    token: ProgressToken,
    /// The run that it shows.
    run: u32,
    state: State,
    last: LastRun,
    kernel: String,
    /// What was reported last.
    said: Option<(String, Option<u32>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The client was asked to make it.
    Asked,
    /// The client shows it.
    Begun,
    /// The client refused it, or the user has cancelled it.
    Away,
}

impl Progress {
    /// No display yet.
    pub(super) fn start(client: Client, questions: Questions) -> Self {
        let (out, mut waiting) = mpsc::unbounded_channel();
        let this = Self {
            questions,
            shown: Arc::default(),
            out,
        };
        // The task must not keep its own queue alive.
        let shown = Arc::clone(&this.shown);
        tokio::spawn(async move {
            loop {
                let idle = lock(&shown).displays.is_empty();
                let next = match idle {
                    true => Ok(waiting.recv().await),
                    false => tokio::time::timeout(TICK, waiting.recv()).await,
                };
                let due = match next {
                    Ok(Some(params)) => vec![params],
                    Ok(None) => return,
                    Err(_) => {
                        let mut shown = lock(&shown);
                        shown.displays.values_mut().filter_map(report).collect()
                    }
                };
                for params in due {
                    client
                        .send_notification::<ProgressNotification>(params)
                        .await;
                }
            }
        });
        this
    }

    /// Shows the state of a session's run. Does not wait for the client.
    pub(super) fn update(&self, note: &RunNote) {
        let key = (note.root.clone(), note.session.clone());
        let running = note.run.as_ref().filter(|r| r.state == RunState::Running);
        let mut shown = lock(&self.shown);
        let known = shown.displays.get_mut(&key);
        match (known, running) {
            (None, None) => {}
            (Some(display), Some(run)) if display.run == run.run => {
                display.last.clone_from(run);
                self.send(report(display));
            }
            (known, running) => {
                if let Some(display) = known {
                    let sentence = note.run.as_ref().map(|run| run.sentence.clone());
                    self.send(end(display, sentence));
                    shown.displays.remove(&key);
                }
                if let Some(run) = running {
                    self.create(&mut shown, key, note, run);
                }
            }
        }
    }

    /// Shows a run whose display was put away.
    pub(super) fn show_again(&self, note: &RunNote) {
        let key = (note.root.clone(), note.session.clone());
        let mut shown = lock(&self.shown);
        if let Some(display) = shown.displays.get(&key) {
            if display.state != State::Away {
                return;
            }
            shown.displays.remove(&key);
        }
        drop(shown);
        self.update(note);
    }

    /// The user pressed Cancel. False if there is no such display.
    pub(super) fn cancel(&self, token: &ProgressToken) -> bool {
        let key = {
            let mut shown = lock(&self.shown);
            if let Some(activity) = shown.activities.get(token) {
                activity.cancel();
                return true;
            }
            let found = shown.displays.iter_mut().find(|(_, d)| d.token == *token);
            let Some((key, _)) = found else {
                return false;
            };
            key.clone()
        };
        tokio::spawn(pool::caught("stopping a run", move || {
            let (root, session) = key;
            if let Err(error) = flow::ask_to_stop(&Store::new(&root, &session)) {
                tracing::error!("the run of {session} cannot be asked to stop: {error}");
            }
        }));
        true
    }

    fn create(&self, shown: &mut Shown, key: Key, note: &RunNote, run: &LastRun) {
        shown.created += 1;
        let token = NumberOrString::String(format!("tileperf-run-{}", shown.created));
        shown.displays.insert(
            key.clone(),
            Display {
                token: token.clone(),
                run: run.run,
                state: State::Asked,
                last: run.clone(),
                kernel: note.kernel.to_string(),
                said: None,
            },
        );
        let question = WorkDoneProgressCreateParams {
            token: token.clone(),
        };
        let this = self.clone();
        let answered = move |made: tower_lsp::jsonrpc::Result<()>| {
            let mut shown = lock(&this.shown);
            // The run may have ended, and the next one begun, before the client answered.
            let display = shown.displays.get_mut(&key).filter(|d| d.token == token);
            match (made, display) {
                (Ok(()), Some(display)) => this.send(begin(display)),
                (Ok(()), None) => {}
                (Err(error), display) => {
                    tracing::warn!("the client shows no progress: {error}");
                    if let Some(display) = display {
                        display.state = State::Away;
                    }
                }
            }
        };
        self.questions
            .ask::<WorkDoneProgressCreate>(question, answered);
    }

    fn send(&self, params: Option<ProgressParams>) {
        if let Some(params) = params {
            // The task ends with the runtime.
            let _ = self.out.send(params);
        }
    }
}

fn lock(shown: &Mutex<Shown>) -> MutexGuard<'_, Shown> {
    shown.lock().unwrap_or_else(PoisonError::into_inner)
}

fn begin(display: &mut Display) -> Option<ProgressParams> {
    display.state = State::Begun;
    let (message, percentage) = words(&display.last, SystemTime::now());
    display.said = Some((message.clone(), percentage));
    let begin = WorkDoneProgress::Begin(WorkDoneProgressBegin {
        title: format!("{}: {}", display.last.title(), display.kernel),
        cancellable: Some(true),
        message: Some(message),
        // Without one here, a client may not show later ones.
        percentage: Some(percentage.unwrap_or(0)),
    });
    Some(params(display, begin))
}

/// What is new since the last report.
fn report(display: &mut Display) -> Option<ProgressParams> {
    let (message, percentage) = words(&display.last, SystemTime::now());
    let said = Some((message.clone(), percentage));
    if display.state != State::Begun || display.said == said {
        return None;
    }
    display.said = said;
    let report = WorkDoneProgress::Report(WorkDoneProgressReport {
        cancellable: Some(true),
        message: Some(message),
        percentage,
    });
    Some(params(display, report))
}

fn end(display: &Display, message: Option<String>) -> Option<ProgressParams> {
    let end = WorkDoneProgress::End(WorkDoneProgressEnd { message });
    (display.state == State::Begun).then(|| params(display, end))
}

fn params(display: &Display, value: WorkDoneProgress) -> ProgressParams {
    ProgressParams {
        token: display.token.clone(),
        value: ProgressParamsValue::WorkDone(value),
    }
}

/// Stage and time left, and how far it is once that is known.
fn words(run: &LastRun, now: SystemTime) -> (String, Option<u32>) {
    let mut message = run.stage_in_words();
    let measuring = run.stage == Some(Stage::Measuring);
    if let Some((decided, of)) = run.decided.filter(|_| measuring) {
        message.push_str(&format!(", {decided} of {of} configurations decided"));
    }
    let left = run.must_end.and_then(|end| end.duration_since(now).ok());
    if let Some(left) = left {
        message.push_str(&match left.as_secs() {
            seconds if seconds >= 120 => format!(", at most {} min left", seconds.div_ceil(60)),
            // Whole tens, so that a display does not flicker.
            seconds => format!(", at most {} s left", seconds.div_ceil(10) * 10),
        });
    }
    (message, percentage(run))
}

/// The share of the configurations' pairs that are taken; an undecided one may need all looks. Not
/// known of a baseline, which compares the code with itself as often as the time allows.
fn percentage(run: &LastRun) -> Option<u32> {
    if run.kind == RunKind::Baseline || run.stage != Some(Stage::Measuring) {
        return None;
    }
    let (pairs, (decided, of)) = (run.pairs?, run.decided?);
    if of == 0 {
        return None;
    }
    let last = match pairs >= FIRST_OF_SAMPLES {
        true => LAST_LOOK.0,
        false => LAST_LOOK.1,
    };
    let undecided = of.saturating_sub(decided) as f64 * (pairs as f64 / last).min(1.0);
    let share = (decided as f64 + undecided) / of as f64;
    Some((share * 100.0).clamp(0.0, 100.0) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_display_says_stage_time_and_share() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let mut run = LastRun {
            run: 1,
            kind: RunKind::Iteration,
            iteration: 3,
            optimization: None,
            stage: Some(Stage::Correctness),
            detail: Some("candidate".into()),
            pairs: None,
            decided: None,
            began: String::new(),
            must_end: Some(now + Duration::from_secs(599)),
            limit: 600,
            state: RunState::Running,
            sentence: String::new(),
        };
        assert_eq!(
            words(&run, now),
            ("correctness (candidate), at most 10 min left".into(), None)
        );
        run.stage = Some(Stage::Measuring);
        (run.pairs, run.decided) = (Some(60), Some((1, 2)));
        run.must_end = Some(now + Duration::from_secs(41));
        assert_eq!(
            words(&run, now),
            (
                "measuring (60 pairs), 1 of 2 configurations decided, at most 50 s left".into(),
                Some(62)
            )
        );
        run.must_end = Some(now - Duration::from_secs(1));
        assert!(!words(&run, now).0.contains("left"));
    }
}
