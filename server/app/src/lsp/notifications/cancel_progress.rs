//! `window/workDoneProgress/cancel`

use tower_lsp::ls_types::WorkDoneProgressCancelParams;

use crate::lsp::server::Server;

/// The user pressed Cancel on a progress display: the run that it shows ends, whoever started it, and
/// nothing of it is kept.
pub(in crate::lsp) async fn handle(server: &Server, params: WorkDoneProgressCancelParams) {
    if !server.progress.cancel(&params.token) {
        tracing::info!("no work to cancel under progress {:?}", params.token);
    }
}
