//! The names under which the client knows the open documents.
//!
//! One file has many URIs (`%20` or a plain space, `c:` or `c%3A`), and editors compare them letter
//! by letter. Whatever is said about an open document is therefore said under the name by which it
//! was opened.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tileperf_engine::DocId;
use tower_lsp::ls_types::Uri;

use super::convert;

/// URIs of open documents.
#[derive(Debug, Default)]
pub(super) struct Names(Mutex<HashMap<DocId, Uri>>);

impl Names {
    /// A document was opened under a name.
    pub(super) fn opened(&self, id: DocId, uri: Uri) {
        self.names().insert(id, uri);
    }

    /// A document was closed.
    pub(super) fn closed(&self, id: &DocId) {
        self.names().remove(id);
    }

    /// The client's name of a document, or the usual one of a file that is not open.
    pub(super) fn uri(&self, id: &DocId) -> Option<Uri> {
        let open = self.names().get(id).cloned();
        open.or_else(|| convert::uri(id))
    }

    fn names(&self) -> MutexGuard<'_, HashMap<DocId, Uri>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
