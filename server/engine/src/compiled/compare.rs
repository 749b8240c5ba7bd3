//! Whether two versions of some files are the same programs: what the compiler makes of the kernels
//! that differ, side by side.
//!
//! That nothing has changed counts only if it is proven. The versions may differ within kernels and
//! functions that only kernels call, and every signature that is known to run must give the same machine code; a
//! guessed signature proves nothing but a difference.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use smol_str::SmolStr;
use tileperf_analysis::arch::Arch;
use tileperf_analysis::compiled::{CompiledFacts, Difference, difference};
use tileperf_analysis::signature::{Origin, Signature};
use tileperf_compiler::CancelToken;

use super::now::compile;
use super::queue::Depth;
use super::subject::{KernelKey, Subject};
use super::toolchain::Toolchain;
use super::versions::Versions;
use crate::{DocId, Engine};

/// How long comparing may take: a benchmark takes a minute or two.
const PATIENCE: Duration = Duration::from_secs(60);

/// A version of a file; `None` where there is no such file.
pub type Version = (PathBuf, Option<String>);

/// A kernel in both versions, compiled for one signature and architecture.
#[derive(Debug, Clone)]
pub struct Compared {
    /// The kernel's file.
    pub doc: DocId,
    /// The kernel's qualified name.
    pub kernel: SmolStr,
    /// Before.
    pub before: CompiledFacts,
    /// After.
    pub after: CompiledFacts,
}

impl Compared {
    /// What the change has done.
    pub fn difference(&self) -> Difference {
        difference(&self.before, &self.after)
    }
}

/// What is known of two versions.
#[derive(Debug, Clone)]
pub enum Sameness {
    /// They are the same programs; in words, why.
    Same(String),
    /// Machine code differs.
    Different,
    /// Not known; in words, why.
    Unknown(String),
}

impl Engine {
    /// The kernels that two versions of some files make differently, each compiled for what it is
    /// compiled for at present.
    ///
    /// # Errors
    /// Nothing can be compiled: no trust, no compiler.
    pub fn compare(
        &self,
        before: &[Version],
        after: &[Version],
        archs: &[Arch],
        cancel: &CancelToken,
    ) -> Result<Vec<Compared>, String> {
        let toolchain = self.shared.toolchain()?;
        let main = archs.first().copied().unwrap_or(Arch::Sm90);
        let versions = self.versions(before, after);
        let mut all = Vec::new();
        for (before, after) in versions.differing(main).pairs {
            let pair = Pair::new(&versions, before, after);
            for arch in archs {
                all.push(pair.compile(&toolchain, *arch, pair.best(), cancel)?);
            }
        }
        Ok(all)
    }

    /// Whether two versions of some files are the same programs on an architecture, as far as can be
    /// proven.
    pub fn sameness(
        &self,
        before: &[Version],
        after: &[Version],
        arch: Arch,
        cancel: &CancelToken,
    ) -> Sameness {
        let versions = self.versions(before, after);
        let mut differing = versions.differing(arch);
        if let Some(what) = differing.outside {
            return Sameness::Unknown(what);
        }
        if let Some(key) = differing.apart.first() {
            let name = &key.qualified;
            return Sameness::Unknown(format!("{name} cannot be taken out of its file"));
        }
        let all = std::mem::take(&mut differing.pairs);
        let in_code = all
            .into_iter()
            .filter(|(was, is)| differing.is_in_code(was, is));
        let pairs: Vec<Pair> = in_code
            .map(|(was, is)| Pair::new(&versions, was, is))
            .collect();
        if pairs.is_empty() {
            return Sameness::Same("only comments and layout differ".to_owned());
        }
        let toolchain = match self.shared.toolchain() {
            Ok(toolchain) => toolchain,
            Err(why) => return Sameness::Unknown(why),
        };
        let began = Instant::now();
        let mut signatures = 0;
        let mut unproven = None;
        for pair in &pairs {
            // What says most is asked first: one difference is enough.
            for signature in pair.known() {
                let compared = pair.compile(&toolchain, arch, signature, cancel);
                match compared.map(|compared| compared.difference()) {
                    Err(why) => return Sameness::Unknown(why),
                    Ok(Difference::Changed(_) | Difference::Broken(_)) => {
                        return Sameness::Different;
                    }
                    Ok(Difference::Unknown) => {
                        let name = &pair.before.key.qualified;
                        return Sameness::Unknown(format!(
                            "{name} could not be compiled for {arch}"
                        ));
                    }
                    Ok(Difference::Same) => signatures += 1,
                }
                if began.elapsed() > PATIENCE {
                    let limit = PATIENCE.as_secs();
                    return Sameness::Unknown(format!("comparing took more than {limit} s"));
                }
            }
            unproven = unproven.or_else(|| pair.unproven());
        }
        if let Some(why) = unproven {
            return Sameness::Unknown(why);
        }
        Sameness::Same(format!(
            "equal machine code on {arch} for {} that ran",
            match signatures {
                1 => "the one signature".to_owned(),
                n => format!("all {n} signatures"),
            }
        ))
    }

    fn versions(&self, before: &[Version], after: &[Version]) -> Versions {
        Versions::new(self.with(before), self.with(after), before, after)
    }

    /// The same workspace with these versions of files in place of those on disk.
    fn with(&self, files: &[Version]) -> Engine {
        let engine = Engine::new();
        let workspace = self.shared.workspace.read().clone();
        engine.configure(
            workspace.roots,
            workspace.editor,
            workspace.command_line,
            workspace.trusted,
        );
        engine.index_now();
        for (path, text) in files {
            engine.open(DocId::file(path), 0, text.clone().unwrap_or_default());
        }
        engine
    }
}

/// A kernel in both versions, of which what it is compiled from differs.
struct Pair {
    before: Subject,
    after: Subject,
    /// A search tunes it.
    searched: bool,
}

impl Pair {
    fn new(versions: &Versions, before: Subject, after: Subject) -> Self {
        let old = &versions.old.shared;
        let file = old.file(&before.key.doc);
        let kernels = file.iter().flat_map(|file| &file.model.kernels);
        let number = (kernels.enumerate())
            .find(|(_, kernel)| KernelKey::new(&before.key.doc, kernel) == before.key)
            .map(|(number, _)| number);
        let links = old.links();
        let searched = number.is_some_and(|number| {
            (links.kernel_spaces).contains_key(&(before.key.doc.clone(), number))
        });
        Self {
            before,
            after,
            searched,
        }
    }

    /// The best signature that is known.
    fn best(&self) -> &Signature {
        // A subject has one at least.
        &self.before.signatures[0]
    }

    /// The signatures that count: those that ran, else the best that is known.
    fn known(&self) -> Vec<&Signature> {
        let ran: Vec<_> = self.before.signatures.iter().filter(|s| ran(s)).collect();
        match ran.is_empty() {
            true => vec![self.best()],
            false => ran,
        }
    }

    /// Why equal code for all signatures that are known would prove nothing; `None` if it does.
    fn unproven(&self) -> Option<String> {
        let name = &self.before.key.qualified;
        if self.searched {
            return Some(format!(
                "{name} is tuned: the hints that its search reaches are not compared"
            ));
        }
        if !self.before.is_all {
            return Some(format!("{name} ran in ways that cannot be compared"));
        }
        (!ran(self.best())).then(|| {
            format!(
                "the machine code of {name} is equal for a guessed signature, but what runs is not \
                 known"
            )
        })
    }

    /// Compiles both for a signature.
    fn compile(
        &self,
        toolchain: &Toolchain,
        arch: Arch,
        signature: &Signature,
        cancel: &CancelToken,
    ) -> Result<Compared, String> {
        let one = |subject: &Subject, signature| {
            let mut subject = subject.clone();
            subject.signatures = vec![signature];
            let kept = compile(toolchain, &subject, arch, Depth::Machine, cancel);
            let kept = kept.ok_or("cancelled")?;
            let own = subject.sources.first().ok_or("the kernel has no text")?;
            Ok::<_, String>(kept.now(&own.text, &own.parsed, false))
        };
        let before = one(&self.before, signature.clone())?;
        // A guess that had to be put right is put right for both.
        let after = one(&self.after, before.signature.clone())?;
        Ok(Compared {
            doc: self.before.key.doc.clone(),
            kernel: self.before.key.qualified.clone(),
            before,
            after,
        })
    }
}

/// Whether a signature is of a launch that happened.
fn ran(signature: &Signature) -> bool {
    matches!(signature.origin, Origin::CacheDb | Origin::Recorded)
}
