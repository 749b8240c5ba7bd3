//! `textDocument/documentHighlight`: the other places in this document that mean the same kernel.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{DocumentHighlight, DocumentHighlightKind, DocumentHighlightParams};

use crate::lsp::server::Server;

/// The places that mean what the cursor is on.
pub(in crate::lsp) async fn handle(
    server: &Server,
    params: DocumentHighlightParams,
) -> Result<Option<Vec<DocumentHighlight>>> {
    let at = params.text_document_position_params;
    let found = server
        .about(
            &at.text_document.uri,
            |surfaces| surfaces.document_highlight,
            move |about| {
                let offset = about.convert.offset(&about.text, at.position);
                let places = about.engine.highlights(&about.id, offset);
                let highlight = |place: tileperf_engine::Location| DocumentHighlight {
                    range: about.convert.range(&place.text, place.span),
                    kind: Some(DocumentHighlightKind::TEXT),
                };
                places.into_iter().map(highlight).collect::<Vec<_>>()
            },
        )
        .await?;
    Ok(found.filter(|places| !places.is_empty()))
}
