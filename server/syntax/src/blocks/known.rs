//! What an older text of an item says of the new one: where the two agree, what was found there still
//! holds.

use crate::Span;
use crate::ast::Stmt;
use crate::file::ItemFacts;
use crate::sites::Site;
use crate::split::Statement;

/// Facts of an older text and how far the two texts agree.
pub(super) struct Known<'a> {
    pub(super) facts: &'a ItemFacts,
    /// Both texts are equal up to here.
    head: usize,
    /// The new text from here on is the end of the old one.
    tail: usize,
    /// From a place in the new tail to the old one.
    back: i64,
}

impl<'a> Known<'a> {
    pub(super) fn new(facts: &'a ItemFacts, text: &str) -> Self {
        let (old, new) = (facts.text.as_bytes(), text.as_bytes());
        let most = old.len().min(new.len());
        let head = common(old, new, most, |bytes, i| bytes[i]);
        let same = common(old, new, most - head, |bytes, i| bytes[bytes.len() - 1 - i]);
        Self {
            facts,
            head,
            tail: new.len() - same,
            back: old.len() as i64 - new.len() as i64,
        }
    }

    /// Whether a statement of the old text stands on a line of its own, indented so: what follows
    /// it on deeper lines depends on that.
    pub(super) fn is_indented(&self, start: u32, indent: &str) -> bool {
        (self.facts.text[..start as usize].strip_suffix(indent))
            .is_some_and(|head| head.is_empty() || head.ends_with('\n'))
    }

    /// The place in the old text of an unchanged one.
    pub(super) fn before(&self, span: Span) -> Option<(Span, i64)> {
        if span.end as usize <= self.head {
            Some((span, 0))
        } else if span.start as usize >= self.tail {
            Some((span.moved(self.back), self.back))
        } else {
            None
        }
    }
}

/// How many of the first `most` bytes that `at` gives agree.
fn common(a: &[u8], b: &[u8], most: usize, at: impl Fn(&[u8], usize) -> u8) -> usize {
    (0..most).find(|&i| at(a, i) != at(b, i)).unwrap_or(most)
}

/// A compound statement whose headers are those of an older text.
pub(super) struct Headers<'a> {
    /// In the new text, without what its suites hold.
    pub(super) stmt: Stmt,
    /// What was found in the headers, in the new text.
    pub(super) sites: Vec<Site>,
    /// What the suites held in the older text.
    pub(super) suites: Vec<&'a [Stmt]>,
    like: &'a Stmt,
}

impl Headers<'_> {
    /// Puts the suites of the new text in. Nothing if they are not as many as in the older one.
    pub(super) fn fill(&mut self, suites: Vec<Vec<Stmt>>) -> Option<()> {
        self.stmt.fill(self.like, suites)
    }
}

impl<'a> Known<'a> {
    /// The statement as the older text has it, if every header stood there as the header of the same
    /// clause. `old` are the statements of the same suite there.
    pub(super) fn headers(
        &self,
        new: &Statement,
        indent: &str,
        old: &'a [Stmt],
    ) -> Option<Headers<'a>> {
        let places: Vec<(Span, i64)> = (new.headers.iter())
            .map(|header| self.before(*header))
            .collect::<Option<_>>()?;
        let (first, _) = places.first()?;
        let like = old
            .get(old.partition_point(|s| s.span.start < first.start))
            .filter(|s| s.span.start == first.start)?;
        let mut suites = like.blocks();
        suites.retain(|suite| !suite.is_empty());
        if suites.len() != places.len() {
            return None;
        }
        // Between the header of a clause and its suite, and between that and the next header, there
        // was nothing but comments: nothing else belonged to the headers.
        let mut last = like.span.start;
        for ((header, _), suite) in places.iter().zip(&suites) {
            let (begin, end) = (suite.first()?.span.start, suite.last()?.span.end);
            if !self.is_indented(header.start, indent)
                || !self.is_blank(last, header.start)
                || !self.is_blank(header.end, begin)
            {
                return None;
            }
            last = end;
        }
        let to = |at: u32| {
            let clause = places.partition_point(|(header, _)| header.start <= at);
            let (_, back) = places[clause.saturating_sub(1)];
            (i64::from(at) - back) as u32
        };
        let place = |at: Span| Span {
            start: to(at.start),
            // What ends with the last suite ends with it still.
            end: if at.end == like.span.end {
                new.span.end
            } else {
                to(at.end)
            },
        };
        let mut sites = Vec::new();
        for (header, _) in &places {
            let first = (self.facts.sites).partition_point(|s| s.span.start < header.start);
            let within =
                (self.facts.sites[first..].iter()).take_while(|site| site.span.start < header.end);
            for site in within {
                if site.span.end > header.end && site.span.end != like.span.end {
                    return None;
                }
                sites.push(Site {
                    span: place(site.span),
                    ..*site
                });
            }
        }
        let mut stmt = like.hollow()?;
        stmt.relocate(&place);
        Some(Headers {
            stmt,
            sites,
            suites,
            like,
        })
    }

    /// Whether a part of the older text holds nothing but comments.
    fn is_blank(&self, from: u32, to: u32) -> bool {
        let part = self.facts.text.get(from as usize..to as usize);
        part.is_some_and(|part| {
            part.split('\n').all(|line| {
                let rest = line.trim_start_matches([' ', '\t', '\r', '\x0c', ';']);
                rest.is_empty() || rest.starts_with('#')
            })
        })
    }
}
