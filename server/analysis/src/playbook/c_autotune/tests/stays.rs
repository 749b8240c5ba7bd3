//! What is not tuned.

use super::*;
use crate::model::{FileModel, ModelCache};
use crate::playbook::Surroundings;
use crate::rules::{KernelUses, RuleCache, check};
use crate::target::Version;

#[test]
fn launches_that_stay() {
    let host = |body: &str| {
        let body = body.replace('\n', "\n    ");
        copies(
            "@ct.kernel(occupancy=2)",
            &format!("def run(x, y, s, grid, n):\n    {body}\n"),
        )
    };
    let launch = "ct.launch(s, grid, copy, (x, y, n))";
    assert_eq!(searches(&host(launch)).len(), 1);
    for body in [
        &format!("for i in range(n):\n    {launch}"),
        &format!("while n:\n    {launch}"),
        &format!("return {launch}"),
        &format!("pass; {launch}"),
        &format!("{launch}; n = 1"),
        &format!("done = {launch}"),
        &format!("if n: {launch}"),
        "ct.launch(s, grid, copy, (x, *y, n))",
        "ct.launch(*n, copy, (x, y, 1))",
        "ct.launch(s, grid, copy, n)",
        "ct.launch(s, grid, copy, (x, y))",
        "ct.launch(s, grid, copy.replace_hints(occupancy=1), (x, y, n))",
        "k = copy if n else other\nct.launch(s, grid, k, (x, y, n))",
        "pass",
        // One that is not tuned would lose the decorator's hints.
        &format!("{launch}\nfor i in range(n):\n    {launch}"),
    ] {
        let code = host(body);
        assert_eq!(searches(&code), [], "{code}");
    }
    let free = host(&format!("{launch}\nfor i in range(n):\n    {launch}"));
    let free = free.replace("(occupancy=2)", "");
    let (_, applied) = tuned(&free);
    assert_eq!(
        applied.matches("        ct.launch(s, grid, copy,").count(),
        1,
        "{applied}"
    );
    let whole = host(launch);
    for (from, to) in [
        ("def run", "async def run"),
        ("def run", "import pytest\n\n\ndef run"),
        (
            "def run",
            "@ct.kernel\ndef copy(x, y, T):\n    pass\n\n\ndef run",
        ),
        (
            "import torch\n",
            "import torch\nimport torch.distributed as dist\n",
        ),
        (
            "def run(x, y, s, grid, n):\n    ",
            "x = y = s = grid = n = 0\n",
        ),
        (
            "def run(x, y, s, grid, n):\n    ",
            "class F(torch.autograd.Function):\n    @staticmethod\n    def backward(s, x, y, grid, n):\n        ",
        ),
    ] {
        let code = whole.replace(from, to);
        assert_ne!(code, whole);
        assert_eq!(searches(&code), [], "{code}");
    }
}

#[test]
fn versions_without_the_search() {
    let text = copies(
        "@ct.kernel",
        "def run(x, y, s):\n    ct.launch(s, (8,), copy, (x, y, 64))\n",
    );
    for (minor, count) in [(2, 0), (3, 1), (7, 1)] {
        let target = Target {
            cuda_tile: Some(Version::new(1, minor, 0)),
            ..Target::default()
        };
        let actions = offered(&text, &target).into_iter();
        assert_eq!(actions.filter(|a| a.optimization.id == "C").count(), count);
    }
}

#[test]
fn other_files_count() {
    let of = |decorator: &str, uses: KernelUses| {
        let text = copies(
            decorator,
            "def run(x, y, s):\n    ct.launch(s, (8,), copy, (x, y, 64))\n",
        );
        let parsed = FileParser::default().parse(&text);
        let model = FileModel::build(&parsed, &text, "", &mut ModelCache::default());
        let checked = check(
            &parsed,
            &text,
            &model,
            &Target::default(),
            &mut RuleCache::default(),
        );
        let mut actions = checked.actions_within(
            &parsed,
            &text,
            &model,
            0,
            Some(Surroundings {
                elsewhere: &[],
                uses: &uses,
                named: None,
                mixed: &[],
                searched: &[],
                compiled: &[],
                remade: &[],
                originals: None,
            }),
        );
        actions.retain(|a| a.optimization.id == "C");
        actions.len()
    };
    let uses = |launches, searches, remade| KernelUses {
        launches,
        searches,
        remade,
    };
    assert_eq!(of("@ct.kernel(occupancy=2)", uses(1, 0, 0)), 1);
    assert_eq!(of("@ct.kernel(occupancy=2)", uses(2, 0, 0)), 0);
    assert_eq!(of("@ct.kernel", uses(2, 0, 0)), 1);
    assert_eq!(of("@ct.kernel", uses(1, 1, 0)), 0);
    assert_eq!(of("@ct.kernel", uses(1, 0, 1)), 0);
}
