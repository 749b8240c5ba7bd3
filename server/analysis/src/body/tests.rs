//! What expressions of kernels are found to be.

use rustc_hash::FxHashSet;
use tileperf_syntax::FileParser;
use tileperf_syntax::ast::StmtKind;

use super::*;
use crate::model::{FileModel, ModelCache};

/// Types of the names that the last function of a text returns, in order.
fn types(code: &str) -> Vec<Ty> {
    let text = format!("import cuda.tile as ct\nEIGHT = 8\n{code}");
    let file = FileParser::default().parse(&text);
    let model = FileModel::build(&file, &text, "", &mut ModelCache::default());
    let module = ModuleEnv::of(&file, &model, &|_| false);
    let item = file.items.last().unwrap();
    let Some(StmtKind::FunctionDef(def)) = item.facts.body.first().map(|s| &s.kind) else {
        panic!("no function at the end of\n{text}");
    };
    let constants: FxHashSet<_> = (model.kernels.iter().flat_map(|k| &k.params))
        .filter(|p| p.constant)
        .map(|p| p.name.clone())
        .collect();
    let body = Body::of(def, &constants, &module);
    let Some(StmtKind::Return(Some(value))) = def.body.last().map(|s| &s.kind) else {
        panic!("no return at the end of\n{text}");
    };
    match &value.kind {
        ExprKind::Tuple(items) => items.iter().map(|i| body.ty(i).clone()).collect(),
        _ => vec![body.ty(value).clone()],
    }
}

fn tile(ty: &Ty) -> &Tile {
    match ty {
        Ty::Tile(tile) => tile,
        other => panic!("{other:?} is no tile"),
    }
}

#[test]
fn loads_are_tiles_of_the_array() {
    let found = types(
        "@ct.kernel\ndef k(x, y, B: ct.Constant[int]):\n    i = ct.bid(0)\n    a = ct.load(x, (i, 0), (B, EIGHT))\n    f = ct.astype(a, ct.float32)\n    s = ct.sum(f, axis=1)\n    z = a + ct.load(y, (0,), (8,), padding_mode=ct.PaddingMode.ZERO)\n    return i, a, f, s, z, i * B, a > 0, a[:, None]\n",
    );
    assert_eq!(found[0], Ty::Scalar { block: true });
    let a = tile(&found[1]);
    assert_eq!(a.dtype, Dtype::Of("x".into()));
    let shape = [Extent::Name("B".into()), Extent::Int(8)];
    assert_eq!(a.shape.as_deref(), Some(&shape[..]));
    assert_eq!(a.sources[0].kind, SourceKind::Unpadded);
    assert_eq!(tile(&found[2]).dtype, Dtype::F32);
    assert_eq!(tile(&found[2]).sources, a.sources);
    assert!(tile(&found[3]).sources.is_empty());
    assert_eq!(tile(&found[4]).sources.len(), 2);
    assert_eq!(found[5], Ty::Scalar { block: true });
    assert_eq!(tile(&found[6]).dtype, Dtype::Bool);
    let axes = tile(&found[7]).shape.as_ref().unwrap();
    assert_eq!(axes.len(), 3);
    assert_eq!(axes[1], Extent::Int(1));
}

#[test]
fn branches_and_loops_join() {
    let found = types(
        "@ct.kernel\ndef k(x, F: ct.Constant[bool]):\n    acc = ct.zeros((8,), dtype=ct.float32)\n    if F:\n        a = ct.load(x, (0,), (8,))\n        d = ct.float32\n    else:\n        a = ct.full((8,), 0, ct.float16)\n        d = ct.float16\n    for i in range(4):\n        acc = acc + a\n    return acc, a, d, i\n",
    );
    let acc = tile(&found[0]);
    assert!(!acc.constant);
    assert_eq!(acc.sources.len(), 1);
    assert_eq!(tile(&found[1]).dtype, Dtype::Unknown);
    assert_eq!(found[2], Ty::Unknown);
    assert_eq!(found[3], Ty::Scalar { block: true });
}

#[test]
fn names_from_around_a_kernel_are_constants() {
    let found = types(
        "@ct.kernel\ndef k(x, n):\n    y = ct.load(x, (0,), (TILE,))\n    return TILE, EIGHT, EIGHT * 2, n, y\n",
    );
    assert_eq!(found[0], Ty::Const(Const::Name("TILE".into())));
    assert_eq!(found[1].int(), Some(8));
    assert_eq!(found[2].int(), Some(16));
    assert_eq!(found[3], Ty::Unknown);
}

#[test]
fn what_a_name_is_given() {
    let file = FileParser::default().parse(
        "def f(x):\n    a, (b, c) = 1, (2, 3)\n    b = 4\n    c += 1\n    d, e = x\n    for g in x:\n        h = g\n",
    );
    let StmtKind::FunctionDef(def) = &file.items[0].facts.body[0].kind else {
        panic!("no function");
    };
    let given = |name: &str| -> Vec<Option<i64>> {
        let values = super::values(&def.body, &name.into());
        let int = |value: &Expr| match value.kind {
            ExprKind::Int(value) => Some(value),
            _ => None,
        };
        values.into_iter().map(|v| v.and_then(int)).collect()
    };
    assert_eq!(given("a"), [Some(1)]);
    assert_eq!(given("b"), [Some(2), Some(4)]);
    assert_eq!(given("c"), [Some(3), None]);
    assert_eq!(given("d"), [None]);
    assert_eq!(given("g"), [None]);
    assert_eq!(given("h"), [None]);
    assert!(given("x").is_empty());
}
