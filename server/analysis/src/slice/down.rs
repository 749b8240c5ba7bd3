//! Writing the kernel's own module: the way down to a kernel that is defined within something.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Stmt, StmtKind};

use super::Unsliceable;
use super::collect::{Collected, touches};
use super::module::Placed;
use super::render::{Page, Wanted, page_wants};

impl<'p, 'w> Page<'p, 'w> {
    pub(super) fn around_kernel(&mut self, collected: &Collected<'w>) -> Result<(), Unsliceable> {
        let (index, part) = (self.index, self.part);
        let top = |placed: Placed<'w>| page_wants(index, part, placed);
        self.level(&index.tops, collected, 0, 0, &top)
    }

    /// One block on the way: what is wanted of it, and the statement that holds the kernel.
    /// `depth` counts the functions around, `step` the statements.
    fn level(
        &mut self,
        block: &[Placed<'w>],
        collected: &Collected<'w>,
        step: usize,
        depth: usize,
        wanted: Wanted<'_, 'w>,
    ) -> Result<(), Unsliceable> {
        let Some(next) = collected.chain.get(step).copied() else {
            return Ok(());
        };
        let mut done = Ok(());
        let is_next = |placed: Placed<'w>| placed.span() == next.span();
        self.sequence(
            block,
            &|placed| is_next(placed) || wanted(placed),
            &mut |page, placed| {
                if !is_next(placed) {
                    page.statement(placed, wanted);
                } else if step + 1 == collected.chain.len() {
                    page.canvas.keep_span(placed.span());
                } else {
                    done = page.open(placed, collected, step + 1, depth, wanted);
                }
            },
        );
        done
    }

    /// Opens a statement that holds the kernel.
    fn open(
        &mut self,
        placed: Placed<'w>,
        collected: &Collected<'w>,
        step: usize,
        depth: usize,
        wanted: Wanted<'_, 'w>,
    ) -> Result<(), Unsliceable> {
        let Some(inner) = collected.chain.get(step) else {
            return Ok(());
        };
        let blocks = placed.stmt.blocks();
        let holds = |block: &&[Stmt]| {
            let mut spans = block.iter().map(|s| placed.place(s.span));
            spans.any(|span| span == inner.span())
        };
        let Some(at) = blocks.iter().position(holds) else {
            return Err(Unsliceable::Gone);
        };
        let body = placed.block(blocks[at]);
        match &placed.stmt.kind {
            StmtKind::FunctionDef(def) => {
                self.header(placed.place(def.def_span).start as usize);
                let scope = collected.scopes.get(depth);
                let local = |placed: Placed<'w>| {
                    let kept = scope.into_iter().flat_map(|s| &s.kept);
                    let mut names = kept.map(SmolStr::as_str);
                    names.any(|name| touches(placed, name, true))
                };
                self.level(&body, collected, step, depth + 1, &local)
            }
            // Names of a class are not seen by its functions.
            StmtKind::ClassDef(class) => {
                let after = class
                    .decorators
                    .last()
                    .map_or(placed.span().start, |d| placed.place(d.span).end);
                self.keyword(after as usize, &body, "class")?;
                self.level(&body, collected, step, depth, &|_| false)
            }
            StmtKind::Try { .. } if at == 0 => {
                self.protected(placed, &body, &blocks);
                self.level(&body, collected, step, depth, wanted)
            }
            _ => {
                let before = blocks[..at].iter().rev().find_map(|b| b.last());
                let after = before.map_or(placed.span().start, |s| placed.place(s.span).end);
                let words = [
                    "if", "elif", "else", "for", "while", "with", "async", "except", "finally",
                ];
                let found = words
                    .iter()
                    .any(|word| self.keyword(after as usize, &body, word).is_ok());
                if !found {
                    return Err(Unsliceable::Within("a statement that is not understood"));
                }
                self.level(&body, collected, step, depth, wanted)
            }
        }
    }

    /// Makes a header a true condition.
    fn header(&mut self, at: usize) {
        self.canvas.write(at, "if 1:");
    }

    /// Finds the word that begins a clause, in the last lines before its block.
    fn keyword(
        &mut self,
        after: usize,
        body: &[Placed<'w>],
        word: &str,
    ) -> Result<(), Unsliceable> {
        let end = body.first().map_or(after, |s| s.span().start as usize);
        let mut at = after;
        for line in self.canvas.source(after, end).split_inclusive('\n') {
            let indent = line.len() - line.trim_start().len();
            if line[indent..].starts_with(word) {
                self.header(at + indent);
                return Ok(());
            }
            at += line.len();
        }
        Err(Unsliceable::Within("a statement that is not understood"))
    }

    /// Keeps `try:` and one clause that does nothing.
    fn protected(&mut self, placed: Placed<'w>, body: &[Placed<'w>], blocks: &[&[Stmt]]) {
        let end = |block: &[Stmt]| block.last().map(|s| placed.place(s.span).end as usize);
        let start = body.first().map_or(0, |s| s.span().start as usize);
        self.canvas.keep(placed.span().start as usize, start);
        let clause = blocks.iter().skip(1).find_map(|b| b.first());
        if let (Some(from), Some(first)) = (blocks.first().and_then(|b| end(b)), clause) {
            let at = placed.place(first.span).start as usize;
            self.canvas.keep(from, at);
            self.canvas.write(at, "0");
        }
    }
}
