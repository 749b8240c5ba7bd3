//! Which of a kernel's signatures is shown: the best that is known, or what the user has chosen, for the
//! session.
//!
//! A choice is one of the signatures that were known when it was made. Where it is known no more,
//! because the kernel has other parameters or its launch passes something else, the best counts again.

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use tileperf_analysis::model::Kernel;
use tileperf_analysis::signature::Signature;

use super::Depth;
use super::subject::{KernelKey, Subject};
use crate::engine::Shared;
use crate::{DocId, Engine};

/// What users have chosen.
#[derive(Default)]
pub(super) struct Choices(Mutex<FxHashMap<KernelKey, Signature>>);

/// A signature that can be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureChoice {
    /// Its place among those of the kernel, from 1, the best first.
    pub number: usize,
    /// In a line.
    pub signature: String,
    /// What is assumed of its arrays beyond that.
    pub assumed: String,
    /// Where it comes from, in words.
    pub origin: String,
    /// It is the one that is shown.
    pub shown: bool,
}

/// A kernel's signatures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureChoices {
    /// The kernel's qualified name.
    pub kernel: SmolStr,
    /// Which of the kernels of that name in the file.
    pub ordinal: u32,
    /// The place that was asked for is on its name, parameters or decorators.
    pub at_head: bool,
    /// One at least.
    pub all: Vec<SignatureChoice>,
}

impl Choices {
    /// Has a kernel compiled for what the user has chosen.
    pub(super) fn apply(&self, subject: &mut Subject) {
        let Some(chosen) = self.of(&subject.key) else {
            return;
        };
        if subject.choices.contains(&chosen) {
            subject.choose(chosen);
        }
    }

    fn of(&self, key: &KernelKey) -> Option<Signature> {
        self.0.lock().get(key).cloned()
    }

    /// Whether a kernel is compiled for what the user wants to see by now.
    pub(super) fn agrees(&self, subject: &Subject) -> bool {
        let known = self.of(&subject.key);
        let known = known.filter(|chosen| subject.choices.contains(chosen));
        known == subject.chosen
    }
}

impl Engine {
    /// The signatures that are known of the kernel at an offset of an open document: in it or on its
    /// decorators. `None` where there is no kernel, or nothing was compiled as yet.
    pub fn signatures_at(&self, doc: &DocId, offset: usize) -> Option<SignatureChoices> {
        let file = self.shared.file(doc)?;
        let kernels = file.model.kernels.iter();
        let around = kernels.filter(|kernel| (whole(kernel)).contains(&offset));
        // Of kernels within factories the innermost.
        let kernel = around.min_by_key(|kernel| whole(kernel).len())?;
        let known = self.shared.signatures(&KernelKey::new(doc, kernel))?;
        let last = kernel.params.iter().map(|param| param.span.range().end);
        let head = last.max().unwrap_or(0).max(kernel.name_span.range().end);
        Some(SignatureChoices {
            at_head: offset <= head,
            ..known
        })
    }

    /// Shows what a kernel compiles to for one of its signatures, by its place among them and its line;
    /// the place decides between those that look alike.
    ///
    /// # Errors
    /// There is no such kernel or signature.
    pub fn choose_signature(
        &self,
        doc: &DocId,
        kernel: (&str, u32),
        number: usize,
        signature: &str,
    ) -> Result<(), String> {
        let key = KernelKey {
            doc: doc.clone(),
            qualified: kernel.0.into(),
            ordinal: kernel.1,
        };
        let known = self.shared.choices(&key);
        let known = known.ok_or_else(|| format!("no signature of {} is known", key.qualified))?;
        let fits = |one: &&Signature| one.shown() == signature;
        let at_place = (number.checked_sub(1)).and_then(|at| known.get(at));
        let chosen = at_place.filter(fits).or_else(|| known.iter().find(fits));
        let chosen = chosen
            .ok_or_else(|| format!("{} is no longer known for {signature}", key.qualified))?;
        let all = &self.shared.compiled.choices.0;
        all.lock().insert(key.clone(), chosen.clone());
        let queue = &self.shared.compiled.queue;
        queue.cancel_unless(doc, |other, _| *other != key);
        self.compile_soon(doc, Depth::Machine);
        Ok(())
    }
}

impl Shared {
    /// The signatures of a kernel as they were when it was last to be compiled.
    fn choices(&self, key: &KernelKey) -> Option<std::sync::Arc<[Signature]>> {
        let known = self.compiled.known.lock();
        Some(std::sync::Arc::clone(&known.all.get(key)?.choices))
    }

    fn signatures(&self, key: &KernelKey) -> Option<SignatureChoices> {
        let known = self.choices(key)?;
        let chosen = self.compiled.choices.of(key);
        let shown = chosen.and_then(|chosen| known.iter().position(|one| *one == chosen));
        let each = known.iter().enumerate().map(|(at, one)| SignatureChoice {
            number: at + 1,
            signature: one.shown(),
            assumed: one.assumed(),
            origin: one.origin_words(),
            shown: at == shown.unwrap_or(0),
        });
        Some(SignatureChoices {
            kernel: key.qualified.clone(),
            ordinal: key.ordinal,
            at_head: false,
            all: each.collect(),
        })
    }
}

/// A kernel with its decorators.
fn whole(kernel: &Kernel) -> std::ops::Range<usize> {
    kernel.top.range().start..kernel.span.range().end
}
