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
        let uses = self.uses(callback)?;
        (uses.named == uses.read).then_some(uses.fields)
    }

    /// The fields of the configuration that a callback gives as they are, one by one. Nothing if it does
    /// anything else with the configuration.
    pub(crate) fn hands_on(&self, callback: &'a Expr) -> Option<FxHashSet<&'a str>> {
        let uses = self.uses(callback)?;
        let gives = self.gives(callback);
        let [only] = gives.as_slice() else {
            return None;
        };
        let (ExprKind::Tuple(parts) | ExprKind::List(parts)) = &only.value.kind else {
            return None;
        };
        let is_field = |part: &&Expr| match &part.kind {
            ExprKind::Attribute { value, .. } => uses.is_config(value),
            _ => false,
        };
        let plain = parts.iter().filter(is_field).count();
        (uses.named == plain).then_some(uses.fields)
    }

    fn uses(&self, callback: &'a Expr) -> Option<Uses<'a>> {
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
        Some(uses)
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

    fn is_config(&self, expr: &Expr) -> bool {
        expr.name().map(SmolStr::as_str) == self.config
    }

    fn see(&mut self, expr: &'a Expr) {
        self.named += usize::from(self.is_config(expr));
        if let ExprKind::Attribute { value, attr } = &expr.kind
            && self.is_config(value)
        {
            self.read += 1;
            self.fields.insert(attr.name.as_str());
        }
    }
}
