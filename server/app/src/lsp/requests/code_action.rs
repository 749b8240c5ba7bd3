//! `textDocument/codeAction`: putting right what a rule found, or silencing it; and on a kernel, showing
//! its compiled code for another signature.

use std::sync::Arc;

use serde_json::{Value, json};
use tileperf_analysis::rewrite::TextEdit;
use tileperf_analysis::rules::{self, Finding, Fix, Safety, suppress};
use tileperf_engine::CheckedFile;
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{
    self, CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, CodeActionResponse,
    Command, Diagnostic, DocumentChanges, OneOf, OptionalVersionedTextDocumentIdentifier,
    TextDocumentEdit, Uri, WorkspaceEdit,
};

use crate::lsp::about::About;
use crate::lsp::diagnostics;
use crate::lsp::server::Server;
use crate::lsp::session::{CHOOSE_SIGNATURE, SHOW_SIGNATURE};

/// The kind of the action that corrects everything that can be corrected unseen.
pub(in crate::lsp) const FIX_ALL: &str = "source.fixAll.tileperf";

/// The kind of the actions that show compiled code for another signature. It is nothing of the
/// protocol's: they change no text.
pub(in crate::lsp) const SIGNATURE: &str = "tileperf.signature";

/// Actions for the findings in a range, and for the kernel there.
pub(in crate::lsp) async fn handle(
    server: &Server,
    params: CodeActionParams,
) -> Result<Option<CodeActionResponse>> {
    let versioned = server.session().is_some_and(|s| s.versioned_edits);
    let chooses = server.session().is_some_and(|s| s.chooses_signatures);
    let uri = params.text_document.uri.clone();
    let found = server
        .about(
            &uri,
            |surfaces| surfaces.diagnostics,
            move |about| {
                let checked = about.engine.findings(&about.id)?;
                let actions = Actions {
                    about,
                    uri: &params.text_document.uri,
                    checked: &checked,
                    versioned,
                    chooses,
                    only: params.context.only.as_deref(),
                    out: Vec::new(),
                };
                Some(actions.within(params.range))
            },
        )
        .await?;
    Ok(found.flatten())
}

struct Actions<'a> {
    about: &'a About,
    uri: &'a Uri,
    checked: &'a CheckedFile,
    versioned: bool,
    /// The client lets its user choose among signatures.
    chooses: bool,
    only: Option<&'a [CodeActionKind]>,
    out: CodeActionResponse,
}

impl Actions<'_> {
    fn within(mut self, range: ls_types::Range) -> CodeActionResponse {
        let wanted = self.about.convert.span(&self.checked.text, range);
        let here = |f: &&Arc<Finding>| f.span.start <= wanted.end && wanted.start <= f.span.end;
        if self.wants(CodeActionKind::QUICKFIX.as_str()) {
            for finding in self.checked.findings.iter().filter(here) {
                self.fixes(finding);
                self.fix_all_of(finding);
                self.silence(finding);
            }
        }
        if self.wants(SIGNATURE) && wanted.start == wanted.end {
            self.signatures(wanted.start as usize);
        }
        // Not about this place: only for who names it.
        if self.only.is_some() && self.wants(FIX_ALL) {
            self.fix_all();
        }
        self.out
    }

    /// Whether the client asked for this kind: it named it, one above it, or none.
    fn wants(&self, kind: &str) -> bool {
        self.only.is_none_or(|only| {
            only.iter().any(|wanted| {
                let rest = kind.strip_prefix(wanted.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        })
    }

    fn fixes(&mut self, finding: &Finding) {
        for (
            number,
            Fix {
                title,
                safety,
                edits,
            },
        ) in finding.fixes.iter().enumerate()
        {
            let title = match safety {
                Safety::Safe => title.clone(),
                Safety::Review => format!("{title} (needs review)"),
            };
            let preferred = number == 0 && *safety == Safety::Safe;
            self.push(title, edits, Some(finding), preferred);
        }
    }

    /// The fix of every finding of the rule in the file, if there are several.
    fn fix_all_of(&mut self, finding: &Finding) {
        let rule = finding.rule;
        let title = format!("Fix all {} in this file", rule.slug);
        if self.has(&title) {
            return;
        }
        let same = self.checked.findings.iter().filter(|f| f.rule == rule);
        let (edits, fixed) = rules::compatible(same, Safety::Review);
        if fixed > 1 {
            self.push(title, &edits, Some(finding), false);
        }
    }

    fn silence(&mut self, finding: &Finding) {
        let (text, rule) = (self.checked.text.as_str(), finding.rule);
        let title = format!("Ignore {} on this line", rule.slug);
        let edits = suppress::on_line(text, finding.span, rule);
        if !edits.is_empty() {
            self.push(title, &edits, Some(finding), false);
        }
        let title = format!("Ignore {} in this file", rule.slug);
        if !self.has(&title) {
            let edits = suppress::in_file(text, rule);
            self.push(title, &edits, Some(finding), false);
        }
    }

    /// Everything that can be corrected without changing results.
    fn fix_all(&mut self) {
        let (edits, fixed) = rules::compatible(&self.checked.findings, Safety::Safe);
        if fixed == 0 {
            return;
        }
        let action = CodeAction {
            title: "Fix everything tileperf can fix safely".to_owned(),
            kind: Some(CodeActionKind::new(FIX_ALL)),
            edit: Some(self.edit(&edits)),
            ..CodeAction::default()
        };
        self.out.push(CodeActionOrCommand::CodeAction(action));
    }

    /// On a kernel's name or decorators: another of its signatures.
    fn signatures(&mut self, offset: usize) {
        let known = self.about.engine.signatures_at(&self.about.id, offset);
        let Some(known) = known.filter(|known| known.all.len() > 1 && known.at_head) else {
            return;
        };
        if self.chooses {
            let at = self.about.convert.position(&self.about.text, offset);
            let argument = json!({"uri": self.uri, "position": at});
            self.command("Show compiled code for…", CHOOSE_SIGNATURE, argument);
            return;
        }
        for one in known.all.iter().filter(|one| !one.shown) {
            let title = format!(
                "Show compiled code for {} ({})",
                one.signature,
                one.origin.words()
            );
            let argument = json!({
                "uri": self.uri,
                "kernel": known.kernel,
                "ordinal": known.ordinal,
                "number": one.number,
                "signature": one.signature,
            });
            self.command(&title, SHOW_SIGNATURE, argument);
        }
    }

    fn command(&mut self, title: &str, command: &str, argument: Value) {
        let arguments = Some(vec![argument]);
        let action = CodeAction {
            title: title.to_owned(),
            kind: Some(CodeActionKind::new(SIGNATURE)),
            command: Some(Command::new(
                title.to_owned(),
                command.to_owned(),
                arguments,
            )),
            ..CodeAction::default()
        };
        self.out.push(CodeActionOrCommand::CodeAction(action));
    }

    fn has(&self, title: &str) -> bool {
        (self.out.iter())
            .any(|a| matches!(a, CodeActionOrCommand::CodeAction(a) if a.title == title))
    }

    fn push(
        &mut self,
        title: String,
        edits: &[TextEdit],
        finding: Option<&Finding>,
        preferred: bool,
    ) {
        let diagnostic =
            |f| diagnostics::finding(&self.about.convert, Some(self.uri), self.checked, f);
        let diagnostics: Option<Vec<Diagnostic>> = finding.map(|f| vec![diagnostic(f)]);
        let action = CodeAction {
            title,
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics,
            edit: Some(self.edit(edits)),
            is_preferred: preferred.then_some(true),
            ..CodeAction::default()
        };
        self.out.push(CodeActionOrCommand::CodeAction(action));
    }

    fn edit(&self, edits: &[TextEdit]) -> WorkspaceEdit {
        let edit = |edit: &TextEdit| ls_types::TextEdit {
            range: self.about.convert.range(&self.checked.text, edit.span),
            new_text: edit.text.clone(),
        };
        let edits: Vec<ls_types::TextEdit> = edits.iter().map(edit).collect();
        if !self.versioned {
            return WorkspaceEdit {
                changes: Some([(self.uri.clone(), edits)].into()),
                ..WorkspaceEdit::default()
            };
        }
        let change = TextDocumentEdit {
            text_document: OptionalVersionedTextDocumentIdentifier {
                uri: self.uri.clone(),
                version: self.checked.version,
            },
            edits: edits.into_iter().map(OneOf::Left).collect(),
        };
        WorkspaceEdit {
            document_changes: Some(DocumentChanges::Edits(vec![change])),
            ..WorkspaceEdit::default()
        }
    }
}
