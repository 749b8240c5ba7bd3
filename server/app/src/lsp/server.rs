//! The state of a session, shared by all handlers, and the table of methods.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tileperf_engine::settings::SettingsProblem;
use tileperf_engine::{Depth, DocId, Engine};
use tokio::sync::watch;
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::*;
use tower_lsp::{Client, LanguageServer};

use super::background::ChangedFiles;
use super::commands::Children;
use super::convert::Converter;
use super::names::Names;
use super::notices::Notices;
use super::progress::Progress;
use super::publish::Publisher;
use super::questions::Questions;
use super::refresh::Refresh;
use super::session::Session;
use super::{convert, idle, lifecycle, notifications, requests};

/// The state of a session.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) client: Client,
    pub(super) engine: Engine,
    pub(super) names: Arc<Names>,
    pub(super) notices: Notices,
    pub(super) questions: Questions,
    pub(super) changed_files: ChangedFiles,
    pub(super) children: Arc<Children>,
    pub(super) progress: Progress,
    pub(super) publisher: Arc<Publisher>,
    /// Set by `initialized`.
    pub(super) refresh: OnceLock<Refresh>,
    /// Changes when another test fails, or one no more.
    pub(super) failing: Arc<watch::Sender<()>>,
    roots: Mutex<Vec<PathBuf>>,
    /// Set by `initialize`; no other handler runs before it.
    pub(super) session: OnceLock<Session>,
}

impl Server {
    /// A server for a client that has not said anything yet. Its background tasks live on the
    /// current runtime.
    pub(super) fn new(client: Client, engine: Engine, publisher: Arc<Publisher>) -> Self {
        let questions = Questions::new(client.clone());
        Self {
            names: Arc::default(),
            notices: Notices::new(client.clone()),
            children: Arc::new(Children::new(client.clone())),
            progress: Progress::start(client.clone(), questions.clone()),
            questions,
            changed_files: ChangedFiles::start(engine.clone()),
            failing: Arc::new(watch::Sender::new(())),
            publisher,
            refresh: OnceLock::new(),
            roots: Mutex::default(),
            session: OnceLock::new(),
            engine,
            client,
        }
    }

    /// What was agreed at `initialize`; `None` before it.
    pub(super) fn session(&self) -> Option<&Session> {
        self.session.get()
    }

    /// Converts places for this client; `None` before `initialize`.
    pub(super) fn converter(&self) -> Option<Converter> {
        Some(Converter::new(
            self.session()?.encoding,
            Arc::clone(&self.names),
        ))
    }

    /// The workspace folders.
    pub(super) fn roots(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        self.roots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a document was opened or closed, for a client that diagnostics are pushed to.
    pub(super) fn diagnostics_due(&self, id: DocId, uri: Uri) {
        if let Some(convert) = self.pushes() {
            self.publisher.mark(id, uri, convert);
        }
    }

    /// Notes that a document was changed, for a client that diagnostics are pushed to.
    pub(super) fn typed(&self, id: DocId, uri: Uri) {
        if let Some(convert) = self.pushes() {
            self.publisher.typed(id, uri, convert);
        }
    }

    /// Converts places for a client that diagnostics are pushed to.
    fn pushes(&self) -> Option<Converter> {
        let session = self.session()?;
        (!session.pulls_diagnostics).then(|| self.converter())?
    }

    /// Shows what is wrong in the settings.
    pub(super) fn show_problems(&self, problems: &[SettingsProblem]) {
        problems
            .iter()
            .for_each(|problem| self.notices.warn(&problem.message));
    }
}

impl LanguageServer for Server {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        lifecycle::initialize(self, params)
    }

    async fn initialized(&self, _: InitializedParams) {
        lifecycle::initialized(self);
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

    /// The text is known already, and the file's own change is reported by whoever watches it; what
    /// rests on both agreeing is looked at again.
    async fn did_save(&self, params: DidSaveTextDocumentParams) {
        if let Some(id) = convert::document_id(&params.text_document.uri) {
            self.engine.saved(&id);
            tokio::spawn(idle::compile(self.engine.clone(), id, Depth::Machine));
        }
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        notifications::did_close::handle(self, params);
    }

    async fn did_change_configuration(&self, params: DidChangeConfigurationParams) {
        notifications::did_change_configuration::handle(self, params);
    }

    async fn did_change_watched_files(&self, params: DidChangeWatchedFilesParams) {
        notifications::did_change_watched_files::handle(self, params);
    }

    async fn did_change_workspace_folders(&self, params: DidChangeWorkspaceFoldersParams) {
        notifications::did_change_workspace_folders::handle(self, params);
    }

    async fn code_action(&self, params: CodeActionParams) -> Result<Option<CodeActionResponse>> {
        requests::code_action::handle(self, params).await
    }

    async fn code_lens(&self, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>> {
        requests::code_lens::handle(self, params).await
    }

    async fn diagnostic(
        &self,
        params: DocumentDiagnosticParams,
    ) -> Result<DocumentDiagnosticReportResult> {
        requests::diagnostic::handle(self, params).await
    }

    async fn document_highlight(
        &self,
        params: DocumentHighlightParams,
    ) -> Result<Option<Vec<DocumentHighlight>>> {
        requests::document_highlight::handle(self, params).await
    }

    async fn document_symbol(
        &self,
        params: DocumentSymbolParams,
    ) -> Result<Option<DocumentSymbolResponse>> {
        requests::document_symbol::handle(self, params).await
    }

    async fn execute_command(&self, params: ExecuteCommandParams) -> Result<Option<LSPAny>> {
        requests::execute_command::handle(self, params).await
    }

    async fn goto_definition(
        &self,
        params: GotoDefinitionParams,
    ) -> Result<Option<GotoDefinitionResponse>> {
        requests::definition::handle(self, params).await
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        requests::hover::handle(self, params).await
    }

    async fn inlay_hint(&self, params: InlayHintParams) -> Result<Option<Vec<InlayHint>>> {
        requests::inlay_hint::handle(self, params).await
    }

    async fn references(&self, params: ReferenceParams) -> Result<Option<Vec<Location>>> {
        requests::references::handle(self, params).await
    }

    async fn workspace_diagnostic(
        &self,
        params: WorkspaceDiagnosticParams,
    ) -> Result<WorkspaceDiagnosticReportResult> {
        requests::workspace_diagnostic::handle(self, params).await
    }

    async fn symbol(
        &self,
        params: WorkspaceSymbolParams,
    ) -> Result<Option<WorkspaceSymbolResponse>> {
        requests::workspace_symbol::handle(self, params).await
    }
}
