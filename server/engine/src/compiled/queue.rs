//! What is to be compiled, and what is being compiled: the newest first, nothing twice.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use tileperf_analysis::arch::Arch;
use tileperf_analysis::model::Fingerprint;
use tileperf_analysis::signature::Signature;
use tileperf_compiler::CancelToken;

use super::subject::{KernelKey, Subject};
use crate::DocId;

/// How far a document's kernels are compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// By cuTile's frontend, if the code around the kernel only defines things.
    Frontend,
    /// To machine code.
    Machine,
}

/// A kernel that the frontend takes, on its way to machine code.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub(super) subject: Arc<Subject>,
    pub(super) arch: Arch,
    pub(super) signature: Signature,
    pub(super) bytecode: Arc<[u8]>,
    /// 0 for the main architecture.
    pub(super) rank: usize,
}

/// A compile under way.
#[derive(Debug, Clone)]
struct Running {
    key: KernelKey,
    model: Fingerprint,
    arch: Arch,
    cancel: CancelToken,
}

#[derive(Default)]
struct State {
    /// The newest last.
    documents: Vec<(DocId, Depth)>,
    jobs: Vec<Job>,
    frontend: Option<Running>,
    backend: Option<Running>,
}

#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    asked: Condvar,
}

/// One of the two tiers' places for what it does now; free again when dropped.
pub(super) struct Busy<'q> {
    queue: &'q Queue,
    tier: Depth,
    pub(super) cancel: CancelToken,
}

impl Queue {
    /// A document is due; the last one asked for comes first.
    pub(super) fn ask(&self, doc: DocId, depth: Depth) {
        let mut state = self.state.lock();
        let before = state.documents.iter().position(|(known, _)| *known == doc);
        let depth = before.map_or(depth, |at| depth.max(state.documents.remove(at).1));
        state.documents.push((doc, depth));
        self.asked.notify_all();
    }

    /// The next document; `None` if there was none for so long.
    pub(super) fn next_document(&self, patience: Duration) -> Option<(DocId, Depth)> {
        let mut state = self.state.lock();
        if state.documents.is_empty() {
            self.asked.wait_for(&mut state, patience);
        }
        state.documents.pop()
    }

    /// Whether a document is due that comes before what is left of this one.
    pub(super) fn is_due(&self, doc: &DocId) -> bool {
        self.state
            .lock()
            .documents
            .iter()
            .any(|(due, _)| due == doc)
    }

    /// Adds work for the second tier, in place of what waits for the same kernel.
    pub(super) fn add(&self, job: Job) {
        let mut state = self.state.lock();
        let same = |known: &Job| known.subject.key == job.subject.key && known.arch == job.arch;
        state.jobs.retain(|known| !same(known));
        state.jobs.push(job);
        self.asked.notify_all();
    }

    /// The next kernel for machine code: main architectures first, of these the newest document's, in
    /// their order.
    pub(super) fn next_job(&self, patience: Duration) -> Option<Job> {
        let mut state = self.state.lock();
        if state.jobs.is_empty() {
            self.asked.wait_for(&mut state, patience);
        }
        let newest = state.jobs.last()?.subject.key.doc.clone();
        let best = (state.jobs.iter().enumerate())
            .min_by_key(|(at, job)| (job.rank, job.subject.key.doc != newest, *at))?;
        let at = best.0;
        Some(state.jobs.remove(at))
    }

    /// Drops what waits for kernels of a document that are others by now, and ends what runs for them.
    pub(super) fn cancel_unless(
        &self,
        doc: &DocId,
        is_present: impl Fn(&KernelKey, Fingerprint) -> bool,
    ) {
        let mut state = self.state.lock();
        (state.jobs).retain(|job| {
            job.subject.key.doc != *doc || is_present(&job.subject.key, job.subject.model)
        });
        for running in [&state.frontend, &state.backend].into_iter().flatten() {
            if running.key.doc == *doc && !is_present(&running.key, running.model) {
                running.cancel.cancel();
            }
        }
    }

    /// Notes what a tier does now.
    pub(super) fn begin(&self, tier: Depth, subject: &Subject, arch: Arch) -> Busy<'_> {
        let cancel = CancelToken::new();
        let running = Running {
            key: subject.key.clone(),
            model: subject.model,
            arch,
            cancel: cancel.clone(),
        };
        *self.state.lock().place(tier) = Some(running);
        Busy {
            queue: self,
            tier,
            cancel,
        }
    }

    /// What runs, in words, and how much waits.
    pub(super) fn state(&self) -> (Vec<String>, usize) {
        let state = self.state.lock();
        let word = |tier: &str, running: &Option<Running>| {
            let running = running.as_ref()?;
            Some(format!(
                "{} for {} ({tier})",
                running.key.qualified, running.arch
            ))
        };
        let frontend = word("frontend", &state.frontend);
        let backend = word("tileiras", &state.backend);
        (
            frontend.into_iter().chain(backend).collect(),
            state.documents.len() + state.jobs.len(),
        )
    }
}

impl State {
    fn place(&mut self, tier: Depth) -> &mut Option<Running> {
        match tier {
            Depth::Frontend => &mut self.frontend,
            Depth::Machine => &mut self.backend,
        }
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        *self.queue.state.lock().place(self.tier) = None;
    }
}
