//! What the engine does on its own, and what the client is told about it.
//!
//! Two tasks: one passes the engine's events on as status, messages and refreshes, one hands changed
//! files to the engine, a batch at a time and in order. Neither waits for the client but in a task
//! of its own.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tileperf_engine::settings::load;
use tileperf_engine::{Engine, Event, State, Status};
use tileperf_perf::store;
use tokio::sync::mpsc;
use tower_lsp::Client;
use tower_lsp::ls_types::notification::Notification;
use tower_lsp::ls_types::request::{RegisterCapability, Request};
use tower_lsp::ls_types::{
    DidChangeWatchedFilesRegistrationOptions, FileSystemWatcher, GlobPattern, Registration,
    RegistrationParams,
};

use super::commands::{self, Desk};
use super::notices::Notices;
use super::pool;
use super::refresh::Refresh;
use super::run_events::RunEvents;
use super::server::Server;

/// `tileperf/status`: for the editor's status item. Not sent while the engine sleeps, so that an
/// editor shows nothing in a workspace without kernels.
enum StatusNotification {}

impl Notification for StatusNotification {
    type Params = StatusParams;
    const METHOD: &'static str = "tileperf/status";
}

#[derive(Debug, Serialize, Deserialize)]
struct StatusParams {
    state: String,
    message: Option<String>,
    kernels: usize,
    files: usize,
}

impl From<&Status> for StatusParams {
    fn from(status: &Status) -> Self {
        let (state, message) = match status.state {
            State::Dormant => ("dormant", None),
            State::Indexing => ("indexing", Some("reading the workspace".to_owned())),
            State::Ready => ("ready", None),
        };
        Self {
            state: state.to_owned(),
            message,
            kernels: status.kernels,
            files: status.files,
        }
    }
}

/// Starts the tasks. Called once, when the client is initialized.
pub(super) fn start(server: &Server) {
    let (forward, events) = mpsc::unbounded_channel();
    let source = server.engine.events();
    let thread = std::thread::Builder::new()
        .name("lsp-events".into())
        .spawn(move || {
            while let Ok(event) = source.recv() {
                if forward.send(event).is_err() {
                    return;
                }
            }
        });
    if let Err(error) = thread {
        tracing::error!("the engine's events are not shown: {error}");
        return;
    }
    let refresh = (server.refresh.get_or_init(|| Refresh::start(server))).clone();
    let task = Events {
        engine: server.engine.clone(),
        client: server.client.clone(),
        notices: server.notices.clone(),
        follow: Some(follow(server)),
        runs: RunEvents::new(server, refresh.clone()),
        refresh,
        desk: Desk::new(server),
        shows_buttons: (server.session()).is_some_and(|session| session.shows_buttons),
        has_offered: false,
    };
    tokio::spawn(task.run(events));
}

/// What remains to be done when the engine wakes: have changes on disk reported.
type Follow = Box<dyn FnOnce() + Send>;

struct Events {
    engine: Engine,
    client: Client,
    notices: Notices,
    follow: Option<Follow>,
    runs: RunEvents,
    refresh: Refresh,
    desk: Desk,
    shows_buttons: bool,
    /// The user was offered to have a compiler installed.
    has_offered: bool,
}

impl Events {
    async fn run(mut self, mut events: mpsc::UnboundedReceiver<Event>) {
        while let Some(first) = events.recv().await {
            let mut status = None;
            let mut refresh = false;
            let mut compiled = BTreeSet::new();
            let mut next = Some(first);
            // Of a burst only the outcome is of interest.
            while let Some(event) = next {
                match event {
                    Event::Status(new) => status = Some(new),
                    Event::Refresh => refresh = true,
                    Event::Run(note) => self.runs.add(note),
                    Event::Compiled(doc) => drop(compiled.insert(doc)),
                    Event::Toolchain(obstacle) => self.obstacle(obstacle),
                    Event::Message(text) => self.notices.warn(&text),
                }
                next = events.try_recv().ok();
            }
            if let Some(status) = status {
                self.client
                    .send_notification::<StatusNotification>((&status).into())
                    .await;
            }
            if self.engine.is_awake()
                && let Some(follow) = self.follow.take()
            {
                follow();
            }
            self.runs.tell().await;
            if !compiled.is_empty() {
                self.refresh.lenses();
                self.refresh.hints();
                self.runs.publish_again(compiled);
            }
            if refresh {
                self.refresh.lenses();
                self.refresh.hints();
                self.runs.look_again(&self.engine);
            }
        }
    }
}

impl Events {
    /// Says why nothing is compiled, the first time with what can be done about it. That a workspace
    /// is not trusted its user knows.
    fn obstacle(&mut self, obstacle: Option<String>) {
        let Some(why) = obstacle.filter(|_| self.engine.is_trusted()) else {
            return;
        };
        let text = format!("kernels are not compiled: {why}");
        if self.shows_buttons && !self.has_offered {
            self.has_offered = true;
            commands::offer_help(self.desk.clone(), text);
        } else {
            self.notices.warn(&text);
        }
    }
}

/// Has changes on disk reported, by the client if it can, else by the system. Only once awake: in a
/// workspace without kernels, watching thousands of files would be for nothing.
fn follow(server: &Server) -> Follow {
    let engine = server.engine.clone();
    let questions = server.questions.clone();
    let by_client = server
        .session()
        .is_some_and(|session| session.watches_files);
    Box::new(move || {
        // They may have changed while nobody looked.
        engine.reload_settings();
        if !engine.settings().watch {
            return;
        }
        if !by_client {
            tokio::spawn(pool::caught("watching files", move || engine.watch()));
            return;
        }
        let watchers = ["**/*.py", "**/*.pyi", "**/pyproject.toml"]
            .into_iter()
            .map(str::to_owned)
            .chain([format!("**/{}", load::FILE_NAME)])
            .chain([format!("**/{}/*/journal.jsonl", store::FOLDER)])
            .map(|glob| FileSystemWatcher {
                glob_pattern: GlobPattern::String(glob),
                kind: None,
            })
            .collect();
        let options = DidChangeWatchedFilesRegistrationOptions { watchers };
        let registration = Registration {
            id: "tileperf-files".into(),
            method: "workspace/didChangeWatchedFiles".into(),
            register_options: serde_json::to_value(options).ok(),
        };
        let question = RegistrationParams {
            registrations: vec![registration],
        };
        questions.ask::<RegisterCapability>(question, |answer| {
            if let Err(error) = answer {
                tracing::warn!("{} refused: {error}", RegisterCapability::METHOD);
            }
        });
    })
}

/// Files that changed on disk, on their way to the engine.
#[derive(Debug, Clone)]
pub(super) struct ChangedFiles(mpsc::UnboundedSender<Vec<PathBuf>>);

impl ChangedFiles {
    /// Starts the task that hands them over.
    pub(super) fn start(engine: Engine) -> Self {
        let (sender, mut waiting) = mpsc::unbounded_channel::<Vec<PathBuf>>();
        tokio::spawn(async move {
            while let Some(mut paths) = waiting.recv().await {
                while let Ok(more) = waiting.try_recv() {
                    paths.extend(more);
                }
                paths.sort();
                paths.dedup();
                let engine = engine.clone();
                pool::caught("changed files", move || engine.files_changed(paths)).await;
            }
        });
        Self(sender)
    }

    /// Hands over files in the background.
    pub(super) fn report(&self, paths: Vec<PathBuf>) {
        let _ = self.0.send(paths);
    }
}
