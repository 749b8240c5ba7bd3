//! A kernel ready to be compiled: everything that is needed for it, taken out of one state of the
//! workspace, so that compiling borrows nothing and may take its time.

use std::sync::Arc;

use smol_str::SmolStr;
use tileperf_analysis::arch::Arch;
use tileperf_analysis::model::{Fingerprint, Kernel};
use tileperf_analysis::signature::{Constant, Guesser, Signature};
use tileperf_analysis::slice::{self, Slice, Unsliceable};
use tileperf_syntax::{ParsedFile, Text};

use super::cached::Cached;
use super::recorded::Records;
use crate::DocId;
use crate::snapshot::Snapshot;

/// Which kernel of the workspace.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct KernelKey {
    pub(crate) doc: DocId,
    pub(crate) qualified: SmolStr,
    pub(crate) ordinal: u32,
}

impl KernelKey {
    pub(crate) fn new(doc: &DocId, kernel: &Kernel) -> Self {
        Self {
            doc: doc.clone(),
            qualified: kernel.qualified.clone(),
            ordinal: kernel.ordinal,
        }
    }
}

/// A file that a slice is of, as it was then.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub(super) doc: DocId,
    pub(super) text: Text,
    pub(super) parsed: Arc<ParsedFile>,
}

/// A kernel with all that compiling it takes.
#[derive(Debug, Clone)]
pub(super) struct Subject {
    pub(super) key: KernelKey,
    pub(super) slice: Slice,
    /// The signatures to be compiled for, best first: what the first does not compile for may for the
    /// next. At least one.
    pub(super) signatures: Vec<Signature>,
    /// All that is known of it, best first; what the op's tests add, last.
    pub(super) choices: Arc<[Signature]>,
    /// The one that the user has chosen.
    pub(super) chosen: Option<Signature>,
    /// Constants, by place, that are to stay as they are whatever the compiler says of a guess.
    pub(super) constants: Vec<(usize, Constant)>,
    /// Hints in place of those at its decorator.
    pub(super) hints: Vec<(SmolStr, i64)>,
    /// Those are all that are known to have run.
    pub(super) is_all: bool,
    /// The files of the slice, the kernel's first.
    pub(super) sources: Vec<Source>,
    /// Of the kernel and what it calls in its file: tells cheaply whether either was edited.
    pub(super) model: Fingerprint,
    /// Of a later state of the workspace, it is greater.
    pub(super) serial: u64,
}

/// The subjects of a file: one a kernel that can be taken out of it.
pub(super) fn subjects(
    snapshot: &Snapshot<'_>,
    cached: &Cached,
    doc: &DocId,
    kernels: &[Kernel],
    arch: Arch,
) -> Vec<(KernelKey, Result<Subject, Unsliceable>)> {
    let Some(module) = snapshot.number(doc) else {
        return Vec::new();
    };
    let guesser = Guesser::new(snapshot);
    let serial = snapshot.serial();
    let records = Records::of(doc);
    let each = kernels.iter().map(|kernel| {
        let key = KernelKey::new(doc, kernel);
        let subject = slice::slice(snapshot, module, kernel).and_then(|slice| {
            let elsewhere = snapshot.launches_elsewhere(&key);
            let guesses = guesser.guess(module, kernel, &slice.captured, &elsewhere, arch);
            let guesses = guesses.ok_or(Unsliceable::Gone)?;
            // What a function around the kernel gave it stands in no name.
            let (mut signatures, mut is_all) = match slice.captured.is_empty() {
                true => cached.of(kernel),
                false => (Vec::new(), false),
            };
            if let Some(records) = records.as_ref().filter(|_| slice.captured.is_empty()) {
                let (recorded, all) = snapshot.recorded().of(records, kernel);
                add(&mut signatures, recorded);
                is_all &= all;
            }
            let ran = signatures.len();
            add(&mut signatures, guesses);
            let tested = signatures
                .get(ran)
                .map(|guess| snapshot.tested(&key, guess));
            let mut choices = signatures.clone();
            add(&mut choices, tested.unwrap_or_default());
            // What does not compile for the likeliest guess is put right, not compiled for another.
            signatures.truncate(ran + 1);
            let sources = (slice.modules.iter())
                .filter_map(|module| {
                    let doc = DocId::named(&module.path);
                    let (text, parsed) = snapshot.text(snapshot.number(&doc)?).clone();
                    Some(Source { doc, text, parsed })
                })
                .collect();
            Ok(Subject {
                key: key.clone(),
                slice,
                choices: choices.into(),
                chosen: None,
                constants: Vec::new(),
                hints: Vec::new(),
                signatures,
                is_all,
                sources,
                model: kernel.fingerprint,
                serial,
            })
        });
        (key, subject)
    });
    each.collect()
}

/// Adds signatures that are not there from a better origin.
fn add(signatures: &mut Vec<Signature>, more: Vec<Signature>) {
    for one in more {
        let is_it =
            |known: &Signature| (&known.params, &known.globals) == (&one.params, &one.globals);
        if !signatures.iter().any(is_it) {
            signatures.push(one);
        }
    }
}

impl Subject {
    /// Compiles it for one signature only.
    pub(super) fn choose(&mut self, chosen: Signature) {
        self.signatures = vec![chosen.clone()];
        self.chosen = Some(chosen);
    }

    /// Compiles it with these constants, by place, and hints only.
    pub(super) fn configure(&mut self, constants: &[(usize, Constant)], hints: &[(SmolStr, i64)]) {
        for signature in &mut self.signatures {
            *signature = signature.with_constants(constants);
        }
        self.constants = constants.to_vec();
        self.hints = hints.to_vec();
    }

    /// Whether it may be compiled for a signature.
    pub(super) fn allows(&self, signature: &Signature) -> bool {
        signature.with_constants(&self.constants) == *signature
    }

    /// What it is compiled for, as far as that is known before.
    pub(super) fn asked(&self) -> Option<&Signature> {
        self.signatures.first()
    }

    /// The file with this path.
    pub(super) fn source(&self, path: &str) -> Option<&Source> {
        self.sources.iter().find(|s| s.doc.as_str() == path)
    }
}
