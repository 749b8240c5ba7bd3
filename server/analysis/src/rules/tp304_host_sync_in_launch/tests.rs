//! Waiting before a launch: what is found, what is not, here and in functions called on the way.

use super::RULE;
use crate::rules::testing::{bad, bad_beside, good, good_beside};

fn code(before: &str) -> String {
    format!(
        "import numpy as np\nimport torch\nimport cuda.tile as ct\ndef run(x, lens, cache, key):\n    out = torch.empty_like(x)\n{before}\n    ct.launch(s, (1,), k, (x, out, n))\n    return out.cpu()\n"
    )
}

#[test]
fn waits_before_the_launch() {
    for before in [
        "    n = lens.max().item()  # TP304",
        "    n = max(lens.tolist())  # TP304",
        "    m = lens.max()\n    n = m.item()  # TP304",
        "    n = lens.cpu()  # TP304",
        "    if x.any():\n        n = lens[0].item()  # TP304",
        "    n = lens.sum().item() if key else 1  # TP304",
        "    if n is None:\n        n = lens.max().item()  # TP304",
        "    if lens.sum().item() == 0:  # TP304\n        return out",
        "    if key:\n        n = lens.max().item()  # TP304\n        ct.launch(s, (1,), k, (x, out, n))\n        return out",
        "    assert lens.max().item() < 9, 'too long'  # TP304",
        // Not a launch yet.
        "    m = ct.cdiv(len(key), 8)\n    n = lens.max().item()  # TP304",
    ] {
        bad(&RULE, &code(before));
    }
    bad(
        &RULE,
        "import cuda.tile as ct\nimport torch\nfrom ops import k\ndef run(x, s):\n    y = torch.empty_like(x)\n    n = x.max().item()  # TP304\n    ct.launch(s, (1,), k, (x, y, n))\n",
    );
    bad(
        &RULE,
        "from cuda.tile import launch\nimport torch\nclass F:\n    @staticmethod\n    def forward(ctx, x):\n        y = x.new_zeros(4)\n        n = x.max().item()  # TP304\n        launch(s, (1,), k, (x, y, n))\n",
    );
}

#[test]
fn what_waits_elsewhere_or_not_at_all() {
    for before in [
        "    n = lens.max()",
        "    if key not in cache:\n        cache[key] = lens.max().item()",
        "    if cached is None:\n        n = lens.max().item()",
        "    if x.ndim == 1:\n        return lens.max().item()",
        "    if x.ndim == 1:\n        raise ValueError(lens.max().item())",
        "    assert x.ndim == 2, lens.tolist()",
        "    n = np.prod(x.shape).item()",
        "    n = torch.arange(4, device='cpu').tolist()",
        "    h = torch.zeros(4, device='cpu')\n    n = h.max().item()",
        "    n = cache.item(key)",
        "    n = self.table.levels.tolist()",
        "    f = lambda: lens.item()",
        "    for name, value in cache.items():\n        n = value",
    ] {
        good(&RULE, &code(before));
    }
    good(
        &RULE,
        "import torch\nimport cuda.tile as ct\ndef test_it(x):\n    out = torch.empty_like(x)\n    n = x.max().item()\n    ct.launch(s, (1,), k, (x, out, n))\n\ndef twice(x):\n    out = torch.empty_like(x)\n    ct.launch(s, (1,), k, (x, out))\n    n = out.max().item()\n    ct.launch(s, (1,), k, (x, out, n))\n",
    );
    // Before anything is allocated, after the launch, without one, in a kernel.
    good(
        &RULE,
        "import torch\nimport cuda.tile as ct\ndef run(x):\n    n = x.max().item()\n    out = torch.empty(n)\n    ct.launch(s, (1,), k, (x, out))\n",
    );
    good(
        &RULE,
        "import torch\nimport cuda.tile as ct\ndef run(x):\n    out = torch.empty(4)\n    return out.max().item()\n\n@ct.kernel\ndef k(x):\n    n = ct.load(x, (0,), (1,)).item()\n",
    );
}

#[test]
fn every_way_to_allocate() {
    for made in [
        "torch.empty(4)",
        "torch.zeros(4)",
        "torch.ones(4)",
        "torch.full((4,), 1)",
        "torch.empty_strided((4,), (1,))",
        "torch.zeros_like(x)",
        "x.new_full((4,), 1)",
    ] {
        let code = code("    n = lens.max().item()  # TP304").replace("torch.empty_like(x)", made);
        bad(&RULE, &code);
    }
    for made in ["torch.sum(x)", "x.clone()", "np.zeros(4)"] {
        good(
            &RULE,
            &code("    n = lens.max().item()").replace("torch.empty_like(x)", made),
        );
    }
    // What a lambda does, it does when it is called; beside it one waits all the same.
    good(&RULE, &code("    f = lambda: lens.max().item()"));
    bad(
        &RULE,
        &code("    f = lambda: 1\n    n = lens.max().item()  # TP304"),
    );
}

#[test]
fn waiting_for_everything() {
    bad(&RULE, &code("    torch.cuda.synchronize()  # TP304"));
    let (_, found) = bad(
        &RULE,
        &code("    torch.cuda.synchronize(x.device)  # TP304"),
    );
    let message = &found[0].message;
    assert!(message.starts_with("`torch.cuda.synchronize()` waits"));
    assert!(message.ends_with("one stream runs in order without it"));
    let (_, found) = bad(&RULE, &code("    n = lens.max().item()  # TP304"));
    let message = &found[0].message;
    assert!(message.starts_with("`.item()` waits"));
    assert!(message.ends_with("keep the value on the device"));
    good(&RULE, &code("    torch.cuda.synchronize"));
    good(&RULE, &code("    other.synchronize()"));
}

#[test]
fn within_the_launch() {
    let launch = |grid: &str, mark: &str| {
        code("").replace(
            "ct.launch(s, (1,), k, (x, out, n))",
            &format!("ct.launch(s, {grid}, k, (x, out, n)){mark}"),
        )
    };
    bad(&RULE, &launch("(lens.max().item(),)", "  # TP304"));
    good(&RULE, &launch("lambda c: (lens.max().item(),)", ""));
}

#[test]
fn values_on_the_host() {
    for before in [
        "    n = torch.max(torch.zeros(4, device='cpu')).item()",
        "    n = torch.tensor([1, 2]).sum().item()",
    ] {
        good(&RULE, &code(before));
    }
    for before in [
        "    n = torch.max(lens).item()  # TP304",
        "    n = torch.tensor([1, 2], device='cuda').sum().item()  # TP304",
    ] {
        bad(&RULE, &code(before));
    }
}

/// A launch after a call of `helper`, whose body is given.
fn calling(params: &str, body: &str, call: &str) -> String {
    format!("def helper({params}):\n{body}\n\n{}", code(call))
}

#[test]
fn functions_called_on_the_way() {
    for (params, body, call) in [
        ("x", "    return x.max().item()", "n = helper(lens)"),
        (
            "x",
            "    y = x.max()\n    return int(y.item())",
            "n = helper(lens)",
        ),
        ("a, x", "    return x.tolist()", "n = helper(1, x=lens)"),
        (
            "x",
            "    for row in x:\n        print(row.item())",
            "helper(lens)",
        ),
        (
            "x",
            "    with torch.no_grad():\n        return x.cpu()",
            "n = helper(lens) + 1",
        ),
        (
            "x",
            "    if x.max().item() > 8:\n        raise ValueError",
            "helper(lens)",
        ),
        ("x: torch.Tensor", "    return x.item()", "n = helper(lens)"),
        (
            "x",
            "    f = lambda: 1\n    return x.item() + f()",
            "n = helper(lens)",
        ),
        (
            "x",
            "    return ct.cdiv(x.max().item(), 8)",
            "n = helper(lens)",
        ),
        ("", "    torch.cuda.synchronize()", "helper()"),
        ("", "    return TABLE.max().item()", "n = helper()"),
        (
            "x",
            "    try:\n        return x.item()\n    except ValueError:\n        return 0",
            "n = helper(lens)",
        ),
        (
            "x",
            "    assert x.max().item() < 9\n    return x",
            "n = helper(lens)",
        ),
        (
            "x",
            "    return deeper(1, x)\n\ndef deeper(n, y):\n    return n + y.sum().item()",
            "n = helper(lens)",
        ),
    ] {
        let (_, found) = bad(
            &RULE,
            &calling(params, body, &format!("    {call}  # TP304")),
        );
        assert!(
            found[0].message.starts_with("`helper` calls `"),
            "{found:?}"
        );
        assert_eq!(found[0].related.len(), 1);
    }
}

#[test]
fn functions_that_wait_for_nothing_or_in_some_case_only() {
    for (params, body, call) in [
        // Not on the device, as the caller or the function says.
        ("x", "    return x.max().item()", "n = helper(np.ones(4))"),
        (
            "x",
            "    return x.max().item()",
            "n = helper(torch.ones(4, device='cpu'))",
        ),
        ("x", "    return x.max().item()", "n = helper(self.table)"),
        (
            "x: np.ndarray",
            "    return x.max().item()",
            "n = helper(lens)",
        ),
        ("x", "    return np.max(x).item()", "n = helper(lens)"),
        (
            "x",
            "    return deeper(x)\n\ndef deeper(y):\n    return y.sum().item()",
            "n = helper([1, 2])",
        ),
        // In some case only.
        (
            "x",
            "    if isinstance(x, torch.Tensor):\n        return x.item()\n    return x",
            "n = helper(lens)",
        ),
        (
            "x",
            "    if not isinstance(x, torch.Tensor):\n        return x\n    return x.item()",
            "n = helper(lens)",
        ),
        (
            "x",
            "    return x.item() if torch.is_tensor(x) else x",
            "n = helper(lens)",
        ),
        (
            "x",
            "    return x if torch.is_tensor(x) else x.item()",
            "n = helper(lens)",
        ),
        ("x", "    return key or x.item()", "n = helper(lens)"),
        ("x", "    return lambda: x.item()", "n = helper(lens)"),
        (
            "x",
            "    if key:\n        pass\n    elif x.item():\n        pass",
            "helper(lens)",
        ),
        (
            "x",
            "    try:\n        return 1\n    except ValueError:\n        return x.item()",
            "n = helper(lens)",
        ),
        (
            "x",
            "    try:\n        y = 1\n    except ValueError:\n        y = x.item()",
            "helper(lens)",
        ),
        (
            "x",
            "    y = x.cpu() if key else x\n    return len(y)",
            "n = helper(lens)",
        ),
        ("x", "    assert x.ndim == 1, x.tolist()", "helper(lens)"),
        ("x", "    raise ValueError(x.item())", "helper(lens)"),
        ("x", "    yield x.item()", "n = helper(lens)"),
        ("x", "    yield from x.tolist()", "n = helper(lens)"),
        // What is read is not given, or not written out.
        ("x=None", "    return x.item()", "n = helper()"),
        ("x", "    return x.item()", "n = helper(*lens)"),
        // Its own launch is its own matter.
        (
            "x",
            "    ct.launch(s, (1,), k, (x,))\n    return x.max().item()",
            "n = helper(lens)",
        ),
        // Not that function, not called, or called when a value is not there yet.
        (
            "x",
            "    return x.item()",
            "helper = key\n    n = helper(lens)",
        ),
        ("x", "    return x.item()", "n = other.helper(lens)"),
        ("x", "    return x.item()", "n = map(helper, lens)"),
        (
            "x",
            "    return x.item()",
            "if key not in cache:\n        cache[key] = helper(lens)",
        ),
        ("x", "    return x.item()", "f = lambda: helper(lens)"),
    ] {
        good(&RULE, &calling(params, body, &format!("    {call}")));
    }
    let plain = calling("x", "    return x.item()", "    n = helper(lens)");
    good(&RULE, &plain.replace("def helper", "@cached\ndef helper"));
    good(&RULE, &plain.replace("def helper", "async def helper"));
    good(
        &RULE,
        &plain.replace("def run(x, lens", "def run(x, helper, lens"),
    );
    good(&RULE, &plain.replace("def run", "def test_run"));
    good(&RULE, &plain.replace("def run", "def _test_run"));
    good(&RULE, &plain.replace("torch.empty_like(x)", "x"));
    good(&RULE, &format!("{plain}\n\ndef helper(x):\n    return 1\n"));
}

#[test]
fn functions_of_other_files() {
    let lengths = "import torch\nfrom deep import most\n\ndef longest(lens):\n    return most(lens)\n\ndef number(lens):\n    return len(lens)\n";
    let deep = "def most(x):\n    return x.max().item()\n";
    let others = [("lengths", lengths), ("deep", deep)];
    let run = |import: &str, call: &str| format!("{import}\n{}", code(&format!("    n = {call}")));
    for (import, call) in [
        ("from lengths import longest", "longest(lens)  # TP304"),
        ("import lengths", "lengths.longest(lens)  # TP304"),
        ("from deep import most as peak", "peak(lens)  # TP304"),
    ] {
        let (_, found) = bad_beside(&RULE, &others, &run(import, call));
        assert!(found[0].related.is_empty(), "{found:?}");
    }
    for (import, call) in [
        ("from lengths import number", "number(lens)"),
        ("from lengths import longest", "longest(np.ones(4))"),
        ("from lengths import missing", "missing(lens)"),
        ("from elsewhere import longest", "longest(lens)"),
    ] {
        good_beside(&RULE, &others, &run(import, call));
    }
}

#[test]
fn each_wait_is_told_once() {
    let code = calling(
        "x",
        "    return x.max().item()",
        "    n = helper(lens)  # TP304\n    ct.launch(s, (1,), k, (x, out, n))",
    );
    assert_eq!(bad(&RULE, &code).1.len(), 1);
}

#[test]
fn functions_that_call_themselves() {
    good(
        &RULE,
        &calling("x", "    return helper(x)", "    n = helper(lens)"),
    );
}
