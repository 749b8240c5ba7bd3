//! The workspace in memory and its life: asleep until a file mentions cuTile, then indexed in the
//! background and kept up to date.

mod configured;
mod life;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crossbeam_channel::{Receiver, Sender, unbounded};
use dashmap::DashMap;
use parking_lot::{Mutex, RwLock};
use rustc_hash::FxBuildHasher;
use smol_str::SmolStr;
use tileperf_syntax::Encoding;

use crate::compiled::Compiled;
use crate::counts::CountCache;
use crate::document::{Analyzed, Change, DocId, Document};
use crate::event::{Event, State, Status};
use crate::findings::CheckCache;
use crate::index::{self, Index};
use crate::links::Links;
use crate::modules;
use crate::parses::ParseCache;
use crate::playbook::{OriginalFiles, Proofs};
use crate::runs::Runs;
use crate::settings::{Settings, SettingsProblem};
use crate::watch::Watcher;

/// A document that was never opened or is closed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the document is not open")]
pub struct UnknownDocument;

/// Where the workspace is and whether it may run code.
#[derive(Debug, Clone, Default)]
pub(crate) struct Workspace {
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) trusted: bool,
    pub(crate) editor: serde_json::Value,
    pub(crate) command_line: Vec<String>,
    problems: Vec<SettingsProblem>,
}

pub(crate) struct Shared {
    pub(crate) docs: DashMap<DocId, Arc<Document>, FxBuildHasher>,
    pub(crate) index: Index,
    pub(crate) settings: RwLock<Arc<Settings>>,
    pub(crate) workspace: RwLock<Workspace>,
    /// Counts every change of a text or a file; ties derived data to what it was derived from.
    pub(crate) generation: AtomicU64,
    pub(crate) links: Mutex<Option<(u64, Arc<Links>)>>,
    /// Counts every change of the set of files on disk.
    pub(crate) index_generation: AtomicU64,
    pub(crate) counts: Mutex<CountCache>,
    pub(crate) parses: Mutex<ParseCache>,
    pub(crate) checks: Mutex<CheckCache>,
    pub(crate) runs: Runs,
    pub(crate) compiled: Compiled,
    pub(crate) proofs: Proofs,
    pub(crate) originals: Mutex<OriginalFiles>,
    awake: AtomicBool,
    /// The whole workspace was checked on demand.
    pub(crate) whole: AtomicBool,
    /// Set to make a running index stop; replaced with each run.
    indexing: Mutex<Option<Arc<AtomicBool>>>,
    status: Mutex<Status>,
    events: Sender<Event>,
    watcher: Mutex<Option<Watcher>>,
}

/// The engine. Clones share one workspace.
#[derive(Clone)]
pub struct Engine {
    pub(crate) shared: Arc<Shared>,
    events: Receiver<Event>,
}

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// An engine without a workspace, asleep.
    pub fn new() -> Self {
        let (sender, events) = unbounded();
        let shared = Shared {
            docs: DashMap::default(),
            index: Index::default(),
            settings: RwLock::new(Arc::new(Settings::default())),
            workspace: RwLock::new(Workspace::default()),
            generation: AtomicU64::new(0),
            links: Mutex::new(None),
            index_generation: AtomicU64::new(0),
            counts: Mutex::default(),
            parses: Mutex::default(),
            checks: Mutex::default(),
            runs: Runs::default(),
            compiled: Compiled::default(),
            proofs: Proofs::default(),
            originals: Mutex::default(),
            awake: AtomicBool::new(false),
            whole: AtomicBool::new(false),
            indexing: Mutex::new(None),
            status: Mutex::new(Status {
                state: State::Dormant,
                files: 0,
                known_files: 0,
                kernels: 0,
                index_seconds: 0.0,
            }),
            events: sender,
            watcher: Mutex::new(None),
        };
        Self {
            shared: Arc::new(shared),
            events,
        }
    }

    /// What happens in the background. One listener; clones of the receiver share the events.
    pub fn events(&self) -> Receiver<Event> {
        self.events.clone()
    }

    /// What the engine is doing.
    pub fn status(&self) -> Status {
        self.shared.status.lock().clone()
    }

    /// Opens a document. The first one that mentions cuTile wakes the engine.
    pub fn open(&self, id: DocId, version: i32, text: String) {
        let wakes = index::mentions_cutile(text.as_bytes());
        let package = self.shared.package_of(&id);
        self.shared
            .docs
            .insert(id, Arc::new(Document::new(version, text, package)));
        self.shared.touch();
        self.shared.runs.opened();
        if wakes {
            self.wake();
        }
    }

    /// Applies changes in order.
    ///
    /// # Errors
    /// The document is not open.
    pub fn change(
        &self,
        id: &DocId,
        version: i32,
        changes: Vec<Change>,
        encoding: Encoding,
    ) -> Result<(), UnknownDocument> {
        let doc = self
            .shared
            .docs
            .get(id)
            .map(|d| Arc::clone(&d))
            .ok_or(UnknownDocument)?;
        let asleep = !self.shared.awake.load(Ordering::Acquire);
        let wakes = asleep
            && changes
                .iter()
                .any(|c| c.text.contains("cuda") || c.text.contains("tile") || c.text.len() == 1);
        doc.change(version, changes, encoding);
        self.shared.touch();
        self.shared.runs.edited(id);
        if wakes && index::mentions_cutile(doc.text().1.as_str().as_bytes()) {
            self.wake();
        }
        Ok(())
    }

    /// Closes a document; what is on disk counts again.
    pub fn close(&self, id: &DocId) {
        if self.shared.docs.remove(id).is_some() {
            if let Some(path) = id.path()
                && self.shared.awake.load(Ordering::Acquire)
            {
                // The file may have been saved since it was indexed. Read aside: this is called
                // where messages are taken in.
                let engine = self.clone();
                spawn("tileperf-close", move || engine.files_changed(vec![path]));
            }
            self.shared.touch();
            self.shared.runs.edited(id);
        }
    }

    /// The version and text of an open document as the editor has it.
    pub fn text(&self, id: &DocId) -> Option<(i32, tileperf_syntax::Text)> {
        self.shared.docs.get(id).map(|d| d.text())
    }

    /// The text of a file, open or on disk; empty if it cannot be read.
    pub fn source_text(&self, id: &DocId) -> tileperf_syntax::Text {
        self.shared.source(id).0
    }

    /// The analysis of an open document's present text. Nothing for one that is not open, or while
    /// the engine is asleep: then there is nothing to know.
    pub fn analyzed(&self, id: &DocId) -> Option<Arc<Analyzed>> {
        let doc = self.shared.docs.get(id).map(|d| Arc::clone(&d))?;
        self.is_awake().then(|| doc.fresh())
    }

    /// Whether some file mentions cuTile.
    pub fn is_awake(&self) -> bool {
        self.shared.awake.load(Ordering::Acquire)
    }
}

impl Shared {
    /// The package that relative imports in a document start from.
    pub(crate) fn package_of(&self, id: &DocId) -> SmolStr {
        let Some(path) = id.path() else {
            return SmolStr::default();
        };
        modules::names(&path, &self.roots(), &|dir: &Path| {
            dir.join("__init__.py").is_file()
        })
        .package
    }

    /// Marks everything derived as out of date, what depends on the set of files included.
    fn touch_index(&self) {
        self.index_generation.fetch_add(1, Ordering::AcqRel);
        self.touch();
    }

    /// Tells the listener.
    pub(crate) fn tell(&self, event: Event) {
        // The other end lives as long as this one.
        let _ = self.events.send(event);
    }

    /// Whether the whole workspace was read.
    pub(crate) fn has_read_all(&self) -> bool {
        self.index.unread.is_empty() && self.is_ready()
    }

    /// Whether every file of the workspace is known by name.
    pub(crate) fn is_ready(&self) -> bool {
        self.status.lock().state == State::Ready
    }

    /// Marks everything derived as out of date.
    pub(crate) fn touch(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// Counts what is indexed and tells listeners if that changed.
    fn count(&self, state: Option<(State, f64)>) {
        let files = self.index.files.iter().filter(|e| e.relevant).count();
        let kernels = self
            .index
            .files
            .iter()
            .filter(|e| e.relevant)
            .filter_map(|e| Some(e.indexed(u64::MAX)?.model.kernels.len()))
            .sum();
        let mut status = self.status.lock();
        let (state, index_seconds) = state.unwrap_or((status.state.clone(), status.index_seconds));
        let next = Status {
            state,
            files,
            known_files: self.index.files.len(),
            kernels,
            index_seconds,
        };
        if *status != next {
            *status = next.clone();
            let _ = self.events.send(Event::Status(next));
        }
    }
}

/// A named thread; a machine that cannot start one more loses background work, not the server.
pub(crate) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) {
    if let Err(error) = std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
    {
        tracing::error!("{name}: {error}");
    }
}
