//! A number that changes when a function's code changes and not when its comments, layout or place
//! do: what ties measurements and compiled facts to a kernel.

use std::hash::{Hash, Hasher};

use sha2::{Digest, Sha256};
use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef, Stmt, StmtKind};

/// The fingerprint of a function: parameters, decorators and body, docstrings left out.
pub(crate) fn of(def: &FunctionDef) -> u64 {
    let mut hasher = Stable::default();
    function(def, &mut hasher);
    hasher.finish()
}

/// What tells a function's code from another's, whatever its comments and layout.
pub fn function_fingerprint(def: &FunctionDef) -> u64 {
    of(def)
}

/// The fingerprint of several parts in order.
pub(crate) fn join(parts: &[u64]) -> u64 {
    let mut hasher = Stable::default();
    parts.hash(&mut hasher);
    hasher.finish()
}

/// The standard library's hasher may change between Rust releases; a fingerprint is written to
/// journals and must not. What is written is gathered first: it comes in thousands of small pieces, and
/// every keystroke asks.
#[derive(Default)]
struct Stable(Vec<u8>);

impl Hasher for Stable {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        let digest = Sha256::digest(&self.0);
        let mut first = [0; 8];
        first.copy_from_slice(&digest[..8]);
        u64::from_le_bytes(first)
    }
}

fn function(def: &FunctionDef, h: &mut Stable) {
    def.name.name.hash(h);
    exprs(def.decorators.iter(), h);
    for param in &def.params {
        param.name.name.hash(h);
        param.stars.hash(h);
        param.keyword_only.hash(h);
        exprs(param.annotation.iter(), h);
        exprs(param.default.iter(), h);
    }
    block(&def.body, h);
}

fn block(body: &[Stmt], h: &mut Stable) {
    for stmt in body {
        if matches!(&stmt.kind, StmtKind::Expr(e) if matches!(e.kind, ExprKind::Str(_))) {
            continue;
        }
        std::mem::discriminant(&stmt.kind).hash(h);
        match &stmt.kind {
            StmtKind::FunctionDef(def) => {
                function(def, h);
                continue;
            }
            StmtKind::AugAssign { op, .. } => op.hash(h),
            StmtKind::Import(names) | StmtKind::ImportFrom { names, .. } => {
                for name in names {
                    name.name.name.hash(h);
                    name.alias.as_ref().map(|a| &a.name).hash(h);
                }
            }
            _ => {}
        }
        stmt.own_exprs(&mut |e| expr(e, h));
        stmt.blocks().into_iter().for_each(|b| block(b, h));
    }
    0xff_u8.hash(h);
}

fn exprs<'a>(items: impl Iterator<Item = &'a Expr>, h: &mut Stable) {
    items.for_each(|e| expr(e, h));
    0xfe_u8.hash(h);
}

fn expr(e: &Expr, h: &mut Stable) {
    std::mem::discriminant(&e.kind).hash(h);
    match &e.kind {
        ExprKind::Name(name) => name.hash(h),
        ExprKind::Attribute { attr, .. } => attr.name.hash(h),
        ExprKind::Call { args, .. } => {
            for arg in args {
                arg.name.as_ref().map(|n| &n.name).hash(h);
                arg.stars.hash(h);
            }
        }
        ExprKind::Str(text) => text.hash(h),
        ExprKind::Int(n) => n.hash(h),
        ExprKind::Float(x) => x.to_bits().hash(h),
        ExprKind::Bool(b) => b.hash(h),
        ExprKind::Unary { op, .. } | ExprKind::Binary { op, .. } => op.hash(h),
        ExprKind::Logical { and, .. } => and.hash(h),
        ExprKind::Compare { rest, .. } => rest.iter().for_each(|(op, _)| op.hash(h)),
        ExprKind::Slice { lower, upper, step } => {
            [lower, upper, step].map(Option::is_some).hash(h);
        }
        ExprKind::Lambda { params, .. } => params.iter().for_each(|p| p.name.name.hash(h)),
        ExprKind::Named { target, .. } => target.name.hash(h),
        _ => {}
    }
    let mut n = 0_u32;
    e.children(&mut |child| {
        n += 1;
        expr(child, h);
    });
    n.hash(h);
}
