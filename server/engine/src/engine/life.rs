//! Waking, reading the workspace, and following what changes on disk.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

use super::{Engine, spawn};
use crate::DocId;
use crate::event::{Event, State};
use crate::index::{self, Scope};
use crate::runs::{self, Runs};
use crate::watch::Watcher;

impl Engine {
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
    pub(super) fn look_at_installed(&self) {
        let engine = self.clone();
        spawn("tileperf-packages", move || {
            if engine.shared.note_installed() {
                engine.shared.touch();
                engine.shared.tell(Event::Refresh);
            }
        });
    }

    pub(super) fn start_index(&self) {
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
