//! Actions of the playbook, on the kernel around the cursor, or on the kernel that is launched there.
//!
//! The answer is made from what is known; asking also has what is not known found out, so that the next
//! answer knows more. What compiled code refutes is not offered. Each optimization is offered once more,
//! as an iteration of the experiment loop, where code of the workspace may be run.

use serde_json::json;
use tileperf_analysis::playbook::{Action, Numerics, Proof};
use tileperf_engine::{DocId, KernelActions, Offered};
use tower_lsp::ls_types::{
    self, CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionResponse, Command, Uri,
};

use super::{Changed, EXPERIMENT, Editing, Note, PLANNING, PLAYBOOK, Wanted};
use crate::lsp::about::About;
use crate::lsp::session::{APPLY, PLAN};

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
    let edits = only.has(PLAYBOOK) || only.names_below(PLAYBOOK);
    let on_disk = about.id.path().is_some();
    let tries = only.has(EXPERIMENT) && about.engine.is_trusted() && on_disk;
    let plans = only.has(PLANNING) && on_disk;
    if !edits && !tries && !plans {
        return Vec::new();
    }
    let at = about.convert.span(&about.text, range);
    let Some(kernel) = about.engine.actions_at(&about.id, at) else {
        return Vec::new();
    };
    let Some(own) = uri_of(about, uri, &kernel.doc) else {
        return Vec::new();
    };
    about.engine.prove_soon(&kernel);
    let is_of_use = |offered: &&Offered| !matches!(offered.proof, Some((_, Proof::Refuted(_))));
    let offered = || kernel.actions.iter().filter(is_of_use);
    let mut out: CodeActionResponse = offered()
        .filter(|offered| only.has(&offered.action.optimization.kind()))
        .filter_map(|offered| one(about, uri, editing, &kernel, offered))
        .collect();
    if tries {
        // The most promising way of each; with all of them the list would be twice as long.
        let mut seen = Vec::new();
        let first = offered().filter(|offered| {
            let optimization = offered.action.optimization;
            let is_new = !seen.contains(&optimization.id);
            seen.push(optimization.id);
            is_new
        });
        out.extend(first.map(|offered| experiment(&own, &kernel, &offered.action)));
    }
    // Elsewhere in a kernel every place would have a lamp.
    if plans && own == *uri && at.start <= kernel.name_span.end {
        let title = "Write a plan for this kernel".to_owned();
        let argument = json!({"uri": own, "kernel": kernel.kernel});
        out.push(command(title, PLANNING, PLAN, argument));
    }
    out
}

/// The same as an iteration.
fn experiment(uri: &Uri, kernel: &KernelActions, action: &Action) -> CodeActionOrCommand {
    let id = action.optimization.id;
    let title = format!("{id}: Apply and run perf iteration ({})", action.title);
    let argument = json!({
        "uri": uri,
        "kernel": kernel.kernel,
        "optimization": id,
        "variant": (!action.variant.is_empty()).then_some(&action.variant),
    });
    command(title, EXPERIMENT, APPLY, argument)
}

/// An action that is a command of the server's.
fn command(
    title: String,
    kind: &'static str,
    name: &str,
    argument: serde_json::Value,
) -> CodeActionOrCommand {
    CodeActionOrCommand::CodeAction(CodeAction {
        title: title.clone(),
        kind: Some(CodeActionKind::new(kind)),
        command: Some(Command::new(title, name.to_owned(), Some(vec![argument]))),
        ..CodeAction::default()
    })
}

/// What the client calls a document: the one that it asks about as it wrote it.
fn uri_of(about: &About, asked: &Uri, doc: &DocId) -> Option<Uri> {
    match *doc == about.id {
        true => Some(asked.clone()),
        false => about.convert.uri(doc),
    }
}

fn one(
    about: &About,
    uri: &Uri,
    editing: Editing,
    kernel: &KernelActions,
    offered: &Offered,
) -> Option<CodeActionOrCommand> {
    let action = &offered.action;
    let mut changed = Vec::new();
    if !action.edits.is_empty() {
        changed.push(Changed {
            uri: uri_of(about, uri, &kernel.doc)?,
            text: &kernel.text,
            version: kernel.version,
            edits: &action.edits,
        });
    }
    for elsewhere in &action.elsewhere {
        let file = kernel.elsewhere.get(elsewhere.file)?;
        changed.push(Changed {
            uri: uri_of(about, uri, &file.doc)?,
            text: &file.text,
            version: file.version,
            edits: &elsewhere.edits,
        });
    }
    let edit = editing.change(about, &changed, note(action));
    Some(CodeActionOrCommand::CodeAction(CodeAction {
        title: title(offered),
        kind: Some(CodeActionKind::from(action.optimization.kind())),
        edit: Some(edit),
        ..CodeAction::default()
    }))
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
    let next = action.next_in_words();
    if action.numerics == Numerics::Same && action.premises.is_empty() && next.is_none() {
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
    said.extend(next);
    Some(Note {
        label: action.title.clone(),
        description: Some(said.join(" ")),
        asks: !action.premises.is_empty(),
    })
}
