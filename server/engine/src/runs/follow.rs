//! The thread that follows journals.
//!
//! It looks five times a second while a run goes on or something has just happened, every two seconds
//! otherwise, and a look is a handful of `stat` calls while nothing has changed. Edits only wake it:
//! nothing of this is done where messages are taken in. Whatever wakes it and however often, what
//! listeners hear stays below ten events a second for a session.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError};
use smol_str::SmolStr;
use tileperf_perf::lock::Lock;
use tileperf_perf::store::{self, Store};

use super::journal::Followed;
use super::note::RunNote;
use super::stale::{self, Disk};
use super::{failures, fold};
use crate::DocId;
use crate::engine::Shared;
use crate::event::Event;

/// Between looks while a run goes on.
const BUSY: Duration = Duration::from_millis(200);
/// Between looks otherwise.
const IDLE: Duration = Duration::from_secs(2);
/// Between any two looks.
const SHORTEST: Duration = Duration::from_millis(100);
/// How long to look often after something happened: a child that was just started has read the
/// project and written its first event by then.
const EAGER: Duration = Duration::from_secs(15);

/// Follows the journals of a workspace for as long as that exists.
pub(crate) fn follow(shared: &Weak<Shared>, woken: &Receiver<()>) {
    let mut follower = Follower::default();
    let mut pause = Duration::ZERO;
    let mut last: Option<Instant> = None;
    loop {
        match woken.recv_timeout(pause) {
            Ok(()) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if let Some(since) = last.map(|at| at.elapsed())
            && since < SHORTEST
        {
            std::thread::sleep(SHORTEST - since);
        }
        last = Some(Instant::now());
        while woken.try_recv().is_ok() {}
        let Some(shared) = shared.upgrade() else {
            return;
        };
        pause = if follower.look(&shared) { BUSY } else { IDLE };
    }
}

#[derive(Default)]
struct Follower {
    /// Folders that have a `sandbox/tileperf`.
    roots: Vec<PathBuf>,
    searched: Option<Instant>,
    eager_until: Option<Instant>,
    /// By root and name of the session.
    sessions: BTreeMap<(PathBuf, String), Known>,
    disk: Disk,
    notes: HashMap<(DocId, SmolStr), Arc<RunNote>>,
}

#[derive(Default)]
struct Known {
    journal: Followed,
    /// The note of a revision and a holder.
    note: Option<(u64, Option<String>, RunNote)>,
    /// The revision whose records were read for the playbook.
    learned: Option<u64>,
    said: Option<String>,
}

impl Follower {
    /// Looks once. True if it is worth looking again soon.
    fn look(&mut self, shared: &Shared) -> bool {
        let now = Instant::now();
        let eager = shared.runs.eager.swap(false, Ordering::AcqRel);
        if eager {
            self.eager_until = Some(now + EAGER);
        }
        let opened = shared.runs.opened.swap(false, Ordering::AcqRel);
        if eager || opened || self.searched.is_none_or(|at| at.elapsed() >= IDLE) {
            self.roots = roots(shared);
            self.searched = Some(now);
        }
        self.read_journals(shared);
        self.learn(shared);
        let notes = self.notes(shared);
        let busy = notes.values().any(|note| note.running);
        self.publish(shared, notes);
        busy || self.eager_until.is_some_and(|until| now < until)
    }

    fn read_journals(&mut self, shared: &Shared) {
        let mut found = BTreeMap::new();
        for root in &self.roots {
            for name in Store::sessions(root) {
                let key = (root.clone(), name);
                let mut known = self.sessions.remove(&key).unwrap_or_default();
                known.journal.refresh(&Store::new(&key.0, &key.1).journal());
                if known.journal.damage != known.said {
                    if let Some(damage) = &known.journal.damage {
                        shared.tell(Event::Message(format!("a journal is damaged: {damage}")));
                    }
                    known.said.clone_from(&known.journal.damage);
                }
                found.insert(key, known);
            }
        }
        self.sessions = found;
    }

    /// Reads what runs that are over left for the playbook, so that no lightbulb has to.
    fn learn(&mut self, shared: &Shared) {
        for ((root, name), known) in &mut self.sessions {
            let journal = &known.journal;
            let session = journal.session.as_ref();
            let is_over = session.is_some_and(|session| session.open_run().is_none());
            if is_over && known.learned != Some(journal.revision) {
                known.learned = Some(journal.revision);
                shared.runs.recorded.learn(&Store::new(root, name));
            }
        }
    }

    /// One note a kernel: of its session that is not over, else of the one that was last worked on.
    fn notes(&mut self, shared: &Shared) -> HashMap<(DocId, SmolStr), Arc<RunNote>> {
        let mut chosen: HashMap<(DocId, SmolStr), &(PathBuf, String)> = HashMap::new();
        let rank = |key: &(PathBuf, String)| {
            let journal = &self.sessions.get(key)?.journal;
            let over = journal.session.as_ref()?.phase.is_over();
            Some((!over, journal.aside.last))
        };
        for (key, known) in &self.sessions {
            let Some(session) = &known.journal.session else {
                continue;
            };
            let file = DocId::file(&key.0.join(&session.plan.file));
            let slot = chosen
                .entry((file, session.plan.kernel.clone()))
                .or_insert(key);
            if rank(key) > rank(slot) {
                *slot = key;
            }
        }
        let chosen: Vec<_> = chosen
            .into_iter()
            .map(|(k, key)| (k, key.clone()))
            .collect();
        let mut out = HashMap::new();
        for (kernel, key) in chosen {
            if let Some(note) = self.note(shared, &key) {
                out.insert(kernel, Arc::new(note));
            }
        }
        out
    }

    fn note(&mut self, shared: &Shared, key: &(PathBuf, String)) -> Option<RunNote> {
        let root = &key.0;
        let known = self.sessions.get_mut(key)?;
        let session = known.journal.session.as_ref()?;
        let holder = Lock::holder(&Store::new(root, &key.1).lock());
        let held = holder.is_some();
        let name = holder.as_ref().map(|holder| holder.0.clone());
        let revision = known.journal.revision;
        let mut note = match &known.note {
            Some((of, by, note)) if (*of, by) == (revision, &name) => note.clone(),
            _ => {
                let note = fold::note(root, session, &known.journal.aside, holder);
                known.note = Some((revision, name, note.clone()));
                note
            }
        };
        note.stale = stale::why(shared, &mut self.disk, root, session, held);
        let tested = known.journal.aside.tested;
        note.failures = failures::of_last_run(shared, &mut self.disk, root, session, tested);
        note.place = shared.kernel_place(&note.doc, &note.kernel);
        if note.place.is_none() {
            let before = self.notes.get(&(note.doc.clone(), note.kernel.clone()));
            note.place = before.and_then(|before| before.place.clone());
            if note.has_baseline && shared.file(&note.doc).is_some() {
                note.stale = Some(format!("{} is not there any more", note.kernel));
            }
        }
        Some(note)
    }

    fn publish(&mut self, shared: &Shared, notes: HashMap<(DocId, SmolStr), Arc<RunNote>>) {
        let before = std::mem::replace(&mut self.notes, notes);
        let changed: Vec<Arc<RunNote>> = (self.notes.iter())
            .filter(|(kernel, note)| before.get(kernel) != Some(note))
            .map(|(_, note)| Arc::clone(note))
            .collect();
        let vanished: Vec<Arc<RunNote>> = (before.iter())
            .filter(|(kernel, _)| !self.notes.contains_key(kernel))
            .map(|(_, note)| Arc::new(fold::gone(note)))
            .collect();
        if changed.is_empty() && vanished.is_empty() {
            return;
        }
        let mut all: Vec<Arc<RunNote>> = self.notes.values().cloned().collect();
        all.sort_by(|a, b| (&a.doc, &a.kernel).cmp(&(&b.doc, &b.kernel)));
        let depends = |note: &Arc<RunNote>| {
            let failing = note.failures.iter().map(|failure| failure.file.clone());
            note.files
                .iter()
                .cloned()
                .chain(failing)
                .collect::<Vec<_>>()
        };
        let files: Vec<PathBuf> = all.iter().flat_map(depends).collect();
        self.disk.keep_only(|path| files.iter().any(|f| f == path));
        *shared.runs.watched.write() = files.iter().map(|file| DocId::file(file)).collect();
        *shared.runs.notes.write() = Arc::new(all);
        for note in vanished.into_iter().chain(changed) {
            shared.tell(Event::Run(note));
        }
    }
}

/// The folders at or above anything of the workspace that have sessions: a session belongs to the
/// repository of its kernel, which may hold the workspace folder or lie inside it.
fn roots(shared: &Shared) -> Vec<PathBuf> {
    let mut folders = shared.roots();
    let docs: Vec<DocId> = shared.docs.iter().map(|doc| doc.key().clone()).collect();
    let open = docs.iter().filter_map(DocId::path);
    folders.extend(open.filter_map(|path| Some(path.parent()?.to_owned())));
    let kernels = shared.index.files.iter().filter(|entry| entry.relevant);
    folders.extend(kernels.filter_map(|entry| Some(entry.path.parent()?.to_owned())));
    let mut seen: HashMap<PathBuf, bool> = HashMap::new();
    for folder in &folders {
        for above in folder.ancestors() {
            if seen.contains_key(above) {
                break;
            }
            seen.insert(above.to_owned(), above.join(store::FOLDER).is_dir());
            if is_top(above) {
                break;
            }
        }
    }
    let mut out: Vec<PathBuf> = (seen.into_iter())
        .filter_map(|(folder, has)| has.then_some(folder))
        .collect();
    out.sort();
    out
}

/// Above a repository's root there is another project.
fn is_top(folder: &Path) -> bool {
    folder.join(".git").exists()
}
