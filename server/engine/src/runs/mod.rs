//! What the experiment loop says of the kernels of this workspace, read from its journals.
//!
//! Whoever runs a session, this server, a terminal or an agent, writes to
//! `sandbox/tileperf/<session>/journal.jsonl`. One thread follows these files and folds each into a
//! [`RunNote`]; lenses, hovers, diagnostics and clients are told from notes, so that a run shows
//! wherever it was started and however often the window was reloaded since. Nothing here writes,
//! starts or decides anything, which is why it also works where the workspace is not trusted.
//!
//! - `follow`: the thread, and when it looks
//! - `journal`: one journal, of which only what is new is read
//! - `fold`, `words`: from a session to a note
//! - `mixed`: what a session found faster here and slower there
//! - `recorded`: what sessions left that the playbook builds on: `searches` of their processes, `remade`
//!   hints
//! - `stale`: whether the present text is what was measured
//! - `failures`: failing tests, as long as they are where they were

mod failures;
mod fold;
mod follow;
mod journal;
mod mixed;
mod note;
mod recorded;
mod remade;
mod searches;
mod stale;
mod words;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::{Receiver, Sender, bounded};
use parking_lot::{Mutex, RwLock};
use rustc_hash::FxHashSet;

pub use note::{ACTION, BASELINE, FailureNote, LastRun, MeasuredOn, Result, RunNote, RunState};

pub(crate) use mixed::on_disk as mixed_on_disk;
pub(crate) use stale::hash_of_text;
pub(crate) use words::in_words as ended_in_words;

use tileperf_analysis::playbook::{Remade, Search};
use tileperf_perf::event::Stage;

use crate::engine::{Shared, spawn};
use crate::{DocId, Engine};

/// The notes, and how to make the thread look again.
pub(crate) struct Runs {
    notes: RwLock<Arc<Vec<Arc<RunNote>>>>,
    /// Documents on whose text a note depends.
    watched: RwLock<FxHashSet<DocId>>,
    /// Something happens or is about to: look often for a while.
    eager: AtomicBool,
    /// A document was opened, perhaps of a project that was not known.
    opened: AtomicBool,
    recorded: recorded::Recorded,
    /// Files that records are of.
    disk: Mutex<stale::Disk>,
    wake: Sender<()>,
    woken: Receiver<()>,
}

impl Default for Runs {
    fn default() -> Self {
        // One wish to look is as good as many.
        let (wake, woken) = bounded(1);
        Self {
            notes: RwLock::default(),
            watched: RwLock::default(),
            eager: AtomicBool::new(false),
            opened: AtomicBool::new(false),
            recorded: recorded::Recorded::default(),
            disk: Mutex::default(),
            wake,
            woken,
        }
    }
}

impl Runs {
    /// Has journals looked at soon, and often for a while. Costs nothing where it is called.
    pub(crate) fn look(&self) {
        self.eager.store(true, Ordering::Release);
        let _ = self.wake.try_send(());
    }

    /// A document was opened. Costs nothing where it is called.
    pub(crate) fn opened(&self) {
        self.opened.store(true, Ordering::Release);
        let _ = self.wake.try_send(());
    }

    /// Starts the thread that follows the journals of this workspace.
    pub(crate) fn follow(shared: &Arc<Shared>) {
        let (weak, woken) = (Arc::downgrade(shared), shared.runs.woken.clone());
        spawn("tileperf-runs", move || follow::follow(&weak, &woken));
    }

    /// A document was edited: staleness may have changed. Called where messages are taken in.
    pub(crate) fn edited(&self, doc: &DocId) {
        if self.watched.read().contains(doc) {
            let _ = self.wake.try_send(());
        }
    }

    /// Whether a benchmark of this workspace takes samples now, or is about to.
    pub(crate) fn is_sampling(&self) -> bool {
        let samples = |note: &Arc<RunNote>| {
            let stage = note.run.as_ref().and_then(|run| run.stage);
            note.running && matches!(stage, Some(Stage::Warming | Stage::Measuring))
        };
        self.all().iter().any(samples)
    }

    fn all(&self) -> Arc<Vec<Arc<RunNote>>> {
        Arc::clone(&self.notes.read())
    }

    fn is_running(&self, root: &Path, file: &Path, kernel: &str) -> bool {
        let note = self.of(&DocId::file(&root.join(file)), kernel);
        note.is_some_and(|note| note.running)
    }

    /// What is known of a kernel.
    pub(crate) fn of(&self, doc: &DocId, kernel: &str) -> Option<Arc<RunNote>> {
        let fits = |note: &&Arc<RunNote>| note.doc == *doc && note.kernel == kernel;
        self.all().iter().find(fits).cloned()
    }
}

impl Shared {
    /// Searches that sessions below `root` recorded of a kernel of a file there, as it is now.
    pub(crate) fn searches(&self, root: &Path, file: &Path, kernel: &str) -> Vec<Search> {
        let is_running = self.runs.is_running(root, file, kernel);
        (self.runs.recorded).searches(self, (root, file, kernel), is_running)
    }

    /// Changes of one hint of a kernel that sessions below `root` measured, the newest first.
    pub(crate) fn remade(&self, root: &Path, file: &Path, kernel: &str) -> Vec<Remade> {
        let is_running = self.runs.is_running(root, file, kernel);
        (self.runs.recorded).remade((root, file, kernel), is_running)
    }

    /// The hash of a file's present text; nothing if there is no such file.
    pub(crate) fn hash_now(&self, path: &Path) -> Option<Arc<str>> {
        stale::present(self, &mut self.runs.disk.lock(), path)
    }
}

/// Whether a path belongs to what sessions write.
pub(crate) fn is_journal(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "journal.jsonl")
}

impl Engine {
    /// What is known of the experiments of this workspace: one note a kernel, of its session that is
    /// not over, else of the last one. Those of one file, if one is given.
    pub fn runs(&self, doc: Option<&DocId>) -> Vec<Arc<RunNote>> {
        let fits = |note: &&Arc<RunNote>| doc.is_none_or(|doc| note.doc == *doc);
        self.shared
            .runs
            .all()
            .iter()
            .filter(fits)
            .cloned()
            .collect()
    }

    /// What is known of the experiments on one kernel.
    pub fn run_of(&self, doc: &DocId, kernel: &str) -> Option<Arc<RunNote>> {
        self.shared.runs.of(doc, kernel)
    }

    /// The first of some files that the editor has open with another text than is on the disk. Reads
    /// the disk.
    pub fn unsaved(&self, files: &[PathBuf]) -> Option<PathBuf> {
        let is_unsaved = |path: &&PathBuf| {
            let open = self.text(&DocId::file(path));
            open.is_some_and(|(_, text)| !stale::is_on_disk(path, text.as_str()))
        };
        files.iter().find(is_unsaved).cloned()
    }

    /// Whether the files on the disk are those of the last kept iteration, so that there is nothing to
    /// try. Reads the disk.
    pub fn is_as_kept(&self, note: &RunNote) -> bool {
        let same = |(path, hash): &(PathBuf, Option<String>)| stale::hash_of(path) == *hash;
        note.has_baseline && note.kept.iter().all(same)
    }

    /// Something may have been written to a journal: look soon. Returns at once.
    pub fn look_at_runs(&self) {
        self.shared.runs.look();
    }

    /// A document was saved. Returns at once.
    pub fn saved(&self, doc: &DocId) {
        self.shared.runs.edited(doc);
    }
}
