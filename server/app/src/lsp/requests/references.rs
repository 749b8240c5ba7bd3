//! `textDocument/references`: everything that belongs to a kernel, a search space or an op.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{Location, ReferenceParams};

use crate::lsp::server::Server;

/// The uses of the thing under the cursor across the workspace.
pub(in crate::lsp) async fn handle(
    server: &Server,
    params: ReferenceParams,
) -> Result<Option<Vec<Location>>> {
    let at = params.text_document_position;
    let declaration = params.context.include_declaration;
    let found = server
        .about(
            &at.text_document.uri,
            |surfaces| surfaces.references,
            move |about| {
                let offset = about.convert.offset(&about.text, at.position);
                about
                    .convert
                    .locations(&about.engine.references(&about.id, offset, declaration))
            },
        )
        .await?;
    Ok(found.filter(|places| !places.is_empty()))
}
