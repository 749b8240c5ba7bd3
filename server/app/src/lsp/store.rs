//! The texts of the open documents.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tileperf_syntax::{Encoding, Position, Text};

/// What a document is known by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum DocId {
    /// An absolute path.
    File(PathBuf),
    /// The URI of a document without a file.
    Untitled(String),
}

/// One edit: replace a range, or the whole text.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) range: Option<(Position, Position)>,
    pub(super) text: String,
}

/// An open document.
#[derive(Debug, Clone)]
pub(super) struct Document {
    pub(super) version: i32,
    pub(super) text: Text,
}

/// A change to a document that is not open.
#[derive(Debug)]
pub(super) struct UnknownDocument;

/// All open documents.
#[derive(Debug, Default)]
pub(super) struct Store(Mutex<HashMap<DocId, Document>>);

impl Store {
    pub(super) fn open(&self, id: DocId, version: i32, text: String) {
        self.documents().insert(
            id,
            Document {
                version,
                text: Text::new(text),
            },
        );
    }

    pub(super) fn change(
        &self,
        id: &DocId,
        version: i32,
        changes: Vec<Change>,
        encoding: Encoding,
    ) -> Result<(), UnknownDocument> {
        let mut documents = self.documents();
        let document = documents.get_mut(id).ok_or(UnknownDocument)?;
        document.version = version;
        for change in changes {
            match change.range {
                None => document.text = Text::new(change.text),
                Some((start, end)) => {
                    let start = document.text.offset(start, encoding);
                    let end = document.text.offset(end, encoding);
                    document
                        .text
                        .replace(start.min(end)..start.max(end), &change.text);
                }
            }
        }
        Ok(())
    }

    pub(super) fn close(&self, id: &DocId) {
        self.documents().remove(id);
    }

    pub(super) fn document(&self, id: &DocId) -> Option<Document> {
        self.documents().get(id).cloned()
    }

    fn documents(&self) -> MutexGuard<'_, HashMap<DocId, Document>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
