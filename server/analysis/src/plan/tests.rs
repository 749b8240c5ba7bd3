//! Plans of kernels: what stands in them, and what does not.

use tileperf_syntax::{FileParser, Text};

use super::{How, Known, Plan, Tried, markdown};
use crate::model::{FileModel, ModelCache};
use crate::rules::testing::whole;
use crate::rules::{RuleCache, check};
use crate::target::Target;

/// The plan of the only kernel of a text, and how it is written.
fn planned(code: &str, tried: &[Tried]) -> (Plan, String) {
    let text = whole(code);
    let parsed = FileParser::default().parse(&text);
    assert!(parsed.is_clean(), "does not parse:\n{text}");
    let model = FileModel::build(&parsed, &text, "", &mut ModelCache::default());
    let target = Target::default();
    let checked = check(&parsed, &text, &model, &target, &mut RuleCache::default());
    let actions = checked.actions(&parsed, &text, &model, 0);
    let actions: Vec<_> = actions.into_iter().map(|action| (action, None)).collect();
    let known = Known {
        actions: &actions,
        findings: &checked.findings,
        tried,
        ..Known::default()
    };
    let plan = checked.plan(&parsed, &text, &model, 0, &known);
    let plan = plan.unwrap_or_else(|| panic!("no plan for\n{text}"));
    let kernel = &model.kernels[0].qualified;
    let written = markdown(&plan, kernel, "ops/k.py", &Text::new(&text));
    (plan, written)
}

fn titles(code: &str) -> Vec<String> {
    let (plan, _) = planned(code, &[]);
    plan.items.into_iter().map(|item| item.title).collect()
}

const MATMUL: &str = "
import torch


@ct.kernel(occupancy=1)
def product(a, b, bias, c, TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int]):
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((TM, TN), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], TK)):
        x = ct.load(a, index=(m, k), shape=(TM, TK))
        y = ct.transpose(ct.load(b, index=(n, k), shape=(TN, TK)))
        shift = ct.load(bias, index=(n,), shape=(TN,))
        acc = ct.mma(x, y, acc) + shift
    ct.store(c, index=(m, n), tile=ct.astype(ct.exp(acc), c.dtype))


def run(a, b, bias, c):
    ct.launch(torch.cuda.current_stream(), (8, 8, 1), product, (a, b, bias, c, 128, 128, 64))
";

#[test]
fn a_plan_as_it_is_written() {
    let tried = [
        Tried {
            name: "F no-tma-stores".to_owned(),
            action: Some(("F".to_owned(), String::new())),
            result: "reverted: slower in 1 configuration (iteration 1)".to_owned(),
        },
        Tried {
            name: "E latency-hints latency=3".to_owned(),
            action: Some(("E".to_owned(), "latency=3".to_owned())),
            result: "kept: 3.10 % faster (iteration 2)".to_owned(),
        },
        Tried {
            name: "two | one".to_owned(),
            action: None,
            result: "reverted: no improvement (iteration 3)".to_owned(),
        },
    ];
    let (plan, written) = planned(MATMUL, &tried);
    insta::assert_snapshot!(written);
    // Tried in its only way: not proposed again.
    assert!(plan.items.iter().all(|item| !item.title.starts_with("F:")));
    // Every item names a place of this kernel, none twice.
    let mut seen = Vec::new();
    for item in &plan.items {
        assert!(!item.places.is_empty(), "{item:?}");
        assert!(
            !seen.contains(&&item.title),
            "{} is there twice",
            item.title
        );
        seen.push(&item.title);
    }
}

/// What the kernel's own code shows, and what looks like it and is not.
#[test]
fn what_the_code_shows() {
    let kernel = |body: &str| format!("@ct.kernel\ndef k(x, y, w, n):\n{body}");
    for (body, title, shown) in [
        (
            "    for i in range(n):\n        t = ct.load(w, (0,), (16,))\n        ct.store(y, (i,), t)\n",
            "Read `ct.load(w, (0,), (16,))` once, before the loop",
            true,
        ),
        (
            "    for i in range(n):\n        t = ct.load(w, (i,), (16,))\n        ct.store(y, (i,), t)\n",
            "once, before the loop",
            false,
        ),
        (
            "    for i in range(n):\n        j = i + 1\n        t = ct.load(w, (j,), (16,))\n        ct.store(y, (i,), t)\n",
            "once, before the loop",
            false,
        ),
        // What is written may be other in each round.
        (
            "    for i in range(n):\n        t = ct.load(y, (0,), (16,))\n        ct.store(y, (0,), t + 1)\n",
            "once, before the loop",
            false,
        ),
        (
            "    a = ct.load(x, (0,), (16,))\n    b = ct.load(x, (0,), (16,))\n    ct.store(y, (0,), a + b)\n",
            "Keep what `ct.load(x, (0,), (16,))` read",
            true,
        ),
        (
            "    j = 0\n    a = ct.load(x, (j,), (16,))\n    j = 1\n    b = ct.load(x, (j,), (16,))\n    ct.store(y, (0,), a + b)\n",
            "Keep what",
            false,
        ),
        (
            "    s = ct.full((1,), 0, dtype=ct.float32)\n    for i in range(n):\n        s += ct.sum(ct.load(x, (i,), (16,)))\n    ct.store(y, (0,), s)\n",
            "reduce once behind it: `ct.sum(ct.load(x, (i,), (16,)))`",
            true,
        ),
        // A row of its own in each round.
        (
            "    for i in range(n):\n        s = ct.sum(ct.load(x, (i,), (16,)))\n        ct.store(y, (i,), s)\n",
            "reduce once behind it",
            false,
        ),
        (
            "    t = ct.load(x, (0, 0), (16, 16))\n    ct.store(y, (0, 0), ct.transpose(t))\n",
            "Load turned: `ct.transpose(t)`",
            true,
        ),
        (
            "    t = ct.load(x, (0, 0), (16, 16)) + 1\n    ct.store(y, (0, 0), ct.transpose(t))\n",
            "Load turned",
            false,
        ),
    ] {
        let titles = titles(&kernel(body));
        let found = titles.iter().any(|t| t.contains(title));
        assert_eq!(found, shown, "{title} in {titles:#?} of\n{body}");
    }
}

/// What stands in a helper is the kernel's too, as often as the helper is called.
#[test]
fn helpers_of_the_file_are_looked_into() {
    let code = "
def scores(q, k, TILE: ct.Constant[int]):
    return ct.mma(q, k, ct.zeros((TILE, TILE), dtype=ct.float32))

@ct.kernel
def attend(q, k, y, n, TILE: ct.Constant[int]):
    x = ct.load(q, (ct.bid(0), 0), (TILE, TILE))
    for i in range(n):
        s = scores(x, ct.load(k, (0, i), (TILE, TILE)), TILE)
        ct.store(y, (ct.bid(0), i), s)
";
    let (plan, written) = planned(code, &[]);
    let isolations = plan
        .items
        .iter()
        .filter(|i| matches!(i.how, How::Isolate(_)));
    let first = isolations.map(|i| &i.title).next().expect("isolations");
    assert!(
        first.starts_with("What `ct.mma(q, k, ct.zeros("),
        "{written}"
    );
    let extent = plan.items.iter().find(|i| i.title == "Another `TILE`");
    assert_eq!(extent.expect("an extent").places.len(), 3, "{written}");
}

/// What a rule finds is an item, unless an action puts it right.
#[test]
fn findings_that_no_action_puts_right() {
    let code = "@ct.kernel\ndef product(a, b, c, T: ct.Constant[int]):\n    x = ct.load(a, (0, 0), (T, T))\n    y = ct.load(b, (0, 0), (T, T))\n    acc = ct.zeros((T, T), dtype=ct.float32)\n    ct.store(c, (0, 0), ct.mma(x, y, acc))\n";
    let titles = titles(code);
    assert!(titles.iter().any(|t| t.starts_with("D:")), "{titles:?}");
    assert!(!titles.iter().any(|t| t.contains("TP404")), "{titles:?}");
    let code = "@ct.kernel\ndef head(x, y, n: int, T: ct.Constant[int]):\n    mask = ct.arange(T, dtype=ct.int32) < n\n    tile = ct.astype(ct.load(x, (0,), (T,)), ct.float32)\n    ct.store(y, (0,), tile * mask)\n";
    let (plan, written) = planned(code, &[]);
    let item = plan.items.iter().find(|i| i.title.ends_with("(TP217)"));
    let item = item.unwrap_or_else(|| panic!("{written}"));
    assert!(
        matches!(&item.how, How::Edit(how) if !how.is_empty()),
        "{item:?}"
    );
    assert_eq!(item.places.len(), 1, "{item:?}");
}

/// What a shell would take apart is quoted.
#[test]
fn commands_can_be_pasted() {
    let code = "@ct.kernel\ndef k(x, y, n):\n    for i in range(n):\n        ct.store(y, (i, 0), ct.load(x, (i, 0), (16, 16)))\n";
    let (_, written) = planned(code, &[]);
    assert!(
        written.contains("--variant 'stores latency=1'`"),
        "{written}"
    );
}

#[test]
fn a_tiny_kernel_has_a_short_plan() {
    let code = "@ct.kernel\ndef k(x, y):\n    ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (16,)))\n";
    let (plan, written) = planned(code, &[]);
    assert!(plan.items.len() < 7, "{written}");
    let isolations = |item: &&super::Item| matches!(item.how, How::Isolate(_));
    assert_eq!(plan.items.iter().filter(isolations).count(), 2, "{written}");
}
