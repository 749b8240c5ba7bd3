//! `initialize`, `initialized` and `shutdown`: what client and server agree on.

use std::path::PathBuf;

use tileperf_syntax::Encoding;
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{
    DiagnosticOptions, DiagnosticServerCapabilities, InitializeParams, InitializeResult, OneOf,
    SaveOptions, ServerCapabilities, ServerInfo, TextDocumentSyncCapability, TextDocumentSyncKind,
    TextDocumentSyncOptions, TextDocumentSyncSaveOptions, WorkspaceFoldersServerCapabilities,
    WorkspaceServerCapabilities,
};

use super::{Server, convert};

/// What was agreed with the client at `initialize`; fixed for the session.
#[derive(Debug)]
pub(super) struct Session {
    /// The unit of columns.
    pub(super) encoding: Encoding,
    /// The client asks for diagnostics; else they are pushed. Never both.
    pub(super) pulls_diagnostics: bool,
    /// The folders the editor has open.
    pub(super) roots: Vec<PathBuf>,
}

impl Session {
    fn new(params: &InitializeParams) -> Self {
        let text_document = params.capabilities.text_document.as_ref();
        Self {
            encoding: convert::encoding(params),
            pulls_diagnostics: text_document.is_some_and(|t| t.diagnostic.is_some()),
            roots: roots(params),
        }
    }
}

/// The workspace folders, or what older clients say instead.
fn roots(params: &InitializeParams) -> Vec<PathBuf> {
    if let Some(folders) = &params.workspace_folders {
        return folders
            .iter()
            .filter_map(|folder| convert::path(&folder.uri))
            .collect();
    }
    #[expect(
        deprecated,
        reason = "clients from before workspace folders send nothing else"
    )]
    let root = params.root_uri.as_ref().and_then(convert::path);
    root.into_iter().collect()
}

/// Answers `initialize`.
pub(super) fn initialize(server: &Server, params: &InitializeParams) -> Result<InitializeResult> {
    let session = server.session.get_or_init(|| Session::new(params));
    let client = params.client_info.as_ref();
    tracing::info!(
        "tileperf {} for {}: {:?}, diagnostics {}, {} workspace folder(s)",
        env!("CARGO_PKG_VERSION"),
        client.map_or("an unnamed client".into(), |info| {
            format!(
                "{} {}",
                info.name,
                info.version.as_deref().unwrap_or_default()
            )
        }),
        session.encoding,
        if session.pulls_diagnostics {
            "pulled"
        } else {
            "pushed"
        },
        session.roots.len(),
    );
    Ok(InitializeResult {
        capabilities: capabilities(session),
        server_info: Some(ServerInfo {
            name: "tileperf".into(),
            version: Some(env!("CARGO_PKG_VERSION").into()),
        }),
        ..InitializeResult::default()
    })
}

fn capabilities(session: &Session) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(convert::encoding_kind(session.encoding)),
        text_document_sync: Some(TextDocumentSyncCapability::Options(
            TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(TextDocumentSyncKind::INCREMENTAL),
                save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions {
                    include_text: Some(false),
                })),
                ..TextDocumentSyncOptions::default()
            },
        )),
        diagnostic_provider: session.pulls_diagnostics.then(|| {
            DiagnosticServerCapabilities::Options(DiagnosticOptions {
                identifier: Some("tileperf".into()),
                inter_file_dependencies: true,
                ..DiagnosticOptions::default()
            })
        }),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(OneOf::Left(true)),
            }),
            ..WorkspaceServerCapabilities::default()
        }),
        ..ServerCapabilities::default()
    }
}

/// Answers `shutdown`. The process ends at `exit`; nothing here may delay it.
pub(super) fn shutdown() -> Result<()> {
    tracing::info!("shutdown");
    Ok(())
}
