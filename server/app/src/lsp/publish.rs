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
use tileperf_syntax::Text;
use tokio::runtime::Handle;
use tower_lsp::ls_types::{PublishDiagnosticsParams, Uri};

use super::convert::Converter;
use super::diagnostics;
use super::idle;
use super::panics::reason;
use super::transport::Outbox;

/// A document whose diagnostics are due.
#[derive(Debug)]
struct Due {
    /// The name under which the client knows it.
    uri: Uri,
    convert: Converter,
    /// Nothing is new but its text, which may be answered already: it is read as it is when its turn
    /// comes.
    typed: bool,
}

/// The documents whose diagnostics are due.
#[derive(Debug)]
pub(super) struct Publisher {
    due: Mutex<HashMap<DocId, Due>>,
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
            answered: HashMap::new(),
        };
        std::thread::Builder::new()
            .name("lsp-publish".into())
            .spawn(move || answers.give(&woken))?;
        Ok(publisher)
    }

    /// Notes that a document was opened or closed, or that something else was found in it.
    pub(super) fn mark(&self, id: DocId, uri: Uri, convert: Converter) {
        self.note(id, uri, convert, false);
    }

    /// Notes that a document's text was changed.
    pub(super) fn typed(&self, id: DocId, uri: Uri, convert: Converter) {
        self.note(id, uri, convert, true);
    }

    fn note(&self, id: DocId, uri: Uri, convert: Converter, typed: bool) {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        let typed = typed && due.get(&id).is_none_or(|known| known.typed);
        due.insert(
            id,
            Due {
                uri,
                convert,
                typed,
            },
        );
        drop(due);
        // One that is waiting to be heard is enough.
        let _ = self.wake.try_send(());
    }

    /// The files of which something was said while they were not open.
    pub(super) fn told(&self) -> HashSet<DocId> {
        (self.told.lock().unwrap_or_else(PoisonError::into_inner)).clone()
    }

    /// The documents to answer next: all that are open, else one that is not.
    fn next(&self, engine: &Engine) -> Vec<(DocId, Due)> {
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
    /// The text of each open document that was answered last, with its version.
    answered: HashMap<DocId, (i32, Text)>,
}

impl Answers {
    fn give(mut self, woken: &Receiver<()>) {
        while woken.recv().is_ok() {
            while let Some(publisher) = self.publisher.upgrade() {
                let due = publisher.next(&self.engine);
                if due.is_empty() {
                    break;
                }
                for (id, due) in due {
                    if due.typed && self.is_answered(&id) {
                        continue;
                    }
                    self.publish(&publisher, &id, due.uri, &due.convert);
                    self.engine.tidy(&id);
                    self.check_links(publisher.clone(), id, due.convert);
                }
            }
        }
    }

    fn is_answered(&self, id: &DocId) -> bool {
        match (self.answered.get(id), self.engine.text(id)) {
            (Some((version, text)), Some((now, new))) => {
                *version == now && text.as_str() == new.as_str()
            }
            _ => false,
        }
    }

    /// Publishes a document's diagnostics with the version that was analysed. Those of a document that is
    /// not open have no version.
    fn publish(&mut self, publisher: &Publisher, id: &DocId, uri: Uri, convert: &Converter) {
        let mut of = self.engine.text(id);
        let mut diagnostics = Vec::new();
        if self.engine.is_awake() {
            // The analysis is what diagnostics come from; lenses and hints find it done.
            let look = AssertUnwindSafe(|| diagnostics::of(&self.engine, convert, id));
            match catch_unwind(look) {
                Ok(found) => {
                    of = found.of.or(of);
                    diagnostics = found.diagnostics;
                }
                Err(panic) => tracing::error!("diagnostics: {}", reason(&*panic)),
            }
            if of.is_none() && !diagnostics.is_empty() {
                let told = publisher.told.lock();
                (told.unwrap_or_else(PoisonError::into_inner)).insert(id.clone());
            }
        }
        let version = of.as_ref().map(|(version, _)| *version);
        match of {
            Some(of) => self.answered.insert(id.clone(), of),
            None => self.answered.remove(id),
        };
        let params = PublishDiagnosticsParams::new(uri, diagnostics, version);
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
