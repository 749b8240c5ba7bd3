//! `textDocument/didClose`

use tower_lsp::ls_types::DidCloseTextDocumentParams;

use crate::lsp::convert;
use crate::lsp::server::Server;

/// Gives the text of a document back to the file system.
pub(in crate::lsp) fn handle(server: &Server, params: DidCloseTextDocumentParams) {
    let uri = params.text_document.uri;
    let Some(id) = convert::document_id(&uri) else {
        return;
    };
    server.engine.close(&id);
    server.names.closed(&id);
    server.diagnostics_due(id, uri);
}
