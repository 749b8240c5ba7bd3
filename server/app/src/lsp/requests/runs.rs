//! `tileperf/runs`: what is known of the experiments of the workspace, for a client that has just
//! started, opened a file or reloaded.

use serde::Deserialize;
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::Uri;

use crate::lsp::convert;
use crate::lsp::runs::Run;
use crate::lsp::server::Server;

#[derive(Debug, Deserialize)]
pub(in crate::lsp) struct Params {
    /// Only those of this document.
    uri: Option<Uri>,
}

/// The last states, as `tileperf/run` tells them. Nothing is read from the disk.
pub(in crate::lsp) async fn handle(server: &Server, params: Params) -> Result<Vec<Run>> {
    let Some(convert) = server.converter() else {
        return Ok(Vec::new());
    };
    let doc = match params.uri.as_ref().map(convert::document_id) {
        None => None,
        Some(Some(doc)) => Some(doc),
        // A document of another scheme has no kernels.
        Some(None) => return Ok(Vec::new()),
    };
    let notes = server.engine.runs(doc.as_ref());
    Ok(notes
        .iter()
        .filter_map(|note| Run::new(note, &convert))
        .collect())
}
