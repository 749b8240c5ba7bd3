//! What is said of a space beside its count.

use super::{Workspace, space};
use crate::arch::Arch;
use crate::eval::{
    Cause, Evaluator, Field, Form, Known, ModuleId, Note, Place, Scope, Space, SpaceCount,
};
use tileperf_syntax::Span;

fn count(text: &str) -> SpaceCount {
    space(text, Arch::Sm100).count
}

/// The text of a place in the only module.
fn at(text: &str, place: Place) -> &str {
    let file = tileperf_syntax::parse(text);
    &text[place
        .span
        .shift(file.items[place.item as usize].span.start)
        .range()]
}

fn causes<'t>(text: &'t str, causes: &[Cause]) -> Vec<(&'t str, bool)> {
    causes
        .iter()
        .map(|c| (at(text, c.place), c.outcome))
        .collect()
}

#[test]
fn forms() {
    let cases = [
        ("search([1])", Form::Sequence),
        ("search((1, 2))", Form::Sequence),
        ("search({1: 2})", Form::Sequence),
        ("search(x for x in [1])", Form::Generator),
        ("def f():\n    yield 1\nsearch(f())", Form::Generator),
        ("def f():\n    yield 1\nsearch(list(f()))", Form::Sequence),
        ("def f():\n    return [1]\nsearch(f())", Form::Sequence),
        ("search(map(str, [1]))", Form::Generator),
        ("search(iter([1]))", Form::Generator),
        ("def f():\n    yield 1\nsearch(f)", Form::Callable),
        ("search(lambda: [1])", Form::Callable),
        (
            "from tune import SearchSpace\nsearch(SearchSpace([1, 2], keep))",
            Form::Wrapper,
        ),
        ("from tune import space\nsearch(space())", Form::Unknown),
        (
            "def f(lazy):\n    return (x for x in [1]) if lazy else [1]\ndef configs(lazy):\n    return f(lazy)",
            Form::Mixed,
        ),
    ];
    for (text, form) in cases {
        assert_eq!(count(text).form, form, "{text}");
    }
    let wrapped = count("from tune import SearchSpace\nsearch(SearchSpace([1, 2], keep))");
    assert_eq!(
        (wrapped.min, wrapped.max),
        (0, Some(2)),
        "the predicate may drop any"
    );
}

#[test]
fn guards() {
    let kept = "def run(n):\n    configs = [c for c in (1, 2) if c <= n]\n";
    for (guard, guarded, raises) in [
        ("", false, false),
        (
            "    if not configs:\n        raise ValueError\n",
            true,
            true,
        ),
        (
            "    if len(configs) == 0:\n        return None\n",
            true,
            false,
        ),
        ("    assert len(configs) > 0\n", true, false),
        ("    assert n > 0\n", false, false),
    ] {
        let text = format!("{kept}{guard}    search(configs)\n");
        let count = count(&text);
        assert_eq!((count.guarded, count.raises), (guarded, raises), "{text}");
    }
}

#[test]
fn why_a_space_is_empty() {
    let text = "import torch\ndef configs():\n    cap = torch.cuda.get_device_capability()\n    for n in [2, 4]:\n        if cap[0] < 9:\n            continue\n        yield n\n";
    let old = space(text, Arch::Sm80).count;
    assert!(old.is_surely_empty());
    let empty = old.empty.expect("it is empty");
    assert!(empty.always && empty.assuming.is_empty());
    assert_eq!(causes(text, &empty.causes), [("cap[0] < 9", true)]);
    assert_eq!(space(text, Arch::Sm90).count.empty, None);

    let text = "def configs(size):\n    block = min(64, size)\n    if size % block != 0:\n        return\n    for b in [16, 32]:\n        if b <= block:\n            yield b\n";
    let count = count(text);
    let empty = count.empty.expect("it can be");
    assert!(!empty.always);
    assert_eq!(
        causes(text, &empty.assuming)[0],
        ("size % block != 0", true)
    );
    assert_eq!(causes(text, &empty.causes)[0], ("size % block != 0", true));
}

#[test]
fn why_a_count_is_a_range() {
    let says = |text: &'static str| -> Vec<(&'static str, &'static str)> {
        let notes = count(text).why.into_iter().map(|n| match n {
            Note::UnknownFilter(p) => ("filter", at(text, p)),
            Note::UnknownBranch(p) => ("branch", at(text, p)),
            Note::UnknownLength(p) => ("length", at(text, p)),
            Note::DependsOn(p) => ("depends", at(text, p)),
            Note::TooMuch => ("too much", ""),
        });
        notes.collect()
    };
    assert_eq!(
        says("def configs(n):\n    return [c for c in (1, 2) if n.ok(c)]"),
        [("filter", "n.ok(c)")]
    );
    assert_eq!(
        says("def configs(xs):\n    for x in xs:\n        yield x"),
        [("length", "xs")]
    );
    assert_eq!(
        says("def configs(n):\n    if n > 2:\n        yield 1"),
        [("depends", "n > 2")]
    );
    assert_eq!(
        says("def configs(n):\n    if n.ok():\n        yield 1"),
        [("branch", "n.ok()")]
    );
    assert_eq!(
        says("def configs():\n    while True:\n        yield 1"),
        [("too much", "")]
    );
    assert_eq!(
        says(
            "def configs(n):\n    for x in (1, 2):\n        if n > 2:\n            pass\n        yield x"
        ),
        []
    );
}

fn field<'a>(fields: &'a [Field], name: &str) -> &'a Field {
    fields.iter().find(|f| f.name == name).expect("a field")
}

fn ints(values: &[i64]) -> Vec<Known> {
    values.iter().map(|v| Known::Int(*v)).collect()
}

#[test]
fn configurations_and_fields() {
    let text = "from types import SimpleNamespace\nimport torch\ndef configs(n: int, flag: bool):\n    for m in (64, 128):\n        yield SimpleNamespace(M=m, ctas=1 if flag else 2, n=n, dtype=torch.float16)\n    if flag:\n        yield SimpleNamespace(M=256, ctas=4, n=max(n, 16), dtype=None)\n";
    let Space {
        count,
        configs,
        complete,
        by_arch,
    } = space(text, Arch::Sm90);
    assert!(!by_arch);
    let asking = "import torch\ndef configs():\n    if torch.cuda.get_device_capability()[0] > 9:\n        yield 1\n";
    assert!(space(asking, Arch::Sm90).by_arch);
    assert_eq!((count.min, count.max), (2, Some(3)));
    assert!(complete);
    assert_eq!(
        configs.len(),
        5,
        "two ways of the first two, one of the third"
    );
    let place = configs[0].place.expect("made by a call");
    assert!(at(text, place).starts_with("SimpleNamespace(M=m,"));

    let fields = space(text, Arch::Sm90).fields();
    let names: Vec<&str> = fields.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["M", "ctas", "n", "dtype"]);
    assert_eq!(field(&fields, "M").values, ints(&[64, 128, 256]));
    assert_eq!(field(&fields, "ctas").values, ints(&[1, 4, 2]));
    assert!(!field(&fields, "M").open && field(&fields, "n").open);
    let bounds = Known::Unknown {
        lo: Some(16),
        hi: None,
    };
    assert!(field(&fields, "n").values.contains(&bounds));
    assert_eq!(
        field(&fields, "dtype").values,
        [Known::Name("torch.float16".into()), Known::None]
    );
}

#[test]
fn other_makers_of_configurations() {
    for (text, wanted) in [
        ("search([{'a': 1, 'b': 2}, {'a': 3}])", &[1, 3][..]),
        (
            "from tune import Config\nsearch([Config(a=1), Config(a=2)])",
            &[1, 2],
        ),
        (
            "import triton\nsearch([triton.Config({'a': 4}, num_warps=4)])",
            &[4],
        ),
        (
            "from collections import namedtuple\nC = namedtuple('C', ['a', 'b'])\nsearch([C(5, 6)])",
            &[5],
        ),
        (
            "class C:\n    def __init__(self, a):\n        self.a = a * 2\nsearch([C(4)])",
            &[8],
        ),
        (
            "from dataclasses import dataclass, field\n@dataclass\nclass C:\n    a: int = field(default=7)\nsearch([C()])",
            &[7],
        ),
    ] {
        let space = space(text, Arch::Sm90);
        assert!(space.complete, "{text}");
        assert_eq!(field(&space.fields(), "a").values, ints(wanted), "{text}");
    }
    let plain = space("search([(1, 'x'), (2, 'y')])", Arch::Sm90);
    let pair = |n, s: &str| Known::Tuple(vec![Known::Int(n), Known::Str(s.into())]);
    assert_eq!(
        field(&plain.fields(), "").values,
        [pair(1, "x"), pair(2, "y")]
    );
}

#[test]
fn any_place_can_be_asked_about() {
    let text = "CONFIGS = [1, 2]\ndef configs(n):\n    return [n]\n";
    let workspace = Workspace::new(text);
    let evaluator = Evaluator::new(&workspace);
    let ask = |item: u32, needle: &str| {
        let start = text.find(needle).expect("it is there");
        let span = Span::new(start, start + needle.len());
        let base = workspace.files[0].items[item as usize].span.start;
        let span = Span {
            start: span.start - base,
            end: span.end - base,
        };
        let place = Place {
            module: ModuleId(0),
            item,
            span,
        };
        evaluator.at(place, Arch::Sm90).map(|s| s.count.min)
    };
    assert_eq!(ask(0, "[1, 2]"), Some(2));
    assert_eq!(ask(1, "configs"), Some(1));
    assert_eq!(ask(1, "def configs(n):\n    return [n]"), Some(1));
    assert_eq!(ask(1, "[n]"), Some(1));
    assert_eq!(ask(1, "retur"), None);
}

#[test]
fn scopes_are_found_by_place() {
    let text = "class A:\n    def f(self, x=[1]):\n        def g():\n            return [2]\n        return g\n";
    let file = tileperf_syntax::parse(text);
    let depth = |needle: &str| {
        let start = text.find(needle).expect("it is there");
        let span = Span::new(start, start + needle.len());
        Scope::at(ModuleId(0), 0, &file.items[0].facts.body, span)
            .around
            .len()
    };
    assert_eq!(depth("[2]"), 3);
    assert_eq!(depth("return g"), 2);
    assert_eq!(
        depth("[1]"),
        1,
        "a default is evaluated outside its function"
    );
}
