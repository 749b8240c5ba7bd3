//! `textDocument/hover`: the kernel card, and explanations of cuTile's names.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind};

use crate::lsp::server::Server;

/// What is known of the thing under the cursor.
pub(in crate::lsp) async fn handle(server: &Server, params: HoverParams) -> Result<Option<Hover>> {
    let markdown = server.session().is_some_and(|session| session.markdown);
    let at = params.text_document_position_params;
    let found = server
        .about(
            &at.text_document.uri,
            |surfaces| surfaces.hover,
            move |about| {
                let offset = about.convert.offset(&about.text, at.position);
                let hover = about.engine.hover(&about.id, offset)?;
                Some(Hover {
                    contents: HoverContents::Markup(contents(hover.markdown, markdown)),
                    range: Some(about.convert.range(&about.text, hover.span)),
                })
            },
        )
        .await?;
    Ok(found.flatten())
}

/// The text in the form that the client can show. As plain text, the marks of emphasis and code are
/// only in the way; lists and rules read as they are.
fn contents(text: String, markdown: bool) -> MarkupContent {
    if markdown {
        return MarkupContent {
            kind: MarkupKind::Markdown,
            value: text,
        };
    }
    let value = text.replace("**", "").replace(['`', '\\'], "");
    MarkupContent {
        kind: MarkupKind::PlainText,
        value,
    }
}
