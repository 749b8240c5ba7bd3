//! On a kernel, showing its compiled code for another signature.

use serde_json::{Value, json};
use tower_lsp::ls_types::{
    self, CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionResponse, Command, Uri,
};

use super::{SIGNATURE, Wanted};
use crate::lsp::about::About;
use crate::lsp::session::{CHOOSE_SIGNATURE, SHOW_SIGNATURE};

/// On a kernel's name or decorators: another of its signatures. `chooses`: the client lets its user
/// choose among them.
pub(super) fn within(
    about: &About,
    uri: &Uri,
    range: ls_types::Range,
    chooses: bool,
    only: &Wanted,
) -> CodeActionResponse {
    let at = about.convert.span(&about.text, range);
    if !only.has(SIGNATURE) || at.start != at.end {
        return Vec::new();
    }
    let known = about.engine.signatures_at(&about.id, at.start as usize);
    let Some(known) = known.filter(|known| known.all.len() > 1 && known.at_head) else {
        return Vec::new();
    };
    if chooses {
        let argument = json!({"uri": uri, "position": range.start});
        return vec![command(
            "Show compiled code for…",
            CHOOSE_SIGNATURE,
            argument,
        )];
    }
    let others = known.all.iter().filter(|one| !one.shown);
    others
        .map(|one| {
            let title = format!("Show compiled code for {} ({})", one.signature, one.origin);
            let argument = json!({
                "uri": uri,
                "kernel": known.kernel,
                "ordinal": known.ordinal,
                "number": one.number,
                "signature": one.signature,
            });
            command(&title, SHOW_SIGNATURE, argument)
        })
        .collect()
}

fn command(title: &str, command: &str, argument: Value) -> CodeActionOrCommand {
    CodeActionOrCommand::CodeAction(CodeAction {
        title: title.to_owned(),
        kind: Some(CodeActionKind::new(SIGNATURE)),
        command: Some(Command::new(
            title.to_owned(),
            command.to_owned(),
            Some(vec![argument]),
        )),
        ..CodeAction::default()
    })
}
