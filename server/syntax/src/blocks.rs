//! Parses an item statement by statement, so that an edit costs the statement around it.
//!
//! A kernel of 280 lines takes a millisecond to parse; the loop that is being typed in, a tenth of
//! that. A long statement with one suite is cut into its header and the statements of the suite, and
//! what was known of a statement with the same text is taken over. What a statement means depends on
//! its own text alone, so the result is that of a parse from nothing, whatever was there before.

mod known;

use self::known::Known;
use crate::ast::{Stmt, StmtKind};
use crate::file::ItemFacts;
use crate::parser::TreeParser;
use crate::sites::{self, Site};
use crate::split::{self, NoSuite, Statement};
use crate::{Span, lower};

/// Statements shorter than this are parsed whole, bytes: about ten lines.
const MAX_WHOLE: usize = 400;

/// Suites within suites that are cut; deeper ones are parsed whole.
const MAX_LEVEL: usize = 8;

/// What a statement of a suite is wrapped in, to be a text that Python would accept.
const WRAPPER: &str = "if 1:\n";

/// The item's statements and sites, or nothing if some part of it has a fault.
pub(crate) fn parse(
    parser: &mut TreeParser,
    text: &str,
    before: Option<&ItemFacts>,
) -> Option<(Vec<Stmt>, Vec<Site>)> {
    let known = before.map(|facts| Known::new(facts, text));
    let old = before.map_or(&[][..], |facts| &facts.body);
    let mut blocks = Blocks {
        parser,
        text,
        known,
        sites: Vec::new(),
    };
    let whole = Span::new(0, text.len());
    let body = match blocks.suite(whole, "", old, 0) {
        Ok(body) => body,
        Err(NoSuite::Unbalanced) => return None,
        Err(NoSuite::Uneven) => {
            let mut body = Vec::new();
            blocks.sites.clear();
            blocks.whole(whole, "", &mut body).ok()?;
            body
        }
    };
    let mut sites = blocks.sites;
    sites.sort_by_key(|s| (s.span.start, s.span.end));
    sites.dedup();
    Some((body, sites))
}

struct Blocks<'a> {
    parser: &'a mut TreeParser,
    text: &'a str,
    known: Option<Known<'a>>,
    sites: Vec<Site>,
}

impl<'a> Blocks<'a> {
    /// The statements of a suite. `old` are those of the same suite in the older text.
    fn suite(
        &mut self,
        region: Span,
        indent: &str,
        old: &'a [Stmt],
        level: usize,
    ) -> Result<Vec<Stmt>, NoSuite> {
        let mut out = Vec::new();
        for statement in split::suite(self.text, region, indent)? {
            if self.take_over(statement.span, indent, old, &mut out) {
                continue;
            }
            let sites = self.sites.len();
            match self.divided(&statement, indent, old, level) {
                Ok(stmt) => out.push(stmt),
                Err(NoSuite::Unbalanced) => return Err(NoSuite::Unbalanced),
                Err(NoSuite::Uneven) => {
                    self.sites.truncate(sites);
                    self.whole(statement.span, indent, &mut out)?;
                }
            }
        }
        Ok(out)
    }

    /// Takes over what the older text's facts say, if they know a statement with this text.
    fn take_over(&mut self, span: Span, indent: &str, old: &[Stmt], out: &mut Vec<Stmt>) -> bool {
        let Some(known) = &self.known else {
            return false;
        };
        let Some((before, back)) = known.before(span) else {
            return false;
        };
        let first = old.partition_point(|s| s.span.start < before.start);
        let count = old[first..].partition_point(|s| s.span.start < before.end);
        let same = &old[first..first + count];
        // The older statement may have gone on (`else`) or begun earlier (a decorator).
        if same.first().is_none_or(|s| s.span.start != before.start)
            || same.last().is_none_or(|s| s.span.end > before.end)
            || !known.is_indented(before.start, indent)
        {
            return false;
        }
        out.extend(same.iter().map(|stmt| {
            let mut stmt = stmt.clone();
            if back != 0 {
                stmt.relocate(&|at: Span| at.moved(-back));
            }
            stmt
        }));
        let sites = &known.facts.sites;
        let first = sites.partition_point(|s| s.span.start < before.start);
        self.sites.extend(
            (sites[first..].iter())
                .take_while(|s| s.span.start < before.end)
                .filter(|s| before.contains(s.span))
                .map(|s| Site {
                    span: s.span.moved(-back),
                    ..*s
                }),
        );
        true
    }

    /// A long statement by the headers of its clauses and the statements of their suites.
    fn divided(
        &mut self,
        statement: &Statement,
        indent: &str,
        old: &'a [Stmt],
        level: usize,
    ) -> Result<Stmt, NoSuite> {
        let Statement { span, headers } = statement;
        // Whatever is known: parsed whole, tree-sitter lets a fault pass that it sees in a part.
        if headers.is_empty() || span.len() <= MAX_WHOLE || level >= MAX_LEVEL {
            return Err(NoSuite::Uneven);
        }
        let known = (self.known.as_ref()).and_then(|k| k.headers(statement, indent, old));
        let old_suites = match &known {
            Some(known) => known.suites.clone(),
            None => self.old_suites(*span, old),
        };
        let suites = self.suites(statement, indent, &old_suites, level)?;
        let Some(mut known) = known else {
            return self.headed(statement, indent, suites);
        };
        known.fill(suites).ok_or(NoSuite::Uneven)?;
        self.sites.append(&mut known.sites);
        Ok(known.stmt)
    }

    /// The suites of a statement's clauses.
    fn suites(
        &mut self,
        Statement { span, headers }: &Statement,
        indent: &str,
        old: &[&'a [Stmt]],
        level: usize,
    ) -> Result<Vec<Vec<Stmt>>, NoSuite> {
        let mut suites = Vec::with_capacity(headers.len());
        for (i, header) in headers.iter().enumerate() {
            let start = split::line_after(self.text, header.end as usize);
            let end = headers.get(i + 1).map_or(span.end, |h| h.start) as usize;
            let inner = split::indent_at(self.text, start);
            if inner.len() <= indent.len() || !inner.starts_with(indent) {
                return Err(NoSuite::Uneven);
            }
            // The next clause's indentation is not part of the suite.
            let end = start + self.text[start..end].trim_end().len();
            let old = old.get(i).copied().unwrap_or_default();
            suites.push(self.suite(Span::new(start, end), inner, old, level + 1)?);
        }
        Ok(suites)
    }

    /// A statement by its headers, parsed alone, and its suites.
    fn headed(
        &mut self,
        Statement { span, headers }: &Statement,
        indent: &str,
        suites: Vec<Vec<Stmt>>,
    ) -> Result<Stmt, NoSuite> {
        // The headers, each with a placeholder for its suite, and where each of them begins.
        let mut skeleton = String::new();
        let mut begins = Vec::with_capacity(headers.len());
        for (i, header) in headers.iter().enumerate() {
            if i > 0 {
                skeleton.push('\n');
                skeleton.push_str(indent);
            }
            begins.push((skeleton.len() as u32, header.start));
            skeleton.push_str(&self.text[header.range()]);
            skeleton.push_str(" pass");
        }
        let whole = Span::new(0, skeleton.len());
        let to = |at: u32| {
            let clause = begins.partition_point(|(begin, _)| *begin <= at);
            let (begin, real) = begins[clause.saturating_sub(1)];
            real + at - begin
        };
        let place = |at: Span| Span {
            start: to(at.start),
            // What ends with the last placeholder ends with the last suite.
            end: if at.end == whole.end {
                span.end
            } else {
                to(at.end)
            },
        };
        let mut parsed = self.wrapped(&skeleton, indent, &place)?;
        let (Some(mut stmt), true) = (parsed.pop(), parsed.is_empty()) else {
            return Err(NoSuite::Uneven);
        };
        let mut places = stmt.kind.suites_mut();
        if places.len() != suites.len() {
            return Err(NoSuite::Uneven);
        }
        for (place, suite) in places.iter_mut().zip(suites) {
            **place = suite;
        }
        Ok(stmt)
    }

    /// The suites of the statement that stood in the older text where this one begins.
    fn old_suites(&self, span: Span, old: &'a [Stmt]) -> Vec<&'a [Stmt]> {
        let start = Span {
            end: span.start,
            ..span
        };
        (self.known.as_ref())
            .and_then(|known| {
                let (before, _) = known.before(start)?;
                let index = old.partition_point(|s| s.span.start < before.start);
                old.get(index).filter(|s| s.span.start == before.start)
            })
            .map(|stmt| {
                let mut suites = stmt.blocks();
                suites.retain(|suite| !suite.is_empty());
                suites
            })
            .unwrap_or_default()
    }

    /// A statement in one piece.
    fn whole(&mut self, span: Span, indent: &str, out: &mut Vec<Stmt>) -> Result<(), NoSuite> {
        let text = self.text;
        let place = |at: Span| at.shift(span.start);
        out.extend(self.wrapped(&text[span.range()], indent, &place)?);
        Ok(())
    }

    /// Parses a statement that is indented by `indent`; `place` says where a place in `source` is in
    /// the item.
    fn wrapped(
        &mut self,
        source: &str,
        indent: &str,
        place: &impl Fn(Span) -> Span,
    ) -> Result<Vec<Stmt>, NoSuite> {
        let storage;
        let (text, before) = if indent.is_empty() {
            (source, 0)
        } else {
            storage = format!("{WRAPPER}{indent}{source}");
            (storage.as_str(), (WRAPPER.len() + indent.len()) as i64)
        };
        // A fault found by the parser is as final as one found by counting brackets.
        let tree = (self.parser.parse(text))
            .filter(|tree| !tree.root_node().has_error())
            .ok_or(NoSuite::Unbalanced)?;
        let mut body = lower::module(tree.root_node(), text);
        if !indent.is_empty() {
            body = unwrap(body).ok_or(NoSuite::Unbalanced)?;
        }
        let place = |at: Span| place(at.moved(-before));
        body.iter_mut().for_each(|stmt| stmt.relocate(&place));
        let found = sites::find(tree.root_node(), text);
        self.sites.extend(found.into_iter().map(|s| Site {
            span: place(s.span),
            ..s
        }));
        Ok(body)
    }
}

/// What the wrapper holds, if it is still just that: `else:` would have made it another statement.
fn unwrap(mut body: Vec<Stmt>) -> Option<Vec<Stmt>> {
    let stmt = body.pop().filter(|_| body.is_empty())?;
    let StmtKind::If {
        mut branches,
        orelse,
    } = stmt.kind
    else {
        return None;
    };
    let (_, suite) = branches.pop()?;
    (branches.is_empty() && orelse.is_empty()).then_some(suite)
}
