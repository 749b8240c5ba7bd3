//! `textDocument/didOpen`

use tower_lsp::ls_types::DidOpenTextDocumentParams;

use crate::lsp::convert;
use crate::lsp::server::Server;

/// Takes over the text of a document from the file system.
pub(in crate::lsp) fn handle(server: &Server, params: DidOpenTextDocumentParams) {
    let document = params.text_document;
    let Some(id) = convert::document_id(&document.uri) else {
        tracing::info!(
            "not looked at, as it is neither a file nor untitled: {}",
            document.uri.as_str()
        );
        return;
    };
    server.names.opened(id.clone(), document.uri.clone());
    server
        .engine
        .open(id.clone(), document.version, document.text);
    server.diagnostics_due(id, document.uri);
}
