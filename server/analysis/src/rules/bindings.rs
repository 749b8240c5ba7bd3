//! Which names statements bind, and to what.

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

/// Names that statements bind, those within them included; not those of nested definitions.
pub(super) fn bound(body: &[Stmt]) -> FxHashSet<SmolStr> {
    let mut out = FxHashSet::default();
    bind_all(body, &mut |name| {
        out.insert(name.clone());
    });
    out
}

/// Every value that plain assignments give a name.
pub(super) fn values<'a>(body: &'a [Stmt], name: &SmolStr) -> Vec<&'a Expr> {
    let mut out = Vec::new();
    for stmt in body {
        if let StmtKind::Assign { targets, value } = &stmt.kind
            && targets.iter().any(|t| t.name() == Some(name))
        {
            out.push(value);
        }
        for inner in stmt.blocks() {
            out.extend(values(inner, name));
        }
    }
    out
}

/// Calls `bind` with every name that statements bind.
fn bind_all(body: &[Stmt], bind: &mut dyn FnMut(&SmolStr)) {
    for stmt in body {
        own_bindings(stmt, bind);
        if !matches!(stmt.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_)) {
            for inner in stmt.blocks() {
                bind_all(inner, bind);
            }
        }
    }
}

/// Calls `bind` with the names that a statement binds itself, not by the statements within it.
pub(super) fn own_bindings(stmt: &Stmt, bind: &mut dyn FnMut(&SmolStr)) {
    match &stmt.kind {
        StmtKind::Assign { targets, .. } => targets.iter().for_each(|t| target_names(t, bind)),
        StmtKind::AnnAssign {
            target,
            value: Some(_),
            ..
        }
        | StmtKind::AugAssign { target, .. }
        | StmtKind::For { target, .. } => target_names(target, bind),
        StmtKind::With { items, .. } => {
            (items.iter().filter_map(|(_, t)| t.as_ref())).for_each(|t| target_names(t, bind));
        }
        StmtKind::FunctionDef(def) => bind(&def.name.name),
        StmtKind::Import(names) | StmtKind::ImportFrom { names, .. } => {
            for name in names {
                bind(&name.alias.as_ref().unwrap_or(&name.name).name);
            }
        }
        _ => {}
    }
    stmt.own_exprs(&mut |e| {
        e.walk(&mut |e| {
            if let ExprKind::Named { target, .. } = &e.kind {
                bind(&target.name);
            }
        });
    });
}

/// Calls `bind` with the names of an assignment's target.
pub(super) fn target_names(target: &Expr, bind: &mut dyn FnMut(&SmolStr)) {
    match &target.kind {
        ExprKind::Name(name) => bind(name),
        ExprKind::Tuple(items) | ExprKind::List(items) => {
            items.iter().for_each(|i| target_names(i, bind));
        }
        ExprKind::Starred(inner) => target_names(inner, bind),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use tileperf_syntax::FileParser;

    use super::{bound, values};

    fn names(text: &str) -> Vec<String> {
        let file = FileParser::default().parse(text);
        let mut all: Vec<String> = (file.items.iter())
            .flat_map(|i| bound(&i.facts.body))
            .map(|n| n.to_string())
            .collect();
        all.sort();
        all
    }

    #[test]
    fn every_statement_that_binds() {
        for (text, bound) in [
            ("a = 1", vec!["a"]),
            ("a, (b, *c) = d", vec!["a", "b", "c"]),
            ("[a, b] = c", vec!["a", "b"]),
            ("a[0] = b", vec![]),
            ("a: int = 1", vec!["a"]),
            ("a: int", vec![]),
            ("a += 1", vec!["a"]),
            ("for a in b:\n    c = 1", vec!["a", "c"]),
            ("while b:\n    c = 1\nelse:\n    d = 1", vec!["c", "d"]),
            ("with a as b:\n    c = 1", vec!["b", "c"]),
            (
                "if (a := b):\n    c = 1\nelif d:\n    e = 1\nelse:\n    f = 1",
                vec!["a", "c", "e", "f"],
            ),
            ("def a():\n    b = 1", vec!["a"]),
            ("class A:\n    b = 1", vec![]),
            ("import a", vec!["a"]),
            ("import a as b", vec!["b"]),
            ("from a import b, c as d", vec!["b", "d"]),
            ("try:\n    a = 1\nfinally:\n    b = 1", vec!["a", "b"]),
        ] {
            assert_eq!(names(text), bound, "{text}");
        }
    }

    #[test]
    fn every_value_of_a_name() {
        let text = "if b:\n    a = 1\nelse:\n    a = c = 2\nd = 3\na += 4\n";
        let file = FileParser::default().parse(text);
        let found: usize = (file.items.iter())
            .map(|i| values(&i.facts.body, &"a".into()).len())
            .sum();
        assert_eq!(found, 2);
    }
}
