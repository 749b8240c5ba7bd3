//! Between the protocol's types and the engine's: identifiers, positions, edits.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use tileperf_syntax::{Encoding, Position};
use tower_lsp::ls_types::{
    self, InitializeParams, PositionEncodingKind, TextDocumentContentChangeEvent, Uri,
};

use super::store::{Change, DocId};

/// The encoding of positions: UTF-8 if the client offers it, else UTF-16, which every client knows.
pub(super) fn encoding(params: &InitializeParams) -> Encoding {
    let offered = params
        .capabilities
        .general
        .as_ref()
        .and_then(|g| g.position_encodings.as_ref());
    match offered {
        Some(kinds) if kinds.contains(&PositionEncodingKind::UTF8) => Encoding::Utf8,
        _ => Encoding::Utf16,
    }
}

/// The protocol's name of an encoding.
pub(super) fn encoding_kind(encoding: Encoding) -> PositionEncodingKind {
    match encoding {
        Encoding::Utf8 => PositionEncodingKind::UTF8,
        Encoding::Utf16 => PositionEncodingKind::UTF16,
    }
}

/// What the engine calls a document; `None` for one that is neither a file nor untitled, such as
/// the old side of a diff or a cell of a notebook.
pub(super) fn document_id(uri: &Uri) -> Option<DocId> {
    match uri.scheme().as_str() {
        "file" => path(uri).map(DocId::File),
        "untitled" => Some(DocId::Untitled(uri.as_str().to_owned())),
        _ => None,
    }
}

/// The path of a `file:` URI, byte for byte: a name need not be valid UTF-8.
pub(super) fn path(uri: &Uri) -> Option<PathBuf> {
    let bytes = uri.path().decode().to_bytes().into_owned();
    let path = PathBuf::from(OsString::from_vec(bytes));
    path.is_absolute().then_some(path)
}

/// A position as the client counts it.
pub(super) fn position(position: ls_types::Position) -> Position {
    Position {
        line: position.line,
        character: position.character,
    }
}

/// Edits in the order in which they apply.
pub(super) fn changes(events: Vec<TextDocumentContentChangeEvent>) -> Vec<Change> {
    let change = |event: TextDocumentContentChangeEvent| Change {
        range: event
            .range
            .map(|range| (position(range.start), position(range.end))),
        text: event.text,
    };
    events.into_iter().map(change).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(uri: &str) -> Option<DocId> {
        document_id(&uri.parse().unwrap())
    }

    #[test]
    fn only_files_and_untitled_documents_have_an_identity() {
        assert_eq!(
            id("file:///a/b%20c/d.py"),
            Some(DocId::File("/a/b c/d.py".into()))
        );
        assert_eq!(
            id("file://localhost/a.py"),
            Some(DocId::File("/a.py".into()))
        );
        assert_eq!(
            id("untitled:Untitled-1"),
            Some(DocId::Untitled("untitled:Untitled-1".into()))
        );
        assert_eq!(id("git:/a/b.py?ref"), None);
        assert_eq!(id("vscode-notebook-cell:/a/b.ipynb#W0"), None);
        assert_eq!(id("file:relative.py"), None);
    }

    #[test]
    fn a_name_that_is_no_text_is_kept() {
        let expected = PathBuf::from(OsString::from_vec(b"/caf\xe9.py".to_vec()));
        assert_eq!(id("file:///caf%E9.py"), Some(DocId::File(expected)));
    }
}
