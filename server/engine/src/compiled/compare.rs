//! Whether two versions of some files are the same programs: what the compiler makes of the kernels
//! that differ, side by side.
//!
//! That nothing has changed counts only if it is proven. The versions may differ within kernels and
//! device code alone, and every signature that is known to run must give the same machine code; a
//! guessed signature proves nothing but a difference.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use smol_str::SmolStr;
use tileperf_analysis::arch::Arch;
use tileperf_analysis::compiled::{CompiledFacts, Difference, difference};
use tileperf_analysis::signature::{Origin, Signature};
use tileperf_compiler::CancelToken;

use super::now::compile;
use super::queue::Depth;
use super::subject::{KernelKey, Subject, subjects};
use super::toolchain::Toolchain;
use crate::snapshot::Snapshot;
use crate::view::FileView;
use crate::{DocId, Engine};

/// How long comparing may take: a benchmark takes a minute or two.
const PATIENCE: Duration = Duration::from_secs(60);

/// A version of a file; `None` where there is no such file.
pub type Version = (PathBuf, Option<String>);

/// A kernel in both versions, compiled for one signature and architecture.
#[derive(Debug, Clone)]
pub struct Compared {
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
        let (old, new) = (self.with(before), self.with(after));
        let mut all = Vec::new();
        for pair in changed(&old, &new, before, after, main).0 {
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
        let (old, new) = (self.with(before), self.with(after));
        if let Some(what) = outside(&old, &new, before, after) {
            return Sameness::Unknown(what);
        }
        let (mut pairs, apart) = changed(&old, &new, before, after, arch);
        if let Some(key) = apart.first() {
            let name = &key.qualified;
            return Sameness::Unknown(format!("{name} cannot be taken out of its file"));
        }
        pairs.retain(|pair| pair.before.model != pair.after.model);
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

/// The kernels whose slices differ, and those that cannot be sliced in both versions. Kernels of other
/// files count, because they may call into these.
fn changed(
    old: &Engine,
    new: &Engine,
    before: &[Version],
    after: &[Version],
    arch: Arch,
) -> (Vec<Pair>, Vec<KernelKey>) {
    let mut files: Vec<&Path> = before
        .iter()
        .chain(after)
        .map(|(path, _)| path.as_path())
        .collect();
    files.sort();
    files.dedup();
    let (first, second) = (Snapshot::new(&old.shared), Snapshot::new(&new.shared));
    let links = old.shared.links();
    let (mut pairs, mut apart) = (Vec::new(), Vec::new());
    for file in old.shared.relevant_files() {
        let Some(now) = new.shared.file(&file.doc) else {
            continue;
        };
        let own = files.iter().any(|path| file.doc == DocId::file(path));
        if !own && !imports_any(&file, &files) {
            continue;
        }
        let cached = &old.shared.compiled.cached;
        let was = subjects(&first, cached, &file.doc, &file.model.kernels, arch);
        let is = subjects(&second, cached, &file.doc, &now.model.kernels, arch);
        for (number, (key, was)) in was.into_iter().enumerate() {
            let after = is.iter().find(|(other, _)| *other == key);
            let (Ok(before), Some((_, Ok(after)))) = (was, after) else {
                apart.push(key);
                continue;
            };
            if before.slice.fingerprint != after.slice.fingerprint {
                pairs.push(Pair {
                    before,
                    after: after.clone(),
                    searched: links
                        .kernel_spaces
                        .contains_key(&(file.doc.clone(), number)),
                });
            }
        }
    }
    (pairs, apart)
}

/// Whether a file names the module of any of these files in an import.
fn imports_any(file: &FileView, files: &[&Path]) -> bool {
    let text = file.text.as_str();
    let stems = files.iter().filter_map(|path| path.file_stem()?.to_str());
    stems.into_iter().any(|stem| text.contains(stem))
}

/// What differs outside kernels and the functions that they call; `None` if nothing does.
fn outside(old: &Engine, new: &Engine, before: &[Version], after: &[Version]) -> Option<String> {
    let mut files: Vec<&PathBuf> = before.iter().chain(after).map(|(path, _)| path).collect();
    files.sort();
    files.dedup();
    for path in files {
        let doc = DocId::file(path);
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let is_clean = |engine: &Engine| engine.shared.source(&doc).1.is_clean();
        if !is_clean(old) || !is_clean(new) {
            return Some(format!("{name} does not parse"));
        }
        if kernels(old, &doc) != kernels(new, &doc) {
            return Some(format!("{name} has other kernels"));
        }
        if host_code(old, &doc) != host_code(new, &doc) {
            return Some(format!("{name} differs outside its kernels"));
        }
    }
    None
}

/// The top-level statements of a file that are no kernels, without comments between them.
fn host_code(engine: &Engine, doc: &DocId) -> Vec<String> {
    let Some(file) = engine.shared.file(doc) else {
        return Vec::new();
    };
    let (text, parsed) = engine.shared.source(doc);
    // A function or class around a kernel is host code as well.
    let kernels: Vec<_> = (file.model.kernels.iter())
        .filter(|kernel| kernel.qualified == kernel.name)
        .map(|kernel| kernel.span)
        .collect();
    let is_kernel = |item: &tileperf_syntax::Item| {
        item.facts.body.len() == 1 && kernels.iter().any(|kernel| item.span.contains(*kernel))
    };
    let host = parsed.items.iter().filter(|item| !is_kernel(item));
    // Python reads all line ends alike.
    host.map(|item| text.slice(item.span).replace("\r\n", "\n"))
        .collect()
}

/// The kernels of a file, in order.
fn kernels(engine: &Engine, doc: &DocId) -> Vec<KernelKey> {
    let file = engine.shared.file(doc);
    file.map_or_else(Vec::new, |file| {
        let kernels = file.model.kernels.iter();
        kernels.map(|kernel| KernelKey::new(doc, kernel)).collect()
    })
}
