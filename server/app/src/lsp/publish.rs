//! Pushed diagnostics: every change is answered, the newest version wins.
//!
//! Notification handlers only note which document has changed. One task answers: while it works or
//! the client is slow to read, further changes of a document fold into one, so a burst costs one
//! answer at its end and nothing is ever queued twice.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tileperf_engine::{DocId, Engine};
use tokio::sync::Notify;
use tower_lsp::Client;
use tower_lsp::ls_types::Uri;

use super::pool;

/// The documents whose diagnostics are due, with the names under which the client knows them.
#[derive(Debug, Default)]
pub(super) struct Publisher {
    due: Mutex<HashMap<DocId, Uri>>,
    wake: Notify,
}

impl Publisher {
    /// Starts answering, for as long as the runtime lives.
    pub(super) fn start(engine: Engine, client: Client) -> Arc<Self> {
        let publisher = Arc::new(Self::default());
        let this = Arc::clone(&publisher);
        tokio::spawn(async move {
            loop {
                this.wake.notified().await;
                let due =
                    std::mem::take(&mut *this.due.lock().unwrap_or_else(PoisonError::into_inner));
                for (id, uri) in due {
                    publish(&engine, &client, id, uri).await;
                }
            }
        });
        publisher
    }

    /// Notes that a document was opened, changed or closed.
    pub(super) fn mark(&self, id: DocId, uri: Uri) {
        self.due
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id, uri);
        self.wake.notify_one();
    }
}

/// Publishes a document's diagnostics with the version that was analysed. A closed document gets an
/// empty list without a version.
async fn publish(engine: &Engine, client: &Client, id: DocId, uri: Uri) {
    let open = engine.text(&id).map(|(version, _)| version);
    let version = match open {
        Some(version) if engine.is_awake() => {
            let engine = engine.clone();
            // The analysis is what diagnostics come from; lenses and hints find it done.
            let analysed = pool::caught("diagnostics", move || Some(engine.analyzed(&id)?.version));
            Some(analysed.await.flatten().unwrap_or(version))
        }
        open => open,
    };
    client.publish_diagnostics(uri, Vec::new(), version).await;
}
