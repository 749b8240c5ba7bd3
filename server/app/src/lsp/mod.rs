//! The language server: one session with one editor over standard input and output.
//!
//! [`transport`] moves messages, [`lifecycle`] agrees with the client on what is possible,
//! `requests` and `notifications` hold one file per method. A method's file guards, converts from
//! the protocol's types, calls the engine and converts back; [`convert`] is the only place that
//! knows both kinds of types.

mod convert;
mod lenient;
mod lifecycle;
mod notifications;
mod panics;
mod pool;
mod publish;
mod questions;
mod requests;
mod store;
mod transport;

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use anyhow::Context;
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{
    DidChangeTextDocumentParams, DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, DidSaveTextDocumentParams, DocumentDiagnosticParams,
    DocumentDiagnosticReportResult, InitializeParams, InitializeResult, Uri,
};
use tower_lsp::{Client, LanguageServer, LspService};

use lifecycle::Session;
use publish::Publisher;
use questions::Questions;
use store::{DocId, Store};

/// Runs the language server; returns the protocol's exit code.
///
/// # Errors
/// Standard input or output is not usable, or a thread cannot be started.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    panics::log_all();
    let (input, output) = take_stdio().context("standard input and output are not usable")?;
    let runtime = pool::runtime().context("cannot start the runtime")?;
    let code = runtime.block_on(async {
        let mut service = LspService::build(Server::new)
            .custom_method(
                "window/workDoneProgress/cancel",
                notifications::cancel_progress::handle,
            )
            .custom_method("tileperf/documentText", requests::document_text::handle)
            .custom_method("tileperf/serverInfo", requests::server_info::handle);
        if std::env::var_os("TILEPERF_TEST_HOOKS").is_some_and(|value| value == "1") {
            service = requests::test_hooks::register(service);
        }
        let (service, socket) = service.finish();
        transport::serve(service, socket, input, output).await
    })?;
    // Not dropped: that would wait for work still on the pool.
    runtime.shutdown_background();
    Ok(ExitCode::from(code))
}

/// Standard input and output for the protocol alone. What any library prints from here on goes to
/// standard error instead of between two messages.
fn take_stdio() -> io::Result<(File, File)> {
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    Ok((input, output))
}

/// The state of a session, shared by all handlers.
#[derive(Debug)]
pub(crate) struct Server {
    client: Client,
    questions: Questions,
    documents: Arc<Store>,
    publisher: Arc<Publisher>,
    /// Set by `initialize`; no handler runs before it.
    session: OnceLock<Session>,
}

impl Server {
    fn new(client: Client) -> Self {
        let server = Self {
            questions: Questions::new(client.clone()),
            documents: Arc::default(),
            publisher: Arc::default(),
            session: OnceLock::new(),
            client,
        };
        let publisher = Arc::clone(&server.publisher);
        let documents = Arc::clone(&server.documents);
        let client = server.client.clone();
        tokio::spawn(async move { publisher.run(&documents, &client).await });
        server
    }

    /// Notes that a document was opened, changed or closed, for a client that diagnostics are
    /// pushed to.
    fn diagnostics_due(&self, id: DocId, uri: Uri) {
        if self
            .session()
            .is_some_and(|session| !session.pulls_diagnostics)
        {
            self.publisher.mark(id, uri);
        }
    }

    /// What was agreed at `initialize`; `None` before it.
    fn session(&self) -> Option<&Session> {
        self.session.get()
    }
}

impl LanguageServer for Server {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        lifecycle::initialize(self, &params)
    }

    async fn shutdown(&self) -> Result<()> {
        lifecycle::shutdown()
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        notifications::did_open::handle(self, params);
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        notifications::did_change::handle(self, params);
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        notifications::did_close::handle(self, params);
    }

    async fn did_save(&self, _: DidSaveTextDocumentParams) {}

    async fn did_change_workspace_folders(&self, _: DidChangeWorkspaceFoldersParams) {}

    async fn diagnostic(
        &self,
        params: DocumentDiagnosticParams,
    ) -> Result<DocumentDiagnosticReportResult> {
        requests::diagnostic::handle(self, &params)
    }
}
