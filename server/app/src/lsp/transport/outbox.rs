//! The way out: one queue and one thread that writes it.
//!
//! A client that stops reading blocks that thread and nothing else. The queue is bounded; senders
//! wait for room as tasks, so a stuck client costs the memory of a full queue and no more. Diagnostics,
//! which come from a thread that may block, are written by it when nothing else waits: handing them on
//! would cost every keystroke the waking of another thread.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError, mpsc as blocking};
use std::time::Duration;

use serde::Serialize;
use tokio::sync::{mpsc, oneshot};
use tower_lsp::jsonrpc::{Request, Response};
use tower_lsp::ls_types::PublishDiagnosticsParams;
use tower_lsp::ls_types::notification::{Notification, PublishDiagnostics};

/// Messages that may wait for the client to read.
const QUEUED_MESSAGES: usize = 1024;
/// Bytes written at once when several messages wait.
const BATCH_BYTES: usize = 64 << 10;

/// A message to the client.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Outgoing {
    Answer(Response),
    /// A notification or a question.
    Call(Request),
    /// The one large message that every keystroke makes: written from its types, without a tree of
    /// JSON values in between.
    Diagnostics(Published),
    #[serde(skip)]
    Flush(blocking::SyncSender<()>),
}

#[derive(Debug, Serialize)]
struct Published {
    jsonrpc: &'static str,
    method: &'static str,
    params: PublishDiagnosticsParams,
}

impl From<PublishDiagnosticsParams> for Published {
    fn from(params: PublishDiagnosticsParams) -> Self {
        Self {
            jsonrpc: "2.0",
            method: PublishDiagnostics::METHOD,
            params,
        }
    }
}

/// Sends messages to the client; cheap to clone.
#[derive(Clone)]
pub(in super::super) struct Outbox {
    queue: mpsc::Sender<Outgoing>,
    sink: Sink,
}

/// Where messages are written, by one thread at a time.
#[derive(Clone)]
struct Sink {
    file: Arc<Mutex<dyn Write + Send>>,
    /// Messages that are queued and not written yet.
    queued: Arc<AtomicUsize>,
}

impl std::fmt::Debug for Outbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outbox").finish_non_exhaustive()
    }
}

impl Outbox {
    /// Starts the writing thread. The receiver resolves when `sink` can no longer be written.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(in super::super) fn start(
        sink: impl Write + Send + 'static,
    ) -> std::io::Result<(Self, oneshot::Receiver<()>)> {
        let (queue, waiting) = mpsc::channel(QUEUED_MESSAGES);
        let (failed, failure) = oneshot::channel();
        let sink = Sink {
            file: Arc::new(Mutex::new(sink)),
            queued: Arc::default(),
        };
        let shared = sink.clone();
        std::thread::Builder::new()
            .name("lsp-write".into())
            .spawn(move || {
                if let Err(error) = write_all(waiting, &shared) {
                    tracing::info!("the client no longer reads: {error}");
                    let _ = failed.send(());
                }
            })?;
        Ok((Self { queue, sink }, failure))
    }

    /// Queues a response. Does nothing once the client is gone.
    pub(super) async fn answer(&self, response: Response) {
        self.queue(Outgoing::Answer(response)).await;
    }

    /// Queues a response at once, or hands it back when the queue is full.
    pub(super) fn try_answer(&self, response: Response) -> Result<(), Response> {
        match self.queue.try_reserve() {
            Ok(room) => {
                self.put(room, Outgoing::Answer(response));
                Ok(())
            }
            Err(mpsc::error::TrySendError::Full(())) => Err(response),
            Err(mpsc::error::TrySendError::Closed(())) => Ok(()),
        }
    }

    /// Queues a notification or a question to the client.
    pub(super) async fn call(&self, request: Request) {
        self.queue(Outgoing::Call(request)).await;
    }

    async fn queue(&self, message: Outgoing) {
        if let Ok(room) = self.queue.reserve().await {
            self.put(room, message);
        }
    }

    /// Counts a message before anybody can have written it.
    fn put(&self, room: mpsc::Permit<'_, Outgoing>, message: Outgoing) {
        self.sink.queued.fetch_add(1, Ordering::AcqRel);
        room.send(message);
    }

    /// Sends a document's diagnostics, from a thread that may block.
    pub(in super::super) fn publish(&self, params: PublishDiagnosticsParams) {
        let message = Outgoing::Diagnostics(params.into());
        if self.sink.is_written(&message) {
            return;
        }
        self.sink.queued.fetch_add(1, Ordering::AcqRel);
        if self.queue.blocking_send(message).is_err() {
            self.sink.queued.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Blocks until all that is queued is written, at most for `limit`.
    pub(super) fn flush(&self, limit: Duration) {
        let (written, wait) = blocking::sync_channel(1);
        if self.queue.try_send(Outgoing::Flush(written)).is_ok() {
            let _ = wait.recv_timeout(limit);
        }
    }
}

impl Sink {
    /// Writes a message at once if none waits to be written: an older one about the same document might
    /// be among them. What cannot be written is left to the thread that tells of it.
    fn is_written(&self, message: &Outgoing) -> bool {
        if self.queued.load(Ordering::Acquire) > 0 {
            return false;
        }
        let mut file = match self.file.try_lock() {
            Ok(file) => file,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        let mut bytes = Vec::new();
        frame(message, &mut bytes);
        file.write_all(&bytes).and_then(|()| file.flush()).is_ok()
    }
}

fn write_all(mut waiting: mpsc::Receiver<Outgoing>, sink: &Sink) -> std::io::Result<()> {
    let mut batch = Vec::new();
    while let Some(first) = waiting.blocking_recv() {
        let mut flushed = Vec::new();
        let mut messages = 0;
        let mut next = Some(first);
        while let Some(message) = next {
            match message {
                Outgoing::Flush(written) => flushed.push(written),
                message => {
                    messages += 1;
                    frame(&message, &mut batch);
                }
            }
            next = if batch.len() < BATCH_BYTES {
                waiting.try_recv().ok()
            } else {
                None
            };
        }
        let mut file = sink.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&batch)?;
        file.flush()?;
        drop(file);
        sink.queued.fetch_sub(messages, Ordering::AcqRel);
        batch.clear();
        batch.shrink_to(BATCH_BYTES);
        for written in flushed {
            let _ = written.try_send(());
        }
    }
    Ok(())
}

/// Appends a message with its header.
fn frame(message: &Outgoing, batch: &mut Vec<u8>) {
    match serde_json::to_vec(message) {
        Ok(body) => {
            batch.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
            batch.extend_from_slice(&body);
        }
        // Nothing in it is anything else than strings, numbers and JSON values.
        Err(error) => tracing::error!("a message that cannot be written: {error}"),
    }
}
