//! One consistent look at open documents and index together: open ones win over the disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use smol_str::SmolStr;
use tileperf_analysis::model::{Candidate, FileModel, Kernel, Space};
use tileperf_syntax::{Span, Text};

use crate::DocId;
use crate::engine::Shared;

/// A file's text and model, from wherever it is fresher.
#[derive(Debug, Clone)]
pub(crate) struct FileView {
    pub(crate) doc: DocId,
    pub(crate) text: Text,
    pub(crate) model: Arc<FileModel>,
}

/// A place in a file, with the text to convert it in.
#[derive(Debug, Clone)]
pub struct Location {
    /// The document.
    pub doc: DocId,
    /// Its text.
    pub text: Text,
    /// The place, in bytes.
    pub span: Span,
}

/// A kernel of some file.
#[derive(Debug, Clone)]
pub(crate) struct KernelRef {
    pub(crate) file: FileView,
    pub(crate) number: usize,
}

impl KernelRef {
    pub(crate) fn kernel(&self) -> &Kernel {
        &self.file.model.kernels[self.number]
    }

    pub(crate) fn is(&self, doc: &DocId, number: usize) -> bool {
        self.file.doc == *doc && self.number == number
    }

    pub(crate) fn location(&self) -> Location {
        self.file.at(self.kernel().name_span)
    }
}

impl FileView {
    pub(crate) fn at(&self, span: Span) -> Location {
        Location {
            doc: self.doc.clone(),
            text: self.text.clone(),
            span,
        }
    }
}

/// How many imports a chain of re-exports may have.
const MAX_HOPS: u32 = 12;

impl Shared {
    /// The freshest view of a file of the workspace.
    pub(crate) fn file(&self, doc: &DocId) -> Option<FileView> {
        if let Some(open) = self.docs.get(doc).map(|d| Arc::clone(&d)) {
            let fresh = open.fresh();
            return Some(FileView {
                doc: doc.clone(),
                text: fresh.text.clone(),
                model: Arc::clone(&fresh.model),
            });
        }
        let path = doc.path()?;
        let entry = self.index.files.get(&path).map(|e| Arc::clone(&e))?;
        let indexed = entry.indexed(self.max_file_size())?;
        Some(FileView {
            doc: doc.clone(),
            text: indexed.text.clone(),
            model: Arc::clone(&indexed.model),
        })
    }

    /// Every file that mentions cuTile, open ones first seen fresh, in path order.
    pub(crate) fn relevant_files(&self) -> Vec<FileView> {
        let mut ids: Vec<DocId> = self.docs.iter().map(|d| d.key().clone()).collect();
        ids.extend(
            self.index
                .files
                .iter()
                .filter(|e| e.relevant)
                .map(|e| DocId::file(&e.path)),
        );
        ids.sort();
        ids.dedup();
        ids.iter().filter_map(|id| self.file(id)).collect()
    }

    /// Every Python file that is open or known on disk, in path order.
    pub(crate) fn all_docs(&self) -> Vec<DocId> {
        let mut ids: Vec<DocId> = self.docs.iter().map(|d| d.key().clone()).collect();
        ids.extend(self.index.files.iter().map(|e| DocId::file(&e.path)));
        ids.sort();
        ids.dedup();
        ids
    }

    /// The file that is the module of a dotted name.
    fn module(&self, name: &str) -> Option<FileView> {
        let paths: Vec<Arc<Path>> = self.index.module(name);
        paths.iter().find_map(|p| self.file(&DocId::file(p)))
    }

    /// Splits an absolute dotted path into the longest prefix that is a module and the rest.
    pub(crate) fn split_path<'p>(&self, path: &'p str) -> Option<(FileView, &'p str)> {
        let mut end = path.len();
        while let Some(dot) = path[..end].rfind('.') {
            if let Some(file) = self.module(&path[..dot]) {
                return Some((file, &path[dot + 1..]));
            }
            end = dot;
        }
        None
    }

    /// The kernels that candidates of `file` are.
    pub(crate) fn kernels(&self, file: &FileView, candidates: &[Candidate]) -> Vec<KernelRef> {
        let mut out = Vec::new();
        self.follow(file, candidates, MAX_HOPS, &mut out);
        out
    }

    fn follow(
        &self,
        file: &FileView,
        candidates: &[Candidate],
        hops: u32,
        out: &mut Vec<KernelRef>,
    ) {
        if hops == 0 {
            return;
        }
        for candidate in candidates {
            match candidate {
                Candidate::Local(number) => {
                    if !out.iter().any(|k| k.is(&file.doc, *number)) {
                        out.push(KernelRef {
                            file: file.clone(),
                            number: *number,
                        });
                    }
                }
                Candidate::Imported(path) => self.follow_path(path, false, hops, out),
                Candidate::Returned(path) => self.follow_path(path, true, hops, out),
                Candidate::Param {
                    function,
                    name,
                    place,
                } => {
                    self.follow_param(file, (function, name, *place), hops, out);
                }
            }
        }
    }

    fn follow_path(&self, path: &str, called: bool, hops: u32, out: &mut Vec<KernelRef>) {
        let Some((file, rest)) = self.split_path(path) else {
            return;
        };
        if let Some(export) = file.model.exports.get(rest) {
            let (found, other) = if called {
                (&export.returns, &export.kernels)
            } else {
                (&export.kernels, &export.returns)
            };
            self.follow(&file, found, hops - 1, out);
            if called {
                // A re-exported function: its path, called.
                let forwarded: Vec<Candidate> = other
                    .iter()
                    .filter_map(|c| match c {
                        Candidate::Imported(p) => Some(Candidate::Returned(p.clone())),
                        _ => None,
                    })
                    .collect();
                self.follow(&file, &forwarded, hops - 1, out);
            }
            return;
        }
        // `Class.kernel` and other dotted names within the module.
        for (number, kernel) in file.model.kernels.iter().enumerate() {
            if kernel.qualified == rest && !out.iter().any(|k| k.is(&file.doc, number)) {
                out.push(KernelRef {
                    file: file.clone(),
                    number,
                });
            }
        }
    }

    /// What callers in other files pass for a parameter.
    fn follow_param(
        &self,
        file: &FileView,
        param: (&str, &str, usize),
        hops: u32,
        out: &mut Vec<KernelRef>,
    ) {
        let (function, name, place) = param;
        for other in self.relevant_files() {
            for passed in &other.model.passed {
                let fits = match &passed.keyword {
                    Some(keyword) => keyword == name,
                    None => passed.place == place,
                };
                if !fits || !passed.callee.ends_with(function) {
                    continue;
                }
                let is_it = self
                    .resolve_function(&passed.callee, MAX_HOPS)
                    .is_some_and(|(at, found)| at == file.doc && found == function);
                if is_it {
                    self.follow(&other, &passed.kernels, hops - 1, out);
                }
            }
        }
    }

    /// The file and name of the function that an absolute dotted path means.
    pub(crate) fn function(&self, path: &str) -> Option<(DocId, SmolStr)> {
        self.resolve_function(path, MAX_HOPS)
    }

    /// The file and name of the function that a dotted path means, through re-exports.
    fn resolve_function(&self, path: &str, hops: u32) -> Option<(DocId, SmolStr)> {
        let (file, rest) = self.split_path(path)?;
        let export = file.model.exports.get(rest)?;
        if export.function.is_some() {
            return Some((file.doc.clone(), rest.into()));
        }
        export.kernels.iter().find_map(|c| match c {
            Candidate::Imported(next) if hops > 0 => self.resolve_function(next, hops - 1),
            _ => None,
        })
    }

    /// The space, or the function that may be one, behind a dotted path: its file, name, place of
    /// the name and place of the whole.
    pub(crate) fn space(&self, path: &str, hops: u32) -> Option<(FileView, SmolStr, Span, Span)> {
        let (file, rest) = self.split_path(path)?;
        if let Some(export) = file.model.exports.get(rest) {
            if let Some((name, whole)) = export.function {
                return Some((file, rest.into(), name, whole));
            }
            let next = export.kernels.iter().find_map(|c| match c {
                Candidate::Imported(next) if hops > 0 => self.space(next, hops - 1),
                _ => None,
            });
            if next.is_some() {
                return next;
            }
        }
        let listed = file
            .model
            .spaces
            .iter()
            .find(|s: &&Space| s.name == rest)
            .map(|s| (s.name_span, s.span));
        listed.map(|(name, whole)| (file, rest.into(), name, whole))
    }

    fn max_file_size(&self) -> u64 {
        self.settings.read().index.max_file_size
    }

    /// The roots of the workspace.
    pub(crate) fn roots(&self) -> Vec<PathBuf> {
        self.workspace.read().roots.clone()
    }
}
