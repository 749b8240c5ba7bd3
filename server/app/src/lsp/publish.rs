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

use super::convert::Converter;
use super::{diagnostics, pool};

/// The documents whose diagnostics are due, with the names under which the client knows them.
#[derive(Debug, Default)]
pub(super) struct Publisher {
    due: Mutex<HashMap<DocId, (Uri, Converter)>>,
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
                for (id, (uri, convert)) in due {
                    publish(&engine, &client, id, uri, convert).await;
                }
            }
        });
        publisher
    }

    /// Notes that a document was opened, changed or closed, or that something else was found in it.
    pub(super) fn mark(&self, id: DocId, uri: Uri, convert: Converter) {
        self.due
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id, (uri, convert));
        self.wake.notify_one();
    }
}

/// Publishes a document's diagnostics with the version that was analysed. Those of a document that is
/// not open have no version.
async fn publish(engine: &Engine, client: &Client, id: DocId, uri: Uri, convert: Converter) {
    let open = engine.text(&id).map(|(version, _)| version);
    let (version, found) = if engine.is_awake() {
        let engine = engine.clone();
        let analysed = pool::caught("diagnostics", move || {
            // The analysis is what diagnostics come from; lenses and hints find it done.
            let version = engine.analyzed(&id).map(|analysed| analysed.version);
            (version, diagnostics::of(&engine, &convert, &id))
        });
        let (version, found) = analysed.await.unwrap_or_default();
        (version.or(open), found)
    } else {
        (open, Vec::new())
    };
    client.publish_diagnostics(uri, found, version).await;
}
