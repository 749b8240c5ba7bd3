//! `tileperf/documentText`: the server's idea of a document, for tests and bug reports.

use serde::{Deserialize, Serialize};
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::Uri;

use crate::lsp::convert;
use crate::lsp::server::Server;

#[derive(Debug, Deserialize)]
pub(in crate::lsp) struct Params {
    uri: Uri,
}

#[derive(Debug, Serialize)]
pub(in crate::lsp) struct DocumentText {
    version: i32,
    text: String,
}

/// Version and text of an open document; null for any other.
pub(in crate::lsp) async fn handle(
    server: &Server,
    params: Params,
) -> Result<Option<DocumentText>> {
    let document = convert::document_id(&params.uri).and_then(|id| server.engine.text(&id));
    Ok(document.map(|(version, text)| DocumentText {
        version,
        text: text.as_str().to_owned(),
    }))
}
