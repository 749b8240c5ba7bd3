//! Messages to the user, each once.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use tower_lsp::Client;
use tower_lsp::ls_types::MessageType;

/// Shows messages; cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Notices {
    client: Client,
    shown: Arc<Mutex<HashSet<String>>>,
}

impl Notices {
    /// Messages in the windows of `client`.
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            shown: Arc::default(),
        }
    }

    /// Shows a warning that was not shown before; does not wait for it to be sent.
    pub(super) fn warn(&self, text: &str) {
        let new = self
            .shown
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(text.to_owned());
        if new {
            tracing::warn!("{text}");
            let (client, text) = (self.client.clone(), format!("tileperf: {text}"));
            tokio::spawn(async move { client.show_message(MessageType::WARNING, text).await });
        }
    }
}
