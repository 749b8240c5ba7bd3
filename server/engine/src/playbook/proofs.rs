//! Proofs: what compiled code says of actions, found out in the background.
//!
//! One thread works on the kernel that was asked about last, the most promising action first, whenever
//! nothing else is to be compiled: what a kernel is matters more than what it could be.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use rustc_hash::FxHashMap;
use tileperf_analysis::arch::Arch;
use tileperf_analysis::model::{Fingerprint, Kernel};
use tileperf_analysis::playbook::{Action, Proof};
use tileperf_compiler::CancelToken;

use super::proven;
use crate::compiled::{Attempt, KernelKey};
use crate::engine::{Shared, spawn};
use crate::{Depth, Engine};

/// How long the thread waits before it looks whether the engine is still there.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long it steps aside for compiles that somebody waits for.
const STEP: Duration = Duration::from_millis(100);
/// Proofs kept. One has some hundred bytes.
const MOST: usize = 4096;

/// Of which text of a kernel, for which architecture, which action.
type Subject = (KernelKey, Fingerprint, Arch, String);

/// What is known of actions, and what is to be found out.
#[derive(Default)]
pub(crate) struct Proofs {
    known: Mutex<FxHashMap<Subject, Proof>>,
    asked: Mutex<Option<KernelKey>>,
    news: Condvar,
    started: AtomicBool,
    /// The compile under way, and for which kernel.
    running: Mutex<Option<(KernelKey, CancelToken)>>,
}

impl Proofs {
    /// What is known of an action on the present text of a kernel.
    pub(super) fn known(
        &self,
        key: &KernelKey,
        kernel: &Kernel,
        arch: Arch,
        action: &Action,
    ) -> Option<Proof> {
        let subject = (key.clone(), kernel.fingerprint, arch, action.name());
        self.known.lock().get(&subject).cloned()
    }

    fn keep(&self, subject: Subject, proof: Proof) {
        let mut known = self.known.lock();
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(subject, proof);
    }

    fn next(&self) -> Option<KernelKey> {
        let mut asked = self.asked.lock();
        if asked.is_none() {
            self.news.wait_for(&mut asked, PATIENCE);
        }
        asked.take()
    }

    fn is_asked(&self) -> bool {
        self.asked.lock().is_some()
    }
}

impl Engine {
    /// Has the actions on a kernel proven in the background, where that is allowed. Returns at once.
    pub fn prove_soon(&self, of: &super::KernelActions) {
        let allowed = self.is_trusted() && self.is_awake() && self.settings().compile.enabled;
        let is_open =
            |offered: &super::Offered| offered.action.shows_in_code() && offered.proof.is_none();
        if !allowed || !of.actions.iter().any(is_open) {
            return;
        }
        let key = KernelKey {
            doc: of.doc.clone(),
            qualified: of.kernel.clone(),
            ordinal: of.ordinal,
        };
        let proofs = &self.shared.proofs;
        if !proofs.started.swap(true, Ordering::AcqRel) {
            let weak = Arc::downgrade(&self.shared);
            spawn("tileperf-proofs", move || work(&weak));
        }
        let running = proofs.running.lock();
        if let Some((of, cancel)) = &*running {
            if *of == key {
                return;
            }
            cancel.cancel();
        }
        drop(running);
        *proofs.asked.lock() = Some(key);
        proofs.news.notify_all();
    }
}

fn work(weak: &Weak<Shared>) {
    while let Some(shared) = weak.upgrade() {
        if let Some(key) = shared.proofs.next() {
            shared.prove_all(&key);
        }
    }
}

impl Shared {
    /// Proves what is not known of a kernel, until another is asked about or its text changes.
    fn prove_all(&self, key: &KernelKey) {
        let Some(arch) = self.compile_archs().first().copied() else {
            return;
        };
        let mut known: Option<(Fingerprint, Attempt<'_>)> = None;
        loop {
            self.step_aside();
            let Some((kernel, text, action)) = self.unproven(key, arch) else {
                return;
            };
            let cancel = CancelToken::new();
            *self.proofs.running.lock() = Some((key.clone(), cancel.clone()));
            if known
                .as_ref()
                .is_none_or(|(of, _)| *of != kernel.fingerprint)
            {
                known = match Attempt::new(self, key, arch, Depth::Machine, &cancel) {
                    Ok(attempt) => Some((kernel.fingerprint, attempt)),
                    // Why nothing is compiled is said where the kernel itself is compiled.
                    Err(why) => {
                        tracing::debug!(kernel = %key.qualified, "nothing is proven: {why}");
                        break;
                    }
                };
            }
            let proof = known.as_ref().map_or(Proof::Unknown, |(_, attempt)| {
                proven(attempt, &text, &action, &cancel).unwrap_or(Proof::Unknown)
            });
            *self.proofs.running.lock() = None;
            if self.proofs.is_asked() {
                return;
            }
            let subject = (key.clone(), kernel.fingerprint, arch, action.name());
            self.proofs.keep(subject, proof);
        }
        *self.proofs.running.lock() = None;
    }

    /// The most promising action on the present text of a kernel of which nothing is known.
    fn unproven(&self, key: &KernelKey, arch: Arch) -> Option<(Kernel, String, Action)> {
        let view = self.view(&key.doc, &self.target())?;
        let kernels = &view.model.kernels;
        let number = (kernels.iter()).position(|k| KernelKey::new(&key.doc, k) == *key)?;
        let (kernel, text) = (&kernels[number], view.text.as_str());
        let launching = self.launching(&key.doc, number);
        let actions = self.offered(&view, &key.doc, number, &launching);
        let open = |action: &Action| {
            action.shows_in_code() && self.proofs.known(key, kernel, arch, action).is_none()
        };
        let action = actions.into_iter().find(open)?;
        Some((kernel.clone(), text.to_owned(), action))
    }

    /// Waits while a benchmark takes samples or kernels are compiled that somebody looks at.
    fn step_aside(&self) {
        while self.runs.is_sampling() || self.is_compiling() {
            std::thread::sleep(STEP);
        }
    }
}
