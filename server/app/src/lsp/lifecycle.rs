//! `initialize`, `initialized` and `shutdown`.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CodeLensOptions,
    DiagnosticOptions, DiagnosticServerCapabilities, ExecuteCommandOptions,
    HoverProviderCapability, InitializeParams, InitializeResult, OneOf, SaveOptions,
    ServerCapabilities, ServerInfo, TextDocumentSyncCapability, TextDocumentSyncKind,
    TextDocumentSyncOptions, TextDocumentSyncSaveOptions, WorkspaceFoldersServerCapabilities,
    WorkspaceServerCapabilities,
};

use super::server::Server;
use super::session::{self, Session};
use super::{background, commands, convert, requests, settings};
use crate::dirs;

/// Answers `initialize`: agrees on capabilities and gives the engine its workspace. Nothing is
/// indexed yet; the engine sleeps until a file mentions cuTile.
pub(super) fn initialize(server: &Server, params: InitializeParams) -> Result<InitializeResult> {
    let session = server
        .session
        .get_or_init(|| Session::new(&params.capabilities));
    let roots = session::roots(&params);
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
        roots.len(),
    );
    let options = params.initialization_options.unwrap_or_default();
    server.roots().clone_from(&roots);
    // What is wrong is said at `initialized`: before it, the client may not be shown anything.
    let (editor, trusted) = settings::at_start(options);
    match dirs::cache() {
        Ok(cache) => server.engine.keep_compiled_in(cache),
        Err(error) => tracing::warn!("compiled kernels cannot be kept: {error:#}"),
    }
    server.engine.configure(roots, editor, Vec::new(), trusted);
    Ok(InitializeResult {
        capabilities: capabilities(session),
        server_info: Some(ServerInfo {
            name: "tileperf".into(),
            version: Some(env!("CARGO_PKG_VERSION").into()),
        }),
        ..InitializeResult::default()
    })
}

/// What the server offers. Surfaces that the settings switch off are offered as well, and then
/// answer with nothing: a setting can be switched on again without a restart.
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
        document_symbol_provider: Some(OneOf::Left(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        code_lens_provider: Some(CodeLensOptions {
            resolve_provider: Some(false),
        }),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![
                CodeActionKind::QUICKFIX,
                CodeActionKind::new(requests::code_action::FIX_ALL),
                CodeActionKind::new(requests::code_action::PLAYBOOK),
                CodeActionKind::new(requests::code_action::EXPERIMENT),
                CodeActionKind::new(requests::code_action::PLANNING),
                CodeActionKind::new(requests::code_action::SIGNATURE),
            ]),
            ..CodeActionOptions::default()
        })),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: commands::NAMES.map(str::to_owned).to_vec(),
            ..ExecuteCommandOptions::default()
        }),
        inlay_hint_provider: Some(OneOf::Left(true)),
        diagnostic_provider: session.pulls_diagnostics.then(|| {
            DiagnosticServerCapabilities::Options(DiagnosticOptions {
                identifier: Some("tileperf".into()),
                inter_file_dependencies: true,
                workspace_diagnostics: true,
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

/// The client is ready: from now on it may be shown something.
pub(super) fn initialized(server: &Server) {
    server.show_problems(&server.engine.settings_problems());
    background::start(server);
    server.engine.probe();
}

/// Answers `shutdown`. The process ends at `exit`; nothing here may delay it.
pub(super) fn shutdown() -> Result<()> {
    tracing::info!("shutdown");
    Ok(())
}
