//! Pushed diagnostics: every change is answered, the newest version wins.
//!
//! Notification handlers only note which document has changed. One task answers: while it works or
//! the client is slow to read, further changes of a document fold into one, so a burst costs one
//! answer at its end and nothing is ever queued twice.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;
use tower_lsp::Client;
use tower_lsp::ls_types::Uri;

use super::store::{DocId, Store};

/// The documents whose diagnostics are due, with the names under which the client knows them.
#[derive(Debug, Default)]
pub(super) struct Publisher {
    due: Mutex<HashMap<DocId, Uri>>,
    wake: Notify,
}

impl Publisher {
    /// Notes that a document was opened, changed or closed.
    pub(super) fn mark(&self, id: DocId, uri: Uri) {
        self.due
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id, uri);
        self.wake.notify_one();
    }

    /// Answers until the runtime ends.
    pub(super) async fn run(&self, documents: &Store, client: &Client) {
        loop {
            self.wake.notified().await;
            let due = std::mem::take(&mut *self.due.lock().unwrap_or_else(PoisonError::into_inner));
            for (id, uri) in due {
                // A closed document gets an empty list without a version.
                let version = documents.document(&id).map(|document| document.version);
                client.publish_diagnostics(uri, Vec::new(), version).await;
            }
        }
    }
}
