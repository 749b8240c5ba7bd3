//! Every syntactic form in which cuTile code is written, and what looks like it and is not.
//!
//! A case is a Python text and the facts expected of it, one a line:
//! `kernel NAME [hint=text ...] [const:NAME ...]`, `launch TEXT -> candidates`,
//! `register OP BACKEND FUNCTION -> candidates`, `search API TEXT -> candidates in SPACES`,
//! `hints TEXT CONTEXT -> candidates`.

use super::*;

mod forms;

fn candidate(model: &FileModel, candidate: &Candidate) -> String {
    match candidate {
        Candidate::Local(number) => model.kernels[*number].name.to_string(),
        Candidate::Imported(path) => format!("import:{path}"),
        Candidate::Returned(path) => format!("call:{path}"),
        Candidate::Param {
            function,
            name,
            place,
        } => format!("param:{function}.{name}@{place}"),
    }
}

fn candidates(model: &FileModel, list: &[Candidate]) -> String {
    let mut names: Vec<String> = list.iter().map(|c| candidate(model, c)).collect();
    names.sort();
    names.dedup();
    names.join(",")
}

fn dump(model: &FileModel) -> Vec<String> {
    let mut out = Vec::new();
    for kernel in &model.kernels {
        let mut line = format!("kernel {}", kernel.qualified);
        for hint in &kernel.hints {
            line.push_str(&format!(" {}={}", hint.name, hint.text));
        }
        for param in kernel.params.iter().filter(|p| p.constant) {
            line.push_str(&format!(" const:{}", param.name));
        }
        out.push(line);
    }
    for launch in &model.launches {
        out.push(format!(
            "launch {} -> {}",
            launch.kernel_text,
            candidates(model, &launch.candidates)
        ));
    }
    for registration in &model.registrations {
        out.push(format!(
            "register {} {} {} -> {}",
            registration.op.as_deref().unwrap_or("?"),
            registration.backend.as_deref().unwrap_or("?"),
            registration.function.as_deref().unwrap_or("?"),
            candidates(model, &registration.kernels),
        ));
    }
    for search in &model.searches {
        let spaces: Vec<String> = search
            .spaces
            .iter()
            .map(|s| match s {
                SpaceRef::Local(n) => {
                    format!("{}:{:?}", model.spaces[*n].name, model.spaces[*n].kind)
                }
                SpaceRef::Imported(path) => format!("import:{path}"),
            })
            .collect();
        out.push(format!(
            "search {} {} -> {} in {}",
            search.api.name(),
            search.kernel_text,
            candidates(model, &search.candidates),
            spaces.join(","),
        ));
    }
    for hints in &model.hint_uses {
        let context = format!("{:?}", hints.context).to_lowercase();
        out.push(format!(
            "hints {} {context} -> {}",
            hints.kernel_text,
            candidates(model, &hints.candidates)
        ));
    }
    out
}

fn model(text: &str) -> FileModel {
    let parsed = tileperf_syntax::parse(text);
    assert!(parsed.is_clean(), "the case does not parse:\n{text}");
    FileModel::build(&parsed, text, "pkg.ops", &mut ModelCache::default())
}

#[test]
fn every_form_gives_its_facts() {
    for (title, text, want) in forms::CASES {
        let text = text.trim_start_matches('\n');
        let got = dump(&model(text));
        let want: Vec<&str> = want
            .lines()
            .map(str::trim)
            .filter(|l| !l.is_empty())
            .collect();
        assert_eq!(got, want, "{title}\n{text}");
    }
}

#[test]
fn places_are_the_identifiers() {
    let text = "import cuda.tile as ct\n\n@ct.kernel\ndef k(x): pass\n\ndef run(s, x):\n    ct.launch(s, (1,), k.replace_hints(occupancy=2), (x,))\n";
    let model = model(text);
    let at = |span: Span| &text[span.range()];
    assert_eq!(at(model.kernels[0].name_span), "k");
    assert_eq!(at(model.kernels[0].decorator_span), "ct.kernel");
    assert_eq!(at(model.kernels[0].span), "def k(x): pass");
    assert_eq!(at(model.launches[0].kernel_span), "k");
    assert_eq!(at(model.launches[0].callee_span), "launch");
    assert_eq!(at(model.hint_uses[0].kernel_span), "k");
    assert_eq!(model.launches[0].function, "run");
}

/// Whatever else stands for cuTile where it is not installed, and however that is written.
#[test]
fn a_fallback_takes_no_name_from_cutile() {
    for text in [
        "try:\n    import cuda.tile as ct\nexcept ImportError:\n    import cutile as ct\n",
        "try:\n    import cutile as ct\nexcept ImportError:\n    import cuda.tile as ct\n",
        "try:\n    import cuda.tile as ct\nexcept ImportError:\n    ct = None\n",
        "ct = None\ntry:\n    from cuda import tile as ct\nexcept (ImportError, OSError):\n    pass\n",
        "try:\n    import cuda.tile as ct\nexcept ImportError:\n    try:\n        import cutile as ct\n    \
         except ImportError:\n        from . import stub as ct\n",
        "if HAS:\n    import cuda.tile as ct\nelse:\n    from stubs import ct\n",
        "if not HAS:\n    import stubs as ct\nelse:\n    import cuda.tile as ct\n",
        "if NEW:\n    import cuda.tile as ct\nelif OLD:\n    import cutile as ct\nelse:\n    ct = None\n",
        "from contextlib import suppress\nimport stubs as ct\nwith suppress(ImportError):\n    import cuda.tile as ct\n",
        "try:\n    import cuda.tile as ct\nexcept ImportError:\n    class ct:\n        pass\n",
    ] {
        let model = model(&format!(
            "{text}\n@ct.kernel\ndef k(x):\n    ct.store(x, (0,), ct.load(x, (0,), (8,)))\n\nct.launch(s, (1,), k, ())\n"
        ));
        assert_eq!(
            model.imports.get("ct").map(|p| &**p),
            Some("cuda.tile"),
            "{text}"
        );
        assert!(model.uses_cutile, "{text}");
        assert_eq!(model.kernels.len(), 1, "{text}");
        assert_eq!(model.kernels[0].accesses.len(), 2, "{text}");
        assert_eq!(
            model.launches[0].candidates,
            [Candidate::Local(0)],
            "{text}"
        );
    }
    // As everywhere, from where the file is.
    let text = "from . import ct\nfrom ..ops import load as l\nfrom .ct import store\n";
    let file = tileperf_syntax::parse(text);
    for (package, wanted) in [
        ("a.b", ["a.b.ct", "a.ops.load", "a.b.ct.store"]),
        ("", [".ct", "..ops.load", ".ct.store"]),
    ] {
        let model = FileModel::build(&file, text, package, &mut ModelCache::default());
        assert_eq!(["ct", "l", "store"].map(|n| &*model.imports[n]), wanted);
    }
    // Of other modules the last is taken.
    let model = model("try:\n    import a as np\nexcept ImportError:\n    import b as np\n");
    assert_eq!(model.imports.get("np").map(|p| &**p), Some("b"));
    assert!(!model.uses_cutile);
}

#[test]
fn a_fingerprint_follows_the_code_and_nothing_else() {
    let of = |text: &str| model(text).kernels[0].fingerprint;
    let base = "import cuda.tile as ct\ndef helper(x):\n    return x + 1\n@ct.kernel\ndef k(x):\n    y = helper(x)\n";
    let same = [
        base.replace(
            "    y = helper(x)",
            "    # a comment\n    y  =  helper( x )",
        ),
        base.replace("@ct.kernel", "\n\nZ = 1\n\n@ct.kernel"),
        base.replace("def k(x):", "def k(x):\n    \"\"\"What it does.\"\"\""),
    ];
    for text in &same {
        assert_eq!(of(text), of(base), "{text}");
    }
    let other = [
        base.replace("x + 1", "x + 2"),
        base.replace("y = helper(x)", "y = helper(x, 0)"),
        base.replace("@ct.kernel", "@ct.kernel(occupancy=2)"),
        base.replace("def k(x)", "def k(x, n)"),
        base.replace("x + 1", "x - 1"),
    ];
    for text in &other {
        assert_ne!(of(text), of(base), "{text}");
    }
    assert_eq!(of(base).to_string().len(), 16);
}

#[test]
fn accesses_are_numbered_in_source_order() {
    let text = "import cuda.tile as ct\nimport json\n\n@ct.kernel\ndef k(x, y):\n    json.load(x)\n    a = ct.load(x, (0,), (16,))\n    for i in range(2):\n        acc = ct.mma(a, a, acc)\n    ct.atomic_add(y, 0, 1)\n    ct.store(y, (0,), acc)\n\ndef other(x):\n    ct.load(x, (0,), (16,))\n";
    let model = model(text);
    let found: Vec<&str> = model.kernels[0]
        .accesses
        .iter()
        .map(|a| &text[a.span.range()])
        .collect();
    let want = [
        "ct.load(x, (0,), (16,))",
        "ct.mma(a, a, acc)",
        "ct.atomic_add(y, 0, 1)",
        "ct.store(y, (0,), acc)",
    ];
    assert_eq!(found, want);
}

#[test]
fn a_name_defined_twice_is_two_kernels() {
    let text = "import cuda.tile as ct\nif fast:\n    @ct.kernel\n    def k(x): pass\nelse:\n    @ct.kernel\n    def k(x, y): pass\ndef run(s, x):\n    ct.launch(s, (1,), k, (x,))\n";
    let model = model(text);
    let ids: Vec<_> = model
        .kernels
        .iter()
        .map(|k| (k.qualified.as_str(), k.ordinal))
        .collect();
    assert_eq!(ids, [("k", 0), ("k", 1)]);
    assert_eq!(model.launches[0].candidates.len(), 2);
}

#[test]
fn what_other_files_can_follow_is_exported() {
    let text = "\
import cuda.tile as ct
from .kernels import other as renamed

@ct.kernel
def k(x): pass

def choose(flag):
    return k if flag else renamed

def go(stream, kernel, x):
    ct.launch(stream, (1,), kernel, (x,))

from .launchers import run_it
def main(s, x):
    run_it(s, k, x)
";
    let model = model(text);
    assert_eq!(model.exports["k"].kernels, [Candidate::Local(0)]);
    assert_eq!(
        model.exports["renamed"].kernels,
        [Candidate::Imported("pkg.ops.kernels.other".into())]
    );
    assert_eq!(
        candidates(&model, &model.exports["choose"].returns),
        "import:pkg.ops.kernels.other,k"
    );
    assert_eq!(
        candidates(&model, &model.launches[0].candidates),
        "param:go.kernel@1"
    );
    assert_eq!(model.passed.len(), 1);
    assert_eq!(
        (model.passed[0].callee.as_str(), model.passed[0].place),
        ("pkg.ops.launchers.run_it", 1)
    );
}

#[test]
fn a_model_is_the_same_with_a_warm_cache() {
    let mut cache = ModelCache::default();
    for (_, text, _) in forms::CASES {
        let parsed = tileperf_syntax::parse(text);
        let cold = FileModel::build(&parsed, text, "pkg.ops", &mut ModelCache::default());
        let first = FileModel::build(&parsed, text, "pkg.ops", &mut cache);
        let warm = FileModel::build(&parsed, text, "pkg.ops", &mut cache);
        assert_eq!(dump(&cold), dump(&first));
        assert_eq!(dump(&cold), dump(&warm));
    }
}
