//! Trials: kernels compiled with parts of them written otherwise, for what findings claim of two compiles.
//!
//! One thread makes them, for open documents, when nothing is to be compiled that somebody waits for:
//! what a kernel is matters more than whether a hint does anything. Any further compile ends the one
//! under way; it is made later.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use tileperf_analysis::arch::Arch;
use tileperf_analysis::compiled::{CompiledFacts, Difference, difference, knobs};
use tileperf_analysis::model::{Fingerprint, Kernel};
use tileperf_analysis::rewrite::{self, TextEdit};
use tileperf_analysis::rules::{self, Finding};
use tileperf_analysis::signature::Signature;
use tileperf_compiler::CancelToken;
use tileperf_syntax::ParsedFile;

use super::attempt::Attempt;
use super::queue::Depth;
use super::subject::KernelKey;
use super::toolchain::Toolchain;
use super::tried::{Tried, whole};
use crate::DocId;
use crate::engine::{Shared, spawn};
use crate::event::Event;

/// How long the thread waits before it looks whether the engine is still there.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long it steps aside for compiles that somebody waits for.
const STEP: Duration = Duration::from_millis(100);
/// Trials of a kernel on an architecture; of more, nothing is known.
const MOST: usize = 12;
/// A kernel that takes longer to compile is not compiled twice to judge a hint, seconds.
const LONGEST: f64 = 20.0;
/// The rule whose findings are hints that change nothing.
const INERT_HINT: &str = "TP508";

/// What is to be tried.
#[derive(Default)]
pub(super) struct Trials {
    asked: Mutex<Vec<DocId>>,
    news: Condvar,
    started: AtomicBool,
    /// The compile under way.
    running: Mutex<Option<CancelToken>>,
}

/// A kernel of a document and the edits that findings claim something of.
pub(crate) struct Wanted {
    pub(crate) key: KernelKey,
    /// Its number in the file.
    pub(crate) number: usize,
    /// At the places of the present text, with the architectures; empty for all.
    pub(crate) edits: Vec<(Vec<TextEdit>, Vec<Arch>)>,
}

impl Trials {
    /// A document's findings or compiles are others by now.
    pub(super) fn ask(&self, shared: &Arc<Shared>, doc: &DocId) {
        if !self.started.swap(true, Ordering::AcqRel) {
            let weak = Arc::downgrade(shared);
            spawn("tileperf-trials", move || work(&weak));
        }
        let mut asked = self.asked.lock();
        asked.retain(|known| known != doc);
        asked.push(doc.clone());
        self.news.notify_all();
    }

    /// Ends the trial under way: something is to be compiled that somebody waits for.
    pub(super) fn interrupt(&self) {
        if let Some(cancel) = &*self.running.lock() {
            cancel.cancel();
        }
    }

    fn next(&self) -> Option<DocId> {
        let mut asked = self.asked.lock();
        if asked.is_empty() {
            self.news.wait_for(&mut asked, PATIENCE);
        }
        asked.pop()
    }
}

fn work(weak: &Weak<Shared>) {
    while let Some(shared) = weak.upgrade() {
        if let Some(doc) = shared.compiled.trials.next() {
            shared.try_all(&doc);
        }
    }
}

/// What is compiled for a trial.
struct Work {
    key: KernelKey,
    text: String,
    edits: Vec<TextEdit>,
    kept: Tried,
    slice: Fingerprint,
    asked: Option<Signature>,
    /// What it is.
    before: CompiledFacts,
}

impl Shared {
    /// Makes the trials of a document that are wanted and not made.
    fn try_all(&self, doc: &DocId) {
        loop {
            while self.runs.is_sampling() || self.is_compiling() {
                std::thread::sleep(STEP);
            }
            let Ok(toolchain) = self.toolchain() else {
                return;
            };
            let Some(mut work) = self.untried(doc) else {
                return;
            };
            let cancel = CancelToken::new();
            *self.compiled.trials.running.lock() = Some(cancel.clone());
            let same = self.is_same(
                &toolchain,
                &work.key,
                &work.before,
                (&work.text, &work.edits),
                &cancel,
            );
            *self.compiled.trials.running.lock() = None;
            // Something else came first.
            if cancel.is_cancelled() {
                continue;
            }
            work.kept.same = same.unwrap_or_else(|why| {
                tracing::debug!(kernel = %work.key.qualified, "not tried: {why}");
                None
            });
            self.note_trial(&work);
        }
    }

    /// Whether a kernel is the same program after edits of its file; `None` if it cannot be told, or
    /// would take long.
    ///
    /// # Errors
    /// Cancelled, or the kernel cannot be taken out of that text.
    pub(crate) fn is_same(
        &self,
        toolchain: &Arc<Toolchain>,
        key: &KernelKey,
        before: &CompiledFacts,
        (text, edits): (&str, &[TextEdit]),
        cancel: &CancelToken,
    ) -> Result<Option<bool>, String> {
        let takes = before.machine().map(|machine| machine.seconds);
        if takes.is_none_or(|takes| takes > LONGEST) {
            return Ok(None);
        }
        let edited = rewrite::apply(text, edits).map_err(|error| error.to_string())?;
        let before = before.clone();
        let attempt = Attempt::from(self, Arc::clone(toolchain), key, Depth::Machine, before);
        let after = attempt.after(&edited, cancel)?;
        Ok(match difference(&attempt.before, &after) {
            Difference::Same => Some(true),
            Difference::Changed(_) => Some(false),
            Difference::Broken(_) | Difference::Unknown => None,
        })
    }

    /// The next trial that is wanted of a document: those of main architectures first.
    fn untried(&self, doc: &DocId) -> Option<Work> {
        let open = self.docs.get(doc).map(|d| Arc::clone(&d))?;
        let (analyzed, checked) = open.checked(&self.target());
        let mut findings = checked.findings.to_vec();
        if let Some(linked) = &*open.linked.lock()
            && linked.text.as_str() == analyzed.text.as_str()
        {
            findings.extend(linked.findings.iter().cloned());
        }
        let text = analyzed.text.as_str();
        let wanted = self.wanted(
            doc,
            (&analyzed.parsed, text, &analyzed.model.kernels),
            &findings,
        );
        let known = self.compiled.known.lock();
        for arch in self.compile_archs() {
            for wanted in &wanted {
                let kernel = &analyzed.model.kernels[wanted.number];
                let Some(of) = known.all.get(&wanted.key) else {
                    continue;
                };
                if of.model != kernel.fingerprint {
                    continue;
                }
                let facts = of.now(&analyzed.text, &analyzed.parsed, false);
                let facts = facts.into_iter().find(|facts| facts.arch == arch);
                let Some(facts) = facts.filter(|f| !f.stale && f.machine().is_some()) else {
                    continue;
                };
                let made = of.trials(kernel, text, false);
                let is_made = |edits: &[TextEdit]| {
                    let mut made = made.iter().filter(|trial| trial.arch == arch);
                    made.any(|trial| !trial.stale && trial.edits == edits)
                };
                let mut edits = wanted.edits.iter().filter(|(_, on)| is_on(on, arch));
                let next = edits.find(|(edits, _)| !is_made(edits));
                let Some((edits, _)) = next else {
                    continue;
                };
                let kept = Tried::new(kernel, text, edits, &facts)?;
                return Some(Work {
                    key: wanted.key.clone(),
                    text: text.to_owned(),
                    edits: edits.clone(),
                    kept,
                    slice: of.slice,
                    asked: of.asked.clone(),
                    before: facts,
                });
            }
        }
        None
    }

    /// What findings of a text claim of two compiles of its kernels, and its hints.
    pub(crate) fn wanted(
        &self,
        doc: &DocId,
        (parsed, text, kernels): (&ParsedFile, &str, &[Kernel]),
        findings: &[Arc<Finding>],
    ) -> Vec<Wanted> {
        let settings = self.settings.read();
        let choice = &settings.rules;
        let inert = rules::find(INERT_HINT).filter(|rule| choice.chooses(rule));
        let chosen: Vec<_> = (findings.iter())
            .filter(|finding| choice.chooses(finding.rule))
            .flat_map(|finding| {
                let claims = finding.claims.iter().filter_map(rules::Claim::edits);
                claims.map(|(edits, on)| (edits.to_vec(), on.to_vec()))
            })
            .collect();
        let each = kernels
            .iter()
            .enumerate()
            .filter(|(_, kernel)| !kernel.stale);
        each.map(|(number, kernel)| {
            let whole = whole(kernel);
            let is_within = |edits: &[TextEdit]| edits.iter().all(|e| whole.contains(e.span));
            let claimed = chosen.iter().filter(|(edits, _)| is_within(edits)).cloned();
            let hints = inert
                .map(|_| knobs(parsed, text, kernel))
                .unwrap_or_default();
            let hints = hints.into_iter().map(|knob| (knob.edits, Vec::new()));
            Wanted {
                key: KernelKey::new(doc, kernel),
                number,
                edits: claimed.chain(hints).take(MOST).collect(),
            }
        })
        .collect()
    }

    fn note_trial(&self, work: &Work) {
        let mut all = self.compiled.known.lock();
        all.results += 1;
        let Some(known) = all.all.get_mut(&work.key) else {
            return;
        };
        if known.slice != work.slice || known.asked != work.asked {
            return;
        }
        known.keep_trial(work.kept.clone());
        drop(all);
        self.tell(Event::Compiled(work.key.doc.clone()));
    }
}

/// Whether a claim is about an architecture.
pub(crate) fn is_on(on: &[Arch], arch: Arch) -> bool {
    on.is_empty() || on.contains(&arch)
}
