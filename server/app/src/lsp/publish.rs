//! Pushed diagnostics: every change is answered, the newest version wins.
//!
//! Notification handlers only note which document has changed. One task answers: while it works or
//! the client is slow to read, further changes of a document fold into one, so a burst costs one
//! answer at its end and nothing is ever queued twice. Files that are not open wait for documents
//! that are.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use tileperf_engine::{DocId, Engine};
use tokio::sync::Notify;
use tower_lsp::ls_types::{PublishDiagnosticsParams, Uri};

use super::convert::Converter;
use super::diagnostics;
use super::transport::Outbox;
use super::{idle, pool};

/// The documents whose diagnostics are due, with the names under which the client knows them.
#[derive(Debug, Default)]
pub(super) struct Publisher {
    due: Mutex<HashMap<DocId, (Uri, Converter)>>,
    /// Files of which something was said while they were not open.
    told: Mutex<HashSet<DocId>>,
    wake: Notify,
}

impl Publisher {
    /// Starts answering, for as long as the runtime lives.
    pub(super) fn start(engine: Engine, outbox: Outbox) -> Arc<Self> {
        let publisher = Arc::new(Self::default());
        let this = Arc::clone(&publisher);
        tokio::spawn(async move {
            loop {
                this.wake.notified().await;
                loop {
                    let due = this.next(&engine);
                    if due.is_empty() {
                        break;
                    }
                    for (id, (uri, convert)) in due {
                        let (asked, known) = (id.clone(), convert.clone());
                        this.publish(&engine, &outbox, id, uri, convert).await;
                        this.check_links(&engine, asked, known);
                    }
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

    /// The files of which something was said while they were not open.
    pub(super) fn told(&self) -> HashSet<DocId> {
        (self.told.lock().unwrap_or_else(PoisonError::into_inner)).clone()
    }

    /// The documents to answer next: all that are open, else one that is not.
    fn next(&self, engine: &Engine) -> Vec<(DocId, (Uri, Converter))> {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        let open: Vec<_> = (due.extract_if(|id, _| engine.text(id).is_some())).collect();
        if !open.is_empty() {
            return open;
        }
        let one = due.keys().next().cloned();
        one.and_then(|id| due.remove_entry(&id))
            .into_iter()
            .collect()
    }

    /// Looks, once nothing is typed, whether other files add something, or this one adds something to
    /// others, and answers again then.
    fn check_links(self: &Arc<Self>, engine: &Engine, id: DocId, convert: Converter) {
        let this = Arc::clone(self);
        idle::check_links(engine.clone(), id, move |doc| {
            if let Some(uri) = convert.uri(&doc) {
                this.mark(doc, uri, convert.clone());
            }
        });
    }

    /// Publishes a document's diagnostics with the version that was analysed. Those of a document that is
    /// not open have no version.
    async fn publish(
        self: &Arc<Self>,
        engine: &Engine,
        outbox: &Outbox,
        id: DocId,
        uri: Uri,
        convert: Converter,
    ) {
        let open = engine.text(&id).map(|(version, _)| version);
        let nothing = PublishDiagnosticsParams::new(uri.clone(), Vec::new(), open);
        if !engine.is_awake() {
            return outbox.publish(nothing).await;
        }
        let (this, engine, sink) = (Arc::clone(self), engine.clone(), outbox.clone());
        let work = move || {
            // The analysis is what diagnostics come from; lenses and hints find it done.
            let found = diagnostics::of(&engine, &convert, &id);
            let version = found.version.or(open);
            if version.is_none() && !found.diagnostics.is_empty() {
                (this.told.lock().unwrap_or_else(PoisonError::into_inner)).insert(id);
            }
            // From this thread at once, not by way of the message loop.
            let params = PublishDiagnosticsParams::new(uri, found.diagnostics, version);
            sink.publish_blocking(params);
        };
        if pool::caught("diagnostics", work).await.is_none() {
            outbox.publish(nothing).await;
        }
    }
}
