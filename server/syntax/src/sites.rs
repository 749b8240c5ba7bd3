//! The five query files as one query, run once over an item: where kernels, launches,
//! registrations, searches and hint replacements may be.
//!
//! Joined they cost one pass (5 ms for 1,369 lines of TileGym's attention kernels against 36 ms as
//! separate queries). The query says what a thing looks like; what it is, analysis decides.

use std::ops::Range;
use std::sync::OnceLock;

use memchr::memmem::Finder;
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
    /// The names that the query asks for.
    words: Vec<Finder<'static>>,
}

/// Beyond this many places worth a look, one pass over everything is cheaper.
const MAX_PLACES: usize = 24;

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
        let words = words().map(Finder::new).collect();
        Joined {
            query,
            kinds,
            words,
        }
    })
}

/// The string literals of the query files: names that calls must have.
fn words() -> impl Iterator<Item = &'static str> {
    (SOURCES.iter())
        .flat_map(|source| source.lines())
        .filter(|line| !line.trim_start().starts_with(';'))
        .flat_map(|line| line.split('"').skip(1).step_by(2))
}

/// Compiles the query now (16-31 ms), so that no keystroke pays for it.
pub fn warm_up() {
    joined();
}

pub(crate) fn find(root: Node<'_>, text: &str) -> Vec<Site> {
    let joined = joined();
    let mut sites = Vec::new();
    let places = places(text, &joined.words);
    if places.len() > MAX_PLACES {
        collect(joined, root, text, 0..text.len(), &mut sites);
    } else {
        for at in places {
            collect(joined, root, text, at..at + 1, &mut sites);
        }
    }
    sites.sort_by_key(|s| (s.span.start, s.span.end));
    sites.dedup();
    sites
}

/// Bytes that every site has at least one of: the start of a name that the query asks for, and the
/// `@` of a decorator. Running the query around these alone spares it the rest of a long function.
fn places(text: &str, words: &[Finder<'_>]) -> Vec<usize> {
    let bytes = text.as_bytes();
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_' || *b >= 0x80;
    let mut places: Vec<usize> = memchr::memchr_iter(b'@', bytes)
        .filter(|&at| {
            let line = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |i| i + 1);
            bytes[line..at].iter().all(u8::is_ascii_whitespace)
        })
        .collect();
    for word in words {
        let whole = |at: &usize| {
            !at.checked_sub(1)
                .and_then(|i| bytes.get(i))
                .is_some_and(is_word)
                && !bytes.get(at + word.needle().len()).is_some_and(is_word)
        };
        places.extend(word.find_iter(bytes).filter(whole));
    }
    places
}

/// Adds what the query finds that touches `range`.
fn collect(joined: &Joined, root: Node<'_>, text: &str, range: Range<usize>, out: &mut Vec<Site>) {
    let mut cursor = QueryCursor::new();
    cursor.set_byte_range(range);
    let mut captures = cursor.captures(&joined.query, root, text.as_bytes());
    while let Some((found, index)) = captures.next() {
        let capture = found.captures()[*index];
        if let Some(kind) = joined.kinds[capture.index as usize] {
            out.push(Site {
                kind,
                span: Span::new(capture.node.start_byte(), capture.node.end_byte()),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_around_places_finds_what_a_pass_over_everything_finds() {
        let text = "@wrap\n@ct.kernel(occupancy=2)\ndef kernel(x, launch):\n    y = x @ x\n\n\
            class A:\n    @register_impl(\"op\", backend=launch)\n    def f(self):\n        \
            ct.launch(s, g, cached_replace_hints(ct.kernel(k), a=1), (ct.tune\n        \
            .exhaustive_search(relaunch(1), launch=2),))\n        return A().launch (1)\n\
            @d\ndef g(): return (launch)(1), é_launch(2), kernel\n";
        let mut parser = tree_sitter::Parser::new();
        parser.set_language(&crate::language()).unwrap();
        let tree = parser.parse(text, None).unwrap();
        let mut all = Vec::new();
        collect(joined(), tree.root_node(), text, 0..text.len(), &mut all);
        all.sort_by_key(|s| (s.span.start, s.span.end));
        all.dedup();
        assert_eq!(find(tree.root_node(), text), all);
        let kinds = |kind| all.iter().filter(|s| s.kind == kind).count();
        assert_eq!((kinds(SiteKind::Kernel), kinds(SiteKind::Launch)), (5, 2));
        assert_eq!((kinds(SiteKind::Search), kinds(SiteKind::Hints)), (1, 1));
    }
}
