//! Actions for what the rules find: their fixes, and silence.

use std::sync::Arc;

use tileperf_analysis::rewrite::TextEdit;
use tileperf_analysis::rules::{self, Finding, Fix, Safety, suppress};
use tileperf_engine::CheckedFile;
use tower_lsp::ls_types::{
    self, CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionResponse, Diagnostic, Uri,
    WorkspaceEdit,
};

use super::{Changed, Editing, FIX_ALL, Wanted};
use crate::lsp::about::About;
use crate::lsp::diagnostics;

/// Actions for the findings in a range.
pub(super) fn within(
    about: &About,
    uri: &Uri,
    range: ls_types::Range,
    editing: Editing,
    only: &Wanted,
) -> CodeActionResponse {
    let Some(checked) = about.engine.findings(&about.id) else {
        return Vec::new();
    };
    let actions = Actions {
        about,
        uri,
        checked: &checked,
        editing,
        only,
        out: Vec::new(),
    };
    actions.within(range)
}

struct Actions<'a> {
    about: &'a About,
    uri: &'a Uri,
    checked: &'a CheckedFile,
    editing: Editing,
    only: &'a Wanted,
    out: CodeActionResponse,
}

impl Actions<'_> {
    fn within(mut self, range: ls_types::Range) -> CodeActionResponse {
        let wanted = self.about.convert.span(&self.checked.text, range);
        let here = |f: &&Arc<Finding>| f.span.start <= wanted.end && wanted.start <= f.span.end;
        if self.only.has(CodeActionKind::QUICKFIX.as_str()) {
            for finding in self.checked.findings.iter().filter(here) {
                self.fixes(finding);
                self.fix_all_of(finding);
                self.silence(finding);
            }
        }
        // Not about this place: only for who names it.
        if self.only.is_some() && self.only.has(FIX_ALL) {
            self.fix_all();
        }
        self.out
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
        let changed = Changed {
            uri: self.uri.clone(),
            text: &self.checked.text,
            version: self.checked.version,
            edits,
        };
        (self.editing).change(self.about, &[changed], None)
    }
}
