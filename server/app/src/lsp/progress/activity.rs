//! Work of the server itself as a progress display: begun when the client has made one, ended when
//! the [`Activity`] is dropped.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tileperf_proc::CancelToken;
use tower_lsp::ls_types::request::WorkDoneProgressCreate;
use tower_lsp::ls_types::{
    NumberOrString, ProgressParams, ProgressParamsValue, ProgressToken, WorkDoneProgress,
    WorkDoneProgressBegin, WorkDoneProgressCreateParams, WorkDoneProgressEnd,
    WorkDoneProgressReport,
};

use super::{Progress, lock};

/// A display that is there as long as this is.
pub(in crate::lsp) struct Activity {
    token: ProgressToken,
    stage: Arc<Mutex<Stage>>,
    progress: Progress,
}

enum Stage {
    /// The client was asked to make it; what would be shown by now.
    Asked(Option<String>),
    Begun,
    /// The client has refused, or the work has ended.
    Over,
}

impl Progress {
    /// Shows work. Does not wait for the client; its user's Cancel reaches `cancel`.
    pub(in crate::lsp) fn activity(&self, title: &str, cancel: &CancelToken) -> Activity {
        let token = {
            let mut shown = lock(&self.shown);
            shown.created += 1;
            let token = NumberOrString::String(format!("tileperf-work-{}", shown.created));
            shown.activities.insert(token.clone(), cancel.clone());
            token
        };
        let activity = Activity {
            token: token.clone(),
            stage: Arc::new(Mutex::new(Stage::Asked(None))),
            progress: self.clone(),
        };
        let (this, stage) = (self.clone(), Arc::clone(&activity.stage));
        let (title, question) = (title.to_owned(), WorkDoneProgressCreateParams { token });
        let token = activity.token.clone();
        let answered = move |made: tower_lsp::jsonrpc::Result<()>| {
            let mut stage = locked(&stage);
            let Stage::Asked(message) = &mut *stage else {
                return;
            };
            let message = message.take();
            *stage = match made {
                Ok(()) => {
                    let begin = WorkDoneProgressBegin {
                        title,
                        cancellable: Some(true),
                        message,
                        percentage: None,
                    };
                    this.send(Some(params(&token, WorkDoneProgress::Begin(begin))));
                    Stage::Begun
                }
                Err(error) => {
                    tracing::warn!("the client shows no progress: {error}");
                    Stage::Over
                }
            };
        };
        self.questions
            .ask::<WorkDoneProgressCreate>(question, answered);
        activity
    }
}

impl Activity {
    /// What is being done at this moment.
    pub(in crate::lsp) fn say(&self, message: &str) {
        match &mut *locked(&self.stage) {
            Stage::Asked(waiting) => *waiting = Some(message.to_owned()),
            Stage::Begun => {
                let report = WorkDoneProgressReport {
                    cancellable: Some(true),
                    message: Some(message.to_owned()),
                    percentage: None,
                };
                let report = params(&self.token, WorkDoneProgress::Report(report));
                self.progress.send(Some(report));
            }
            Stage::Over => {}
        }
    }
}

impl Drop for Activity {
    fn drop(&mut self) {
        lock(&self.progress.shown).activities.remove(&self.token);
        let was = std::mem::replace(&mut *locked(&self.stage), Stage::Over);
        if matches!(was, Stage::Begun) {
            let end = WorkDoneProgress::End(WorkDoneProgressEnd { message: None });
            self.progress.send(Some(params(&self.token, end)));
        }
    }
}

fn params(token: &ProgressToken, value: WorkDoneProgress) -> ProgressParams {
    ProgressParams {
        token: token.clone(),
        value: ProgressParamsValue::WorkDone(value),
    }
}

fn locked(stage: &Mutex<Stage>) -> MutexGuard<'_, Stage> {
    stage.lock().unwrap_or_else(PoisonError::into_inner)
}
