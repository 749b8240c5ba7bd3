//! The adapter between standard input and output and the protocol library's service.
//!
//! The library's own loop polls every handler in one task with four slots, passes client replies
//! and cancellations through the same queue as work, catches no panic and waits for standard input
//! to end before it lets the process go. This one drives the same service so that:
//!
//! - notifications take effect at once, in arrival order: a handler is polled once, to its end, and
//!   cannot wait for anything, least of all for the client;
//! - a request sees the documents as they were when it arrived: its handler runs up to its first
//!   wait before the next message is read, then continues as a task among hundreds;
//! - every request gets exactly one response, also when its handler panics or is cancelled;
//! - whatever the client sends, does not answer or does not read, the loop goes on, in bounded
//!   memory, and the process ends with the protocol's exit code as soon as it is told to, its input
//!   ends or its editor dies.
//!
//! Reading and writing block, so each has a thread; everything between is one task on one thread,
//! and heavy work goes to [`super::pool`].

mod framing;
mod message;
mod outbox;
mod parent;

use std::any::Any;
use std::future::Future;
use std::io::{self, BufReader, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::FutureExt;
use futures::{SinkExt, StreamExt};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tower::Service;
use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Request, Response};
use tower_lsp::{ClientSocket, ExitedError};

use super::lenient;
use super::panics::reason;
use framing::{Frame, FrameReader};
use message::Message;
pub(super) use outbox::Outbox;

/// Messages read ahead of the loop.
const READ_AHEAD: usize = 64;
/// Requests that may be under way; more are refused until some are answered.
const REQUEST_LIMIT: usize = 1024;
/// How long a client that is slow to read may delay the end of the process.
const FLUSH_LIMIT: Duration = Duration::from_millis(500);

/// The protocol's code for a request before `initialize`.
const NOT_INITIALIZED: i64 = -32002;

/// Serves one client until it leaves, or can no longer be written to; returns the process's exit
/// code.
///
/// # Errors
/// A thread cannot be started.
pub(super) async fn serve<S>(
    service: S,
    socket: ClientSocket,
    input: impl Read + Send + 'static,
    outbox: Outbox,
    mut write_failed: oneshot::Receiver<()>,
) -> io::Result<u8>
where
    S: Service<Request, Response = Option<Response>, Error = ExitedError>,
    S::Future: Send + 'static,
{
    let mut incoming = start_reading(input)?;
    let (mut questions, mut replies) = socket.split();
    let forward = outbox.clone();
    tokio::spawn(async move {
        while let Some(request) = questions.next().await {
            forward.call(request).await;
        }
    });

    let mut connection = Connection {
        service,
        outbox: outbox.clone(),
        phase: Phase::Fresh,
        slots: Arc::new(Semaphore::new(REQUEST_LIMIT)),
    };
    let mut parent: Pin<Box<dyn Future<Output = ()>>> = Box::pin(futures::future::pending());
    loop {
        let message = tokio::select! {
            biased;
            () = &mut parent => {
                tracing::info!("the editor's process is gone; leaving");
                break;
            }
            Ok(()) = &mut write_failed => break,
            message = incoming.recv() => message,
        };
        match message {
            None => {
                tracing::info!("end of input; leaving");
                break;
            }
            Some(Message::Reply(reply)) => {
                let _ = replies.send(reply).await;
            }
            Some(Message::Invalid(response)) => outbox.answer(response).await,
            Some(Message::Call(call)) if call.method() == "exit" && call.id().is_none() => break,
            Some(Message::Call(call)) => {
                let editor = editor_process(&call);
                connection.receive(lenient::understood(call)).await;
                if let (Phase::Running, Some(id)) = (connection.phase, editor) {
                    parent = Box::pin(parent::gone(id));
                }
            }
        }
    }
    outbox.flush(FLUSH_LIMIT);
    Ok(if connection.phase == Phase::ShutDown {
        0
    } else {
        1
    })
}

/// The `processId` of an `initialize` request.
fn editor_process(call: &Request) -> Option<i64> {
    (call.method() == "initialize")
        .then(|| call.params()?.get("processId")?.as_i64())
        .flatten()
}

/// Starts the reading thread. The receiver ends with the input.
fn start_reading(input: impl Read + Send + 'static) -> io::Result<mpsc::Receiver<Message>> {
    let (sender, incoming) = mpsc::channel(READ_AHEAD);
    std::thread::Builder::new()
        .name("lsp-read".into())
        .spawn(move || {
            let mut frames = FrameReader::new(BufReader::with_capacity(64 << 10, input));
            loop {
                let message = match frames.next() {
                    Ok(None) => return,
                    Err(error) => {
                        tracing::warn!("the input cannot be read: {error}");
                        return;
                    }
                    Ok(Some(Frame::Body(body))) => message::parse(&body),
                    Ok(Some(Frame::Broken(error))) => {
                        tracing::warn!("{error}; looking for the next message");
                        let answer = Error {
                            message: error.to_string().into(),
                            ..Error::parse_error()
                        };
                        Message::Invalid(Response::from_error(Id::Null, answer))
                    }
                };
                if matches!(message, Message::Invalid(_)) {
                    frames.distrust();
                }
                if sender.blocking_send(message).is_err() {
                    return;
                }
            }
        })?;
    Ok(incoming)
}

/// Where the session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Before a successful `initialize`.
    Fresh,
    Running,
    /// After `shutdown`; only `exit` is left to say.
    ShutDown,
}

struct Connection<S> {
    service: S,
    outbox: Outbox,
    phase: Phase,
    slots: Arc<Semaphore>,
}

impl<S> Connection<S>
where
    S: Service<Request, Response = Option<Response>, Error = ExitedError>,
    S::Future: Send + 'static,
{
    /// Takes a request or a notification. Returns once it has taken effect on the server's state.
    async fn receive(&mut self, call: Request) {
        match (call.id().cloned(), self.phase) {
            (None, Phase::Running) => self.notify(call),
            (None, _) => tracing::debug!("ignored outside a session: {}", call.method()),
            (Some(id), Phase::Fresh) if call.method() != "initialize" => {
                let mut error = Error::new(ErrorCode::ServerError(NOT_INITIALIZED));
                error.message = "Server not initialized".into();
                self.outbox.answer(Response::from_error(id, error)).await;
            }
            (Some(id), Phase::ShutDown) => {
                let mut error = Error::invalid_request();
                error.message = "The server is shut down".into();
                self.outbox.answer(Response::from_error(id, error)).await;
            }
            (Some(id), _) => self.request(id, call).await,
        }
    }

    fn notify(&mut self, call: Request) {
        let method = call.method().to_owned();
        let handled = catch_unwind(AssertUnwindSafe(|| self.service.call(call).now_or_never()));
        match handled {
            Ok(Some(_)) => {}
            Ok(None) => tracing::error!("bug: the handler of {method} waited and was dropped"),
            Err(panic) => tracing::error!("the handler of {method} panicked: {}", reason(&*panic)),
        }
    }

    async fn request(&mut self, id: Id, call: Request) {
        let method = call.method().to_owned();
        let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned() else {
            let mut error = Error::internal_error();
            error.message = format!("more than {REQUEST_LIMIT} requests at once").into();
            return self.outbox.answer(Response::from_error(id, error)).await;
        };
        let handling = match catch_unwind(AssertUnwindSafe(|| self.service.call(call))) {
            Ok(future) => AssertUnwindSafe(future).catch_unwind(),
            Err(panic) => {
                let response = into_response(id, &method, Err(panic));
                return self.outbox.answer(response).await;
            }
        };
        let (answer_to, name) = (id, method.clone());
        let mut response =
            Box::pin(handling.map(move |outcome| into_response(answer_to, &name, outcome)));
        let outbox = self.outbox.clone();
        match poll_once(&mut response) {
            Poll::Ready(response) => {
                match (method.as_str(), response.is_ok()) {
                    ("initialize", true) => self.phase = Phase::Running,
                    ("shutdown", true) => self.phase = Phase::ShutDown,
                    _ => {}
                }
                // A full queue must not keep the loop from cancellations and `exit`.
                if let Err(response) = outbox.try_answer(response) {
                    tokio::spawn(async move {
                        outbox.answer(response).await;
                        drop(slot);
                    });
                }
            }
            Poll::Pending => {
                tokio::spawn(async move {
                    outbox.answer(response.await).await;
                    drop(slot);
                });
            }
        }
    }
}

/// Runs a future up to its first wait. The caller hands one that is not done to the runtime, whose
/// first poll registers the real waker.
fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    future.poll_unpin(&mut Context::from_waker(std::task::Waker::noop()))
}

/// The one response to a request, whatever its handler did.
fn into_response(
    id: Id,
    method: &str,
    outcome: Result<Result<Option<Response>, ExitedError>, Box<dyn Any + Send>>,
) -> Response {
    match outcome {
        Ok(Ok(Some(response))) => response,
        // The library drops requests whose name starts with `$/`; the protocol wants them refused.
        Ok(Ok(None)) => Response::from_error(id, Error::method_not_found()),
        Ok(Err(ExitedError { .. })) => Response::from_error(id, Error::invalid_request()),
        Err(panic) => {
            let reason = reason(&*panic);
            tracing::error!("the handler of {method} panicked: {reason}");
            let mut error = Error::internal_error();
            error.message = format!("{method} failed: {reason}").into();
            Response::from_error(id, error)
        }
    }
}
