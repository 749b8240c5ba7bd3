//! Trees of files that are not open, kept for as long as questions about them are likely to come
//! back: a hover, the counts of a space that another module defines.

use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tileperf_syntax::ParsedFile;

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
        if let Some(open) = self.docs.get(doc).map(|d| Arc::clone(&d)) {
            return Arc::clone(&open.fresh().parsed);
        }
        let entry = doc
            .path()
            .and_then(|p| self.index.files.get(&p).map(|e| Arc::clone(&e)));
        let limit = self.settings.read().index.max_file_size;
        let Some(indexed) = entry.as_ref().and_then(|e| e.indexed(limit)) else {
            return Arc::default();
        };
        if let Some(parsed) = &indexed.parsed {
            return Arc::clone(parsed);
        }
        if let Some((of, parsed)) = self.parses.lock().0.get(doc)
            && Arc::ptr_eq(of, indexed)
        {
            return Arc::clone(parsed);
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
        parsed
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

    fn package(&self, doc: &DocId) -> smol_str::SmolStr {
        let entry = doc
            .path()
            .and_then(|p| self.index.files.get(&p).map(|e| e.module.package.clone()));
        entry
            .or_else(|| self.docs.get(doc).map(|d| d.package.clone()))
            .unwrap_or_default()
    }
}
