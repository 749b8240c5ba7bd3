//! `workspace/didChangeWatchedFiles`

use tower_lsp::ls_types::DidChangeWatchedFilesParams;

use crate::lsp::convert;
use crate::lsp::server::Server;

/// Files changed on disk; they are read in the background.
pub(in crate::lsp) fn handle(server: &Server, params: DidChangeWatchedFilesParams) {
    let paths = params
        .changes
        .iter()
        .filter_map(|change| convert::path(&change.uri))
        .collect();
    server.changed_files.report(paths);
}
