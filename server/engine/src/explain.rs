//! One line on a name of cuTile under the cursor: `ct.load`, `padding_mode=`, `@ct.kernel(occupancy=2)`.
//!
//! The item under the cursor is parsed again if need be, so that a name in a string or comment
//! explains nothing.

use tileperf_analysis::knobs;
use tileperf_syntax::ast::{Arg, Expr, ExprKind, Stmt};
use tileperf_syntax::{ParsedFile, Span};

use crate::Engine;
use crate::queries::HoverText;
use crate::view::FileView;

impl Engine {
    pub(crate) fn explain(&self, file: &FileView, offset: usize) -> Option<HoverText> {
        if !file.model.uses_cutile {
            return None;
        }
        let parsed = self.shared.parsed(&file.doc);
        let found = under_cursor(&parsed, offset)?;
        let version = self.settings().cuda_tile;
        let canonical = |path: &str| self.canonical(file, path);
        let markdown = match found.keyword {
            Some(keyword) => knobs::explain_keyword(&canonical(&found.path)?, &keyword, version)?,
            None => knobs::explain(knobs::lookup(&canonical(&found.path)?)?, version),
        };
        Some(HoverText {
            span: found.span,
            markdown,
        })
    }

    /// A dotted name as written in a file, as cuTile's own: `ct.load` as `cuda.tile.load`.
    fn canonical(&self, file: &FileView, path: &str) -> Option<String> {
        if path == REPLACE_HINTS {
            return Some(path.to_owned());
        }
        let (root, rest) = path
            .split_once('.')
            .map_or((path, None), |(a, b)| (a, Some(b)));
        let import = file.model.imports.get(root)?;
        let whole = rest.map_or_else(|| import.to_string(), |rest| format!("{import}.{rest}"));
        (whole.starts_with("cuda.tile.") || whole.starts_with("cuda.tile_experimental."))
            .then_some(whole)
    }
}

/// The method by which a kernel's hints are replaced; its receiver can have any name.
const REPLACE_HINTS: &str = "cuda.tile.kernel.replace_hints";

/// A name, or a keyword of a call of it.
struct Found {
    path: String,
    keyword: Option<String>,
    span: Span,
}

fn under_cursor(parsed: &ParsedFile, offset: usize) -> Option<Found> {
    let item = parsed.item_at(offset).filter(|i| !i.is_stale())?;
    let local = offset - item.span.start as usize;
    let mut found = None;
    walk(&item.facts.body, local, &mut |expr| {
        let hit = match &expr.kind {
            ExprKind::Call { func, args } => keyword(func, args, local),
            ExprKind::Attribute { attr, .. } if attr.span.touches(local) => {
                expr.dotted().map(|path| Found {
                    path,
                    keyword: None,
                    span: attr.span,
                })
            }
            ExprKind::Name(name) if expr.span.touches(local) => Some(Found {
                path: name.to_string(),
                keyword: None,
                span: expr.span,
            }),
            _ => None,
        };
        if hit.is_some() {
            found = hit;
        }
    });
    found.map(|f| Found {
        span: item.place(f.span),
        ..f
    })
}

fn keyword(func: &Expr, args: &[Arg], local: usize) -> Option<Found> {
    let name = args
        .iter()
        .find_map(|a| a.name.as_ref().filter(|n| n.span.touches(local)))?;
    let path = func.dotted()?;
    let path = if path.ends_with(".replace_hints") {
        REPLACE_HINTS.to_owned()
    } else {
        path
    };
    Some(Found {
        path,
        keyword: Some(name.name.to_string()),
        span: name.span,
    })
}

/// Visits every expression that touches the offset, annotations included, outermost first.
fn walk<'a>(body: &'a [Stmt], offset: usize, visit: &mut dyn FnMut(&'a Expr)) {
    let mut within = |expr: &'a Expr| {
        expr.walk(&mut |e| {
            if e.span.touches(offset) {
                visit(e);
            }
        });
    };
    for stmt in body.iter().filter(|s| s.span.touches(offset)) {
        if let tileperf_syntax::ast::StmtKind::FunctionDef(def) = &stmt.kind {
            def.params
                .iter()
                .filter_map(|p| p.annotation.as_ref())
                .for_each(&mut within);
        }
        stmt.own_exprs(&mut within);
    }
    for stmt in body.iter().filter(|s| s.span.touches(offset)) {
        for block in stmt.blocks() {
            walk(block, offset, visit);
        }
    }
}
