//! `textDocument/inlayHint`: configurations at a search space, the kernel at a launch.

use tileperf_engine::Inlay;
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{InlayHint, InlayHintLabel, InlayHintParams, InlayHintTooltip};

use crate::lsp::about::About;
use crate::lsp::server::Server;

/// The hints in a part of a document.
pub(in crate::lsp) async fn handle(
    server: &Server,
    params: InlayHintParams,
) -> Result<Option<Vec<InlayHint>>> {
    let range = params.range;
    server
        .about(
            &params.text_document.uri,
            |surfaces| surfaces.inlay_hints,
            move |about| {
                let span = about.convert.span(&about.text, range);
                let hints = about.engine.inlay_hints(&about.id, span);
                hints
                    .into_iter()
                    .map(|hint| inlay_hint(about, hint))
                    .collect()
            },
        )
        .await
}

/// Without a kind: these are neither types nor parameter names, whose switches in the editor should
/// not hide them.
fn inlay_hint(about: &About, hint: Inlay) -> InlayHint {
    InlayHint {
        position: about.convert.position(&about.text, hint.offset),
        label: InlayHintLabel::String(hint.label),
        kind: None,
        text_edits: None,
        tooltip: Some(InlayHintTooltip::String(hint.tooltip)),
        padding_left: None,
        padding_right: None,
        data: None,
    }
}
