//! `window/workDoneProgress/cancel`

use tower_lsp::ls_types::WorkDoneProgressCancelParams;

use crate::lsp::server::Server;

/// The user pressed Cancel on a progress display. The server starts no work under a progress that
/// it offers to cancel yet, so an unknown token is all that can come.
pub(in crate::lsp) async fn handle(_: &Server, params: WorkDoneProgressCancelParams) {
    tracing::info!("no work to cancel under progress {:?}", params.token);
}
