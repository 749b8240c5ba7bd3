//! `textDocument/codeAction`: putting right what a rule found, or silencing it; what may make a kernel
//! faster; showing its compiled code for another signature.

mod findings;
mod playbook;
mod signatures;

use tileperf_analysis::rewrite::TextEdit;
use tileperf_syntax::Text;
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{
    self, AnnotatedTextEdit, ChangeAnnotation, CodeActionKind, CodeActionParams,
    CodeActionResponse, DocumentChanges, OneOf, OptionalVersionedTextDocumentIdentifier,
    TextDocumentEdit, Uri, WorkspaceEdit,
};

use crate::lsp::about::About;
use crate::lsp::server::Server;

/// The kind of the action that corrects everything that can be corrected unseen.
pub(in crate::lsp) const FIX_ALL: &str = "source.fixAll.tileperf";
/// The kind of what the playbook offers; below it each optimization has its own.
pub(in crate::lsp) const PLAYBOOK: &str = "refactor.rewrite.cutile";

/// The kind of the actions that try what the playbook offers. It is nothing of the protocol's: they
/// change no text themselves.
pub(in crate::lsp) const EXPERIMENT: &str = "tileperf.perf";

/// The kind of the action that writes a plan for a kernel. It is nothing of the protocol's: it changes no
/// text.
pub(in crate::lsp) const PLANNING: &str = "tileperf.plan";

/// The kind of the actions that show compiled code for another signature. It is nothing of the
/// protocol's: they change no text.
pub(in crate::lsp) const SIGNATURE: &str = "tileperf.signature";

/// Actions in a range.
pub(in crate::lsp) async fn handle(
    server: &Server,
    params: CodeActionParams,
) -> Result<Option<CodeActionResponse>> {
    let session = server.session();
    let edits = Editing {
        versioned: session.as_ref().is_some_and(|s| s.versioned_edits),
        annotated: session.as_ref().is_some_and(|s| s.annotated_edits),
    };
    let chooses = session.as_ref().is_some_and(|s| s.chooses_signatures);
    let wanted = Wanted(params.context.only.clone());
    let uri = params.text_document.uri.clone();
    let range = params.range;
    let (of, only) = (uri.clone(), wanted.clone());
    let found = (server.about(
        &uri,
        |surfaces| surfaces.diagnostics,
        move |about| {
            let mut found = findings::within(about, &of, range, edits, &only);
            found.extend(signatures::within(about, &of, range, chooses, &only));
            found
        },
    ))
    .await?;
    let (of, only) = (uri.clone(), wanted);
    let faster = (server.about(
        &uri,
        |surfaces| surfaces.playbook,
        move |about| playbook::within(about, &of, range, edits, &only),
    ))
    .await?;
    let nothing_faster = faster.as_ref().is_none_or(Vec::is_empty);
    if found.is_none() && nothing_faster {
        return Ok(None);
    }
    let mut all = found.unwrap_or_default();
    all.extend(faster.unwrap_or_default());
    Ok(Some(all))
}

/// The kinds that the client asked for; all if it named none.
#[derive(Debug, Clone)]
struct Wanted(Option<Vec<CodeActionKind>>);

impl Wanted {
    /// Whether it named this kind, one above it, or none.
    fn has(&self, kind: &str) -> bool {
        self.0.as_deref().is_none_or(|only| {
            only.iter().any(|wanted| {
                let rest = kind.strip_prefix(wanted.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        })
    }

    /// Whether it named kinds at all.
    fn is_some(&self) -> bool {
        self.0.is_some()
    }

    /// Whether it named a kind below this one.
    fn names_below(&self, kind: &str) -> bool {
        let below = |wanted: &CodeActionKind| {
            let rest = wanted.as_str().strip_prefix(kind);
            rest.is_some_and(|rest| rest.starts_with('.'))
        };
        self.0.as_deref().is_some_and(|only| only.iter().any(below))
    }
}

/// What edits the client takes.
#[derive(Debug, Clone, Copy)]
struct Editing {
    /// Such that say for which version of a document they are.
    versioned: bool,
    /// Such that say what they are for.
    annotated: bool,
}

/// What is said of an edit before it is made.
struct Note {
    label: String,
    description: Option<String>,
    /// Somebody has to look.
    asks: bool,
}

/// What changes in a document.
struct Changed<'c> {
    uri: Uri,
    text: &'c Text,
    /// The editor's version that the text is of, if it is open.
    version: Option<i32>,
    edits: &'c [TextEdit],
}

impl Editing {
    /// A change of documents: of all of them, or of none.
    fn change(self, about: &About, all: &[Changed<'_>], note: Option<Note>) -> WorkspaceEdit {
        let edits = |of: &Changed<'_>| -> Vec<ls_types::TextEdit> {
            let edit = |edit: &TextEdit| ls_types::TextEdit {
                range: about.convert.range(of.text, edit.span),
                new_text: edit.text.clone(),
            };
            of.edits.iter().map(edit).collect()
        };
        if !self.versioned {
            let changes = all.iter().map(|of| (of.uri.clone(), edits(of)));
            return WorkspaceEdit {
                changes: Some(changes.collect()),
                ..WorkspaceEdit::default()
            };
        }
        let note = note.filter(|_| self.annotated);
        const ID: &str = "tileperf";
        let each = |text_edit: ls_types::TextEdit| match &note {
            Some(_) => OneOf::Right(AnnotatedTextEdit {
                text_edit,
                annotation_id: ID.to_owned(),
            }),
            None => OneOf::Left(text_edit),
        };
        let changes = all.iter().map(|of| TextDocumentEdit {
            text_document: OptionalVersionedTextDocumentIdentifier {
                uri: of.uri.clone(),
                version: of.version,
            },
            edits: edits(of).into_iter().map(each).collect(),
        });
        let changes = changes.collect();
        let annotation = note.map(|note| ChangeAnnotation {
            label: note.label,
            needs_confirmation: Some(note.asks),
            description: note.description,
        });
        WorkspaceEdit {
            document_changes: Some(DocumentChanges::Edits(changes)),
            change_annotations: annotation.map(|a| [(ID.to_owned(), a)].into()),
            ..WorkspaceEdit::default()
        }
    }
}
