//! What callbacks of a search read of the configuration that they are handed.

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use super::search_call::SearchCall;
use crate::body::walk;

impl<'a> SearchCall<'a> {
    /// The fields of the configuration that a callback reads. Nothing if it hands the configuration on, or
    /// is not written in this file.
    pub(crate) fn reads(&self, callback: &'a Expr) -> Option<FxHashSet<&'a str>> {
        let callback = self.follow(callback);
        let mut uses = Uses::default();
        if let ExprKind::Lambda { params, body } = &callback.kind {
            uses.config = params.first().map(|p| p.name.name.as_str());
            uses.within(body);
        } else {
            let defs = self.functions(callback.name()?);
            let [(_, def)] = defs.as_slice() else {
                return None;
            };
            // What a function within reads is not looked at.
            let nested =
                |s: &Stmt| matches!(s.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_));
            if def.body.iter().any(|stmt| any(stmt, &nested)) {
                return None;
            }
            uses.config = def.params.first().map(|p| p.name.name.as_str());
            walk(&def.body, &mut |expr, _| uses.see(expr));
        }
        uses.config?;
        (uses.named == uses.read).then_some(uses.fields)
    }
}

/// Whether it holds of a statement or of one within.
fn any(stmt: &Stmt, holds: &impl Fn(&Stmt) -> bool) -> bool {
    let mut blocks = stmt.blocks().into_iter();
    holds(stmt) || blocks.any(|block| block.iter().any(|stmt| any(stmt, holds)))
}

/// How code uses a configuration.
#[derive(Default)]
struct Uses<'a> {
    config: Option<&'a str>,
    /// How often it is named, and how often to read a field of it.
    named: usize,
    read: usize,
    fields: FxHashSet<&'a str>,
}

impl<'a> Uses<'a> {
    fn within(&mut self, expr: &'a Expr) {
        expr.walk(&mut |expr| self.see(expr));
    }

    fn see(&mut self, expr: &'a Expr) {
        let is_config = |e: &Expr| e.name().map(SmolStr::as_str) == self.config;
        self.named += usize::from(is_config(expr));
        if let ExprKind::Attribute { value, attr } = &expr.kind
            && is_config(value)
        {
            self.read += 1;
            self.fields.insert(attr.name.as_str());
        }
    }
}
