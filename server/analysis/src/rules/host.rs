//! Following names of host code: the statements that run together, what a name was given.

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Arg, Expr, ExprKind, FunctionDef, Stmt, StmtKind};

use super::{FileContext, InItem};
use crate::body::{Place, values, walk};

/// How often a name is followed to another one.
const HOPS: usize = 4;

/// The statements that run together with a place: the body of the innermost function around it, or
/// those of the module.
pub(super) fn scope<'a>(file: &FileContext<'a>, span: Span) -> Vec<InItem<'a, [Stmt]>> {
    match file.functions_around(span).first() {
        Some(def) => vec![def.with(def.node.body.as_slice())],
        None => module(file),
    }
}

/// The statements of the module.
pub(super) fn module<'a>(file: &FileContext<'a>) -> Vec<InItem<'a, [Stmt]>> {
    let items = file.file.items.iter().filter(|i| !i.is_stale());
    items
        .map(|item| InItem {
            item,
            node: item.facts.body.as_slice(),
        })
        .collect()
}

/// Every function of a file, with what it stands in.
pub(super) fn functions<'a>(file: &FileContext<'a>) -> Vec<InItem<'a, FunctionDef>> {
    let mut out = Vec::new();
    for item in file.file.items.iter().filter(|i| !i.is_stale()) {
        let mut found = Vec::new();
        super::context::functions(&item.facts.body, &mut found);
        out.extend(found.into_iter().map(|node| InItem { item, node }));
    }
    out
}

/// The function of that name at the top of a file, if there is one only.
pub(super) fn function<'a>(file: &FileContext<'a>, name: &str) -> Option<InItem<'a, FunctionDef>> {
    let mut found = None;
    for item in file.file.items.iter().filter(|i| !i.is_stale()) {
        for stmt in &item.facts.body {
            if let StmtKind::FunctionDef(def) = &stmt.kind
                && def.name.name == name
                && found.replace(InItem { item, node: &**def }).is_some()
            {
                return None;
            }
        }
    }
    found
}

/// Walks the expressions of statements that run together, in source order.
pub(super) fn each<'a>(
    scope: &[InItem<'a, [Stmt]>],
    visit: &mut dyn FnMut(InItem<'a, Expr>, &Place<'a>),
) {
    for part in scope {
        let item = part.item;
        walk(part.node, &mut |node, place| {
            visit(InItem { item, node }, place);
        });
    }
}

/// What a name was given, if it was given one thing only; other expressions as they are. Function
/// bodies are looked through from the inside out, then the module.
pub(super) fn follow<'a>(file: &FileContext<'a>, mut expr: InItem<'a, Expr>) -> InItem<'a, Expr> {
    for _ in 0..HOPS {
        let Some(name) = expr.node.name() else { break };
        match given(file, expr.place(expr.node.span), name) {
            Some(next) => expr = next,
            None => break,
        }
    }
    expr
}

/// The only thing that a name means at a place.
fn given<'a>(file: &FileContext<'a>, at: Span, name: &SmolStr) -> Option<InItem<'a, Expr>> {
    for def in file.functions_around(at) {
        if def.node.params.iter().any(|p| p.name.name == *name) {
            return None;
        }
        match values(&def.node.body, name).as_slice() {
            [] => {}
            [one] => {
                return one.map(|node| def.with(node));
            }
            _ => return None,
        }
    }
    let mut found = None;
    for part in module(file) {
        for value in values(part.node, name) {
            let value = value.map(|node| part.with(node));
            if found.replace(value).is_some() {
                return None;
            }
        }
    }
    found.flatten()
}

/// The method called, what it is called on, and its arguments: `x`, `item`, `[]` of `x.item()`.
pub(super) fn method(expr: &Expr) -> Option<(&Expr, &str, &[Arg])> {
    let ExprKind::Call { func, args } = &expr.kind else {
        return None;
    };
    match &func.kind {
        ExprKind::Attribute { value, attr } => Some((value, attr.name.as_str(), args)),
        _ => None,
    }
}

/// What a function gives back, wherever it returns.
pub(super) fn returns(def: &FunctionDef) -> Vec<&Expr> {
    fn visit<'a>(body: &'a [Stmt], out: &mut Vec<&'a Expr>) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Return(value) => out.extend(value),
                StmtKind::FunctionDef(_) | StmtKind::ClassDef(_) => {}
                _ => stmt.blocks().into_iter().for_each(|b| visit(b, out)),
            }
        }
    }
    let mut out = Vec::new();
    visit(&def.body, &mut out);
    out
}
