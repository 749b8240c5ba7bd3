//! What was agreed with the client at `initialize`; fixed for the session.

use std::path::PathBuf;

use tileperf_syntax::Encoding;
use tower_lsp::ls_types::{ClientCapabilities, InitializeParams, MarkupKind, PositionEncodingKind};

use super::convert;

/// The command behind a lens, for clients that say they have it: shows the places in its arguments
/// (a URI, a position, a list of locations).
pub(super) const SHOW_USES: &str = "tileperf.showUses";

/// The command behind the lens that starts a run, for clients that say they have it. Its argument is
/// what `workspace/executeCommand` takes under that name.
pub(super) const RUN_ITERATION: &str = "tileperf.runPerfIteration";

/// The server's command that tries a change of the playbook. Its argument names a kernel, an
/// optimization and a variant.
pub(super) const APPLY: &str = "tileperf.perf.apply";

/// The server's command that writes a plan for a kernel. Its argument names it.
pub(super) const PLAN: &str = "tileperf.perf.plan";

/// The command that lets the user choose among a kernel's signatures, for clients that say they have it.
/// Its argument has a URI and a position in the kernel.
pub(super) const CHOOSE_SIGNATURE: &str = "tileperf.chooseSignature";

/// The server's command that shows one of them. Its argument names it.
pub(super) const SHOW_SIGNATURE: &str = "tileperf.showSignature";

/// The client's abilities that make a difference to the server.
#[derive(Debug)]
pub(super) struct Session {
    /// The unit of columns.
    pub(super) encoding: Encoding,
    /// The client takes edits that say for which version of a document they are.
    pub(super) versioned_edits: bool,
    /// The client shows what an edit is for, and asks before it makes one that needs a look.
    pub(super) annotated_edits: bool,
    /// The client asks for diagnostics; else they are pushed. Never both.
    pub(super) pulls_diagnostics: bool,
    /// An outline may have entries below entries.
    pub(super) nested_symbols: bool,
    /// Hover texts may be Markdown.
    pub(super) markdown: bool,
    /// The client has the command [`SHOW_USES`].
    pub(super) shows_uses: bool,
    /// The client has the command [`RUN_ITERATION`].
    pub(super) runs_iterations: bool,
    /// The client has the command [`CHOOSE_SIGNATURE`].
    pub(super) chooses_signatures: bool,
    /// The client shows progress that the server starts.
    pub(super) shows_progress: bool,
    /// The client opens documents that the server names.
    pub(super) shows_documents: bool,
    /// The client shows buttons beside a message, without taking the keyboard from who types. In others
    /// a question that nobody expects is a message.
    pub(super) shows_buttons: bool,
    /// The client can be told to ask for diagnostics again.
    pub(super) refreshes_diagnostics: bool,
    /// The client can be told to ask for lenses again.
    pub(super) refreshes_lenses: bool,
    /// The client can be told to ask for inlay hints again.
    pub(super) refreshes_hints: bool,
    /// The client reports changes of files when asked to.
    pub(super) watches_files: bool,
    /// The client can be asked for its settings.
    pub(super) has_configuration: bool,
}

impl Session {
    /// Reads the client's capabilities; what it does not say it cannot do.
    pub(super) fn new(capabilities: &ClientCapabilities) -> Self {
        let general = capabilities.general.as_ref();
        let document = capabilities.text_document.as_ref();
        let workspace = capabilities.workspace.as_ref();
        Self {
            encoding: match general.and_then(|general| general.position_encodings.as_ref()) {
                Some(kinds) if kinds.contains(&PositionEncodingKind::UTF8) => Encoding::Utf8,
                // Every client knows it.
                _ => Encoding::Utf16,
            },
            versioned_edits: workspace
                .and_then(|workspace| workspace.workspace_edit.as_ref())
                .and_then(|edit| edit.document_changes)
                .unwrap_or(false),
            annotated_edits: workspace
                .and_then(|workspace| workspace.workspace_edit.as_ref())
                .is_some_and(|edit| edit.change_annotation_support.is_some()),
            pulls_diagnostics: document.is_some_and(|document| document.diagnostic.is_some()),
            nested_symbols: document
                .and_then(|document| document.document_symbol.as_ref())
                .and_then(|symbol| symbol.hierarchical_document_symbol_support)
                .unwrap_or(false),
            // A client that does not say gets Markdown, which reads well enough as plain text.
            markdown: document
                .and_then(|document| document.hover.as_ref())
                .and_then(|hover| hover.content_format.as_ref())
                .is_none_or(|kinds| kinds.contains(&MarkupKind::Markdown)),
            shows_uses: lists(capabilities, SHOW_USES),
            runs_iterations: lists(capabilities, RUN_ITERATION),
            chooses_signatures: lists(capabilities, CHOOSE_SIGNATURE),
            shows_progress: capabilities
                .window
                .as_ref()
                .and_then(|window| window.work_done_progress)
                .unwrap_or(false),
            shows_documents: (capabilities.window.as_ref())
                .and_then(|window| window.show_document.as_ref())
                .is_some_and(|show| show.support),
            shows_buttons: (capabilities.experimental.as_ref())
                .is_some_and(|experimental| experimental["messageButtons"] == true),
            refreshes_diagnostics: workspace
                .and_then(|workspace| workspace.diagnostics.as_ref())
                .and_then(|diagnostics| diagnostics.refresh_support)
                .unwrap_or(false),
            refreshes_lenses: workspace
                .and_then(|workspace| workspace.code_lens.as_ref())
                .and_then(|lens| lens.refresh_support)
                .unwrap_or(false),
            refreshes_hints: workspace
                .and_then(|workspace| workspace.inlay_hint.as_ref())
                .and_then(|hint| hint.refresh_support)
                .unwrap_or(false),
            watches_files: workspace
                .and_then(|workspace| workspace.did_change_watched_files.as_ref())
                .and_then(|watched| watched.dynamic_registration)
                .unwrap_or(false),
            has_configuration: workspace
                .and_then(|workspace| workspace.configuration)
                .unwrap_or(false),
        }
    }
}

/// Whether `experimental.commands.commands` or `experimental.commands` lists a command.
fn lists(capabilities: &ClientCapabilities, command: &str) -> bool {
    let Some(experimental) = &capabilities.experimental else {
        return false;
    };
    let commands = &experimental["commands"];
    let list = commands
        .as_array()
        .or_else(|| commands["commands"].as_array());
    list.is_some_and(|list| list.iter().any(|listed| listed == command))
}

/// The workspace folders, or what older clients say instead.
pub(super) fn roots(params: &InitializeParams) -> Vec<PathBuf> {
    if let Some(folders) = &params.workspace_folders {
        return folders
            .iter()
            .filter_map(|folder| convert::path(&folder.uri))
            .collect();
    }
    #[expect(
        deprecated,
        reason = "clients from before workspace folders send nothing else"
    )]
    let root = params.root_uri.as_ref().and_then(convert::path);
    root.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn session(capabilities: Value) -> Session {
        Session::new(&serde_json::from_value(capabilities).unwrap())
    }

    #[test]
    fn a_client_that_says_nothing_gets_what_every_client_understands() {
        let session = session(json!({}));
        assert_eq!(session.encoding, Encoding::Utf16);
        assert!(session.markdown);
        assert!(!session.pulls_diagnostics && !session.nested_symbols && !session.shows_uses);
    }

    #[test]
    fn utf_8_is_taken_wherever_it_stands_in_the_list() {
        let encodings = json!({"general": {"positionEncodings": ["utf-16", "utf-8", "utf-32"]}});
        assert_eq!(session(encodings).encoding, Encoding::Utf8);
        let encodings = json!({"general": {"positionEncodings": ["utf-32", "utf-16"]}});
        assert_eq!(session(encodings).encoding, Encoding::Utf16);
    }

    #[test]
    fn commands_are_read_in_both_forms() {
        assert!(session(json!({"experimental": {"commands": [SHOW_USES]}})).shows_uses);
        let nested = json!({"experimental": {"commands": {"commands": ["a", SHOW_USES]}}});
        assert!(session(nested).shows_uses);
        assert!(!session(json!({"experimental": {"commands": ["a"]}})).shows_uses);
    }
}
