//! Pushed diagnostics: every change is answered, the newest version wins.
//!
//! Notification handlers only note which document has changed. One thread answers, always the same:
//! what it looked at is still near the processor when the next key is struck. While it works or the
//! client is slow to read, further changes of a document fold into one, so a burst costs one answer at
//! its end and nothing is ever queued twice. Files that are not open wait for documents that are.

use std::collections::{HashMap, HashSet};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tileperf_engine::{DocId, Engine};
use tokio::runtime::Handle;
use tower_lsp::ls_types::{PublishDiagnosticsParams, Uri};

use super::convert::Converter;
use super::diagnostics;
use super::idle;
use super::panics::reason;
use super::transport::Outbox;

/// The documents whose diagnostics are due, with the names under which the client knows them.
#[derive(Debug)]
pub(super) struct Publisher {
    due: Mutex<HashMap<DocId, (Uri, Converter)>>,
    /// Files of which something was said while they were not open.
    told: Mutex<HashSet<DocId>>,
    wake: SyncSender<()>,
}

impl Publisher {
    /// Starts answering, for as long as the publisher is held. What is looked at later runs on the
    /// present runtime.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn start(engine: Engine, outbox: Outbox) -> io::Result<Arc<Self>> {
        let (wake, woken) = sync_channel(1);
        let publisher = Arc::new(Self {
            due: Mutex::default(),
            told: Mutex::default(),
            wake,
        });
        let answers = Answers {
            publisher: Arc::downgrade(&publisher),
            engine,
            outbox,
            runtime: Handle::current(),
        };
        std::thread::Builder::new()
            .name("lsp-publish".into())
            .spawn(move || answers.give(&woken))?;
        Ok(publisher)
    }

    /// Notes that a document was opened, changed or closed, or that something else was found in it.
    pub(super) fn mark(&self, id: DocId, uri: Uri, convert: Converter) {
        self.due
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id, (uri, convert));
        // One that is waiting to be heard is enough.
        let _ = self.wake.try_send(());
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
}

/// The thread that answers.
struct Answers {
    publisher: Weak<Publisher>,
    engine: Engine,
    outbox: Outbox,
    runtime: Handle,
}

impl Answers {
    fn give(self, woken: &Receiver<()>) {
        while woken.recv().is_ok() {
            while let Some(publisher) = self.publisher.upgrade() {
                let due = publisher.next(&self.engine);
                if due.is_empty() {
                    break;
                }
                for (id, (uri, convert)) in due {
                    self.publish(&publisher, &id, uri, &convert);
                    self.check_links(publisher.clone(), id, convert);
                }
            }
        }
    }

    /// Publishes a document's diagnostics with the version that was analysed. Those of a document that is
    /// not open have no version.
    fn publish(&self, publisher: &Publisher, id: &DocId, uri: Uri, convert: &Converter) {
        let open = self.engine.text(id).map(|(version, _)| version);
        let mut params = PublishDiagnosticsParams::new(uri, Vec::new(), open);
        if self.engine.is_awake() {
            // The analysis is what diagnostics come from; lenses and hints find it done.
            let look = AssertUnwindSafe(|| diagnostics::of(&self.engine, convert, id));
            match catch_unwind(look) {
                Ok(found) => {
                    params.version = found.version.or(open);
                    params.diagnostics = found.diagnostics;
                }
                Err(panic) => tracing::error!("diagnostics: {}", reason(&*panic)),
            }
            if params.version.is_none() && !params.diagnostics.is_empty() {
                let told = publisher.told.lock();
                (told.unwrap_or_else(PoisonError::into_inner)).insert(id.clone());
            }
        }
        self.outbox.publish(params);
    }

    /// Looks, once nothing is typed, whether other files add something, or this one adds something to
    /// others, and answers again then.
    fn check_links(&self, publisher: Arc<Publisher>, id: DocId, convert: Converter) {
        let _within = self.runtime.enter();
        idle::check_links(self.engine.clone(), id, move |doc| {
            if let Some(uri) = convert.uri(&doc) {
                publisher.mark(doc, uri, convert.clone());
            }
        });
    }
}
