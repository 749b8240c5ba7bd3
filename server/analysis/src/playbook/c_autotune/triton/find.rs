//! Kernels of a file that have Triton lists.

use tileperf_syntax::ParsedFile;
use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef, Stmt, StmtKind};

use crate::body::{ModuleEnv, bindings};

/// A Triton kernel with its list.
pub(super) struct Ported<'a> {
    pub(super) def: &'a FunctionDef,
    /// `triton.autotune(...)`
    pub(super) call: &'a Expr,
    /// The item that the call stands in.
    pub(super) item: u32,
    pub(super) body: &'a [Stmt],
}

/// The Triton kernels of a file that have lists.
pub(super) fn ported<'a>(file: &'a ParsedFile, names: &ModuleEnv) -> Vec<Ported<'a>> {
    let mut out = Vec::new();
    each(file, &mut |item, body, stmt| match &stmt.kind {
        StmtKind::FunctionDef(def) => {
            let lists = def.decorators.iter().filter_map(|decorator| {
                if is_list(decorator, names) {
                    return Some((decorator, item, body));
                }
                // `tuned = triton.autotune(...)`, then `@tuned`.
                let (value, item, body) = bound(file, decorator.name()?)?;
                is_list(value, names).then_some((value, item, body))
            });
            out.extend(one(def, lists));
        }
        // `tuned = triton.autotune(...)(kernel)`
        StmtKind::Assign { value, .. } => {
            if let ExprKind::Call { func, args } = &value.kind
                && let [arg] = args.as_slice()
                && is_list(func, names)
                && let Some(def) = arg.value.name().and_then(|name| defined(file, name))
            {
                out.extend(one(def, std::iter::once((&**func, item, body))));
            }
        }
        _ => {}
    });
    out
}

/// A kernel with the only list that it has.
fn one<'a>(
    def: &'a FunctionDef,
    mut lists: impl Iterator<Item = (&'a Expr, u32, &'a [Stmt])>,
) -> Option<Ported<'a>> {
    let (call, item, body) = lists.next()?;
    lists.next().is_none().then_some(Ported {
        def,
        call,
        item,
        body,
    })
}

fn is_list(expr: &Expr, names: &ModuleEnv) -> bool {
    let ExprKind::Call { func, .. } = &expr.kind else {
        return false;
    };
    matches!(
        names.path(func).as_deref(),
        Some("triton.autotune" | "triton.runtime.autotune" | "triton.runtime.autotuner.autotune")
    )
}

/// Statements of a module, also those that it has under a condition.
fn each<'a>(file: &'a ParsedFile, visit: &mut dyn FnMut(u32, &'a [Stmt], &'a Stmt)) {
    let items = file.items.iter().enumerate();
    for (number, item) in items.filter(|(_, item)| !item.is_stale()) {
        let body = item.facts.body.as_slice();
        within(body, &mut |stmt| visit(number as u32, body, stmt));
    }
}

fn within<'a>(body: &'a [Stmt], visit: &mut dyn FnMut(&'a Stmt)) {
    for stmt in body {
        visit(stmt);
        if !matches!(stmt.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_)) {
            stmt.blocks().into_iter().for_each(|b| within(b, visit));
        }
    }
}

/// What a name of the module is given once, and in which item.
fn bound<'a>(file: &'a ParsedFile, name: &str) -> Option<(&'a Expr, u32, &'a [Stmt])> {
    let mut found = Vec::new();
    for (number, item) in file.items.iter().enumerate() {
        let body = item.facts.body.as_slice();
        bindings(body, name, &mut |value| {
            found.push((value, number as u32, body));
        });
    }
    match found.as_slice() {
        [(Some(value), item, body)] => Some((value, *item, body)),
        _ => None,
    }
}

/// The only function of the module with a name.
fn defined<'a>(file: &'a ParsedFile, name: &str) -> Option<&'a FunctionDef> {
    let mut found = Vec::new();
    each(file, &mut |_, _, stmt| match &stmt.kind {
        StmtKind::FunctionDef(def) if def.name.name == name => found.push(def),
        _ => {}
    });
    match found.as_slice() {
        [def] => Some(def),
        _ => None,
    }
}
