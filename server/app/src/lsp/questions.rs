//! Questions of the server to the client: asked, never waited for.
//!
//! A client may answer late or never. A question is therefore a task of its own with a deadline,
//! there is room for a limited number of them, and what to do with the answer is handed over when
//! the question is asked.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tower_lsp::Client;
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::request::{Request, ShowMessageRequest};
use tower_lsp::ls_types::{MessageActionItem, MessageType, ShowMessageRequestParams};

/// Questions that may be open.
const LIMIT: usize = 64;
/// After this long, no answer is expected any more.
const DEADLINE: Duration = Duration::from_secs(60);
/// A person may be at lunch.
const DEADLINE_OF_PEOPLE: Duration = Duration::from_secs(4 * 60 * 60);

/// Asks the client; cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Questions {
    client: Client,
    slots: Arc<Semaphore>,
}

impl Questions {
    /// Questions to `client`.
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            slots: Arc::new(Semaphore::new(LIMIT)),
        }
    }

    /// Asks without waiting. `then` gets the answer; it is not called when none comes in time. Says
    /// whether the client was asked at all: not while it leaves too many questions open.
    pub(super) fn ask<R: Request>(
        &self,
        question: R::Params,
        then: impl FnOnce(Result<R::Result>) + Send + 'static,
    ) -> bool
    where
        R::Params: Send + 'static,
        R::Result: Send,
    {
        self.ask_within::<R>(DEADLINE, question, then)
    }

    /// Shows a message with buttons. `then` gets the title of the one that was pressed; it is not
    /// called when none was.
    pub(super) fn ask_person(
        &self,
        kind: MessageType,
        message: String,
        buttons: &[&str],
        then: impl FnOnce(&str) + Send + 'static,
    ) -> bool {
        let action = |title: &&str| MessageActionItem {
            title: (*title).to_owned(),
            properties: HashMap::new(),
        };
        let question = ShowMessageRequestParams {
            typ: kind,
            message,
            actions: Some(buttons.iter().map(action).collect()),
        };
        let answered = |answer: Result<Option<MessageActionItem>>| match answer {
            Ok(Some(pressed)) => then(&pressed.title),
            Ok(None) => {}
            Err(error) => tracing::warn!("the client shows no question: {error}"),
        };
        self.ask_within::<ShowMessageRequest>(DEADLINE_OF_PEOPLE, question, answered)
    }

    fn ask_within<R: Request>(
        &self,
        deadline: Duration,
        question: R::Params,
        then: impl FnOnce(Result<R::Result>) + Send + 'static,
    ) -> bool
    where
        R::Params: Send + 'static,
        R::Result: Send,
    {
        let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned() else {
            tracing::warn!(
                "{} not asked: the client leaves {LIMIT} questions open",
                R::METHOD
            );
            return false;
        };
        let client = self.client.clone();
        tokio::spawn(async move {
            match tokio::time::timeout(deadline, client.send_request::<R>(question)).await {
                Ok(answer) => then(answer),
                Err(_) => tracing::warn!("the client does not answer {}", R::METHOD),
            }
            drop(slot);
        });
        true
    }
}
