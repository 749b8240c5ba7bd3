//! Dtypes that tests are parametrized with: `@pytest.mark.parametrize("m, dtype", [(8, torch.float16)])`.
//!
//! They say what an op is meant for, not which of a kernel's arrays has which dtype. So they are no
//! better than a guess: they add signatures to choose from, in which all arrays whose dtype nothing in
//! the code tells are of one of them.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef, Stmt, StmtKind};

use super::{Kind, Origin, Signature};
use crate::body::{argument, bindings};
use crate::eval::ModuleId;
use crate::slice::{Source, Workspace};

/// The argument that has the dtype.
const NAME: &str = "dtype";
/// What is assumed where nothing is known.
const ASSUMED: &str = "float16";
/// The floating dtypes of both torch and cuTile; the names are the same.
const DTYPES: [&str; 6] = [
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "float8_e4m3fn",
    "float8_e5m2",
];

/// The dtypes that the tests of a file are parametrized with, each once, in their order.
#[must_use]
pub fn tested_dtypes(workspace: &dyn Workspace, module: ModuleId) -> Vec<SmolStr> {
    let mut out = Vec::new();
    let Some(source) = workspace.source(module) else {
        return out;
    };
    for item in &source.file.items {
        tests(&item.facts.body, &mut |def| {
            for decorator in &def.decorators {
                for dtype in parametrized(&source, decorator) {
                    if !out.contains(&dtype) {
                        out.push(dtype);
                    }
                }
            }
        });
    }
    out
}

/// A guess with other dtypes, one for each that differs: those of arrays of which nothing is known.
#[must_use]
pub fn with_tested(guess: &Signature, dtypes: &[SmolStr]) -> Vec<Signature> {
    let others = dtypes.iter().filter(|dtype| *dtype != ASSUMED);
    let each = others.map(|dtype| {
        let mut one = guess.clone();
        one.origin = Origin::Tests;
        for param in &mut one.params {
            assume(&mut param.kind, dtype);
        }
        one
    });
    each.filter(|one| one.params != guess.params).collect()
}

fn assume(kind: &mut Kind, dtype: &str) {
    match kind {
        Kind::Array(array) | Kind::List { element: array } if array.dtype == ASSUMED => {
            *array = array.of_dtype(dtype);
        }
        Kind::Tuple { items } => items.iter_mut().for_each(|item| assume(item, dtype)),
        _ => {}
    }
}

/// The test functions among statements and in their classes.
fn tests<'a>(body: &'a [Stmt], visit: &mut dyn FnMut(&'a FunctionDef)) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::FunctionDef(def) if def.name.name.starts_with("test") => visit(def),
            StmtKind::ClassDef(class) => tests(&class.body, visit),
            _ => {}
        }
    }
}

/// The dtypes that a decorator gives.
fn parametrized(source: &Source<'_>, decorator: &Expr) -> Vec<SmolStr> {
    let ExprKind::Call { func, args } = &decorator.kind else {
        return Vec::new();
    };
    if func
        .last_ident()
        .is_none_or(|last| last.name != "parametrize")
    {
        return Vec::new();
    }
    let names = argument(args, Some(0), "argnames")
        .map(names)
        .unwrap_or_default();
    let place = names.iter().position(|name| name == NAME);
    let (Some(place), Some(values)) = (place, argument(args, Some(1), "argvalues")) else {
        return Vec::new();
    };
    let values = items(follow(source, values));
    let each = values.iter().filter_map(|value| match names.len() {
        1 => dtype(value),
        _ => dtype(items(value).get(place)?),
    });
    each.collect()
}

/// `"m, dtype"`, or a tuple or list of names.
fn names(expr: &Expr) -> Vec<String> {
    let mut out = Vec::new();
    let mut add = |text: &str| out.extend(text.split(',').map(|name| name.trim().to_owned()));
    match &expr.kind {
        ExprKind::Str(text) => add(text),
        _ => {
            for item in items(expr) {
                match &item.kind {
                    ExprKind::Str(text) => add(text),
                    _ => add(""),
                }
            }
        }
    }
    out
}

fn items(expr: &Expr) -> &[Expr] {
    match &expr.kind {
        ExprKind::Tuple(items) | ExprKind::List(items) => items,
        _ => &[],
    }
}

/// A name of the file's top level stands for what it is bound to there, once.
fn follow<'w>(source: &Source<'w>, expr: &'w Expr) -> &'w Expr {
    let Some(name) = expr.name() else { return expr };
    let mut found = Vec::new();
    for item in &source.file.items {
        bindings(&item.facts.body, name, &mut |value| found.push(value));
    }
    match found.as_slice() {
        [Some(value)] => value,
        _ => expr,
    }
}

/// `torch.float16`.
fn dtype(expr: &Expr) -> Option<SmolStr> {
    let ExprKind::Attribute { value, attr } = &expr.kind else {
        return None;
    };
    let is_torch = value.name().is_some_and(|name| name == "torch");
    (is_torch && DTYPES.contains(&attr.name.as_str())).then(|| attr.name.clone())
}

#[cfg(test)]
mod tests {
    use super::super::{Array, Param};
    use super::*;
    use crate::slice::Written;

    #[test]
    fn what_tests_are_parametrized_with_is_read_off() {
        let mark = |args: &str| {
            format!("@pytest.mark.parametrize({args})\ndef test_it(dtype):\n    pass\n")
        };
        for (text, expected) in [
            (
                mark("'dtype', [torch.float32, torch.bfloat16]"),
                "float32 bfloat16",
            ),
            (
                mark(
                    "'m,n,dtype', [(1, 2, torch.float32), (3, 4, torch.float16), (5, 6, torch.float32)]",
                ),
                "float32 float16",
            ),
            (mark("('m', 'dtype'), [[1, torch.float32]]"), "float32"),
            (
                mark("argvalues=(torch.float64,), argnames=['dtype']"),
                "float64",
            ),
            (
                format!("ALL = [torch.float32]\n{}", mark("'dtype', ALL")),
                "float32",
            ),
            (
                "class Test:\n    @pytest.mark.parametrize('dtype', [torch.float32])\n    \
                 def test_op(self, dtype):\n        pass\n"
                    .to_owned(),
                "float32",
            ),
            // Nothing can be said of these.
            (mark("'dtype', make()"), ""),
            (mark("'dtype', [pytest.param(torch.float32)]"), ""),
            (mark("'m, dtype', [torch.float32]"), ""),
            (mark("'out_dtype', [torch.float32]"), ""),
            (mark("'dtype', [numpy.float32, torch.quint8]"), ""),
            (
                mark("'dtype', [torch.float32]").replace("test_it", "helper"),
                "",
            ),
            (
                format!("ALL = []\nALL = [torch.float32]\n{}", mark("'dtype', ALL")),
                "",
            ),
        ] {
            let workspace = Written::new(&format!("import pytest\nimport torch\n{text}"));
            assert_eq!(
                tested_dtypes(&workspace, ModuleId(0)).join(" "),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn only_what_is_assumed_changes() {
        let array = |dtype: &str| Kind::Array(Array::usual(dtype, 2));
        let guess = |kinds: Vec<Kind>| Signature {
            params: kinds
                .into_iter()
                .map(|kind| Param {
                    name: "p".into(),
                    kind,
                })
                .collect(),
            globals: Vec::new(),
            launched: None,
            origin: Origin::Guess,
        };
        let dtypes: Vec<SmolStr> = ["float16", "float32", "bfloat16"].map(SmolStr::new).into();
        let base = guess(vec![array("float16"), array("int32")]);
        let found = with_tested(&base, &dtypes);
        let shown: Vec<String> = found.iter().map(Signature::shown).collect();
        assert_eq!(
            shown,
            ["p: float32[2], p: int32[2]", "p: bfloat16[2], p: int32[2]"]
        );
        assert_eq!(found[0].params[0].kind, array("float32"));
        assert!(found.iter().all(|one| one.origin == Origin::Tests));
        assert!(with_tested(&guess(vec![array("int32")]), &dtypes).is_empty());
    }
}
