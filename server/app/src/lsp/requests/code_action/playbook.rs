//! Actions of the playbook, on the kernel around the cursor.
//!
//! The answer is made from what is known; asking also has what is not known found out, so that the next
//! answer knows more. What compiled code refutes is not offered.

use tileperf_analysis::playbook::{Action, Numerics, Proof};
use tileperf_engine::{KernelActions, Offered};
use tower_lsp::ls_types::{
    self, CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionResponse, Uri,
};

use super::{Editing, Note, PLAYBOOK, Wanted};
use crate::lsp::about::About;

/// So many things that change are named in a title.
const NAMED: usize = 3;

/// Actions for the kernel around a range.
pub(super) fn within(
    about: &About,
    uri: &Uri,
    range: ls_types::Range,
    editing: Editing,
    only: &Wanted,
) -> CodeActionResponse {
    if !only.has(PLAYBOOK) && !only.names_below(PLAYBOOK) {
        return Vec::new();
    }
    let at = about.convert.span(&about.text, range);
    let Some(kernel) = about.engine.actions_at(&about.id, at) else {
        return Vec::new();
    };
    about.engine.prove_soon(&about.id, &kernel);
    let offered = kernel.actions.iter().filter(|offered| {
        only.has(&offered.action.optimization.kind())
            && !matches!(offered.proof, Some((_, Proof::Refuted(_))))
    });
    offered
        .map(|offered| one(about, uri, editing, &kernel, offered))
        .collect()
}

fn one(
    about: &About,
    uri: &Uri,
    editing: Editing,
    kernel: &KernelActions,
    offered: &Offered,
) -> CodeActionOrCommand {
    let action = &offered.action;
    let now = (&kernel.text, kernel.version);
    let edit = editing.change(about, uri, now, &action.edits, note(action));
    CodeActionOrCommand::CodeAction(CodeAction {
        title: title(offered),
        kind: Some(CodeActionKind::from(action.optimization.kind())),
        edit: Some(edit),
        ..CodeAction::default()
    })
}

fn title(offered: &Offered) -> String {
    let (id, title) = (offered.action.optimization.id, &offered.action.title);
    let known = match &offered.proof {
        Some((arch, Proof::Proven(words))) => {
            let words = &words[..words.len().min(NAMED)];
            format!("{arch}: {}", words.join(", "))
        }
        _ if !offered.action.shows_in_code() => return format!("{id}: {title}"),
        _ => "not compiled yet".to_owned(),
    };
    format!("{id}: {title} ({known})")
}

/// What has to be known before the edit is made.
fn note(action: &Action) -> Option<Note> {
    if action.numerics == Numerics::Same && action.premises.is_empty() {
        return None;
    }
    let mut said = Vec::new();
    if action.numerics == Numerics::Different {
        said.push("Results differ in the last bits: run the tests.".to_owned());
    }
    said.extend(
        action
            .premises
            .iter()
            .map(|p| format!("Right only if {p}.")),
    );
    Some(Note {
        label: action.title.clone(),
        description: Some(said.join(" ")),
        asks: !action.premises.is_empty(),
    })
}
