//! `workspace/symbol`: search for a kernel, a search space or an op in the workspace.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{OneOf, WorkspaceSymbol, WorkspaceSymbolParams, WorkspaceSymbolResponse};

use super::symbol_kind::symbol_kind;
use crate::lsp::pool;
use crate::lsp::server::Server;

/// The hits of a search over the whole workspace.
pub(in crate::lsp) async fn handle(
    server: &Server,
    params: WorkspaceSymbolParams,
) -> Result<Option<WorkspaceSymbolResponse>> {
    let Some(convert) = server.converter() else {
        return Ok(None);
    };
    if !server.shows(|surfaces| surfaces.workspace_symbols) {
        return Ok(None);
    }
    let engine = server.engine.clone();
    let hits = pool::run(move || {
        let hits = engine.workspace_symbols(&params.query);
        let symbol = |hit: tileperf_engine::WorkspaceSymbol| {
            Some(WorkspaceSymbol {
                location: OneOf::Left(convert.location(&hit.location)?),
                name: hit.name,
                kind: symbol_kind(hit.kind),
                tags: None,
                container_name: Some(hit.container).filter(|container| !container.is_empty()),
                data: None,
            })
        };
        hits.into_iter().filter_map(symbol).collect()
    })
    .await?;
    Ok(Some(WorkspaceSymbolResponse::Nested(hits)))
}
