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
fn reductions_leave_the_other_axes() {
    let found = types(
        "@ct.kernel\ndef k(x, B: ct.Constant[int]):\n    a = ct.load(x, (0, 0), (B, EIGHT))\n    return ct.sum(a, axis=1), ct.max(a, axis=-2, keepdims=True), ct.sum(a), ct.sum(a, axis=(0, 1), keepdims=True), a - ct.max(a, 1, keepdims=True)\n",
    );
    let shape = |ty: &Ty| tile(ty).shape.clone().unwrap();
    let (b, eight, one) = (Extent::Name("B".into()), Extent::Int(8), Extent::Int(1));
    assert_eq!(shape(&found[0]), std::slice::from_ref(&b));
    assert_eq!(shape(&found[1]), [one.clone(), eight.clone()]);
    assert!(shape(&found[2]).is_empty());
    assert_eq!(shape(&found[3]), [one.clone(), one]);
    assert_eq!(shape(&found[4]), [b, eight]);
}

#[test]
fn masks_are_what_comparisons_gave() {
    let found = types(
        "@ct.kernel\ndef k(x, n):\n    i = ct.arange(8, dtype=ct.int32)\n    m = i < n\n    return m, m & (i > 2), ct.astype(m, ct.float32), m[:, None], m * 2, i, ct.where(m, 1, 0), ct.less(i, n)\n",
    );
    let masks: Vec<bool> = found.iter().map(|ty| tile(ty).mask).collect();
    assert_eq!(masks, [true, true, true, true, false, false, false, true]);
}

#[test]
fn axes_are_swapped_and_permuted() {
    let found = types(
        "@ct.kernel\ndef k(x, B: ct.Constant[int]):\n    a = ct.load(x, (0, 0), (B, EIGHT))\n    c = ct.load(x, (0, 0, 0), (1, B, EIGHT))\n    return ct.transpose(a), a.transpose(), ct.permute(c, (2, 0, 1)), c.permute((0, 2, 1)), ct.transpose(c, 1, -1), ct.transpose(c)\n",
    );
    let (b, eight, one) = (Extent::Name("B".into()), Extent::Int(8), Extent::Int(1));
    let shape = |ty: &Ty| tile(ty).shape.clone();
    assert_eq!(shape(&found[0]).unwrap(), [eight.clone(), b.clone()]);
    assert_eq!(shape(&found[1]).unwrap(), [eight.clone(), b.clone()]);
    assert_eq!(
        shape(&found[2]).unwrap(),
        [eight.clone(), one.clone(), b.clone()]
    );
    assert_eq!(
        shape(&found[3]).unwrap(),
        [one.clone(), eight.clone(), b.clone()]
    );
    assert_eq!(shape(&found[4]).unwrap(), [one, eight, b]);
    assert_eq!(shape(&found[5]), None);
}

#[test]
fn extents_that_a_helper_is_passed_have_names() {
    let found = types(
        "def helper(x, T, n):\n    a = ct.load(x, (0, 0), (1, T))\n    return a, ct.reshape(a, (T,)), ct.zeros((T + 1,), ct.float32)\n",
    );
    let t = Extent::Name("T".into());
    let shape = |ty: &Ty| tile(ty).shape.clone().unwrap();
    assert_eq!(shape(&found[0]), [Extent::Int(1), t.clone()]);
    assert_eq!(shape(&found[1]), [t]);
    assert_eq!(shape(&found[2]), [Extent::Other]);
}

/// What the names that the last function of a text returns are followed to, as written.
fn followed(code: &str) -> Vec<String> {
    let file = FileParser::default().parse(code);
    let item = file.items.last().unwrap();
    let Some(StmtKind::FunctionDef(def)) = item.facts.body.first().map(|s| &s.kind) else {
        panic!("no function in\n{code}");
    };
    let module = ModuleEnv::default();
    let constants = FxHashSet::default();
    let body = Body::of(def, &constants, &module);
    let device = Device {
        def,
        body: &body,
        module: &module,
        is_kernel: true,
        constants: &constants,
    };
    let Some(StmtKind::Return(Some(value))) = def.body.last().map(|s| &s.kind) else {
        panic!("no return at the end of\n{code}");
    };
    let ExprKind::Tuple(items) = &value.kind else {
        panic!("no tuple at the end of\n{code}");
    };
    let source = &code[item.span.range()];
    items
        .iter()
        .map(|i| source[device.follow(i).span.range()].to_owned())
        .collect()
}

#[test]
fn names_are_followed_to_the_only_value_they_have() {
    let found = followed(
        "def k(p, q, n):\n    a = n * 2\n    b: int = n + 1\n    if n:\n        c = n - 1\n        d = 1\n    else:\n        d = 2\n    e = f = n\n    g = 1\n    g += 1\n    q = p\n    for h in n:\n        i = h\n    j, l = n\n    m = [o for o in n]\n    o = 1\n    return a, b, c, d, e, f, g, q, h, i, j, o, n, a + b\n",
    );
    assert_eq!(
        found,
        [
            "n * 2", "n + 1", "n - 1", "d", "n", "n", "g", "q", "h", "h", "j", "o", "n", "a + b"
        ]
    );
}
