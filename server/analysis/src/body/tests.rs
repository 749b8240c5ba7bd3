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
    let module = ModuleEnv::of_file(&file, &model, &|_| false);
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
fn a_loop_knows_what_it_changes() {
    let found = types(
        "@ct.kernel\ndef k(x):\n    a = ct.zeros((8,), dtype=ct.float32)\n    d = ct.zeros((8,), dtype=ct.float32)\n    for i in range(4):\n        for j in range(4):\n            b = a\n            c = p\n            e = d + 1.0\n            d = e\n        a = ct.astype(a, ct.float16)\n        p = ct.load(x, (i,), (8,))\n    return b, c, e\n",
    );
    // The next round of the outer loop reads what this one has made of it.
    assert_eq!(tile(&found[0]).dtype, Dtype::Unknown);
    assert_eq!(found[1], Ty::Unknown);
    assert_eq!(tile(&found[2]).dtype, Dtype::F32);
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
fn a_tuple_with_a_starred_part_is_as_long_as_it_is() {
    let found = types(
        "@ct.kernel\ndef k(x, rest):\n    at = (1, 2)\n    return (*at, 3), (0, *rest), [*at]\n",
    );
    assert_eq!(
        found[0],
        Ty::Tuple([1, 2, 3].map(|i| Ty::Const(Const::Int(i))).into())
    );
    assert_eq!(found[1], Ty::Unknown);
    assert_eq!(
        found[2],
        Ty::Tuple([1, 2].map(|i| Ty::Const(Const::Int(i))).into())
    );
}

/// The body of the first function of a text.
fn statements(code: &str) -> (tileperf_syntax::ParsedFile, String) {
    let text = format!("def f(p):\n{code}");
    (FileParser::default().parse(&text), text)
}

#[test]
fn a_name_is_bound_by_every_form_that_binds() {
    let how = |code: &str| {
        let (file, text) = statements(code);
        assert!(file.is_clean(), "{text}");
        let Some(StmtKind::FunctionDef(def)) = file.items[0].facts.body.first().map(|s| &s.kind)
        else {
            panic!("no function in\n{text}");
        };
        match bound(&def.body, "a") {
            Bound::Nowhere => "nowhere".to_owned(),
            Bound::Once(value) => text[value.span.range()].to_owned(),
            Bound::Otherwise => "otherwise".to_owned(),
        }
    };
    for (code, want) in [
        ("    b = a\n", "nowhere"),
        ("    a.b = 1\n", "nowhere"),
        ("    def g():\n        a = 1\n", "nowhere"),
        ("    a = 1\n", "1"),
        ("    b = a = 1\n", "1"),
        ("    a: int = 1\n", "1"),
        ("    if p:\n        a = 1\n", "1"),
        ("    a = 1\n    a = 2\n", "otherwise"),
        ("    a = 1\n    a += 2\n", "otherwise"),
        ("    a += 2\n", "otherwise"),
        ("    a, b = p\n", "otherwise"),
        ("    [*a] = p\n", "otherwise"),
        ("    for a in p:\n        pass\n", "otherwise"),
        ("    with p as a:\n        pass\n", "otherwise"),
        ("    with p, p as b:\n        pass\n", "nowhere"),
        ("    with p as b, p as a:\n        pass\n", "otherwise"),
        ("    import a\n", "otherwise"),
        ("    import b, a\n", "otherwise"),
        ("    import b\n    from c import d\n", "nowhere"),
        ("    from b import c as a\n", "otherwise"),
        ("    def a():\n        pass\n", "otherwise"),
        ("    class a:\n        pass\n", "otherwise"),
        ("    b = (a := 1)\n", "otherwise"),
        ("    b = [a for a in p]\n", "otherwise"),
        ("    b = [a for a in p if a]\n", "otherwise"),
        ("    b = [c for c in p]\n", "nowhere"),
        (
            "    try:\n        a = 1\n    except E:\n        a = 2\n",
            "otherwise",
        ),
    ] {
        assert_eq!(how(code), want, "{code}");
    }
}

#[test]
fn functions_around_hide_the_names_of_the_module() {
    for inner in [
        "    EIGHT = 16\n",
        "    EIGHT: int = 16\n",
        "    EIGHT += 1\n",
        "    for EIGHT in p:\n        pass\n",
        "    with p as (EIGHT, b):\n        pass\n",
        "    from b import c as EIGHT\n",
        "    def EIGHT():\n        pass\n",
        "    class EIGHT:\n        pass\n",
        "    if p:\n        [b, *EIGHT] = p\n",
    ] {
        let text = format!("EIGHT = 8\n\n{}", statements(inner).1);
        let text = format!("{text}    def k():\n        return EIGHT\n    return k\n");
        let file = FileParser::default().parse(&text);
        assert!(file.is_clean(), "{text}");
        let model = FileModel::build(&file, &text, "", &mut ModelCache::default());
        let module = ModuleEnv::of_file(&file, &model, &|_| false);
        let Some(StmtKind::FunctionDef(outer)) = file.items[1].facts.body.first().map(|s| &s.kind)
        else {
            panic!("no function in\n{text}");
        };
        let kernel = outer.body.iter().find_map(|s| match &s.kind {
            StmtKind::FunctionDef(def) if def.name.name == "k" => Some(def),
            _ => None,
        });
        let kernel = kernel.unwrap();
        let returned = |body: &Body| {
            let Some(StmtKind::Return(Some(value))) = kernel.body.last().map(|s| &s.kind) else {
                panic!("no return in\n{text}");
            };
            body.ty(value).clone()
        };
        let none = FxHashSet::default();
        assert_eq!(returned(&Body::of(kernel, &none, &module)).int(), Some(8));
        let within = Body::within(kernel, &[outer], &none, &module);
        assert_eq!(
            returned(&within),
            Ty::Const(Const::Name("EIGHT".into())),
            "{text}"
        );
    }
}

#[test]
fn aliases_of_what_has_brackets_keep_both_parts() {
    let text =
        "import cuda.tile as ct\nInt = ct.Constant[int]\nPair = ct.Constant[tuple[int, int]]\n";
    let file = FileParser::default().parse(text);
    let model = FileModel::build(&file, text, "", &mut ModelCache::default());
    let module = ModuleEnv::of_file(&file, &model, &|_| false);
    let path = || "ct.Constant".into();
    let int = Literal::Generic {
        path: path(),
        of: Some("int".into()),
    };
    assert_eq!(module.constants["Int"], int);
    assert_eq!(
        module.constants["Pair"],
        Literal::Generic {
            path: path(),
            of: None
        }
    );
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

#[test]
fn what_a_name_is_given() {
    let file = FileParser::default().parse(
        "def f(x):\n    a, (b, c) = 1, (2, 3)\n    b = 4\n    c += 1\n    d, e = x\n    for g in x:\n        h = g\n",
    );
    let StmtKind::FunctionDef(def) = &file.items[0].facts.body[0].kind else {
        panic!("no function");
    };
    let given = |name: &str| -> Vec<Option<i64>> {
        let values = super::values(&def.body, name);
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
        code: None,
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
