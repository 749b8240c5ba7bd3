//! Writing the texts of a slice: what is needed is kept, in its place.

use sha2::{Digest, Sha256};
use smol_str::SmolStr;
use tileperf_syntax::ast::{ImportName, Stmt, StmtKind};

use super::canvas::Canvas;
use super::collect::{Collected, Part, touches};
use super::module::{Module, Placed, imported_as};
use super::{ModuleText, Slice, Unsliceable, imports};
use crate::model::Fingerprint;

/// A compound statement of which only what binds needed names is kept. Loops are kept whole: which
/// round binds what is not known.
pub(super) fn is_split(stmt: &Stmt) -> bool {
    matches!(
        stmt.kind,
        StmtKind::If { .. } | StmtKind::Try { .. } | StmtKind::With { .. }
    )
}

impl Collected<'_> {
    /// The slice.
    pub(super) fn slice(mut self) -> Result<Slice, Unsliceable> {
        let named = imports::named(self.workspace, &self.order, &self.edges);
        let mut stamp = Stamp::default();
        let mut modules = Vec::new();
        for (id, names) in named {
            let Some(source) = self.workspace.source(id) else {
                continue;
            };
            let index = self.module(id);
            let part = self.parts.remove(&id).unwrap_or_default();
            let mut page = Page {
                canvas: Canvas::new(source.text),
                index: &index,
                part: &part,
            };
            if modules.is_empty() {
                page.around_kernel(&self)?;
            } else {
                page.block(&index.tops, &|stmt| page_wants(&index, &part, stmt));
            }
            for piece in page.canvas.pieces() {
                stamp.add(piece);
            }
            let text = page.canvas.finish();
            for name in names {
                stamp.add(&name);
                modules.push(ModuleText {
                    name,
                    path: source.path.clone(),
                    text: text.clone(),
                });
            }
        }
        let kernel = self.kernel_name().ok_or(Unsliceable::Gone)?;
        let mut captured: Vec<SmolStr> = self.captured.into_iter().collect();
        captured.sort();
        captured.iter().for_each(|name| stamp.add(name));
        stamp.add(&kernel);
        Ok(Slice {
            entry: modules.first().ok_or(Unsliceable::Gone)?.name.clone(),
            modules,
            kernel,
            captured,
            runs: self.runs,
            fingerprint: stamp.finish(),
        })
    }

    fn kernel_name(&self) -> Option<SmolStr> {
        if let Some(name) = &self.wrapped_as {
            return Some(name.clone());
        }
        match &self.chain.last()?.stmt.kind {
            StmtKind::FunctionDef(def) => Some(def.name.name.clone()),
            _ => None,
        }
    }
}

/// A module's text as it is written.
pub(super) struct Page<'p, 'w> {
    pub(super) canvas: Canvas<'p>,
    pub(super) index: &'p Module<'w>,
    pub(super) part: &'p Part,
}

/// Whether a statement at the top of a module is needed.
pub(super) fn page_wants(index: &Module<'_>, part: &Part, placed: Placed<'_>) -> bool {
    if let StmtKind::ImportFrom { module, star, .. } = &placed.stmt.kind {
        // It decides how annotations are evaluated.
        if module == "__future__" || *star && part.stars.contains(&placed.span()) {
            return true;
        }
    }
    part.names
        .iter()
        .any(|name| touches(placed, name, index.owns(name)))
        || is_split(placed.stmt)
            && (placed.stmt.blocks().into_iter())
                .flat_map(|block| placed.block(block))
                .any(|inner| page_wants_star(part, inner))
}

fn page_wants_star(part: &Part, placed: Placed<'_>) -> bool {
    part.stars.contains(&placed.span())
        || is_split(placed.stmt)
            && (placed.stmt.blocks().into_iter())
                .flat_map(|block| placed.block(block))
                .any(|inner| page_wants_star(part, inner))
}

pub(super) type Wanted<'f, 'w> = &'f dyn Fn(Placed<'w>) -> bool;

impl<'p, 'w> Page<'p, 'w> {
    /// Keeps what is wanted of a block; says whether that is anything.
    fn block(&mut self, stmts: &[Placed<'w>], wanted: Wanted<'_, 'w>) -> bool {
        self.sequence(stmts, wanted, &mut |page, placed| {
            page.statement(placed, wanted)
        })
    }

    /// Keeps what is wanted of a sequence of statements, each by `put`.
    pub(super) fn sequence(
        &mut self,
        stmts: &[Placed<'w>],
        wanted: Wanted<'_, 'w>,
        put: &mut dyn FnMut(&mut Self, Placed<'w>),
    ) -> bool {
        let mut any = false;
        let mut rest = stmts;
        while !rest.is_empty() {
            let (line, after) = rest.split_at(self.same_line(rest));
            rest = after;
            if !line.iter().any(|placed| wanted(*placed)) {
                continue;
            }
            any = true;
            for (at, placed) in line.iter().enumerate() {
                if wanted(*placed) {
                    put(self, *placed);
                } else {
                    // It holds the place of a statement, before the semicolon or after.
                    self.canvas.write(placed.span().start as usize, "0");
                }
                if let Some(next) = line.get(at + 1) {
                    let (end, start) = (placed.span().end as usize, next.span().start as usize);
                    self.canvas.keep(end, start);
                }
            }
        }
        any
    }

    /// How many of these statements stand on one line, with semicolons between.
    fn same_line(&self, stmts: &[Placed<'w>]) -> usize {
        let joined = |pair: &[Placed<'w>]| {
            let (end, start) = (pair[0].span().end as usize, pair[1].span().start as usize);
            start >= end && !self.canvas.source(end, start).contains('\n')
        };
        1 + stmts.windows(2).take_while(|pair| joined(pair)).count()
    }

    pub(super) fn statement(&mut self, placed: Placed<'w>, wanted: Wanted<'_, 'w>) {
        match &placed.stmt.kind {
            StmtKind::Import(names) => self.import(placed, names, false),
            StmtKind::ImportFrom {
                names, star: false, ..
            } => self.import(placed, names, true),
            _ if is_split(placed.stmt) => self.compound(placed, wanted),
            _ => self.canvas.keep_span(placed.span()),
        }
    }

    /// Keeps the headers of a compound statement and what is wanted of its blocks.
    fn compound(&mut self, placed: Placed<'w>, wanted: Wanted<'_, 'w>) {
        let mut from = placed.span().start as usize;
        for block in placed.stmt.blocks() {
            let block = placed.block(block);
            let (Some(first), Some(last)) = (block.first(), block.last()) else {
                continue;
            };
            let start = first.span().start as usize;
            self.canvas.keep(from, start);
            if !self.block(&block, wanted) {
                self.canvas.write(start, "0");
            }
            from = last.span().end as usize;
        }
    }

    /// Keeps an import of the names that are needed.
    fn import(&mut self, placed: Placed<'w>, names: &[ImportName], from: bool) {
        let span = placed.span();
        let place = |name: &ImportName| {
            let end = name.alias.as_ref().unwrap_or(&name.name).span.end;
            placed.place(tileperf_syntax::Span {
                start: name.name.span.start,
                end,
            })
        };
        let always = matches!(&placed.stmt.kind,
            StmtKind::ImportFrom { module, .. } if module == "__future__");
        let needed =
            |name: &&ImportName| always || self.part.names.contains(imported_as(name, from));
        let kept: Vec<_> = names.iter().filter(needed).map(place).collect();
        let (Some(first), Some(last)) = (names.first().map(place), names.last().map(place)) else {
            return self.canvas.keep_span(span);
        };
        if kept.is_empty() || kept.len() == names.len() {
            return self.canvas.keep_span(span);
        }
        self.canvas
            .keep_joints(span.start as usize, span.end as usize);
        self.canvas.keep(span.start as usize, first.start as usize);
        for (at, name) in kept.iter().enumerate() {
            self.canvas.keep_span(*name);
            if at + 1 < kept.len() {
                self.canvas.write(name.end as usize, ",");
            }
        }
        self.canvas.keep(last.end as usize, span.end as usize);
    }
}

/// A hash of texts in order.
#[derive(Default)]
struct Stamp(Sha256);

impl Stamp {
    fn add(&mut self, text: &str) {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
    }

    fn finish(self) -> Fingerprint {
        let digest = self.0.finalize();
        let mut first = [0; 8];
        first.copy_from_slice(&digest[..8]);
        Fingerprint(u64::from_le_bytes(first))
    }
}
