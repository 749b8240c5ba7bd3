//! Where a persistent grid is offered, where not, and what else stays.

use super::OPTIMIZATION;
use crate::playbook::testing::{after, among, none, offered, variants};
use crate::rewrite;
use crate::rules::testing::{findings, whole};
use crate::target::Target;

/// A kernel with this body and a function that launches it.
fn code(body: &str, host: &str) -> String {
    format!(
        "def helper(t):\n    return t * 2\n\ndef asks(t):\n    return t * ct.bid(0)\n\ndef through(t):\n    return asks(t)\n\n@ct.kernel\ndef k(x, n, T: ct.Constant[int]):\n    {}\n\ndef run(x, n, s):\n    {}\n",
        body.replace('\n', "\n    "),
        host.replace('\n', "\n    ")
    )
}

const BODY: &str = "i = ct.bid(0)\nct.store(x, (i,), ct.load(x, (i,), (T,)) * 2)";
const HOST: &str = "ct.launch(s, (x.shape[0],), k, (x, n, 8))";

#[test]
fn bodies_that_can_walk() {
    for body in [
        BODY,
        "\"\"\"Says\n\n  what.\"\"\"\ni = ct.bid(axis=0)\nct.store(x, (i,), ct.load(x, (i,), (T,)))",
        "c = ct.arange(T, dtype=ct.int32)\ni = ct.bid(0)  # why\nct.scatter(x, i * T + c, 1.0)",
        "i = ct.bid(0)\nj = ct.bid(1)\nct.store(x, (i,), helper(ct.load(x, (i,), (T,))).astype(x.dtype))",
        "i = ct.bid(0)\nfor j in range(n):\n    if j > i:\n        break\n    ct.scatter(x, i, min(j, 2))",
        "i = ct.bid(0)\nt = ct.load(x, (i,), (T,))\nt = t * 2\nct.store(x, (i,), t)",
        "i = ct.bid(0)\nif T > 8:\n    c = 1\nelse:\n    c = 2\nct.scatter(x, i, c)",
    ] {
        let all = variants(&OPTIMIZATION, &code(body, HOST));
        assert_eq!(
            all,
            ["per-sm=1", "per-sm=2", "per-sm=4", "per-sm=8"],
            "{body}"
        );
    }
}

#[test]
fn bodies_that_cannot() {
    for body in [
        // It returns early.
        "i = ct.bid(0)\nif i >= n:\n    return\nct.scatter(x, i, 1)",
        // Blocks are asked for otherwise, or in functions, or nobody sees.
        "ct.scatter(x, ct.bid(0), 1)",
        "i = ct.bid(0)\nct.scatter(x, i + ct.bid(0), 1)",
        "i = ct.bid(0)\nct.scatter(x, i, ct.num_blocks(0))",
        "i = ct.bid(0)\nct.scatter(x, i, ct.bid(n))",
        "i = ct.bid(0)\nct.scatter(x, i, asks(1))",
        "i = ct.bid(0)\nct.scatter(x, i, through(1))",
        "i = ct.bid(0)\nct.scatter(x, i, unseen(1))",
        "i = ct.bid(0)\nct.scatter(x, i, torch.unseen(1))",
        "for j in range(ct.bid(0), n, ct.num_blocks(0)):\n    ct.scatter(x, j, 1)",
        "i = ct.bid(0) * 2\nct.scatter(x, i, 1)",
        "i, j = ct.bid(0), ct.bid(1)\nct.scatter(x, i, 1)",
        "if n > 1:\n    i = ct.bid(0)\n    ct.scatter(x, i, 1)",
        "i = ct.bid(1)\nct.scatter(x, i, 1)",
        // A value is carried on.
        "c = 0\ni = ct.bid(0)\nc = c + 1\nct.scatter(x, i, c)",
        "c = 0\ni = ct.bid(0)\nc += 1\nct.scatter(x, i, c)",
        "i = ct.bid(0)\nn = n - 1\nct.scatter(x, i, n)",
        "i = ct.bid(0)\ni = i * T\nct.scatter(x, i, 1)",
        // What stands before does something.
        "ct.atomic_add(x, 0, 1)\ni = ct.bid(0)\nct.scatter(x, i, 1)",
        "c = ct.atomic_add(x, 0, 1)\ni = ct.bid(0)\nct.scatter(x, i, c)",
        "c = helper(n)\ni = ct.bid(0)\nct.scatter(x, i, c)",
        // It may wait.
        "i = ct.bid(0)\nwhile ct.gather(x, i).item() == 0:\n    pass\nct.scatter(x, i, 1)",
        // What cannot be indented, or is not there.
        "i = ct.bid(0)\nct.static_assert(T > 1, \"\"\"too\n  small\"\"\")\nct.scatter(x, i, 1)",
        "i = ct.bid(0); ct.scatter(x, i, 1)",
        "i = ct.bid(0)",
        "i = ct.bid(0)\ndef f():\n    return i\nct.scatter(x, i, f())",
    ] {
        none(&OPTIMIZATION, &code(body, HOST));
    }
}

#[test]
fn launches_that_can_be_changed() {
    for host in [
        HOST,
        "ct.launch(s, (n, 1, 1), k, (x, n, 8))",
        "rows, _ = x.shape\nct.launch(s, (rows,), k, (x, n, 8))",
        "grid = (ct.cdiv(n, 8), 1, 1)\nct.launch(s, grid, k, (x, n, 8))",
        "if n > 8:\n    ct.launch(s, (n,), k, (x, n, 8))\nelse:\n    ct.launch(s, (x.numel(),), k, (x, n, 8))",
    ] {
        assert_eq!(
            variants(&OPTIMIZATION, &code(BODY, host)).len(),
            4,
            "{host}"
        );
    }
}

#[test]
fn launches_that_cannot() {
    for host in [
        "ct.launch(s, (n, 2), k, (x, n, 8))",
        "ct.launch(s, (n, x.shape[1]), k, (x, n, 8))",
        "ct.launch(s, (64,), k, (x, n, 8))",
        "ct.launch(s, (min(64, n),), k, (x, n, 8))",
        "num_programs = n // 8\nct.launch(s, (num_programs,), k, (x, n, 8))",
        "ct.launch(s, (4 * NUM_SMS,), k, (x, n, 8))",
        "ct.launch(s, grid(n), k, (x, n, 8))",
        "ct.launch(s, (*n,), k, (x, n, 8))",
        "args = (x, n, 8)\nct.launch(s, (n,), k, args)",
        "ct.launch(s, (n,), k, (x, *n))",
        "ct.launch(*n)",
        // The grid, or what it is made of, is something else elsewhere.
        "grid = (n,)\nprint(grid)\nct.launch(s, grid, k, (x, n, 8))",
        "n = n + 1\nct.launch(s, (n,), k, (x, n, 8))",
        "for i in range(4):\n    ct.launch(s, (n,), k, (x, n, 8))",
        // Somebody else may launch it.
        "ct.launch(s, (n,), k, (x, n, 8))\nlater(k)",
        "ct.launch(s, (n,), k, (x, n, 8))\nct.launch(s, (4, 4), k, (x, n, 8))",
        "ct.launch(s, (n,), k if n else other, (x, n, 8))",
        "ct.launch(s, (n,), k, (x, n, 8))\ntuned = k.replace_hints(occupancy=2)",
        "pass",
    ] {
        none(&OPTIMIZATION, &code(BODY, host));
    }
    none(
        &OPTIMIZATION,
        &format!("import cuda.tile as ct\n{}", code(BODY, HOST)),
    );
}

#[test]
fn a_kernel_that_has_the_number_keeps_its_parameters() {
    let host = "ct.launch(s, (n,), k, (x, n, 8))";
    after(
        &OPTIMIZATION,
        &code(BODY, host),
        "per-sm=2",
        &code(
            "for i in range(ct.bid(0), n, ct.num_blocks(0)):\n    ct.store(x, (i,), ct.load(x, (i,), (T,)) * 2)",
            "num_sms = torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count\nct.launch(s, (min(num_sms * 2, n),), k, (x, n, 8))",
        ),
    );
    // Not if another launch passes something else.
    let two = "if n > 8:\n    ct.launch(s, (n,), k, (x, n, 8))\nelse:\n    ct.launch(s, (n,), k, (x, 1, 8))";
    let text = whole(&code(BODY, two));
    let all = offered(&text, &Target::default());
    let action = all.iter().find(|a| a.optimization.id == "B").unwrap();
    let applied = rewrite::apply(&text, &action.edits).unwrap();
    assert!(applied.contains("k, (x, n, 8, n))"), "{applied}");
    assert!(applied.contains("k, (x, 1, 8, n))"), "{applied}");
    assert!(
        applied.contains("T: ct.Constant[int], n_items):"),
        "{applied}"
    );
    assert!(
        action
            .premises
            .iter()
            .any(|p| p.contains("one more argument"))
    );
}

#[test]
fn comments_blank_lines_and_line_ends_stay() {
    let before = "@ct.kernel\ndef k(\n    x,\n    T: ct.Constant[int],  # power of two (of elements)\n):\n\ti = ct.bid(0)  # item\n\n\t# twice\n\tt = ct.load(\n\t\tx, (i,), (T,)\n\t)\n#\tct.print(t)\n\tct.store(x, (i,), t)  # done\n\ndef run(x, s):\n    m = x.shape[0]\n    ct.launch(\n        s,\n        (m,),\n        k,\n        (\n            x,\n            8,  # a tile\n        ),\n    )\n";
    let after_it = "@ct.kernel\ndef k(\n    x,\n    T: ct.Constant[int],  # power of two (of elements)\n    m,\n):\n\tfor i in range(ct.bid(0), m, ct.num_blocks(0)):  # item\n\n\t\t# twice\n\t\tt = ct.load(\n\t\t\tx, (i,), (T,)\n\t\t)\n\t#\tct.print(t)\n\t\tct.store(x, (i,), t)  # done\n\ndef run(x, s):\n    m = x.shape[0]\n    num_sms = torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count\n    ct.launch(\n        s,\n        (min(num_sms, m),),\n        k,\n        (\n            x,\n            8,  # a tile\n            m,\n        ),\n    )\n";
    after(&OPTIMIZATION, before, "per-sm=1", after_it);
    let ends = |text: &str| whole(text).replace('\n', "\r\n");
    after(&OPTIMIZATION, &ends(before), "per-sm=1", &ends(after_it));
}

#[test]
fn the_occupancy_hint_says_how_many_blocks() {
    let hinted = |hint: &str| {
        let kernel = format!("@ct.kernel(occupancy={hint})");
        variants(
            &OPTIMIZATION,
            &code(BODY, HOST).replace("@ct.kernel", &kernel),
        )
    };
    assert_eq!(hinted("3"), ["per-sm=3"]);
    for unknown in ["ct.ByTarget(sm_90=2)", "OCCUPANCY", "0"] {
        assert_eq!(hinted(unknown).len(), 4, "{unknown}");
    }
}

#[test]
fn no_rule_finds_anything_new() {
    let slugs = |text: &str| {
        let mut all: Vec<&str> = findings(text).iter().map(|f| f.rule.slug).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    for host in [HOST, "ct.launch(s, (n,), k, (x, n, 8))"] {
        let text = whole(&code(BODY, host));
        let before = slugs(&text);
        for action in offered(&text, &Target::default()) {
            let applied = rewrite::apply(&text, &action.edits).unwrap();
            let new: Vec<&str> = (slugs(&applied).into_iter())
                .filter(|slug| !before.contains(slug))
                .collect();
            assert!(new.is_empty(), "{}: {new:?} in\n{applied}", action.name());
        }
    }
}

#[test]
fn what_other_files_name_gets_no_argument() {
    let launched = "import cuda.tile as ct\nimport torch\n".to_owned() + &code(BODY, HOST);
    let start = launched.find("@ct.kernel").unwrap();
    let only = launched[..start].matches("def ").count();
    assert_eq!(only, 3, "the kernel is the first");
    let unknown = among(&OPTIMIZATION, &launched, None);
    assert_eq!(unknown.len(), 4);
    assert_eq!(unknown[0].premises.len(), 1);
    let alone = among(&OPTIMIZATION, &launched, Some(&["run", "helper"]));
    assert_eq!(alone.len(), 4);
    assert_eq!(alone[0].premises, [""; 0]);
    assert_eq!(among(&OPTIMIZATION, &launched, Some(&["k"])).len(), 0);
    // One that gets no further argument may be launched by anybody.
    let given = launched.replace("(x.shape[0],), k", "(n,), k");
    assert_eq!(among(&OPTIMIZATION, &given, Some(&["k"])).len(), 4);
}
