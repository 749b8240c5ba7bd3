//! The workspace in memory and its life: asleep until a file mentions cuTile, then indexed in the
//! background and kept up to date.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

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
use crate::index::{self, Index, Scope};
use crate::links::Links;
use crate::modules;
use crate::parses::ParseCache;
use crate::playbook::{OriginalFiles, Proofs};
use crate::runs::{self, Runs};
use crate::settings::{Layer, Settings, SettingsProblem, load};
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

    /// Sets the workspace folders and the layers of settings above the files: the editor's and the
    /// command line's. Reads the settings files. Returns what is wrong in any of them.
    pub fn configure(
        &self,
        roots: Vec<PathBuf>,
        editor: serde_json::Value,
        command_line: Vec<String>,
        trusted: bool,
    ) -> Vec<SettingsProblem> {
        {
            let mut workspace = self.shared.workspace.write();
            workspace.roots = roots;
            workspace.editor = editor;
            workspace.command_line = command_line;
            workspace.trusted = trusted;
        }
        self.reload_settings()
    }

    /// Replaces the editor's layer.
    pub fn set_editor_settings(&self, editor: serde_json::Value) -> Vec<SettingsProblem> {
        self.shared.workspace.write().editor = editor;
        self.reload_settings()
    }

    /// Grants or withdraws trust.
    pub fn set_trusted(&self, trusted: bool) -> Vec<SettingsProblem> {
        self.shared.workspace.write().trusted = trusted;
        self.reload_settings()
    }

    /// Replaces the workspace folders; the index follows.
    pub fn set_roots(&self, roots: Vec<PathBuf>) -> Vec<SettingsProblem> {
        self.shared.workspace.write().roots = roots;
        let problems = self.reload_settings();
        if self.shared.awake.load(Ordering::Acquire) {
            self.start_index();
        }
        problems
    }

    /// Reads the settings files again.
    pub fn reload_settings(&self) -> Vec<SettingsProblem> {
        let workspace = self.shared.workspace.read().clone();
        let user = load::user_file(|name| std::env::var_os(name));
        let mut layers = load::file_layers(
            workspace.roots.first().map(PathBuf::as_path),
            user.as_deref(),
        );
        layers.push(Layer::editor(&workspace.editor));
        layers.push(Layer::command_line(&workspace.command_line));
        let (mut settings, mut problems) = Settings::resolve(&layers, workspace.trusted);
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let listed = workspace.roots.first().is_some_and(|root| {
            root.canonicalize()
                .is_ok_and(|root| settings.trusts(&root, home.as_deref()))
        });
        if listed && !workspace.trusted {
            self.shared.workspace.write().trusted = true;
            (settings, problems) = Settings::resolve(&layers, true);
        }
        let before = std::mem::replace(&mut *self.shared.settings.write(), Arc::new(settings));
        self.shared.workspace.write().problems.clone_from(&problems);
        let after = self.settings();
        if before.python_path != after.python_path && self.is_awake() {
            self.look_at_installed();
        }
        if self.shared.awake.load(Ordering::Acquire) && before.index != after.index {
            self.start_index();
        } else if before != after {
            self.shared.touch();
            let _ = self.shared.events.send(Event::Refresh);
        }
        problems
    }

    /// The settings in force.
    pub fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.shared.settings.read())
    }

    /// What is wrong in the settings.
    pub fn settings_problems(&self) -> Vec<SettingsProblem> {
        self.shared.workspace.read().problems.clone()
    }

    /// Whether code of this workspace may be run.
    pub fn is_trusted(&self) -> bool {
        self.shared.workspace.read().trusted
    }

    /// The first folder of the workspace: the one whose Python counts.
    pub fn root(&self) -> Option<PathBuf> {
        self.shared.workspace.read().roots.first().cloned()
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

    /// Files changed on disk: settings are read again, Python files indexed again.
    pub fn files_changed(&self, paths: Vec<PathBuf>) {
        let is_settings = |p: &PathBuf| {
            p.file_name()
                .is_some_and(|n| n == "tileperf.toml" || n == "pyproject.toml")
        };
        if paths.iter().any(is_settings) {
            for problem in self.reload_settings() {
                let _ = self.shared.events.send(Event::Message(problem.message));
            }
        }
        if paths.iter().any(|p| runs::is_journal(p)) {
            self.shared.runs.look();
        }
        let python: Vec<PathBuf> = paths.into_iter().filter(|p| index::is_python(p)).collect();
        if python.is_empty() || !self.is_awake() {
            return;
        }
        let scope = self.scope();
        for path in &python {
            if scope.roots.iter().any(|r| path.starts_with(r)) {
                self.shared.index.update(path, &scope);
            }
            self.shared.runs.edited(&DocId::file(path));
        }
        self.shared.touch_index();
        self.shared.count(None);
        let _ = self.shared.events.send(Event::Refresh);
    }

    /// Looks in the background whether any file of the workspace mentions cuTile, and wakes if so.
    pub fn probe(&self) {
        let scope = self.scope();
        let engine = self.clone();
        spawn("tileperf-probe", move || {
            let stop = AtomicBool::new(false);
            let limit = scope.max_file_size;
            let mut found = false;
            let mut look = |path: PathBuf| {
                if found || engine.is_awake() {
                    stop.store(true, Ordering::Relaxed);
                    return;
                }
                // `cuda.tile` itself: a workspace that merely has both words somewhere stays asleep.
                found = index::read(&path, limit)
                    .ok()
                    .flatten()
                    .is_some_and(|source| {
                        memchr::memmem::find(source.text.as_bytes(), b"cuda.tile").is_some()
                    });
            };
            scope.walk(&stop, &mut look, &mut |_| {});
            if found {
                engine.wake();
            }
        });
    }

    /// Wakes the engine: from now on there is something to show.
    pub fn wake(&self) {
        if !self.shared.awake.swap(true, Ordering::AcqRel) {
            spawn("tileperf-warm", tileperf_syntax::warm_up);
            self.look_at_installed();
            self.start_index();
            Runs::follow(&self.shared);
        }
    }

    /// Reads the workspace now, on this thread: for the command line.
    pub fn index_now(&self) {
        self.shared.awake.store(true, Ordering::Release);
        self.shared.index.keeps.store(true, Ordering::Relaxed);
        self.shared.note_installed();
        let started = Instant::now();
        self.shared
            .index
            .fill(&self.scope(), &AtomicBool::new(false));
        self.shared.touch_index();
        self.shared
            .count(Some((State::Ready, started.elapsed().as_secs_f64())));
    }

    /// Follows changes on disk with the system's own notifications: for editors that do not report
    /// them.
    pub fn watch(&self) {
        if !self.settings().watch {
            return;
        }
        let weak = Arc::downgrade(&self.shared);
        let events = self.events.clone();
        let changed = move |paths: Vec<PathBuf>| {
            if let Some(shared) = Weak::upgrade(&weak) {
                Engine {
                    shared,
                    events: events.clone(),
                }
                .files_changed(paths);
            }
        };
        match Watcher::start(&self.shared.roots(), changed) {
            Ok(watcher) => *self.shared.watcher.lock() = Some(watcher),
            Err(error) => {
                tracing::warn!("changes on disk are not followed: {error}");
            }
        }
    }

    /// Reads in the background which cuda-tile the project's Python has.
    fn look_at_installed(&self) {
        let engine = self.clone();
        spawn("tileperf-packages", move || {
            if engine.shared.note_installed() {
                engine.shared.touch();
                engine.shared.tell(Event::Refresh);
            }
        });
    }

    fn start_index(&self) {
        let stop = Arc::new(AtomicBool::new(false));
        if let Some(running) = self.shared.indexing.lock().replace(Arc::clone(&stop)) {
            running.store(true, Ordering::Relaxed);
        }
        self.shared.count(Some((State::Indexing, 0.0)));
        let engine = self.clone();
        spawn("tileperf-index", move || {
            let started = Instant::now();
            let scope = engine.scope();
            // What somebody looks at comes first: the index would take both its time and its cores.
            let open: Vec<_> = engine.shared.docs.iter().map(|d| Arc::clone(&d)).collect();
            open.iter().for_each(|doc| drop(doc.fresh()));
            engine.shared.index.fill(&scope, &stop);
            // Held, so that another reading that begins now is not called done.
            let last = engine.shared.indexing.lock();
            if stop.load(Ordering::Relaxed) {
                return;
            }
            engine.shared.touch_index();
            let seconds = started.elapsed().as_secs_f64();
            engine.shared.count(Some((State::Ready, seconds)));
            drop(last);
            let status = engine.status();
            tracing::info!(
                "indexed {} Python files, {} that mention cuTile, {} kernels, in {seconds:.2} s",
                status.known_files,
                status.files,
                status.kernels,
            );
            let _ = engine.shared.events.send(Event::Refresh);
        });
    }

    fn scope(&self) -> Scope {
        Scope::new(self.shared.roots(), &self.settings().index)
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
