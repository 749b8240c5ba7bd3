//! Text in, syntax facts out: positions, items, trees. Knows Python's grammar and nothing of cuTile
//! beyond the vocabulary of `queries/*.scm`; does no I/O and keeps no global state but the compiled
//! query.

pub mod ast;
mod blocks;
mod file;
mod lower;
mod parser;
mod sites;
mod span;
mod split;
mod text;

pub use file::{Edit, FileParser, Item, ItemFacts, ItemState, ParsedFile};
pub use sites::{Site, SiteKind, warm_up};
pub use span::Span;
pub use text::{Encoding, Position, Text};

/// The grammar every parser here uses.
pub(crate) fn language() -> tree_sitter::Language {
    tree_sitter_python::LANGUAGE.into()
}

/// Parses a whole text once and gives the statements of each item with absolute spans forgotten:
/// for tests and tools that want trees, not editing.
pub fn parse(text: &str) -> ParsedFile {
    FileParser::default().parse(text)
}
