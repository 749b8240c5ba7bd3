//! `textDocument/definition`: from a launch, registration or search to what it means.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{GotoDefinitionParams, GotoDefinitionResponse};

use crate::lsp::server::Server;

/// The definitions of the thing under the cursor. Their ranges are exactly the identifiers, so that
/// an editor which merges the answers of several servers shows each place once.
pub(in crate::lsp) async fn handle(
    server: &Server,
    params: GotoDefinitionParams,
) -> Result<Option<GotoDefinitionResponse>> {
    let at = params.text_document_position_params;
    let found = server
        .about(
            &at.text_document.uri,
            |surfaces| surfaces.definition,
            move |about| {
                let offset = about.convert.offset(&about.text, at.position);
                about
                    .convert
                    .locations(&about.engine.definition(&about.id, offset))
            },
        )
        .await?;
    Ok(found
        .filter(|places| !places.is_empty())
        .map(GotoDefinitionResponse::Array))
}
