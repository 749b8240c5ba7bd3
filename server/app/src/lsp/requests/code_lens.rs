//! `textDocument/codeLens`: the lines above each kernel.

use serde_json::json;
use tileperf_engine::Lens;
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{CodeLens, CodeLensParams, Command};

use crate::lsp::about::About;
use crate::lsp::server::Server;
use crate::lsp::session::{CHOOSE_SIGNATURE, RUN_ITERATION, SHOW_USES};

/// What a client can do with a click.
#[derive(Debug, Clone, Copy)]
struct Clicks {
    shows_uses: bool,
    runs_iterations: bool,
    chooses_signatures: bool,
}

/// The lenses of each kernel of a document: what is known of it, and for a client that has the
/// commands, the one that starts a run, and where it can be compiled for several signatures, the one
/// that chooses.
pub(in crate::lsp) async fn handle(
    server: &Server,
    params: CodeLensParams,
) -> Result<Option<Vec<CodeLens>>> {
    let session = server.session();
    let clicks = Clicks {
        shows_uses: session.is_some_and(|session| session.shows_uses),
        runs_iterations: session.is_some_and(|session| session.runs_iterations),
        chooses_signatures: session.is_some_and(|session| session.chooses_signatures),
    };
    let uri = params.text_document.uri;
    let name = uri.clone();
    server
        .about(
            &uri,
            |surfaces| surfaces.code_lens,
            move |about| {
                let lenses = about.engine.lenses(&about.id);
                let of_kernel = |lens| code_lenses(about, lens, clicks, name.as_str());
                lenses.into_iter().flat_map(of_kernel).collect()
            },
        )
        .await
}

/// The lenses of one kernel. The first shows the uses of the kernel to a client which can; any other
/// gets the title alone: a command without a name, which editors show as plain text.
fn code_lenses(about: &About, lens: Lens, clicks: Clicks, uri: &str) -> Vec<CodeLens> {
    let range = about.convert.range(&about.text, lens.span);
    let facts = match clicks.shows_uses && !lens.uses.is_empty() {
        true => {
            let uses = about.convert.locations(&lens.uses);
            let arguments = vec![json!(uri), json!(range.start), json!(uses)];
            Command::new(lens.title, SHOW_USES.into(), Some(arguments))
        }
        false => Command::new(lens.title, String::new(), None),
    };
    let run = clicks.runs_iterations.then(|| {
        let argument = json!({"uri": uri, "kernel": lens.kernel});
        Command::new(lens.action, RUN_ITERATION.into(), Some(vec![argument]))
    });
    let several = clicks.chooses_signatures && lens.signatures > 1;
    let choose = several.then(|| {
        let title = format!("{} signatures", lens.signatures);
        let argument = json!({"uri": uri, "position": range.start});
        Command::new(title, CHOOSE_SIGNATURE.into(), Some(vec![argument]))
    });
    let code_lens = |command| CodeLens {
        range,
        command: Some(command),
        data: None,
    };
    let all = std::iter::once(facts).chain(run).chain(choose);
    all.map(code_lens).collect()
}
