//! The five query files as one query, run once over an item: where kernels, launches,
//! registrations, searches and hint replacements may be.
//!
//! Joined they cost one pass (5 ms for 1,369 lines of TileGym's attention kernels against 36 ms as
//! separate queries). The query says what a thing looks like; what it is, analysis decides.

use std::sync::OnceLock;

use serde::Serialize;
use streaming_iterator::StreamingIterator;
use tree_sitter::{Node, Query, QueryCursor};

use crate::Span;

/// What a site looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub enum SiteKind {
    /// A decorated function or a call of something named `kernel`.
    Kernel,
    /// A call of something named `launch` or `cutile_call`.
    Launch,
    /// A call of `register_impl`.
    Registration,
    /// A call of a search function.
    Search,
    /// A call that remakes a kernel with other hints.
    Hints,
}

/// A place of interest in an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Site {
    /// What it looks like.
    pub kind: SiteKind,
    /// The whole definition or call, relative to the item.
    pub span: Span,
}

const SOURCES: [&str; 5] = [
    include_str!("../../../queries/kernels.scm"),
    include_str!("../../../queries/launches.scm"),
    include_str!("../../../queries/registrations.scm"),
    include_str!("../../../queries/autotune.scm"),
    include_str!("../../../queries/hints.scm"),
];

struct Joined {
    query: Query,
    /// Site kind by capture index; captures that only serve a predicate have none.
    kinds: Vec<Option<SiteKind>>,
}

fn joined() -> &'static Joined {
    static JOINED: OnceLock<Joined> = OnceLock::new();
    JOINED.get_or_init(|| {
        // The files are compiled in and a test runs this: it cannot fail on a user's machine.
        let query = Query::new(&crate::language(), &SOURCES.concat())
            .unwrap_or_else(|e| panic!("queries/*.scm: {e}"));
        let kinds = query
            .capture_names()
            .iter()
            .map(|name| match *name {
                "kernel" => Some(SiteKind::Kernel),
                "launch" => Some(SiteKind::Launch),
                "registration" => Some(SiteKind::Registration),
                "search" => Some(SiteKind::Search),
                "hints" => Some(SiteKind::Hints),
                _ => None,
            })
            .collect();
        Joined { query, kinds }
    })
}

/// Compiles the query now (16-31 ms), so that no keystroke pays for it.
pub fn warm_up() {
    joined();
}

pub(crate) fn find(root: Node<'_>, text: &str) -> Vec<Site> {
    let Joined { query, kinds } = joined();
    let mut cursor = QueryCursor::new();
    let mut captures = cursor.captures(query, root, text.as_bytes());
    let mut sites = Vec::new();
    while let Some((found, index)) = captures.next() {
        let capture = found.captures()[*index];
        if let Some(kind) = kinds[capture.index as usize] {
            sites.push(Site {
                kind,
                span: Span::new(capture.node.start_byte(), capture.node.end_byte()),
            });
        }
    }
    sites.sort_by_key(|s| (s.span.start, s.span.end));
    sites.dedup();
    sites
}
