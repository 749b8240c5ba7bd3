//! The two threads that compile.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tileperf_analysis::arch::Arch;
use tileperf_analysis::slice::Unsliceable;

use super::failure::Failure;
use super::frontend::{self, Verdict};
use super::kept::{Kept, KeptOutcome, Known};
use super::queue::{Depth, Job};
use super::subject::{KernelKey, Subject, subjects};
use super::toolchain::Toolchain;
use crate::DocId;
use crate::engine::{Shared, spawn};
use crate::event::Event;
use crate::snapshot::Snapshot;

/// How long a thread waits before it looks whether the engine is still there.
const PATIENCE: Duration = Duration::from_secs(1);
/// After so long without work the frontend's process, which has some 100 MiB, is ended.
const IDLE: Duration = Duration::from_secs(300);

/// Starts the threads, once.
pub(super) fn start(shared: &Arc<Shared>) {
    if shared.compiled.started.swap(true, Ordering::AcqRel) {
        return;
    }
    let (first, second) = (Arc::downgrade(shared), Arc::downgrade(shared));
    spawn("tileperf-frontend", move || frontend_loop(&first));
    spawn("tileperf-tileiras", move || backend_loop(&second));
}

fn frontend_loop(weak: &Weak<Shared>) {
    let mut idle = Duration::ZERO;
    while let Some(shared) = weak.upgrade() {
        let Some((doc, depth)) = shared.compiled.queue.next_document(PATIENCE) else {
            idle += PATIENCE;
            if idle >= IDLE {
                shared.compiled.tools.rest();
                idle = Duration::ZERO;
            }
            continue;
        };
        idle = Duration::ZERO;
        shared.wait_for_samples();
        if depth == Depth::Machine && shared.has_failed(&doc) {
            // What was at fault may have been replaced.
            shared.compiled.tools.forget();
        }
        match shared.toolchain() {
            Ok(toolchain) => {
                shared.overcome(None);
                shared.local_gpu();
                Pass::new(&shared, &toolchain, doc.clone(), depth).run();
                shared.compiled.trials.ask(&shared, &doc);
            }
            Err(why) => shared.overcome(Some(why)),
        }
    }
}

fn backend_loop(weak: &Weak<Shared>) {
    while let Some(shared) = weak.upgrade() {
        let Some(job) = shared.compiled.queue.next_job(PATIENCE) else {
            continue;
        };
        shared.wait_for_samples();
        let Ok(toolchain) = shared.toolchain() else {
            continue;
        };
        let busy = (shared.compiled.queue).begin(Depth::Machine, &job.subject, job.arch);
        let began = Instant::now();
        let answer = (toolchain.backend).compile(&job.bytecode, job.arch, &busy.cancel);
        if let Some(outcome) = KeptOutcome::of_backend(&job.subject, answer, began) {
            shared.keep(
                &job.subject,
                Kept {
                    arch: job.arch,
                    signature: job.signature,
                    outcome,
                },
            );
            let doc = &job.subject.key.doc;
            shared.compiled.trials.ask(&shared, doc);
        }
    }
}

/// The kernels of one document, asked of the frontend.
struct Pass<'s> {
    shared: &'s Shared,
    toolchain: &'s Toolchain,
    doc: DocId,
    depth: Depth,
    archs: Vec<Arch>,
}

impl<'s> Pass<'s> {
    fn new(shared: &'s Shared, toolchain: &'s Toolchain, doc: DocId, depth: Depth) -> Self {
        let archs = shared.compile_archs();
        Self {
            shared,
            toolchain,
            doc,
            depth,
            archs,
        }
    }

    fn run(&self) {
        let Some(file) = self.shared.file(&self.doc) else {
            return;
        };
        let subjects = {
            let snapshot = Snapshot::new(self.shared);
            let main = self.archs.first().copied().unwrap_or(Arch::Sm90);
            subjects(
                &snapshot,
                &self.shared.compiled.cached,
                &self.doc,
                &file.model.kernels,
                main,
            )
        };
        self.shared.forget(&self.doc, |key| {
            subjects.iter().any(|(known, _)| known == key)
        });
        let mut taken = Vec::new();
        for (key, subject) in subjects {
            match subject {
                Ok(mut subject) => {
                    self.shared.compiled.choices.apply(&mut subject);
                    taken.push(Arc::new(subject));
                }
                // While it does not parse, what was last known stays.
                Err(Unsliceable::Broken { .. } | Unsliceable::Gone) => {}
                Err(why @ Unsliceable::Within(_)) => self.shared.cannot(key, &why.to_string()),
            }
        }
        for (rank, arch) in self.archs.iter().enumerate() {
            for subject in &taken {
                // An edit in between leaves the rest to whoever answers that edit.
                if self.shared.compiled.queue.is_due(&self.doc) {
                    return;
                }
                self.kernel(subject, *arch, rank);
            }
        }
    }

    fn kernel(&self, subject: &Arc<Subject>, arch: Arch, rank: usize) {
        let shared = self.shared;
        match shared.known(subject, arch) {
            Some(Kept {
                signature,
                outcome: KeptOutcome::Accepted(bytecode),
                ..
            }) if self.depth == Depth::Machine => {
                self.to_machine(subject, arch, rank, signature, bytecode);
                return;
            }
            // It may have passed. Not with every pause in typing: a hang costs its limit each time.
            Some(Kept {
                outcome: KeptOutcome::Failed(failure),
                ..
            }) if self.depth == Depth::Machine && failure.is_due() => {}
            Some(_) => return,
            None => {}
        }
        // Code at the top of a file that runs something is not run with every pause in typing.
        if self.depth == Depth::Frontend && !subject.slice.is_plain() {
            return;
        }
        let busy = shared.compiled.queue.begin(Depth::Frontend, subject, arch);
        let began = Instant::now();
        let verdict = frontend::accept(&self.toolchain.worker, subject, arch, &busy.cancel);
        drop(busy);
        let (signature, outcome) = match verdict {
            None => return,
            Some(Verdict::Failed(signature, why)) => {
                (signature, KeptOutcome::Failed(Failure::new(why, began)))
            }
            Some(Verdict::Refused(signature, problem)) => {
                (signature, KeptOutcome::of_problem(subject, &problem))
            }
            Some(Verdict::Accepted(signature, compiled)) => {
                let bytecode: Arc<[u8]> = compiled.bytecode.into();
                if let Some(answer) = self.toolchain.backend.known(&bytecode, arch) {
                    match KeptOutcome::of_backend(subject, answer, began) {
                        Some(outcome) => (signature, outcome),
                        None => return,
                    }
                } else {
                    let outcome = KeptOutcome::Accepted(Arc::clone(&bytecode));
                    if self.depth == Depth::Machine {
                        let signature = signature.clone();
                        self.to_machine(subject, arch, rank, signature, bytecode);
                    }
                    (signature, outcome)
                }
            }
        };
        shared.keep(
            subject,
            Kept {
                arch,
                signature,
                outcome,
            },
        );
    }

    fn to_machine(
        &self,
        subject: &Arc<Subject>,
        arch: Arch,
        rank: usize,
        signature: tileperf_analysis::signature::Signature,
        bytecode: Arc<[u8]>,
    ) {
        self.shared.compiled.queue.add(Job {
            subject: Arc::clone(subject),
            arch,
            signature,
            bytecode,
            rank,
        });
    }
}

impl Shared {
    /// What is known of exactly this text of a kernel, wherever it stands by now.
    fn known(&self, subject: &Subject, arch: Arch) -> Option<Kept> {
        let mut all = self.compiled.known.lock();
        all.results += 1;
        let known = all.all.get_mut(&subject.key)?;
        if !known.is_of(subject) {
            return None;
        }
        known.model = subject.model;
        known.choices = Arc::clone(&subject.choices);
        known.results.iter().find(|kept| kept.arch == arch).cloned()
    }

    /// Whether kernels of a document could not be compiled and are to be tried again.
    fn has_failed(&self, doc: &DocId) -> bool {
        let known = self.compiled.known.lock();
        let mut own = known.all.iter().filter(|(key, _)| key.doc == *doc);
        own.any(|(_, known)| {
            known.results.iter().any(|kept| match &kept.outcome {
                KeptOutcome::Failed(failure) => failure.is_due(),
                _ => false,
            })
        })
    }

    fn keep(&self, subject: &Subject, kept: Kept) {
        // The user has chosen another signature meanwhile.
        if !self.compiled.choices.agrees(subject) {
            return;
        }
        let order = self.compile_archs();
        let mut all = self.compiled.known.lock();
        all.results += 1;
        let known = all.all.entry(subject.key.clone());
        let known = known.or_insert_with(|| Known::nothing(subject));
        known.add(subject, kept, &order);
        drop(all);
        self.tell(Event::Compiled(subject.key.doc.clone()));
    }

    /// Notes why a kernel cannot be compiled at all.
    fn cannot(&self, key: KernelKey, why: &str) {
        tracing::debug!(kernel = %key.qualified, "not compiled: {why}");
        self.compiled.known.lock().all.remove(&key);
    }

    /// Forgets kernels of a document that are not there any more.
    fn forget(&self, doc: &DocId, is_there: impl Fn(&KernelKey) -> bool) {
        let mut known = self.compiled.known.lock();
        known.all.retain(|key, _| key.doc != *doc || is_there(key));
        self.compiled.shown.forget(doc);
    }

    /// While a benchmark takes samples, nothing is compiled.
    fn wait_for_samples(&self) {
        while self.runs.is_sampling() {
            std::thread::sleep(PATIENCE);
        }
    }

    /// Says once why nothing is compiled.
    fn overcome(&self, obstacle: Option<String>) {
        let mut said = self.compiled.obstacle.lock();
        if *said == obstacle {
            return;
        }
        said.clone_from(&obstacle);
        drop(said);
        if let Some(why) = &obstacle {
            tracing::warn!("nothing is compiled: {why}");
        }
        self.tell(Event::Toolchain(obstacle));
    }
}
