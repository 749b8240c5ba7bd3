//! What a kernel would become if its file had another text: compiled beside what it is now, for the
//! same signature.

use std::sync::Arc;

use tileperf_analysis::arch::Arch;
use tileperf_analysis::compiled::CompiledFacts;
use tileperf_analysis::model::{FileModel, ModelCache};
use tileperf_analysis::signature::{Param, Signature};
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
        let before = compiled(&toolchain, &subject, arch, depth, cancel)?;
        Ok(Self::from(shared, toolchain, key, depth, before))
    }

    /// Of a kernel that was compiled before.
    pub(crate) fn from(
        shared: &'s Shared,
        toolchain: Arc<Toolchain>,
        key: &KernelKey,
        depth: Depth,
        before: CompiledFacts,
    ) -> Self {
        Self {
            shared,
            toolchain,
            key: key.clone(),
            arch: before.arch,
            depth,
            before,
        }
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

/// The signature of a kernel that may have got other parameters: of those, what is guessed.
fn continued(before: &Signature, guessed: Option<&Signature>) -> Signature {
    let Some(guessed) = guessed else {
        return before.clone();
    };
    let known = |param: &Param| before.params.iter().find(|old| old.name == param.name);
    let params = guessed.params.iter();
    Signature {
        params: params
            .map(|param| known(param).unwrap_or(param).clone())
            .collect(),
        ..before.clone()
    }
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
            launched: None,
            origin: Origin::Guess,
        }
    }

    #[test]
    fn further_parameters_are_guessed() {
        let before = signature(&[("a", "int64"), ("b", "int32")]);
        let longer = signature(&[("a", "int32"), ("b", "int32"), ("n", "int32")]);
        let wanted = signature(&[("a", "int64"), ("b", "int32"), ("n", "int32")]);
        assert_eq!(continued(&before, Some(&longer)), wanted);
        let other = signature(&[("c", "int32"), ("a", "int32"), ("n", "int32")]);
        let wanted = signature(&[("c", "int32"), ("a", "int64"), ("n", "int32")]);
        assert_eq!(continued(&before, Some(&other)), wanted);
        // Nothing is known of it, or it has the same: the compiler has its say.
        for guessed in [None, Some(&before)] {
            assert_eq!(continued(&before, guessed), before);
        }
    }
}
