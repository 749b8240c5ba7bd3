//! A search that writes over its input: what is found, what is not, what the fixes make of it.

use super::RULE;
use crate::rules::Severity;
use crate::rules::testing::{bad, bad_beside, fixes, good, good_beside};

const HEAD: &str = "from cuda.tile.tune import exhaustive_search\nimport cuda.tile as ct\nimport torch\n\n\
    @ct.kernel\ndef double(x, N: ct.Constant[int]):\n    t = ct.load(x, (ct.bid(0),), (N,))\n    \
    ct.store(x, (ct.bid(0),), t * 2)\n\n\
    @ct.kernel\ndef move(x, y, N: ct.Constant[int]):\n    t = ct.gather(x, (ct.arange(N, dtype=ct.int32),))\n    \
    ct.scatter(y, (ct.arange(N, dtype=ct.int32),), t)\n\n\
    @ct.kernel\ndef nested(x, N: ct.Constant[int]):\n    ct.store(x, (ct.bid(0),), ct.load(x, (ct.bid(0),), (N,)) * 2)\n\n\
    @ct.kernel\ndef methods(x, N: ct.Constant[int]):\n    v = x.tiled_view((N,))\n    v.store((ct.bid(0),), v.load((ct.bid(0),)) * 2)\n\n\
    @ct.kernel\ndef own(x, N: ct.Constant[int]):\n    ct.store(x, (ct.bid(0),), ct.full((N,), 1, ct.float32))\n    t = ct.load(x, (ct.bid(0),), (N,))\n    ct.store(x, (ct.bid(0),), t)\n\n\
    @ct.kernel\ndef through(x, y, N: ct.Constant[int]):\n    ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (N,)))\n    \
    ct.store(y, (ct.bid(0),), ct.load(y, (ct.bid(0),), (N,)) * 2)\n\n";

fn tuned(lines: &str, kernel: &str, args: &str, mark: &str) -> String {
    format!(
        "{HEAD}def tune(q, p, s, g, c):\n{lines}    r = exhaustive_search(c, s, g, {kernel}, {args}){mark}\n    return r\n"
    )
}

#[test]
fn one_parameter_or_two() {
    fixes(
        &RULE,
        &tuned("", "double", "lambda cfg: (q, cfg.n)", "  # TP103"),
        &tuned(
            "    q_scratch = q.clone()\n",
            "double",
            "lambda cfg: (q_scratch, cfg.n)",
            "",
        ),
    );
    fixes(
        &RULE,
        &tuned("", "move", "lambda cfg: (q, q, 8)", "  # TP103"),
        &tuned(
            "    q_scratch = torch.empty_like(q)\n",
            "move",
            "lambda cfg: (q, q_scratch, 8)",
            "",
        ),
    );
    fixes(
        &RULE,
        &tuned(
            "",
            "move",
            "args_fn=lambda cfg: (q.view(-1), q.view(-1), 8)",
            "  # TP103",
        ),
        &tuned(
            "    q_scratch = torch.empty_like(q)\n",
            "move",
            "args_fn=lambda cfg: (q.view(-1), q_scratch.view(-1), 8)",
            "",
        ),
    );
}

#[test]
fn through_names_and_functions() {
    bad(
        &RULE,
        &tuned(
            "    flat = q.reshape(-1)\n",
            "move",
            "lambda cfg: (flat, q, 8)",
            "  # TP103",
        ),
    );
    bad(
        &RULE,
        &tuned(
            "    q = q.contiguous()\n",
            "double",
            "lambda cfg: (q, 8)",
            "  # TP103",
        ),
    );
    bad(
        &RULE,
        &tuned(
            "    def args(cfg):\n        return (q, q, 8)\n",
            "move",
            "args",
            "  # TP103",
        ),
    );
    bad(
        &RULE,
        &tuned(
            "    args = (q, q, 8)\n",
            "move",
            "lambda cfg: args",
            "  # TP103",
        ),
    );
}

#[test]
fn however_the_kernel_reads_and_writes() {
    for kernel in ["nested", "methods"] {
        bad(&RULE, &tuned("", kernel, "lambda cfg: (q, 8)", "  # TP103"));
    }
}

#[test]
fn every_view_is_the_same_memory() {
    for view in super::VIEWS {
        bad(
            &RULE,
            &tuned(
                "",
                "move",
                &format!("lambda cfg: (q, q.{view}(), 8)"),
                "  # TP103",
            ),
        );
    }
    good(
        &RULE,
        &tuned("", "move", "lambda cfg: (q, q.float(), 8)", ""),
    );
    // One of the branches makes a buffer.
    let either = "    if p:\n        out = q\n    else:\n        out = torch.empty_like(q)\n";
    good(&RULE, &tuned(either, "move", "lambda cfg: (q, out, 8)", ""));
}

#[test]
fn the_old_search_launches_itself() {
    let old = |args: &str| {
        tuned("", "double", args, "  # TP103")
            .replace(
                "from cuda.tile.tune import exhaustive_search",
                "from cuda.tile_experimental import autotune_launch",
            )
            .replace(
                "exhaustive_search(c, s, g, double,",
                "autotune_launch(s, g, double,",
            )
            .replace(")  # TP103", ", search_space=c)  # TP103")
    };
    let (_, found) = bad(&RULE, &old("lambda cfg: (q, 8)"));
    assert!(found[0].fixes.is_empty());
    let (_, found) = bad(&RULE, &old("lambda cfg: (q, 8), lambda cfg: (q, 8)"));
    assert_eq!(found[0].fixes.len(), 1);
}

#[test]
fn a_copy_in_every_trial_is_a_hint() {
    for (kernel, args) in [
        ("double", "lambda cfg: (q.clone(), 8)"),
        ("double", "lambda cfg: (q.clone().view(-1), 8)"),
        ("double", "lambda cfg: (q.view(-1).clone(), 8)"),
        ("move", "lambda cfg: (q, q.clone(), 8)"),
    ] {
        let (text, found) = bad(&RULE, &tuned("", kernel, args, "  # TP103"));
        assert_eq!(found[0].severity, Severity::Hint, "{args}");
        assert!(
            text[found[0].span.range()].ends_with(".clone()"),
            "{found:?}"
        );
        assert!(
            found[0].message.contains("`q`") && found[0].fixes.is_empty(),
            "{found:?}"
        );
    }
}

#[test]
fn kernels_of_other_files() {
    let kernels = "@ct.kernel\ndef move(x, y, N: ct.Constant[int]):\n    ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (N,)))\n\n\
        @ct.kernel\ndef double(x, N: ct.Constant[int]):\n    ct.store(x, (ct.bid(0),), ct.load(x, (ct.bid(0),), (N,)) * 2)\n";
    let others = [("ops", kernels)];
    let tune = |kernel: &str, args: &str, mark: &str| {
        format!(
            "import torch\nimport ops\nfrom ops import move as shift, double\nfrom cuda.tile.tune import exhaustive_search\n\n\
             def tune(q, s, g, c):\n    r = exhaustive_search(c, s, g, {kernel}, {args}){mark}\n    return r\n"
        )
    };
    for (kernel, args) in [
        ("shift", "lambda cfg: (q, q, cfg.n)"),
        ("ops.move", "lambda cfg: (q, q.view(-1), cfg.n)"),
        ("double", "lambda cfg: (q, 8)"),
    ] {
        bad_beside(&RULE, &others, &tune(kernel, args, "  # TP103"));
    }
    good_beside(
        &RULE,
        &others,
        &tune("shift", "lambda cfg: (q, torch.empty_like(q), cfg.n)", ""),
    );
    good_beside(&RULE, &[], &tune("shift", "lambda cfg: (q, q, cfg.n)", ""));
}

#[test]
fn scratch_clones_and_own_buffers() {
    for (lines, kernel, args) in [
        ("", "move", "lambda cfg: (q, p, 8)"),
        ("", "double", "lambda cfg: (p.empty(), 8)"),
        ("    p = q.clone()\n", "double", "lambda cfg: (p, 8)"),
        (
            "    p = q.clone()\n",
            "double",
            "lambda cfg: (p.clone(), 8)",
        ),
        // Only read.
        ("", "move", "lambda cfg: (q.clone(), p, 8)"),
        (
            "    out = torch.empty_like(q)\n",
            "move",
            "lambda cfg: (q, out, 8)",
        ),
        ("    q = q.clone()\n", "double", "lambda cfg: (q, 8)"),
        (
            "    dummy = torch.zeros(8)\n",
            "double",
            "lambda cfg: (dummy, 8)",
        ),
        (
            "    dummy = q.new_empty(8)\n",
            "double",
            "lambda cfg: (dummy, 8)",
        ),
        // It stores what it then loads.
        ("", "own", "lambda cfg: (q, 8)"),
        ("", "through", "lambda cfg: (q, p, 8)"),
        ("", "another", "lambda cfg: (q, q, 8)"),
        ("", "move", "lambda cfg: (q, q, 8, *p)"),
        ("", "move", "lambda cfg: make(q)"),
    ] {
        good(&RULE, &tuned(lines, kernel, args, ""));
    }
}
