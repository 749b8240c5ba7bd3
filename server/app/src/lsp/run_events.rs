//! What the client is told when something happens in a run.
//!
//! Of a burst only the last state of each session is sent; lenses and diagnostics are asked for again
//! only when what they show has changed.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use tileperf_analysis::views::measured::Measured;
use tileperf_engine::runs::{FailureNote, RunNote};
use tileperf_engine::settings::Settings;
use tileperf_engine::{DocId, Engine};
use tokio::sync::watch;
use tower_lsp::Client;

use super::convert::Converter;
use super::idle;
use super::progress::Progress;
use super::publish::Publisher;
use super::refresh::Refresh;
use super::runs::{Run, RunNotification};
use super::server::Server;

/// Root and name of a session.
type Key = (PathBuf, String);

/// Passes the engine's notes on.
pub(super) struct RunEvents {
    client: Client,
    convert: Option<Converter>,
    /// For a client that shows progress.
    progress: Option<Progress>,
    /// For a client that diagnostics are pushed to.
    publisher: Option<Arc<Publisher>>,
    failing: Arc<watch::Sender<()>>,
    refresh: Refresh,
    /// Those that diagnostics were last asked for with.
    settings: Arc<Settings>,
    due: HashMap<Key, Arc<RunNote>>,
    /// What lenses and diagnostics showed last.
    lenses: HashMap<Key, (String, Option<Measured>)>,
    failures: HashMap<Key, Vec<FailureNote>>,
}

impl RunEvents {
    /// For the client of a server.
    pub(super) fn new(server: &Server, refresh: Refresh) -> Self {
        let session = server.session();
        let pushes = session.is_some_and(|session| !session.pulls_diagnostics);
        let shows = session.is_some_and(|session| session.shows_progress);
        Self {
            client: server.client.clone(),
            convert: server.converter(),
            progress: shows.then(|| server.progress.clone()),
            failing: Arc::clone(&server.failing),
            publisher: pushes.then(|| Arc::clone(&server.publisher)),
            refresh,
            settings: server.engine.settings(),
            due: HashMap::new(),
            lenses: HashMap::new(),
            failures: HashMap::new(),
        }
    }

    /// Takes a note; an older one of the session is forgotten.
    pub(super) fn add(&mut self, note: Arc<RunNote>) {
        self.due
            .insert((note.root.clone(), note.session.clone()), note);
    }

    /// Tells what was taken.
    pub(super) async fn tell(&mut self) {
        let Some(convert) = self.convert.clone() else {
            return self.due.clear();
        };
        for (key, note) in std::mem::take(&mut self.due) {
            let state = Run::new(&note, &convert).map(serde_json::to_value);
            if let Some(Ok(state)) = state {
                self.client
                    .send_notification::<RunNotification>(state)
                    .await;
            }
            if let Some(progress) = &self.progress {
                progress.update(&note);
            }
            let lens = (note.action_title(), note.for_lens());
            if self.lenses.get(&key) != Some(&lens) {
                self.lenses.insert(key.clone(), lens);
                self.refresh.lenses();
            }
            self.tell_failures(key, &note.failures);
        }
    }

    /// Something has changed on disk or in the settings: what was said of any file may be different
    /// now.
    pub(super) fn look_again(&mut self, engine: &Engine) {
        let Some(convert) = &self.convert else { return };
        let Some(publisher) = &self.publisher else {
            return self.ask_again(engine);
        };
        let mut docs = publisher.told();
        docs.extend(engine.open_documents());
        for doc in docs {
            if let Some(uri) = convert.uri(&doc) {
                publisher.mark(doc, uri, convert.clone());
            }
        }
    }

    /// Has a client that asks for diagnostics ask again where they are different now.
    fn ask_again(&mut self, engine: &Engine) {
        if engine.is_workspace_checked() {
            self.failing.send_replace(());
        }
        let settings = engine.settings();
        if settings != self.settings {
            self.settings = settings;
            return self.refresh.diagnostics();
        }
        for doc in engine.open_documents() {
            let refresh = self.refresh.clone();
            idle::check_links(engine.clone(), doc, move |_| refresh.diagnostics());
        }
    }

    /// Something else is known of these documents: what is said of them may be different now.
    pub(super) fn publish_again(&self, docs: BTreeSet<DocId>) {
        if let (Some(publisher), Some(convert)) = (&self.publisher, &self.convert) {
            for doc in docs {
                if let Some(uri) = convert.uri(&doc) {
                    publisher.mark(doc, uri, convert.clone());
                }
            }
        }
        self.refresh.diagnostics();
    }

    fn tell_failures(&mut self, key: Key, failures: &[FailureNote]) {
        let before = self.failures.get(&key).map_or(&[][..], Vec::as_slice);
        if before == failures {
            return;
        }
        let files = before.iter().chain(failures).map(|failure| &failure.file);
        self.publish_again(files.map(|file| DocId::file(file)).collect());
        self.failing.send_replace(());
        self.failures.insert(key, failures.to_vec());
    }
}
