//! What a kernel would become if its file had another text: compiled beside what it is now, for the
//! same signature.

use std::sync::Arc;

use tileperf_analysis::arch::Arch;
use tileperf_analysis::compiled::CompiledFacts;
use tileperf_analysis::model::{FileModel, ModelCache};
use tileperf_analysis::signature::Signature;
use tileperf_compiler::CancelToken;
use tileperf_syntax::Text;

use super::now::compile;
use super::queue::Depth;
use super::subject::{KernelKey, Subject, subjects};
use super::toolchain::Toolchain;
use crate::engine::Shared;
use crate::snapshot::Snapshot;

/// A kernel of which other texts are tried.
pub(crate) struct Attempt<'s> {
    shared: &'s Shared,
    toolchain: Arc<Toolchain>,
    key: KernelKey,
    arch: Arch,
    depth: Depth,
    /// The kernel as it is.
    pub(crate) before: CompiledFacts,
}

impl<'s> Attempt<'s> {
    /// Compiles a kernel as it is, as far as that.
    ///
    /// # Errors
    /// Nothing can be compiled: no trust, no compiler, cancelled; or the kernel cannot be taken out of
    /// its file.
    pub(crate) fn new(
        shared: &'s Shared,
        key: &KernelKey,
        arch: Arch,
        depth: Depth,
        cancel: &CancelToken,
    ) -> Result<Self, String> {
        let toolchain = shared.toolchain()?;
        let now = shared.file(&key.doc).ok_or("there is no such file")?;
        let snapshot = Snapshot::new(shared);
        let subject = subject(shared, &snapshot, key, &now.model, arch)?;
        Ok(Self {
            before: compiled(&toolchain, &subject, arch, depth, cancel)?,
            shared,
            toolchain,
            key: key.clone(),
            arch,
            depth,
        })
    }

    /// The kernel as another text of its file has it.
    ///
    /// # Errors
    /// Cancelled, or the kernel cannot be taken out of that text.
    pub(crate) fn after(&self, text: &str, cancel: &CancelToken) -> Result<CompiledFacts, String> {
        let (shared, key) = (self.shared, &self.key);
        let parsed = Arc::new(tileperf_syntax::parse(text));
        let package = shared.package_of(&key.doc);
        let model = FileModel::build(&parsed, text, &package, &mut ModelCache::default());
        let edited = Snapshot::new(shared).with(&key.doc, Text::new(text.to_owned()), parsed);
        let mut subject = subject(shared, &edited, key, &model, self.arch)?;
        // A guess that had to be put right is put right for both.
        let guessed = subject.signatures.first();
        let signature = continued(&self.before.signature, guessed);
        subject.signatures = vec![signature];
        compiled(&self.toolchain, &subject, self.arch, self.depth, cancel)
    }
}

/// The signature of a kernel that may have got further parameters: of those, what is guessed.
fn continued(before: &Signature, guessed: Option<&Signature>) -> Signature {
    let mut signature = before.clone();
    let all = guessed.map_or(&[][..], |guess| &guess.params);
    let is_longer = (before.params.iter().zip(all)).all(|(old, new)| old.name == new.name);
    if is_longer {
        let further = all.iter().skip(before.params.len());
        signature.params.extend(further.cloned());
    }
    signature
}

fn compiled(
    toolchain: &Toolchain,
    subject: &Subject,
    arch: Arch,
    depth: Depth,
    cancel: &CancelToken,
) -> Result<CompiledFacts, String> {
    let kept = compile(toolchain, subject, arch, depth, cancel).ok_or("cancelled")?;
    let own = subject.sources.first().ok_or("the kernel has no text")?;
    Ok(kept.now(&own.text, &own.parsed, false))
}

fn subject(
    shared: &Shared,
    snapshot: &Snapshot<'_>,
    key: &KernelKey,
    model: &FileModel,
    arch: Arch,
) -> Result<Subject, String> {
    let kernel = (model.kernels.iter()).find(|kernel| KernelKey::new(&key.doc, kernel) == *key);
    let kernel = kernel.ok_or("the kernel is not there any more")?;
    let cached = &shared.compiled.cached;
    let one = std::slice::from_ref(kernel);
    let subject = subjects(snapshot, cached, &key.doc, one, arch).pop();
    let (_, subject) = subject.ok_or("the file is not of the workspace")?;
    subject.map_err(|why| why.to_string())
}

#[cfg(test)]
mod tests {
    use tileperf_analysis::signature::{Kind, Origin, Param, Signature};

    use super::continued;

    fn signature(params: &[(&str, &str)]) -> Signature {
        let param = |(name, dtype): &(&str, &str)| Param {
            name: (*name).into(),
            kind: Kind::Scalar {
                dtype: (*dtype).into(),
            },
        };
        Signature {
            params: params.iter().map(param).collect(),
            globals: Vec::new(),
            origin: Origin::Guess,
        }
    }

    #[test]
    fn further_parameters_are_guessed() {
        let before = signature(&[("a", "int64"), ("b", "int32")]);
        let longer = signature(&[("a", "int32"), ("b", "int32"), ("n", "int32")]);
        let wanted = signature(&[("a", "int64"), ("b", "int32"), ("n", "int32")]);
        assert_eq!(continued(&before, Some(&longer)), wanted);
        // Nothing is known of it, it is no longer, or other parameters: the compiler has its say.
        let other = signature(&[("a", "int32"), ("c", "int32"), ("n", "int32")]);
        for guessed in [None, Some(&before), Some(&other)] {
            assert_eq!(continued(&before, guessed), before);
        }
    }
}
