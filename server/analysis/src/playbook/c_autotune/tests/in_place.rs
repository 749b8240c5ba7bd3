//! What trials run on.

use super::*;

/// A kernel with this body, launched with these arrays.
fn kernel(body: &str, args: &str, before: &str) -> String {
    let body = body.replace('\n', "\n    ");
    let before = before.replace('\n', "\n    ");
    format!(
        "import cuda.tile as ct\nimport torch\n\n\n@ct.kernel\ndef k(x, y, z):\n    i = ct.bid(0)\n    {body}\n\n\ndef run(a, b, n, s):\n    {before}\n    ct.launch(s, (8,), k, ({args}))\n"
    )
}

#[test]
fn what_trials_run_on() {
    let through = "ct.store(y, (i,), ct.load(x, (i,), (64,)) + ct.load(z, (i,), (64,)))";
    let adds = "ct.atomic_add(y, i, ct.load(x, (i,), (64,)) + ct.load(z, (i,), (64,)))";
    let same =
        "ct.store(x, (i,), ct.load(x, (i,), (64,)))\nct.store(y, (i,), ct.load(z, (i,), (64,)))";
    for (body, args, before, made, trial) in [
        (
            through,
            "a, c, b",
            "c = torch.empty_like(a)",
            "",
            "(a, c, b)",
        ),
        (
            through,
            "a, a, b",
            "pass",
            "a_scratch = torch.empty_like(a)",
            "(a, a_scratch, b)",
        ),
        (
            through,
            "a, c, b",
            "c = a.view(-1)",
            "c_scratch = torch.empty_like(c)",
            "(a, c_scratch, b)",
        ),
        (
            through,
            "a, c, b",
            "c = a if n else b",
            "c_scratch = torch.empty_like(c)",
            "(a, c_scratch, b)",
        ),
        (
            through,
            "a, c, b",
            "c = torch.empty_like(a)\nif n:\n    c = a",
            "c_scratch = torch.empty_like(c)",
            "(a, c_scratch, b)",
        ),
        (
            adds,
            "a, c, b",
            "c = torch.zeros_like(a)",
            "c_scratch = c.clone()",
            "(a, c_scratch, b)",
        ),
        (
            same,
            "a, b, n",
            "pass",
            "a_scratch = a.clone()\n            b_scratch = torch.empty_like(b)",
            "(a_scratch, b_scratch, n)",
        ),
    ] {
        let code = kernel(body, args, before);
        let (_, applied) = tuned(&code);
        let trial = format!("args_fn=lambda _: {trial},");
        assert!(
            applied.contains(made) && applied.contains(&trial),
            "no {made:?}, {trial:?} in\n{applied}"
        );
        assert_eq!(applied.contains("_scratch"), !made.is_empty(), "{applied}");
        assert!(
            applied.contains(&format!("tuned_kernel, ({args}))")),
            "{applied}"
        );
        assert_eq!(codes(&applied), codes(&code), "{applied}");
    }
    let cupy = kernel(same, "a, b, n", "pass").replace("import torch", "import cupy");
    assert_eq!(searches(&cupy), []);
    // Only callers know whether the two are one array.
    let premises = |args: &str| {
        tuned(&kernel(through, args, "c = torch.empty_like(a)"))
            .0
            .premises
            .len()
    };
    assert_eq!(premises("a, b, b"), 1);
    assert_eq!(premises("a, c, b"), 0);
}

#[test]
fn what_would_drift_or_wait() {
    for body in [
        // Where it writes follows from what it writes over.
        "n = ct.load(x, (i,), (1,)).item()\nct.store(x, (n,), ct.load(y, (i,), (64,)) + ct.load(z, (i,), (64,)))",
        "n = ct.atomic_add(x, 0, 1)\nct.scatter(y, n, ct.gather(z, i))",
        "n = ct.gather(x, i)\nct.scatter(x, i, n + 1)\nfor j in range(n):\n    ct.store(y, (j,), ct.load(z, (j,), (64,)))",
        // Blocks wait for one another.
        "while ct.atomic_cas(x, 0, 0, 1) == 1:\n    pass\nct.store(y, (i,), ct.load(z, (i,), (64,)))",
        // Nobody sees what becomes of the array.
        "helper(x, y)\nct.store(y, (i,), ct.load(z, (i,), (64,)))",
    ] {
        let code = kernel(body, "a, b, n", "pass");
        let code = code.replace(
            "import torch\n",
            "import torch\nfrom elsewhere import helper\n",
        );
        assert_eq!(searches(&code), [], "{code}");
    }
    // A helper of the file is seen.
    let code = kernel(
        "helper(x)\nct.store(y, (i,), ct.load(z, (i,), (64,)))",
        "a, b, n",
        "pass",
    )
    .replace(
        "@ct.kernel",
        "def helper(p):\n    ct.store(p, (0,), ct.load(p, (0,), (64,)))\n\n\n@ct.kernel",
    );
    assert!(tuned(&code).1.contains("a_scratch = a.clone()"));
}
