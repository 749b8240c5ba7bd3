//! `textDocument/didChange`

use tower_lsp::ls_types::DidChangeTextDocumentParams;

use crate::lsp::convert;
use crate::lsp::server::Server;

/// Applies edits, in their order.
pub(in crate::lsp) fn handle(server: &Server, params: DidChangeTextDocumentParams) {
    let document = params.text_document;
    let (Some(id), Some(session)) = (convert::document_id(&document.uri), server.session()) else {
        return;
    };
    let changes = convert::changes(params.content_changes);
    if let Err(error) = server
        .engine
        .change(&id, document.version, changes, session.encoding)
    {
        tracing::warn!("a change to {}: {error}", document.uri.as_str());
        return;
    }
    server.typed(id, document.uri);
}
