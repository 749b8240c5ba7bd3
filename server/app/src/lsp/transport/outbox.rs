//! The way out: one queue and one thread that writes it.
//!
//! A client that stops reading blocks that thread and nothing else. The queue is bounded; senders
//! wait for room as tasks, so a stuck client costs the memory of a full queue and no more.

use std::io::Write;
use std::sync::mpsc as blocking;
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
#[derive(Debug, Clone)]
pub(in super::super) struct Outbox {
    queue: mpsc::Sender<Outgoing>,
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
        std::thread::Builder::new()
            .name("lsp-write".into())
            .spawn(move || {
                if let Err(error) = write_all(waiting, sink) {
                    tracing::info!("the client no longer reads: {error}");
                    let _ = failed.send(());
                }
            })?;
        Ok((Self { queue }, failure))
    }

    /// Queues a response. Does nothing once the client is gone.
    pub(super) async fn answer(&self, response: Response) {
        let _ = self.queue.send(Outgoing::Answer(response)).await;
    }

    /// Queues a response at once, or hands it back when the queue is full.
    pub(super) fn try_answer(&self, response: Response) -> Result<(), Response> {
        match self.queue.try_send(Outgoing::Answer(response)) {
            Err(mpsc::error::TrySendError::Full(Outgoing::Answer(response))) => Err(response),
            _ => Ok(()),
        }
    }

    /// Queues a notification or a question to the client.
    pub(super) async fn call(&self, request: Request) {
        let _ = self.queue.send(Outgoing::Call(request)).await;
    }

    /// Queues a document's diagnostics.
    pub(in super::super) async fn publish(&self, params: PublishDiagnosticsParams) {
        let _ = self.queue.send(Outgoing::Diagnostics(params.into())).await;
    }

    /// The same from a thread that may block: straight from where they were found.
    pub(in super::super) fn publish_blocking(&self, params: PublishDiagnosticsParams) {
        let _ = (self.queue).blocking_send(Outgoing::Diagnostics(params.into()));
    }

    /// Blocks until all that is queued is written, at most for `limit`.
    pub(super) fn flush(&self, limit: Duration) {
        let (written, wait) = blocking::sync_channel(1);
        if self.queue.try_send(Outgoing::Flush(written)).is_ok() {
            let _ = wait.recv_timeout(limit);
        }
    }
}

fn write_all(mut waiting: mpsc::Receiver<Outgoing>, mut sink: impl Write) -> std::io::Result<()> {
    let mut batch = Vec::new();
    while let Some(first) = waiting.blocking_recv() {
        let mut flushed = Vec::new();
        let mut next = Some(first);
        while let Some(message) = next {
            match message {
                Outgoing::Flush(written) => flushed.push(written),
                message => frame(&message, &mut batch),
            }
            next = if batch.len() < BATCH_BYTES {
                waiting.try_recv().ok()
            } else {
                None
            };
        }
        sink.write_all(&batch)?;
        sink.flush()?;
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
