//! Between the protocol's types and the engine's: identifiers, positions, edits. Nothing inside
//! knows a URI, a line or a UTF-16 unit, nothing outside knows a byte offset.

use std::ffi::OsString;
use std::fmt::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tileperf_engine::{Change, DocId};
use tileperf_syntax::{Encoding, Position, Span, Text};
use tower_lsp::ls_types::{self, Location, PositionEncodingKind, Range, Uri};

use super::names::Names;

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
        "file" => path(uri).map(|path| DocId::file(&path)),
        "untitled" => Some(DocId::untitled(uri.as_str())),
        _ => None,
    }
}

/// The path of a `file:` URI, byte for byte: a name need not be valid UTF-8.
pub(super) fn path(uri: &Uri) -> Option<PathBuf> {
    let bytes = uri.path().decode().to_bytes().into_owned();
    let path = PathBuf::from(OsString::from_vec(bytes));
    path.is_absolute().then_some(path)
}

/// The usual URI of a document.
pub(super) fn uri(id: &DocId) -> Option<Uri> {
    match id.path() {
        Some(path) => file_uri(&path).parse().ok(),
        None => id.as_str().parse().ok(),
    }
}

/// A path as a `file:` URI: everything but what RFC 3986 never reserves is encoded.
fn file_uri(path: &Path) -> String {
    let mut uri = String::from("file://");
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

/// Edits in the order in which they apply. A range that runs backwards means the same as forwards.
pub(super) fn changes(events: Vec<ls_types::TextDocumentContentChangeEvent>) -> Vec<Change> {
    let change = |event: ls_types::TextDocumentContentChangeEvent| {
        let range = event.range.map(|range| {
            let (start, end) = (position(range.start), position(range.end));
            (start.min(end), start.max(end))
        });
        Change {
            range,
            text: event.text,
        }
    };
    events.into_iter().map(change).collect()
}

fn position(position: ls_types::Position) -> Position {
    Position {
        line: position.line,
        character: position.character,
    }
}

/// Converts places for one client.
#[derive(Debug, Clone)]
pub(super) struct Converter {
    encoding: Encoding,
    names: Arc<Names>,
}

impl Converter {
    /// For a client that counts in `encoding` and knows open documents by `names`.
    pub(super) fn new(encoding: Encoding, names: Arc<Names>) -> Self {
        Self { encoding, names }
    }

    /// The byte that a position means.
    pub(super) fn offset(&self, text: &Text, place: ls_types::Position) -> usize {
        text.offset(position(place), self.encoding)
    }

    /// The bytes that a range means.
    pub(super) fn span(&self, text: &Text, range: Range) -> Span {
        Span::new(self.offset(text, range.start), self.offset(text, range.end))
    }

    /// The position of a byte.
    pub(super) fn position(&self, text: &Text, offset: usize) -> ls_types::Position {
        let Position { line, character } = text.position(offset, self.encoding);
        ls_types::Position { line, character }
    }

    /// The range of some bytes.
    pub(super) fn range(&self, text: &Text, span: Span) -> Range {
        Range {
            start: self.position(text, span.start as usize),
            end: self.position(text, span.end as usize),
        }
    }

    /// The client's name of a document.
    pub(super) fn uri(&self, id: &DocId) -> Option<Uri> {
        self.names.uri(id)
    }

    /// A place in any document.
    pub(super) fn location(&self, place: &tileperf_engine::Location) -> Option<Location> {
        let uri = self.names.uri(&place.doc)?;
        Some(Location {
            uri,
            range: self.range(&place.text, place.span),
        })
    }

    /// Places in any documents.
    pub(super) fn locations(&self, places: &[tileperf_engine::Location]) -> Vec<Location> {
        places
            .iter()
            .filter_map(|place| self.location(place))
            .collect()
    }
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
            Some(DocId::file(Path::new("/a/b c/d.py")))
        );
        assert_eq!(
            id("file://localhost/a.py"),
            Some(DocId::file(Path::new("/a.py")))
        );
        assert_eq!(
            id("untitled:Untitled-1"),
            Some(DocId::untitled("untitled:Untitled-1"))
        );
        assert_eq!(id("git:/a/b.py?ref"), None);
        assert_eq!(id("vscode-notebook-cell:/a/b.ipynb#W0"), None);
        assert_eq!(id("file:relative.py"), None);
    }

    #[test]
    fn paths_survive_the_way_to_a_uri_and_back() {
        for name in ["/a/b.py", "/a b/ü%20.py", "/漢字/[x]?#.py", "/c:/d.py"] {
            let uri: Uri = file_uri(Path::new(name)).parse().unwrap();
            assert_eq!(
                path(&uri).as_deref(),
                Some(Path::new(name)),
                "{}",
                uri.as_str()
            );
        }
        let bytes = PathBuf::from(OsString::from_vec(b"/caf\xe9.py".to_vec()));
        assert_eq!(path(&file_uri(&bytes).parse().unwrap()), Some(bytes));
    }

    #[test]
    fn an_open_document_keeps_the_name_that_the_client_gave_it() {
        let names = Arc::new(Names::default());
        let opened: Uri = "file:///a/c%3A/b%2Bc.py".parse().unwrap();
        let id = document_id(&opened).unwrap();
        names.opened(id.clone(), opened.clone());
        assert_eq!(names.uri(&id), Some(opened));
        names.closed(&id);
        assert_eq!(names.uri(&id).unwrap().as_str(), "file:///a/c%3A/b%2Bc.py");
    }
}
