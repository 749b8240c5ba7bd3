//! Trees of files that are not open, kept for as long as questions about them are likely to come
//! back: a hover, the counts of a space that another module defines.

use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use tileperf_syntax::{ParsedFile, Text};

use crate::DocId;
use crate::engine::Shared;
use crate::index::Indexed;

/// Files kept; a tree takes some 2 KB a line.
const MAX_FILES: usize = 24;

/// Parses by file, each with the reading of the disk that it is of.
#[derive(Debug, Default)]
pub(crate) struct ParseCache(FxHashMap<DocId, (Arc<Indexed>, Arc<ParsedFile>)>);

impl Shared {
    /// The items of a file as it is now; none for a file that cannot be read.
    pub(crate) fn parsed(&self, doc: &DocId) -> Arc<ParsedFile> {
        self.source(doc).1
    }

    /// The text of a file as it is now, and its items; both empty for a file that cannot be read.
    pub(crate) fn source(&self, doc: &DocId) -> (Text, Arc<ParsedFile>) {
        if let Some(open) = self.docs.get(doc).map(|d| Arc::clone(&d)) {
            let fresh = open.fresh();
            return (fresh.text.clone(), Arc::clone(&fresh.parsed));
        }
        let entry = doc
            .path()
            .and_then(|p| self.index.files.get(&p).map(|e| Arc::clone(&e)));
        let limit = self.settings.read().index.max_file_size;
        let Some(indexed) = entry.as_ref().and_then(|e| e.indexed(limit)) else {
            return (Text::new(""), Arc::default());
        };
        let with = |parsed: &Arc<ParsedFile>| (indexed.text.clone(), Arc::clone(parsed));
        if let Some(parsed) = &indexed.parsed {
            return with(parsed);
        }
        if let Some((of, parsed)) = self.parses.lock().0.get(doc)
            && Arc::ptr_eq(of, indexed)
        {
            return with(parsed);
        }
        // Not under the lock: two files are parsed at the same time.
        let parsed = Arc::new(tileperf_syntax::parse(indexed.text.as_str()));
        let mut cache = self.parses.lock();
        if cache.0.len() >= MAX_FILES {
            cache.0.clear();
        }
        cache
            .0
            .insert(doc.clone(), (Arc::clone(indexed), Arc::clone(&parsed)));
        with(&parsed)
    }

    /// The dotted name under which a file is imported; its own for one that is not in the index.
    pub(crate) fn module_name(&self, doc: &DocId) -> SmolStr {
        let entry = doc.path().and_then(|p| {
            let entry = self.index.files.get(&p)?;
            entry.module.names.first().cloned()
        });
        entry.unwrap_or_else(|| {
            let name = doc.as_str().rsplit(['/', ':']).next().unwrap_or_default();
            name.trim_end_matches(".py").into()
        })
    }

    /// The workspace file that an import written in `from` means: `level` dots and a dotted name.
    pub(crate) fn import(&self, from: &DocId, level: u32, dotted: &str) -> Option<DocId> {
        let name = if level == 0 {
            dotted.to_owned()
        } else {
            let package = self.package(from);
            let mut parts: Vec<&str> = package.split('.').filter(|p| !p.is_empty()).collect();
            parts.truncate((parts.len() + 1).saturating_sub(level as usize));
            parts.extend(dotted.split('.').filter(|p| !p.is_empty()));
            parts.join(".")
        };
        let paths: Vec<Arc<Path>> = self.index.module(&name);
        paths.first().map(|p| DocId::file(p))
    }

    fn package(&self, doc: &DocId) -> SmolStr {
        let entry = doc
            .path()
            .and_then(|p| self.index.files.get(&p).map(|e| e.module.package.clone()));
        entry
            .or_else(|| self.docs.get(doc).map(|d| d.package.clone()))
            .unwrap_or_default()
    }
}
