//! Asking the client to ask again.
//!
//! One request of a kind at a time: while the client has not answered, more wishes fold into one.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tower_lsp::Client;
use tower_lsp::ls_types::request::{
    CodeLensRefresh, InlayHintRefreshRequest, Request, WorkspaceDiagnosticRefresh,
};

use super::server::Server;

/// After this long without an answer to a refresh, the next one is sent.
const PATIENCE: Duration = Duration::from_secs(60);

/// Wishes that the client ask again; cheap to clone. A client that cannot be told is not.
#[derive(Debug, Clone)]
pub(super) struct Refresh {
    lenses: Option<Arc<Notify>>,
    hints: Option<Arc<Notify>>,
    diagnostics: Option<Arc<Notify>>,
}

impl Refresh {
    /// For the client of a server.
    pub(super) fn start(server: &Server) -> Self {
        let client = &server.client;
        let session = server.session();
        let lenses = session.is_some_and(|session| session.refreshes_lenses);
        let hints = session.is_some_and(|session| session.refreshes_hints);
        let pulls = session.is_some_and(|s| s.refreshes_diagnostics && s.pulls_diagnostics);
        Self {
            lenses: lenses.then(|| asking::<CodeLensRefresh>(client)),
            hints: hints.then(|| asking::<InlayHintRefreshRequest>(client)),
            diagnostics: pulls.then(|| asking::<WorkspaceDiagnosticRefresh>(client)),
        }
    }

    /// Lenses have changed.
    pub(super) fn lenses(&self) {
        self.lenses.iter().for_each(|wish| wish.notify_one());
    }

    /// Inlay hints have changed.
    pub(super) fn hints(&self) {
        self.hints.iter().for_each(|wish| wish.notify_one());
    }

    /// Diagnostics have changed, for a client that asks for them.
    pub(super) fn diagnostics(&self) {
        self.diagnostics.iter().for_each(|wish| wish.notify_one());
    }
}

/// A task that asks whenever there is a wish.
fn asking<R>(client: &Client) -> Arc<Notify>
where
    R: Request<Params = (), Result = ()> + 'static,
{
    let wish = Arc::new(Notify::new());
    let (client, wished) = (client.clone(), Arc::clone(&wish));
    tokio::spawn(async move {
        loop {
            wished.notified().await;
            let asked = client.send_request::<R>(());
            let _ = tokio::time::timeout(PATIENCE, asked).await;
        }
    });
    wish
}
