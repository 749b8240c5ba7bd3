//! Two versions of some files: what differs in kernels and the functions that they call, which can be
//! compiled, and what differs in host code, of which nothing can be proven.
//!
//! A function counts as device code if a kernel is compiled with it and nothing on the host names it.
//! Names are looked for in plain text, strings included: whatever looks like a use is one.

mod side;

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use tileperf_analysis::arch::Arch;

use self::side::Side;
use super::compare::Version;
use super::reach::reach;
use super::subject::{KernelKey, Subject};
use crate::{DocId, Engine};

/// Two versions of some files, each in its own workspace.
pub(super) struct Versions {
    pub(super) old: Engine,
    pub(super) new: Engine,
    /// The files with versions.
    docs: Vec<DocId>,
    /// Those, and all that may import something from them.
    reach: Vec<DocId>,
}

/// What differs.
pub(super) struct Differing {
    /// Kernels whose slices differ, in both versions.
    pub(super) pairs: Vec<(Subject, Subject)>,
    /// Kernels that cannot be sliced in both.
    pub(super) apart: Vec<KernelKey>,
    /// What differs in host code; `None` if nothing does.
    pub(super) outside: Option<String>,
    /// Functions of device code whose code differs, not only its layout.
    helpers: FxHashSet<(DocId, SmolStr)>,
}

impl Differing {
    /// Whether more than comments and layout differs in what a kernel is compiled from.
    pub(super) fn is_in_code(&self, before: &Subject, after: &Subject) -> bool {
        let sources = before.sources.iter().chain(&after.sources);
        let mut docs = sources.map(|source| &source.doc);
        before.model != after.model || docs.any(|doc| self.helpers.iter().any(|(of, _)| of == doc))
    }
}

impl Versions {
    pub(super) fn new(old: Engine, new: Engine, before: &[Version], after: &[Version]) -> Self {
        let paths = before.iter().chain(after).map(|version| &version.0);
        let mut docs: Vec<DocId> = paths.map(|path| DocId::file(path)).collect();
        docs.sort();
        docs.dedup();
        let reach = reach(&[&old, &new], &docs);
        Self {
            old,
            new,
            docs,
            reach,
        }
    }

    /// What differs, for what is compiled on an architecture.
    pub(super) fn differing(&self, arch: Arch) -> Differing {
        let old = Side::new(&self.old, &self.reach, arch);
        let new = Side::new(&self.new, &self.reach, arch);
        let (outside, helpers) = match self.outside(&old, &new) {
            Ok(helpers) => (None, helpers),
            Err(what) => (Some(what), FxHashSet::default()),
        };
        let (mut pairs, mut apart) = (Vec::new(), Vec::new());
        for (key, was) in old.kernels {
            let now = new.kernels.iter().find(|(other, _)| *other == key);
            // That it is gone is a difference of host code.
            let Some((_, now)) = now else {
                continue;
            };
            match (was, now) {
                (Ok(was), Ok(now)) if was.slice.fingerprint == now.slice.fingerprint => {}
                (Ok(was), Ok(now)) => pairs.push((was, now.clone())),
                _ => apart.push(key),
            }
        }
        Differing {
            pairs,
            apart,
            outside,
            helpers,
        }
    }

    /// The functions of device code whose code differs.
    ///
    /// # Errors
    /// Something else differs; in words, what.
    fn outside(
        &self,
        old: &Side<'_>,
        new: &Side<'_>,
    ) -> Result<FxHashSet<(DocId, SmolStr)>, String> {
        for doc in &self.docs {
            let name = file_name(doc);
            if !old.is_clean(doc) || !new.is_clean(doc) {
                return Err(format!("{name} does not parse"));
            }
            if kernels(old.engine, doc) != kernels(new.engine, doc) {
                return Err(format!("{name} has other kernels"));
            }
        }
        let (mut was, mut is) = (old.device(&self.reach), new.device(&self.reach));
        // What is device code in one version and host code in the other is host code.
        let both = |this: &Side<'_>, known: &(DocId, SmolStr), there: &FxHashSet<_>| {
            there.contains(known) || !this.has_function(&known.0, &known.1)
        };
        let kept = |own: &FxHashSet<(DocId, SmolStr)>, other: &Side<'_>, there: &FxHashSet<_>| {
            let kept = own.iter().filter(|known| both(other, known, there));
            kept.cloned().collect::<FxHashSet<_>>()
        };
        (was, is) = (kept(&was, new, &is), kept(&is, old, &was));
        let mut helpers = FxHashSet::default();
        for doc in &self.docs {
            if old.host(doc, &was) != new.host(doc, &is) {
                let name = file_name(doc);
                return Err(format!("{name} differs outside its kernels"));
            }
            let known = was.iter().chain(&is).filter(|(of, _)| of == doc);
            for (_, name) in known {
                if old.code_of(doc, name) != new.code_of(doc, name) {
                    helpers.insert((doc.clone(), name.clone()));
                }
            }
        }
        Ok(helpers)
    }
}

/// The kernels of a file, in order.
fn kernels(engine: &Engine, doc: &DocId) -> Vec<KernelKey> {
    let file = engine.shared.file(doc);
    file.map_or_else(Vec::new, |file| {
        let kernels = file.model.kernels.iter();
        kernels.map(|kernel| KernelKey::new(doc, kernel)).collect()
    })
}

fn file_name(doc: &DocId) -> String {
    let path = doc.path();
    let name = path.as_ref().and_then(|path| path.file_name());
    name.map_or_else(
        || doc.as_str().to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}
