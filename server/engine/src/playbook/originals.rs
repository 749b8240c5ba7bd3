//! Files that may hold what a kernel was ported from.
//!
//! They do not mention cuTile, so of most nothing but the path is known. Paths say which are worth a
//! look; those are read, and remembered until the index changes.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustc_hash::FxHashMap;
use tileperf_analysis::playbook::{Original, Originals, neutral};

use crate::DocId;
use crate::engine::Shared;
use crate::findings::View;
use crate::snapshot::Snapshot;
use crate::words::has_word;

/// Files that are read for one kernel's file.
const MOST: usize = 6;

/// Kernels' files that are remembered.
const REMEMBERED: usize = 1024;

/// Files that hold Triton lists and may be a kernel's file said of Triton, each with whether it lies
/// beside it.
type Found = Arc<[(DocId, bool)]>;

/// What was found for kernels' files, and in which index.
#[derive(Debug, Default)]
pub(crate) struct OriginalFiles(FxHashMap<DocId, (u64, Found)>);

impl Shared {
    /// Shows what the kernels of a file may have been ported from.
    pub(super) fn originals(&self, doc: &DocId, view: &View, show: &mut dyn FnMut(&Originals<'_>)) {
        let found = self.original_files(doc);
        let parsed = Arc::clone(&view.parsed);
        let snapshot = Snapshot::new(self).with(doc, view.text.clone(), parsed);
        let Some(own) = snapshot.number(doc) else {
            return;
        };
        let file = |(of, beside): &(DocId, bool)| {
            Some(Original {
                module: snapshot.number(of)?,
                name: self.name_of_original(doc, of),
                model: self.file(of)?.model,
                parsed: self.parsed(of),
                beside: *beside,
            })
        };
        let files: Vec<Original> = found.iter().filter_map(file).collect();
        show(&Originals {
            env: &snapshot,
            own,
            files: &files,
        });
    }

    /// Files that may hold the originals of a file's kernels, those beside it first.
    fn original_files(&self, doc: &DocId) -> Found {
        let index = self.index_generation.load(Ordering::Acquire);
        if let Some((of, known)) = self.originals.lock().0.get(doc)
            && *of == index
        {
            return Arc::clone(known);
        }
        let found: Found = self.look_for_originals(doc).into();
        let mut known = self.originals.lock();
        if known.0.len() >= REMEMBERED {
            known.0.clear();
        }
        known.0.insert(doc.clone(), (index, Arc::clone(&found)));
        found
    }

    fn look_for_originals(&self, doc: &DocId) -> Vec<(DocId, bool)> {
        let Some(path) = doc.path() else {
            return Vec::new();
        };
        let mut near: Vec<(Near, DocId)> = Vec::new();
        for other in self.all_docs() {
            let near_by = other.path().and_then(|other| nearness(&path, &other));
            if let Some(by) = near_by.filter(|_| other != *doc) {
                near.push((by, other));
            }
        }
        for other in self.imported(doc) {
            if !near.iter().any(|(_, known)| *known == other) && other != *doc {
                near.push((Near::Elsewhere, other));
            }
        }
        near.sort();
        let mut out = Vec::new();
        for (by, other) in near.into_iter().take(MOST) {
            let has_list = self.file(&other).is_some_and(|file| {
                let text = file.text.as_str();
                has_word(text, "triton") && has_word(text, "autotune")
            });
            if has_list {
                out.push((other, by == Near::Beside));
            }
        }
        out
    }

    /// The files of the workspace that a file imports from.
    fn imported(&self, doc: &DocId) -> Vec<DocId> {
        let Some(file) = self.file(doc) else {
            return Vec::new();
        };
        let paths = file.model.imports.values();
        let mut out: Vec<DocId> = paths
            .filter_map(|path| Some(self.split_path(path)?.0.doc))
            .collect();
        out.sort();
        out.dedup();
        out
    }

    /// A file as it is shown to readers of another: its name, if it is in the same folder, else its path
    /// from the workspace's.
    fn name_of_original(&self, from: &DocId, other: &DocId) -> String {
        let (Some(from), Some(path)) = (from.path(), other.path()) else {
            return other.as_str().to_owned();
        };
        let name = path.file_name().map(PathBuf::from);
        let inside = match from.parent() == path.parent() {
            true => name,
            false => {
                let workspace = self.workspace.read();
                let mut roots = workspace.roots.iter();
                let inside = roots.find_map(|root| path.strip_prefix(root).ok());
                inside.map(Path::to_owned).or(name)
            }
        };
        let shown = inside.unwrap_or(path);
        let text = shown.to_string_lossy().replace('\\', "/");
        // It becomes a comment.
        text.replace(char::is_control, "?")
    }
}

/// How near a file is by its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Near {
    /// The same name in the same folder, but for the words that say how it is written.
    Beside,
    /// The same name in another folder, or a file for all kernels of the folder.
    Elsewhere,
}

/// How near another file is to a kernel's; nothing if its name is another.
fn nearness(own: &Path, other: &Path) -> Option<Near> {
    let stem = |path: &Path| Some(path.file_stem()?.to_str()?.to_owned());
    let (name, other_name) = (stem(own)?, stem(other)?);
    if name == "__init__" || other_name == "__init__" {
        return None;
    }
    let (word, other_word) = (neutral(&name), neutral(&other_name));
    if word != other_word {
        // `triton_kernels.py`, for all files of the folder.
        let holds_all = other_word.is_empty() && other_name.to_lowercase().contains("triton");
        return (holds_all && own.parent() == other.parent()).then_some(Near::Elsewhere);
    }
    let is_family = family(own) == family(other);
    // `kernel.py` says nothing of what it is for; its folder does.
    let is_named = !word.is_empty() || own.parent() == other.parent() || name == other_name;
    match (is_family, is_named) {
        (true, true) => Some(Near::Beside),
        (false, _) if !word.is_empty() => Some(Near::Elsewhere),
        _ => None,
    }
}

/// A file's folder without what says how its files are written.
fn family(path: &Path) -> Vec<String> {
    let folders = path.parent().into_iter().flat_map(Path::components);
    folders
        .filter_map(|folder| match folder {
            Component::Normal(name) => Some(neutral(name.to_str()?)),
            _ => None,
        })
        .filter(|word| !word.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Near, nearness};

    #[test]
    fn files_that_are_one_said_of_triton() {
        let of = |own: &str, other: &str| nearness(Path::new(own), Path::new(other));
        for (own, other, wanted) in [
            (
                "/w/ops/cutile/rms_norm.py",
                "/w/ops/triton/rms_norm.py",
                Some(Near::Beside),
            ),
            (
                "/w/ops/softmax.py",
                "/w/ops/softmax_triton.py",
                Some(Near::Beside),
            ),
            (
                "/w/ops/cutile/softmax.py",
                "/w/ops/softmax.py",
                Some(Near::Beside),
            ),
            (
                "/w/04/cutile_kernel.py",
                "/w/04/triton_kernel.py",
                Some(Near::Beside),
            ),
            (
                "/w/cutile_kernels/add.py",
                "/w/triton_kernels/add.py",
                Some(Near::Beside),
            ),
            (
                "/w/cutile/add/kernel.py",
                "/w/triton/add/kernel.py",
                Some(Near::Beside),
            ),
            (
                "/w/suites/a/cutile/gemm.py",
                "/w/ops/triton/gemm.py",
                Some(Near::Elsewhere),
            ),
            (
                "/w/ops/softmax.py",
                "/w/ops/triton_kernels.py",
                Some(Near::Elsewhere),
            ),
            ("/w/ops/softmax.py", "/w/ops/kernels.py", None),
            // Another name; a name that says nothing.
            (
                "/w/ops/cutile/softmax.py",
                "/w/ops/triton/rms_norm.py",
                None,
            ),
            ("/w/04/cutile_kernel.py", "/w/05/triton_kernel.py", None),
            (
                "/w/ops/cutile/__init__.py",
                "/w/ops/triton/__init__.py",
                None,
            ),
        ] {
            assert_eq!(of(own, other), wanted, "{own} {other}");
        }
    }
}
