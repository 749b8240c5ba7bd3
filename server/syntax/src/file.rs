//! One file as a list of items, kept up to date edit by edit.
//!
//! An item's facts depend on its text alone, so an edit re-cuts the neighbourhood, reuses the facts
//! of every item whose text is unchanged and parses only the others. An item that no longer parses
//! keeps its last good facts, marked stale, with the places carried through the edits since.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smol_str::SmolStr;

use crate::ast::{Stmt, StmtKind};
use crate::parser::TreeParser;
use crate::sites::{self, Site};
use crate::{Span, blocks, lower, split};

/// What is known of an item from its own text, places relative to the item's start.
#[derive(Debug, PartialEq)]
pub struct ItemFacts {
    /// The name that the item defines, if it is a function or class.
    pub name: Option<SmolStr>,
    /// Its statements: one, or more after a fault.
    pub body: Vec<Stmt>,
    /// What the joined query found in it.
    pub sites: Vec<Site>,
    /// Hash and length of the text these facts were made from.
    key: (u64, usize),
    /// That text.
    pub(crate) text: Box<str>,
    /// The text parsed without a fault.
    clean: bool,
}

/// Whether an item's facts are those of its present text.
#[derive(Debug, Clone, PartialEq)]
pub enum ItemState {
    /// They are.
    Fresh,
    /// The text does not parse: the facts are of the last text that did, or the best guess if none
    /// did yet.
    Stale,
}

/// A top-level statement of a file.
#[derive(Debug, Clone)]
pub struct Item {
    /// Its place in the file.
    pub span: Span,
    /// What is known of it.
    pub facts: Arc<ItemFacts>,
    /// Whether that is up to date.
    pub state: ItemState,
    /// How places in the facts map to the present text, when stale.
    drift: Vec<Drift>,
}

/// One edit that a stale item lived through, relative to the item.
#[derive(Debug, Clone, Copy)]
struct Drift {
    start: i64,
    old_end: i64,
    new_end: i64,
    /// Added to every result: how far the item's start moved against the text.
    shift: i64,
}

impl Item {
    /// A place of the facts in the file's present text. Exact for fresh items; for stale ones it
    /// follows the text that surrounded it and stays within the item.
    pub fn place(&self, span: Span) -> Span {
        let limit = self.span.len() as i64;
        let map = |offset: u32| {
            let mut at = i64::from(offset);
            for d in &self.drift {
                at = if at <= d.start {
                    at
                } else if at >= d.old_end {
                    at + d.new_end - d.old_end
                } else {
                    at.min(d.new_end)
                } + d.shift;
            }
            at.clamp(0, limit) as usize
        };
        let (start, end) = (map(span.start), map(span.end));
        Span::new(start, end).shift(self.span.start)
    }

    /// Whether the facts are of an older text.
    pub fn is_stale(&self) -> bool {
        self.state == ItemState::Stale
    }
}

/// A change of a text: bytes `start..old_end` of the old became `start..new_end` of the new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edit {
    /// First changed byte.
    pub start: usize,
    /// End of what was replaced, in the old text.
    pub old_end: usize,
    /// End of what replaced it, in the new text.
    pub new_end: usize,
}

impl Edit {
    /// The one edit that covers this and a later one.
    #[must_use]
    pub fn then(self, later: Edit) -> Edit {
        let start = self.start.min(later.start);
        // What lies behind this edit is unchanged by it, so the later edit's end can be carried
        // back to the old text (and this edit's end forward to the new one).
        let grown = later.old_end.saturating_sub(self.new_end);
        let kept = self.new_end.saturating_sub(later.old_end);
        Edit {
            start,
            old_end: self.old_end + grown,
            new_end: later.new_end + kept,
        }
    }

    fn map(self, offset: usize) -> usize {
        if offset <= self.start {
            offset
        } else if offset >= self.old_end {
            offset - self.old_end + self.new_end
        } else {
            offset.min(self.new_end)
        }
    }
}

/// A file's items. Immutable and cheap to clone into a snapshot.
#[derive(Debug, Clone, Default)]
pub struct ParsedFile {
    /// Items in the order of the text.
    pub items: Vec<Item>,
    /// Items that a fault elsewhere has swallowed (an open quote), as they last were. Always stale.
    pub ghosts: Vec<Item>,
    torn: bool,
}

impl ParsedFile {
    /// Items and ghosts together.
    pub fn all(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().chain(&self.ghosts)
    }

    /// Whether every item parses.
    pub fn is_clean(&self) -> bool {
        !self.torn && self.items.iter().all(|i| !i.is_stale())
    }

    /// The item at a byte offset.
    pub fn item_at(&self, offset: usize) -> Option<&Item> {
        let next = self
            .items
            .partition_point(|i| i.span.start as usize <= offset);
        self.items[..next].last().filter(|i| i.span.touches(offset))
    }
}

/// Parses one file again and again.
#[derive(Default)]
pub struct FileParser {
    parser: TreeParser,
    /// Facts of items seen since the file was last clean, by text: an open quote swallows half a
    /// file for the moment it takes to close it.
    shadow: FxHashMap<(u64, usize), Arc<ItemFacts>>,
}

impl FileParser {
    /// Parses a text from nothing.
    pub fn parse(&mut self, text: &str) -> ParsedFile {
        self.shadow.clear();
        let (cut, _) = split::cut(text, 0, |_| false);
        let items = cut
            .items
            .into_iter()
            .map(|span| self.item(text, span, None))
            .collect();
        ParsedFile {
            items,
            ghosts: Vec::new(),
            torn: cut.torn,
        }
    }

    /// Brings `file` up to date with `new`, which differs from its text by `edit` alone.
    pub fn update(&mut self, file: &ParsedFile, new: &str, edit: Edit) -> ParsedFile {
        // The first item that the edit touches, and one before if the edit may change its first line:
        // that may join what precedes it.
        let touched = file
            .items
            .partition_point(|i| (i.span.end as usize) < edit.start);
        let begun = (file.items.get(touched)).is_some_and(|i| {
            let before = (i.span.start as usize)..edit.start;
            new.get(before).is_some_and(|text| text.contains('\n'))
        });
        let first = if begun {
            touched
        } else {
            touched.saturating_sub(1)
        };
        let from = match file.items.get(first) {
            Some(item) if first > 0 => item.span.start as usize,
            _ => 0,
        };
        let starts: FxHashSet<usize> = if file.torn {
            FxHashSet::default()
        } else {
            file.items[first.min(file.items.len())..]
                .iter()
                .map(|i| i.span.start as usize)
                .filter(|&s| s > edit.old_end)
                .map(|s| edit.map(s))
                .collect()
        };
        let (cut, end) = split::cut(new, from, |at| starts.contains(&at));
        let kept = if end == new.len() && !starts.contains(&end) {
            file.items.len()
        } else {
            file.items.partition_point(|i| {
                i.span.start as usize <= edit.old_end || edit.map(i.span.start as usize) < end
            })
        };
        let replaced = &file.items[first.min(kept)..kept];
        let mut known: FxHashMap<(u64, usize), &Arc<ItemFacts>> =
            replaced.iter().map(|i| (i.facts.key, &i.facts)).collect();
        let shadow = std::mem::take(&mut self.shadow);
        known.extend(shadow.iter().map(|(k, v)| (*k, v)));

        let mut items: Vec<Item> = file.items[..first.min(kept)].to_vec();
        let mut orderly = !cut.torn;
        for span in cut.items {
            let text = &new[span.range()];
            let known = known.get(&key(text));
            let item = match known.filter(|f| f.clean && *f.text == *text) {
                Some(facts) => fresh(span, Arc::clone(facts)),
                None => {
                    let before = predecessor(replaced, &file.ghosts, new, span, edit);
                    self.item(new, span, before.map(|i| (i, edit)))
                }
            };
            orderly &= !item.is_stale();
            items.push(item);
        }
        let delta = edit.new_end as i64 - edit.old_end as i64;
        items.extend(file.items[kept..].iter().map(|i| moved(i, delta)));

        let clean = orderly && items.iter().all(|i| !i.is_stale());
        let mut out = ParsedFile {
            items,
            ghosts: Vec::new(),
            torn: cut.torn,
        };
        if !clean {
            let names: FxHashSet<&SmolStr> = out
                .items
                .iter()
                .filter_map(|i| i.facts.name.as_ref())
                .collect();
            out.ghosts = (file.ghosts.iter())
                .chain(replaced.iter().filter(|_| !orderly))
                .filter(|i| !i.facts.sites.is_empty())
                .filter(|i| i.facts.name.as_ref().is_some_and(|n| !names.contains(n)))
                .map(|i| ghost(i, edit))
                .collect();
            self.shadow = shadow;
            self.shadow.extend(
                replaced
                    .iter()
                    .filter(|i| i.facts.clean)
                    .map(|i| (i.facts.key, Arc::clone(&i.facts))),
            );
        }
        out
    }

    /// Makes an item from its text. `before` is the item it grew out of, and by which edit.
    fn item(&mut self, text: &str, span: Span, before: Option<(&Item, Edit)>) -> Item {
        let source = &text[span.range()];
        let last_good = before.filter(|(item, _)| item.facts.clean);
        let known = last_good.map(|(item, _)| &*item.facts);
        if let Some((body, sites)) = blocks::parse(&mut self.parser, source, known) {
            return fresh(span, Arc::new(ItemFacts::new(source, body, sites, true)));
        }
        if let Some((item, edit)) = last_good {
            let mut drift = item.drift.clone();
            let base = i64::from(item.span.start);
            drift.push(Drift {
                start: edit.start as i64 - base,
                old_end: edit.old_end as i64 - base,
                new_end: edit.new_end as i64 - base,
                shift: base - i64::from(span.start),
            });
            return Item {
                span,
                facts: Arc::clone(&item.facts),
                state: ItemState::Stale,
                drift,
            };
        }
        // Never seen whole: what the parser makes of it is better than nothing.
        let (body, sites) = match self.parser.parse(source) {
            Some(tree) => (
                lower::module(tree.root_node(), source),
                sites::find(tree.root_node(), source),
            ),
            None => (Vec::new(), Vec::new()),
        };
        Item {
            span,
            facts: Arc::new(ItemFacts::new(source, body, sites, false)),
            state: ItemState::Stale,
            drift: Vec::new(),
        }
    }
}

impl ItemFacts {
    /// Whether the text they were made from parsed without a fault.
    pub fn is_clean(&self) -> bool {
        self.clean
    }

    fn new(source: &str, body: Vec<Stmt>, sites: Vec<Site>, clean: bool) -> Self {
        let name = body.iter().find_map(|stmt| match &stmt.kind {
            StmtKind::FunctionDef(def) => Some(def.name.name.clone()),
            StmtKind::ClassDef(class) => Some(class.name.name.clone()),
            _ => None,
        });
        Self {
            name,
            body,
            sites,
            key: key(source),
            text: source.into(),
            clean,
        }
    }
}

fn fresh(span: Span, facts: Arc<ItemFacts>) -> Item {
    Item {
        span,
        facts,
        state: ItemState::Fresh,
        drift: Vec::new(),
    }
}

fn moved(item: &Item, delta: i64) -> Item {
    Item {
        span: item.span.moved(delta),
        ..item.clone()
    }
}

fn ghost(item: &Item, edit: Edit) -> Item {
    let span = Span::new(
        edit.map(item.span.start as usize),
        edit.map(item.span.end as usize),
    );
    Item {
        span,
        facts: Arc::clone(&item.facts),
        state: ItemState::Stale,
        drift: item.drift.clone(),
    }
}

/// The item that the text at `span` was before the edit: the one of the same name, else the one at
/// the same place.
fn predecessor<'a>(
    replaced: &'a [Item],
    ghosts: &'a [Item],
    new: &str,
    span: Span,
    edit: Edit,
) -> Option<&'a Item> {
    let name = defined_name(&new[span.range()]);
    let named = |i: &&Item| name.is_some() && i.facts.name.as_deref() == name;
    replaced
        .iter()
        .find(named)
        .or_else(|| ghosts.iter().find(named))
        .or_else(|| {
            replaced
                .iter()
                .find(|i| edit.map(i.span.start as usize) == span.start as usize)
        })
}

/// The name after the first `def` or `class` at the start of a line, read without parsing.
fn defined_name(source: &str) -> Option<&str> {
    source.lines().find_map(|line| {
        let rest = line.strip_prefix("async ").unwrap_or(line);
        let rest = rest
            .strip_prefix("def ")
            .or_else(|| rest.strip_prefix("class "))?
            .trim_start();
        let end = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        (end > 0).then(|| &rest[..end])
    })
}

/// Where to look for the facts of a text. Two texts may share a key.
fn key(source: &str) -> (u64, usize) {
    let mut hasher = FxHasher::default();
    source.hash(&mut hasher);
    (hasher.finish(), source.len())
}

#[cfg(test)]
mod tests;
