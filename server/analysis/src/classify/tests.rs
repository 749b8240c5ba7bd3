//! Kernels and what bounds them.

use rustc_hash::FxHashSet;
use tileperf_syntax::FileParser;
use tileperf_syntax::ast::{FunctionDef, StmtKind};

use super::*;
use crate::body::{Body, ModuleEnv};
use crate::model::{FileModel, ModelCache};

/// The class of the last function of a text. Those before it are its helpers.
fn class_of(code: &str, known: &Known) -> Classification {
    let text = format!("import cuda.tile as ct\n{code}");
    let file = FileParser::default().parse(&text);
    assert!(file.is_clean(), "{text}");
    let model = FileModel::build(&file, &text, "", &mut ModelCache::default());
    let module = ModuleEnv::of_file(&file, &model, &|_| true);
    let constants: FxHashSet<_> = (model.kernels.iter().flat_map(|k| &k.params))
        .filter(|p| p.constant)
        .map(|p| p.name.clone())
        .collect();
    let functions: Vec<&FunctionDef> = (file.items.iter().flat_map(|i| &i.facts.body))
        .filter_map(|s| match &s.kind {
            StmtKind::FunctionDef(def) => Some(&**def),
            _ => None,
        })
        .collect();
    let bodies: Vec<Body> = (functions.iter())
        .map(|def| Body::of(def, &constants, &module))
        .collect();
    let device = |i: usize| Device {
        def: functions[i],
        body: &bodies[i],
        module: &module,
        is_kernel: i + 1 == functions.len(),
        constants: &constants,
        code: None,
    };
    let helper = |name: &str| {
        let at = functions.iter().position(|f| f.name.name == name)?;
        Some(device(at))
    };
    classify(&device(functions.len() - 1), known, &helper)
}

fn launched(constants: &[(&str, i64)], bytes: &[(&str, u32)]) -> Known {
    Known {
        constants: constants.iter().map(|(n, v)| ((*n).into(), *v)).collect(),
        element_bytes: bytes.iter().map(|(n, v)| ((*n).into(), *v)).collect(),
    }
}

const COPY: &str = "@ct.kernel\ndef k(x, y, B: ct.Constant[int]):\n    i = ct.bid(0)\n    ct.store(y, (i,), ct.load(x, (i,), (B,)) * 2 + 1)\n";

const MATMUL: &str = "@ct.kernel\ndef k(a, b, c, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):\n    acc = ct.zeros((M, N), dtype=ct.float32)\n    for j in range(ct.num_tiles(a, 1, (M, K))):\n        x = ct.load(a, (ct.bid(0), j), (M, K))\n        y = ct.load(b, (j, ct.bid(1)), (K, N))\n        acc = ct.mma(x, y, acc)\n    ct.store(c, (ct.bid(0), ct.bid(1)), acc.astype(c.dtype))\n";

#[test]
fn an_elementwise_kernel_is_bound_by_memory_whatever_its_tiles() {
    let found = class_of(COPY, &Known::default());
    assert_eq!(found.class, Class::MemoryBound);
    assert!(found.certain);
    assert_eq!(found.flops, 2.0 * 128.0);
    assert_eq!(found.bytes, 2.0 * 2.0 * 128.0);
    assert_eq!(found.intensity, Some(0.5));
    assert_eq!(found.assumed, ["B = 128", "2 bytes an element"]);
    let known = launched(&[("B", 1024)], &[("x", 4), ("y", 4)]);
    let found = class_of(COPY, &known);
    assert_eq!(found.bytes, 8192.0);
    assert!(found.assumed.is_empty() && found.certain);
    assert_eq!(
        found.text(),
        "**Memory-bound** by an estimate: about 0.3 FLOP/byte (2 k FLOP and 8.2 k bytes in one block)\n\n- 4.1 k bytes: 1024 elements of `x` loaded\n- 4.1 k bytes: 1024 elements of `y` stored\n- 2 k FLOP: 2 on each of 1024 elements\n"
    );
}

#[test]
fn matrix_products_follow_their_extents() {
    let bytes = [("a", 2), ("b", 2), ("c", 2)];
    for (m, n, class) in [
        (256, 128, Class::ComputeBound),
        (64, 64, Class::Balanced),
        (16, 16, Class::MemoryBound),
    ] {
        let known = launched(&[("M", m), ("N", n), ("K", 64)], &bytes);
        let found = class_of(MATMUL, &known);
        assert_eq!(found.class, class, "{m} x {n}: {found:?}");
        let once = 2.0 * (m * n * 64) as f64;
        assert_eq!(found.flops, 16.0 * once);
        let tiles = (m * 64 + n * 64) as f64 * 2.0 * 16.0 + (m * n) as f64 * 2.0;
        assert_eq!(found.bytes, tiles);
    }
    let open = class_of(MATMUL, &Known::default());
    assert_eq!(open.class, Class::ComputeBound);
    assert!(!open.certain);
    assert!(
        open.text()
            .contains("Assumed, which decides: 16 rounds of `j`"),
        "{}",
        open.text()
    );
}

#[test]
fn a_product_is_counted_with_two_of_its_three_extents() {
    let code = "@ct.kernel\ndef k(a, b, c):\n    x = ct.transpose(ct.load(a, (0, 0), (32, 64)))\n    y = ct.load(b, (0, 0), (32, 128))\n    ct.store(c, (0, 0), ct.mma(x, y, ct.zeros((64, 128), dtype=ct.float32)))\n";
    assert_eq!(
        class_of(code, &Known::default()).flops,
        2.0 * 64.0 * 128.0 * 32.0
    );
    let at = code.replace(
        "ct.mma(x, y, ct.zeros((64, 128), dtype=ct.float32))",
        "ct.load(a, (0, 0), (64, 32)) @ y",
    );
    assert_eq!(
        class_of(&at, &Known::default()).flops,
        2.0 * 64.0 * 128.0 * 32.0
    );
    let batched = "@ct.kernel\ndef k(a, b, c):\n    x = ct.load(a, (0, 0, 0), (4, 64, 32))\n    y = ct.load(b, (0, 0, 0), (4, 32, 128))\n    ct.store(c, (0, 0, 0), ct.matmul(x, y))\n";
    assert_eq!(
        class_of(batched, &Known::default()).flops,
        4.0 * 2.0 * 64.0 * 128.0 * 32.0
    );
}

#[test]
fn loops_multiply_and_branches_do_not_add_up() {
    let known = launched(&[("N", 64)], &[("x", 4)]);
    for (line, rounds) in [
        ("for j in range(8):", 8.0),
        ("for j in range(2, 8):", 6.0),
        ("for j in range(0, N, 10):", 7.0),
        ("for j in range(8, 2):", 0.0),
        ("for j in range(ct.bid(0)):", 16.0),
        ("while ct.bid(0) > 1:", 16.0),
        ("if N > 1:", 1.0),
    ] {
        let code = format!(
            "@ct.kernel\ndef k(x, N: ct.Constant[int]):\n    {line}\n        ct.store(x, (0,), ct.load(x, (0,), (8,)) / 2)\n"
        );
        let found = class_of(&code, &known);
        assert_eq!(found.bytes, rounds * 64.0, "{line}");
        assert_eq!(found.flops, rounds * 32.0, "{line}");
    }
    let branches = "@ct.kernel\ndef k(x, N: ct.Constant[int]):\n    t = ct.load(x, (0,), (8,))\n    if N > 8:\n        t = t * 2\n    elif N > 4:\n        t = ct.exp(t)\n    else:\n        t = t + 1\n    t += 1\n    ct.store(x, (0,), t)\n";
    let found = class_of(branches, &known);
    assert_eq!((found.flops, found.bytes), (72.0, 64.0));
}

#[test]
fn addresses_masks_and_casts_are_no_arithmetic() {
    let code = "@ct.kernel\ndef k(x, y, n):\n    at = ct.bid(0) * 64 + ct.arange(64, dtype=ct.int32)\n    ok = at < n\n    t = ct.astype(ct.gather(x, at, mask=ok), ct.float32)\n    ct.scatter(y, at, t.astype(y.dtype), mask=ok)\n";
    let found = class_of(code, &Known::default());
    assert_eq!((found.flops, found.bytes), (0.0, 256.0));
    assert_eq!(found.class, Class::MemoryBound);
}

#[test]
fn a_row_reduction_is_bound_by_memory() {
    let code = "@ct.kernel\ndef k(x, y, B: ct.Constant[int]):\n    i = ct.bid(0)\n    t = ct.load(x, (i, 0), (1, B))\n    t = ct.exp(t - ct.max(t, 1, keepdims=True))\n    ct.store(y, (i, 0), t / ct.sum(t, 1, keepdims=True))\n    ct.atomic_add(y, (i, 0), 1.0)\n";
    let found = class_of(code, &launched(&[("B", 1024)], &[("x", 2), ("y", 2)]));
    assert_eq!(found.flops, 1024.0 * (1.0 + 1.0 + 8.0 + 4.0 + 1.0));
    assert_eq!(found.bytes, 2.0 * 2.0 * 1024.0 + 2.0);
    assert_eq!(found.class, Class::MemoryBound);
}

#[test]
fn helpers_count_and_those_that_multiply_matrices_hide_the_answer() {
    let code = "def inner(t):\n    return t * t\n\ndef gelu(t):\n    return inner(t) * ct.tanh(t)\n\n@ct.kernel\ndef k(x):\n    ct.store(x, (0,), gelu(ct.load(x, (0,), (8,))))\n";
    let found = class_of(code, &Known::default());
    // What the helper returns is not typed; it is taken to be as large as what was loaded.
    assert_eq!((found.flops, found.bytes), (8.0 * 10.0, 32.0));
    let product = "def product(a, b, acc=None):\n    return ct.mma(a, b, acc)\n\n@ct.kernel\ndef k(x):\n    t = ct.load(x, (0, 0), (16, 16))\n    ct.store(x, (0, 0), product(t, b=t, acc=t))\n";
    assert_eq!(
        class_of(product, &Known::default()).flops,
        2.0 * 16.0 * 16.0 * 16.0
    );
    let hidden = product.replace("ct.mma(a, b, acc)", "ct.mma(a[0], b[0], acc)");
    let found = class_of(&hidden, &Known::default());
    assert_eq!(found.class, Class::Unknown);
    assert!(!found.certain);
    assert_eq!(
        found.text(),
        "**What bounds it: unknown**, a helper multiplies matrices whose extents are out of sight\n"
    );
}

#[test]
fn a_helper_that_moves_data_counts_where_it_is_called() {
    let code = "def add_one(y, i, B):\n    ct.store(y, (i,), ct.load(y, (i,), (16,)) + 1)\n\n@ct.kernel\ndef k(x):\n    for j in range(3):\n        add_one(x, j, 16)\n";
    let found = class_of(code, &launched(&[], &[("x", 4)]));
    assert_eq!((found.flops, found.bytes), (3.0 * 16.0, 3.0 * 2.0 * 64.0));
    assert!(found.assumed.is_empty());
    let endless = "def again(y):\n    ct.store(y, (0,), ct.load(y, (0,), (16,)))\n    again(y)\n\n@ct.kernel\ndef k(x):\n    again(x)\n";
    let found = class_of(endless, &launched(&[], &[("x", 4)]));
    assert_eq!(found.bytes, 3.0 * 128.0);
}

#[test]
fn a_kernel_without_accesses_is_unknown() {
    let found = class_of("@ct.kernel\ndef k(x):\n    pass\n", &Known::default());
    assert_eq!((found.class, found.intensity), (Class::Unknown, None));
    assert!(
        found.text().contains("no load or store is seen"),
        "{found:?}"
    );
}

#[test]
fn the_borders_are_those_of_the_guide() {
    for (intensity, class) in [
        (0.0, Class::MemoryBound),
        (9.99, Class::MemoryBound),
        (10.0, Class::Balanced),
        (50.0, Class::Balanced),
        (50.01, Class::ComputeBound),
    ] {
        assert_eq!(Class::of(intensity), class, "{intensity}");
    }
}

#[test]
fn amounts_are_short() {
    for (value, text) in [
        (0.0, "0"),
        (0.25, "0.3"),
        (9.96, "10"),
        (12.0, "12"),
        (999.0, "999"),
        (2048.0, "2 k"),
        (4.2e6, "4.2 M"),
        (1.6e10, "16 G"),
        (3e12, "3 T"),
    ] {
        assert_eq!(amount::short(value), text);
    }
}

#[test]
fn every_operation_has_its_price() {
    let of = |line: &str| {
        let code = format!(
            "@ct.kernel\ndef k(x):\n    t = ct.load(x, (0,), (8,))\n    {line}\n    ct.store(x, (0,), t)\n"
        );
        class_of(&code, &Known::default()).flops / 8.0
    };
    for name in [
        "add", "sub", "mul", "maximum", "minimum", "where", "negative", "abs",
    ] {
        let args = if name == "where" {
            "t > 0, t, 0"
        } else {
            "t, t, t"
        };
        assert_eq!(of(&format!("u = ct.{name}({args})")), 1.0, "{name}");
    }
    for name in ["truediv", "sqrt", "rsqrt"] {
        assert_eq!(of(&format!("u = ct.{name}(t, t)")), 4.0, "{name}");
    }
    for name in [
        "exp", "exp2", "log", "log2", "sin", "cos", "tan", "sinh", "cosh", "tanh", "pow", "atan2",
        "sigmoid",
    ] {
        assert_eq!(of(&format!("u = ct.{name}(t, t)")), 8.0, "{name}");
    }
    for name in [
        "sum", "max", "min", "prod", "argmax", "argmin", "reduce", "cumsum", "cumprod", "scan",
    ] {
        assert_eq!(of(&format!("u = ct.{name}(t, 0)")), 1.0, "{name}");
    }
    for (line, price) in [
        ("u = t + 1", 1.0),
        ("u = t - 1", 1.0),
        ("u = t * 2", 1.0),
        ("u = t / 2", 4.0),
        ("u = t ** 2", 8.0),
        ("u = t // 2", 0.0),
        ("u = -t", 1.0),
        ("u = ~t", 0.0),
        ("t += 1", 1.0),
        ("t /= 2", 4.0),
        ("u = ct.reshape(t, (2, 4))", 0.0),
        ("u = 2 * 3", 0.0),
        ("u = unknown(t)", 0.0),
    ] {
        assert_eq!(of(line), price, "{line}");
    }
}

#[test]
fn products_in_helpers_by_any_name() {
    for name in ["mma", "mma_scaled", "matmul"] {
        let code = format!(
            "def product(a, b, acc):\n    return ct.{name}(a, b, acc)\n\n@ct.kernel\ndef k(x):\n    t = ct.load(x, (0, 0), (16, 16))\n    ct.store(x, (0, 0), product(t, t, t))\n"
        );
        assert_eq!(class_of(&code, &Known::default()).flops, 8192.0, "{name}");
        let direct = format!(
            "@ct.kernel\ndef k(x):\n    t = ct.load(x, (0, 0), (16, 16))\n    ct.store(x, (0, 0), ct.{name}(t, t, t))\n"
        );
        assert_eq!(class_of(&direct, &Known::default()).flops, 8192.0, "{name}");
    }
}

#[test]
fn a_helper_that_only_loads_or_only_stores_moves_data() {
    for body in [
        "return ct.load(y, (0,), (16,))",
        "ct.store(y, (0,), ct.zeros((16,), dtype=ct.float32))",
    ] {
        let code = format!("def move(y):\n    {body}\n\n@ct.kernel\ndef k(x):\n    move(x)\n");
        assert_eq!(
            class_of(&code, &launched(&[], &[("x", 4)])).bytes,
            64.0,
            "{body}"
        );
    }
}

#[test]
fn only_ranges_are_counted() {
    for (iter, rounds) in [
        ("range(3)", 3.0),
        ("steps(3)", 16.0),
        ("x.range(3)", 16.0),
        ("(1, 2)", 16.0),
    ] {
        let code = format!(
            "@ct.kernel\ndef k(x):\n    for i in {iter}:\n        ct.store(x, (0,), ct.load(x, (0,), (16,)))\n"
        );
        let found = class_of(&code, &launched(&[], &[("x", 4)]));
        assert_eq!(found.bytes, rounds * 128.0, "{iter}");
    }
}
