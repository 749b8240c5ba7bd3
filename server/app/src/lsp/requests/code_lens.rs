//! `textDocument/codeLens`: the line above each kernel.

use serde_json::json;
use tileperf_engine::Lens;
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{CodeLens, CodeLensParams, Command};

use crate::lsp::about::About;
use crate::lsp::server::Server;
use crate::lsp::session::SHOW_USES;

/// A lens for each kernel of a document.
pub(in crate::lsp) async fn handle(
    server: &Server,
    params: CodeLensParams,
) -> Result<Option<Vec<CodeLens>>> {
    let clickable = server.session().is_some_and(|session| session.shows_uses);
    let uri = params.text_document.uri;
    let name = uri.clone();
    server
        .about(
            &uri,
            |surfaces| surfaces.code_lens,
            move |about| {
                let lenses = about.engine.lenses(&about.id);
                let lens = |lens| code_lens(about, lens, clickable.then_some(name.as_str()));
                lenses.into_iter().map(lens).collect()
            },
        )
        .await
}

/// A lens that, for a client which can, shows the uses of its kernel. Any other gets the title
/// alone: a command without a name, which editors show as plain text.
fn code_lens(about: &About, lens: Lens, clickable_in: Option<&str>) -> CodeLens {
    let range = about.convert.range(&about.text, lens.span);
    let command = match clickable_in {
        Some(uri) if !lens.uses.is_empty() => {
            let uses = about.convert.locations(&lens.uses);
            let arguments = vec![json!(uri), json!(range.start), json!(uses)];
            Command::new(lens.title, SHOW_USES.into(), Some(arguments))
        }
        _ => Command::new(lens.title, String::new(), None),
    };
    CodeLens {
        range,
        command: Some(command),
        data: None,
    }
}
