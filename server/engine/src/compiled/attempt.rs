//! What a kernel would become if its file had another text: compiled beside what it is now, for the
//! same signature.

use std::sync::Arc;

use tileperf_analysis::arch::Arch;
use tileperf_analysis::compiled::CompiledFacts;
use tileperf_analysis::model::{FileModel, ModelCache};
use tileperf_compiler::CancelToken;
use tileperf_syntax::Text;

use super::frontend::{self, Verdict};
use super::kept::{Kept, KeptOutcome};
use super::now::compile;
use super::queue::Depth;
use super::subject::{KernelKey, Subject, subjects};
use super::toolchain::Toolchain;
use crate::engine::Shared;
use crate::snapshot::Snapshot;

/// A kernel before and after a change.
#[derive(Debug, Clone)]
pub(crate) struct Attempt {
    pub(crate) before: CompiledFacts,
    pub(crate) after: CompiledFacts,
}

impl Shared {
    /// Compiles a kernel as it is and as another text of its file has it, as far as that.
    ///
    /// # Errors
    /// Nothing can be compiled: no trust, no compiler, cancelled; or the kernel cannot be taken out of
    /// either text.
    pub(crate) fn attempt(
        &self,
        key: &KernelKey,
        text: &str,
        arch: Arch,
        depth: Depth,
        cancel: &CancelToken,
    ) -> Result<Attempt, String> {
        let toolchain = self.toolchain()?;
        let one = |subject: &Subject| {
            let kept = match depth {
                Depth::Machine => compile(&toolchain, subject, arch, cancel),
                Depth::Frontend => accept(&toolchain, subject, arch, cancel),
            };
            let kept = kept.ok_or("cancelled")?;
            let own = subject.sources.first().ok_or("the kernel has no text")?;
            Ok::<_, String>(kept.now(&own.text, &own.parsed, false))
        };
        let now = self.file(&key.doc).ok_or("there is no such file")?;
        let present = Snapshot::new(self);
        let before = self.subject(&present, key, &now.model, arch)?;
        let facts = one(&before)?;

        let parsed = Arc::new(tileperf_syntax::parse(text));
        let package = self.package_of(&key.doc);
        let model = FileModel::build(&parsed, text, &package, &mut ModelCache::default());
        let edited = present.with(&key.doc, Text::new(text.to_owned()), parsed);
        let mut after = self.subject(&edited, key, &model, arch)?;
        // A guess that had to be put right is put right for both.
        after.signatures = vec![facts.signature.clone()];
        Ok(Attempt {
            after: one(&after)?,
            before: facts,
        })
    }

    fn subject(
        &self,
        snapshot: &Snapshot<'_>,
        key: &KernelKey,
        model: &FileModel,
        arch: Arch,
    ) -> Result<Subject, String> {
        let is_it = |k: &&tileperf_analysis::model::Kernel| KernelKey::new(&key.doc, k) == *key;
        let kernel = model.kernels.iter().find(is_it);
        let kernel = kernel.ok_or("the kernel is not there any more")?;
        let cached = &self.compiled.cached;
        let one = std::slice::from_ref(kernel);
        let subject = subjects(snapshot, cached, &key.doc, one, arch).pop();
        let (_, subject) = subject.ok_or("the file is not of the workspace")?;
        subject.map_err(|why| why.to_string())
    }
}

/// The first tier alone. `None` if it was cancelled.
fn accept(
    toolchain: &Toolchain,
    subject: &Subject,
    arch: Arch,
    cancel: &CancelToken,
) -> Option<Kept> {
    let (signature, outcome) = match frontend::accept(&toolchain.worker, subject, arch, cancel)? {
        Verdict::Accepted(signature, compiled) => {
            (signature, KeptOutcome::Accepted(compiled.bytecode.into()))
        }
        Verdict::Refused(signature, problem) => {
            (signature, KeptOutcome::of_problem(subject, &problem))
        }
        Verdict::Failed(signature, why) => (signature, KeptOutcome::Failed(why)),
    };
    Some(Kept {
        arch,
        signature,
        outcome,
    })
}
