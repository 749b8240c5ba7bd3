//! Signatures guessed for kernels written as text, and what becomes of them.

use serde_json::json;

use super::{
    Array, Complaint, Constant, Elsewhere, Guesser, Kind, Origin, Param, Signature, repair,
};
use crate::arch::Arch;
use crate::eval::ModuleId;
use crate::model::{FileModel, ModelCache};
use crate::slice::{Workspace, Written};

/// The likeliest signature of the last kernel of a workspace.
fn guess(text: &str) -> Signature {
    guesses(text).swap_remove(0)
}

/// The signatures guessed for the last kernel of a workspace.
fn guesses(text: &str) -> Vec<Signature> {
    let workspace = Written::new(text);
    let model = workspace.model();
    let kernel = model.kernels.last().unwrap();
    let slice = crate::slice::slice(&workspace, ModuleId(0), kernel).unwrap();
    let elsewhere = elsewhere(&workspace, &kernel.name);
    Guesser::new(&workspace)
        .guess(ModuleId(0), kernel, &slice.captured, &elsewhere, Arch::Sm90)
        .unwrap()
}

/// The launches and searches of other files that name a kernel, in the files' order.
fn elsewhere(workspace: &Written, kernel: &str) -> Vec<Elsewhere> {
    let modules = (1..)
        .map(ModuleId)
        .map_while(|m| Some((m, workspace.source(m)?)));
    let mut found = Vec::new();
    for (module, source) in modules {
        let mut cache = ModelCache::default();
        let model = FileModel::build(source.file, source.text, "", &mut cache);
        let launches = model.launches.iter().map(|l| (l.span, &l.kernel_text));
        let searches = model.searches.iter().map(|s| (s.span, &s.kernel_text));
        let named = launches
            .chain(searches)
            .filter(|(_, text)| text.ends_with(kernel));
        found.extend(named.map(|(call, _)| Elsewhere { module, call }));
    }
    found
}

#[test]
fn launches_of_other_files_tell_as_well() {
    let kernel = "import cuda.tile as ct\n\n@ct.kernel\ndef k(x, A: ct.Constant[int], B: ct.Constant[int]):\n    \
                  ct.store(x, (0, 0), ct.load(x, (0, 0), (A, B)))\n";
    let launch = |args: &str| format!("\ndef run(s, x):\n    ct.launch(s, (1,), k, (x, {args}))\n");
    let other = |name: &str, args: &str| {
        format!(
            "\n#- pkg.{name}\nimport cuda.tile as ct\nfrom .main import k\n{}",
            launch(args)
        )
    };
    let shown = |text: &str| -> Vec<(String, String)> {
        let all = guesses(text).into_iter();
        all.map(|one| (one.shown(), one.origin_words())).collect()
    };
    let told = |a: u32, b: u32, from: &str| {
        (
            format!("x: float16[2], A: {a}, B: {b}"),
            format!("from {from}, dtypes assumed"),
        )
    };
    // The kernel's own file comes first; the same again is one.
    let text =
        kernel.to_owned() + &launch("16, 32") + &other("test_k", "8, 8") + &other("more", "16, 32");
    assert_eq!(
        shown(&text),
        [
            told(16, 32, "a launch in the code"),
            told(8, 8, "the launch in test_k.py:5"),
        ]
    );
    // Alone.
    let text = kernel.to_owned() + &other("test_k", "8, 8") + &other("more", "64, 2");
    assert_eq!(
        shown(&text),
        [
            told(8, 8, "the launch in test_k.py:5"),
            told(64, 2, "the launch in more.py:5"),
        ]
    );
    // What one does not tell, another does, and a name of its own file is found there.
    let text =
        kernel.to_owned() + &launch("size(x), 32") + &other("test_k", "TILE, 4") + "\nTILE = 128\n";
    assert_eq!(
        shown(&text),
        [
            told(128, 32, "a launch in the code"),
            told(128, 4, "the launch in test_k.py:5"),
        ]
    );
    // One that tells nothing leaves a guess.
    let text = kernel.to_owned() + &other("test_k", "size(x), size(x)");
    assert_eq!(shown(&text)[0].1, "guessed");
}

/// Statements of a kernel `k(x, y, z, n, A: Const, B: Const)`, and the signature in a line.
const BODIES: &[(&str, &str)] = &[
    (
        "t = ct.load(x, (0, 0), (A, B))\nct.store(y, (0,), t)",
        "x: float16[2], y: float16[1], z: int32, n: int32, A: 64, B: 64",
    ),
    (
        "t = ct.load(x, index=(0,), shape=(A,))\nct.store(y, 0, t)",
        "x: float16[1], y: float16[1], z: int32, n: int32, A: 256, B: 8",
    ),
    (
        "v = x.slice(0, 0, n)\nt = ct.load(v, (0, 0, 0), (1, A, B))",
        "x: float16[3], y: int32, z: int32, n: int32, A: 64, B: 64",
    ),
    (
        "i = ct.gather(z, (ct.arange(A, dtype=ct.int32),))\nt = ct.gather(x, (i, i))",
        "x: float16[2], y: int32, z: int32[1], n: int32, A: 256, B: 8",
    ),
    (
        "e = ct.load(z, (0,), (1,)).item()\nfor i in range(e):\n    t = ct.load(x, (i, 0), (A, B))",
        "x: float16[2], y: int32, z: int32[1], n: int32, A: 64, B: 64",
    ),
    (
        "a, b, c = x.shape\nd = y.shape[3]\nif A:\n    pass",
        "x: float16[3], y: float16[4], z: int32, n: int32, A: 0, B: 8",
    ),
    (
        "ct.store(x, (0,), ct.full((A,), 0, ct.float32))\nct.store(y, (0,), ct.zeros((A,), ct.int32))",
        "x: float32[1], y: int32[1], z: int32, n: int32, A: 256, B: 8",
    ),
    (
        "t = read(x, y, A)\ndef unused(): pass",
        "x: float16[3], y: int32[1], z: int32, n: int32, A: 256, B: 8",
    ),
    (
        "t = other.read(x, n=A)",
        "x: float16[2], y: int32, z: int32, n: int32, A: 256, B: 8",
    ),
    (
        "ct.atomic_add(z, (0,), 1)\nt = ct.load(x, (0,), (A,)) * n",
        "x: float16[1], y: int32, z: float16[1], n: int32, A: 256, B: 8",
    ),
    (
        "t = ct.full((A,), 0.0, ct.float32) * n",
        "x: int32, y: int32, z: int32, n: float32, A: 256, B: 8",
    ),
];

const AROUND: &str = "
try:
    import cuda.tile as ct
except ImportError:
    import another as ct
from . import other
Const = ct.Constant[int]

def read(a, where, size):
    i = ct.load(where, (0,), (1,)).item()
    return ct.load(a, (i, 0, 0), (1, 1, size))

@ct.kernel
def k(x, y, z, n, A: Const, B: Const):
";

const OTHER: &str = "
#- pkg.other
import cuda.tile as ct

def read(a, n):
    return ct.load(a, (0, 0), (1, n))
";

fn kernel(body: &str) -> String {
    let body: String = body.lines().map(|line| format!("    {line}\n")).collect();
    format!("{AROUND}{body}{OTHER}")
}

#[test]
fn parameters_are_what_is_done_with_them() {
    for (body, expected) in BODIES {
        let found = guess(&kernel(body));
        assert_eq!(found.shown(), *expected, "{body}");
        assert_eq!(found.origin, Origin::Guess, "{body}");
    }
}

#[test]
fn annotations_and_defaults_count() {
    let text = "
import cuda.tile as ct
Real = ct.Constant[float]
@ct.kernel
def k(a: float, b: int, eps, c: ct.Constant[bool], d: Real, e: ct.Constant[int] = 48,
      f: ct.Constant[float] = -1, g: tuple[ct.Constant[int], ct.Constant[int]] = 0):
    pass
";
    let found = guess(text);
    let shown = found.shown();
    assert!(
        shown.starts_with("a: float32, b: int32, eps: float32, c: False, d: 1.0, e: 48, f: -1.0"),
        "{shown}"
    );
}

#[test]
fn launches_tell_constants() {
    let kernel = "
import cuda.tile as ct
import torch
@ct.kernel
def k(x, n, A: ct.Constant[int], B: ct.Constant[int]):
    ct.store(x, (0, 0), ct.zeros((A, B), ct.float32))
";
    let cases = [
        (
            "ct.launch(s, (1,), k, (x, 7, 32, 16))",
            "A: 32, B: 16",
            Origin::Literals,
        ),
        (
            "ct.launch(s, (1,), k, (x, x.numel(), x.shape[0], 16))",
            "A: 64, B: 16",
            Origin::Guess,
        ),
        (
            "a = 8\nargs = (x, 7, a * 2, a)\nct.launch(s, (1,), k, args)",
            "A: 16, B: 8",
            Origin::Literals,
        ),
        (
            "from cuda.tile.tune import exhaustive_search\n\
             space = [dict(t=t, u=4) for t in (128, 256)]\n\
             exhaustive_search(space, s, lambda c: (1,), k, lambda c: (x, 1, c.t, c.u))",
            "A: 128, B: 4",
            Origin::Guess,
        ),
        ("", "A: 64, B: 64", Origin::Guess),
    ];
    for (host, expected, origin) in cases {
        let body: String = host.lines().map(|line| format!("    {line}\n")).collect();
        let found = guess(&format!("{kernel}\ndef run(x, s):\n    pass\n{body}"));
        let shown = found.shown();
        assert_eq!(
            shown,
            format!("x: float32[2], n: int32, {expected}"),
            "{host}"
        );
        if !host.contains("exhaustive_search") {
            assert_eq!(found.origin, origin, "{host}");
        }
    }
}

#[test]
fn each_launch_is_a_signature() {
    let kernel = "
import cuda.tile as ct
@ct.kernel
def k(x, n, A: ct.Constant[int], B: ct.Constant[int]):
    ct.store(x, (0, 0), ct.zeros((A, B), ct.float32))
";
    let cases: [(&str, &[&str]); 5] = [
        (
            "ct.launch(s, (1,), k, (x, 7, 32, 16))\nct.launch(s, (1,), k, (x, 9, 64, 16))",
            &["A: 32, B: 16", "A: 64, B: 16"],
        ),
        // The same for the compiler.
        (
            "ct.launch(s, (1,), k, (x, 7, 32, 16))\nct.launch(s, (1,), k, (x, 9, 32, 16))",
            &["A: 32, B: 16"],
        ),
        // What one does not tell.
        (
            "ct.launch(s, (1,), k, (x, 7, 32, x.n))\nct.launch(s, (1,), k, (x, 9, 64, 16))",
            &["A: 32, B: 16", "A: 64, B: 16"],
        ),
        // Either way may be taken.
        (
            "a = 32\nif x.n:\n    a = 64\nct.launch(s, (1,), k, (x, 7, a, 16))",
            &["A: 32, B: 16", "A: 64, B: 16"],
        ),
        ("", &["A: 64, B: 64"]),
    ];
    for (host, expected) in cases {
        let body: String = host.lines().map(|line| format!("    {line}\n")).collect();
        let found = guesses(&format!("{kernel}\ndef run(x, s):\n    pass\n{body}"));
        let mut shown: Vec<String> = found.iter().map(Signature::shown).collect();
        shown.sort();
        let expected: Vec<String> = (expected.iter())
            .map(|constants| format!("x: float32[2], n: int32, {constants}"))
            .collect();
        assert_eq!(shown, expected, "{host}");
    }
    let many: String = (1..30)
        .map(|n| format!("    ct.launch(s, (1,), k, (x, {n}, {n}, 16))\n"))
        .collect();
    let found = guesses(&format!("{kernel}\ndef run(x, s):\n{many}"));
    assert!((1..=8).contains(&found.len()), "{}", found.len());
}

#[test]
fn what_is_assumed_of_arrays_tells_signatures_apart_that_look_alike() {
    let of = |array: Array| Signature {
        params: vec![Param {
            name: "x".into(),
            kind: Kind::Array(array),
        }],
        globals: Vec::new(),
        launched: None,
        origin: Origin::CacheDb,
    };
    let usual = of(Array::usual("float16", 2));
    assert_eq!(
        usual.assumed(),
        "x: strides ×8, 1, extents ×16, ×16, address ×16"
    );
    let odd = of(Array {
        stride: vec![Some(7), None],
        stride_divisor: vec![1, 1],
        shape: vec![Some(3), None],
        shape_divisor: vec![1, 1],
        base_divisor: 1,
        ..Array::usual("float16", 2)
    });
    assert_eq!(odd.assumed(), "x: strides 7, ?, extents 3, ?, address ?");
    assert_eq!(usual.shown(), odd.shown());
    let mut none = usual;
    none.params.clear();
    assert_eq!(none.assumed(), "");
}

#[test]
fn captured_names_get_values() {
    let text = "
import cuda.tile as ct
def make(block, scale):
    @ct.kernel
    def k(x):
        ct.store(x, (0,), ct.full((block,), scale, ct.float32))
    return k
";
    let found = guess(text);
    assert_eq!(found.shown(), "x: float32[1], block = 64, scale = 1.0");
}

#[test]
fn it_is_written_as_the_process_takes_it() {
    let array = Kind::Array(Array::usual("float32", 2));
    assert_eq!(
        serde_json::to_value(&array).unwrap(),
        json!({
            "kind": "array", "dtype": "float32", "ndim": 2, "stride": [null, 1],
            "stride_divisor": [4, 1], "shape_divisor": [16, 16], "base_divisor": 16
        })
    );
    let none = Array::usual("float8_e4m3fn", 0);
    assert_eq!((none.stride, none.shape_divisor), (vec![], vec![]));
    assert_eq!(Array::usual("float8_e4m3fn", 2).stride_divisor, [16, 1]);
    assert_eq!(Array::usual("bool_", 2).stride_divisor, [16, 1]);
    let cases = [
        (Constant::Int(3), json!({"kind": "constant", "value": 3})),
        (
            Constant::Float(1.0),
            json!({"kind": "constant", "value": 1.0}),
        ),
        (
            Constant::Bool(true),
            json!({"kind": "constant", "value": true}),
        ),
        (Constant::None, json!({"kind": "constant", "value": null})),
        (
            Constant::Float(f64::NEG_INFINITY),
            json!({"kind": "constant", "float": "-inf"}),
        ),
        (
            Constant::Float(f64::NAN),
            json!({"kind": "constant", "float": "nan"}),
        ),
    ];
    for (constant, expected) in cases {
        let kind = Kind::Tuple {
            items: vec![Kind::Constant(constant)],
        };
        let expected = json!({"kind": "tuple", "items": [expected]});
        assert_eq!(serde_json::to_value(&kind).unwrap(), expected);
    }
    // A whole float stays a float for whoever reads it.
    let one = serde_json::to_string(&Kind::Constant(Constant::Float(1.0))).unwrap();
    assert!(one.ends_with("1.0}"), "{one}");
}

fn param(name: &str, kind: Kind) -> Param {
    Param {
        name: name.into(),
        kind,
    }
}

/// `x: float16[2], ids: float16[1], n: int32, TILE: 64, SIZE: 48, ON: False`
fn signature() -> Signature {
    let scalar = Kind::Scalar {
        dtype: "int32".into(),
    };
    Signature {
        params: vec![
            param("x", Kind::Array(Array::usual("float16", 2))),
            param("ids", Kind::Array(Array::usual("float16", 1))),
            param("n", scalar),
            param("TILE", Kind::Constant(Constant::Int(64))),
            param("SIZE", Kind::Constant(Constant::Int(48))),
            param("ON", Kind::Constant(Constant::Bool(false))),
        ],
        globals: vec![("block".into(), Constant::Int(64))],
        origin: Origin::Literals,
        launched: None,
    }
}

/// What the compiler says, of which code, and what then is different.
const COMPLAINTS: &[(&str, &str, &str)] = &[
    (
        "Index size 3 does not match the array rank 2",
        "ct.load(x, (0, 0, 0), (1,))",
        "x: float16[3]",
    ),
    (
        "Index size 2 does not match the array rank 1",
        "ct.load(a, (0, 0), (1,))",
        "ids: float16[2]",
    ),
    (
        "cannot implicitly cast float32 to float16",
        "ct.store(x, (0, 0), t)",
        "x: float32[2]",
    ),
    (
        "Expected a signed integer scalar, but got Tile[float16,()]",
        "range(0, end)",
        "ids: int32[1]",
    ),
    (
        "Expected an array, but given value has type Tile[int32,()]",
        "ct.load(n, (0, 0))",
        "n: float16[2]",
    ),
    (
        "Invalid argument \"shape\" of load(): Dimension #0 of shape (48,) is not a power of two",
        "ct.zeros((SIZE,))",
        "TILE: 64, SIZE: 64",
    ),
    (
        "Static assertion failed: TILE == SIZE",
        "assert TILE == SIZE",
        "TILE: 64, SIZE: 64",
    ),
    (
        "Static assertion failed",
        "ct.static_assert(ON)",
        "ON: True",
    ),
    (
        "Invalid kernel parameter 'n': Expected a scalar/tuple/dataclass constant, as implied by the \
         Constant annotation.",
        "",
        "n: 1",
    ),
    (
        "Invalid kernel parameter 'n': ScalarConstraint.dtype int32 does not match the annotated dtype \
         int64.",
        "",
        "n: int64",
    ),
    (
        "Cannot reshape (64, 16) to (64,)",
        "ct.reshape(t, (TILE,))",
        "TILE: 4,",
    ),
    (
        "Type of `t` depends on path taken: Tile[float16,(1)] (line 3) vs. Tile[int32,(1)] (line 2)",
        "t = ct.gather(a, i)",
        "x: int32[2], ids: int32[1]",
    ),
    (
        "Result tile shape must be a power of 2",
        "ct.zeros((block,))",
        "block = ",
    ),
];

#[test]
fn complaints_lead_to_other_signatures() {
    for (message, code, expected) in COMPLAINTS {
        let mut tried = vec![signature()];
        let mut all = Vec::new();
        let complaint = Complaint {
            message,
            code: &[code],
        };
        while let Some(next) = repair(&tried, complaint) {
            all.push(next.shown());
            tried.push(next);
            if tried.len() > 6 {
                break;
            }
        }
        assert!(
            all.iter().any(|s| s.contains(expected)),
            "{message}: {all:#?}"
        );
    }
}

#[test]
fn repairing_ends_and_proposes_nothing_twice() {
    for (message, code, _) in COMPLAINTS
        .iter()
        .chain(&[("", "", ""), ("nonsense", "x n TILE", "")])
    {
        let mut tried = vec![signature()];
        let complaint = Complaint {
            message,
            code: &[code],
        };
        while let Some(next) = repair(&tried, complaint) {
            assert_ne!(next.origin, Origin::Recorded);
            assert!(
                !tried.iter().any(|t| t.shown() == next.shown()),
                "{message}: {}",
                next.shown()
            );
            tried.push(next);
            if tried.len() == 40 {
                break;
            }
        }
        assert!(tried.len() > 1, "{message}");
    }
    assert_eq!(
        repair(
            &[],
            Complaint {
                message: "",
                code: &[]
            }
        ),
        None
    );
}
