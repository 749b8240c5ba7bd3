//! Requests that exist only when the environment says `TILEPERF_TEST_HOOKS=1`: they bring about on
//! demand what the robustness tests need and no honest request does reliably.

use std::time::Duration;

use serde::Deserialize;
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::ConfigurationParams;
use tower_lsp::ls_types::request::WorkspaceConfiguration;
use tower_lsp::{LspServiceBuilder, jsonrpc};

use crate::lsp::pool;
use crate::lsp::server::Server;

/// Adds the hooks to a service.
pub(in crate::lsp) fn register(service: LspServiceBuilder<Server>) -> LspServiceBuilder<Server> {
    tracing::warn!("test hooks are on");
    service
        .custom_method("tileperf/test/sleep", sleep)
        .custom_method("tileperf/test/panic", panic)
        .custom_method("tileperf/test/panicNotification", panic_notification)
        .custom_method("tileperf/test/ask", ask)
}

#[derive(Debug, Deserialize)]
struct Sleep {
    milliseconds: u64,
    /// On a thread of the pool, as heavy work does, instead of as a waiting task.
    #[serde(default)]
    busy: bool,
}

/// Answers after a while.
async fn sleep(_: &Server, params: Sleep) -> Result<u64> {
    let time = Duration::from_millis(params.milliseconds);
    if params.busy {
        pool::run(move || std::thread::sleep(time)).await?;
    } else {
        tokio::time::sleep(time).await;
    }
    Ok(params.milliseconds)
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PanicAt {
    /// Before the handler's first wait.
    Start,
    /// After it.
    Later,
    /// On the pool.
    Pool,
}

#[derive(Debug, Deserialize)]
struct Panic {
    at: PanicAt,
}

/// Panics.
async fn panic(_: &Server, params: Panic) -> Result<()> {
    match params.at {
        PanicAt::Start => panic!("asked to panic"),
        PanicAt::Later => {
            tokio::time::sleep(Duration::from_millis(5)).await;
            panic!("asked to panic")
        }
        PanicAt::Pool => pool::run(|| panic!("asked to panic")).await,
    }
}

#[derive(Debug, Deserialize)]
struct NoParams {}

/// Panics while a notification is handled.
async fn panic_notification(_: &Server, _: NoParams) {
    panic!("asked to panic")
}

#[derive(Debug, Deserialize)]
struct Ask {
    count: usize,
}

/// Asks the client `count` questions and answers without waiting for replies: with how many of them
/// were really asked.
async fn ask(server: &Server, params: Ask) -> jsonrpc::Result<usize> {
    let asked = (0..params.count).filter(|_| {
        let question = ConfigurationParams { items: Vec::new() };
        server
            .questions
            .ask::<WorkspaceConfiguration>(question, |answer| {
                tracing::debug!("the client answered: {answer:?}");
            })
    });
    Ok(asked.count())
}
