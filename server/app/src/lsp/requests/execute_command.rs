//! `workspace/executeCommand`: the experiment loop, from an editor.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{ExecuteCommandParams, LSPAny};

use crate::lsp::commands::{self, Desk};
use crate::lsp::server::Server;

/// Does what a command of [`commands::NAMES`] stands for.
pub(in crate::lsp) async fn handle(
    server: &Server,
    params: ExecuteCommandParams,
) -> Result<Option<LSPAny>> {
    let desk = Desk::new(server);
    commands::run(desk, &params.command, params.arguments)
        .await
        .map(Some)
}
