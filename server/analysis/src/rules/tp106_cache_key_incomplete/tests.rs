//! Keys of tuning caches: what they lack, when they are complete, what the fixes make of them.

use super::RULE;
use crate::rules::testing::{bad, fixes, good};

const HEAD: &str = "from cuda.tile.tune import exhaustive_search\n\n_tuned = {}\n\n";

/// A launcher whose key is made by these lines.
fn keyed(params: &str, lines: &str) -> String {
    let lines = lines.replace('\n', "\n    ");
    format!(
        "{HEAD}def run({params}, s, g, k, c):\n    {lines}\n    if key not in _tuned:\n        \
             _tuned[key] = exhaustive_search(c, s, g, k, lambda cfg: (x, y))\n    return _tuned[key], x.numel()\n"
    )
}

#[test]
fn each_part_is_missed_by_itself() {
    for (key, fixed) in [
        ("(M, N, x.dtype)", "(M, N, x.dtype, str(x.device))"),
        ("(M, N, str(x.device))", "(M, N, str(x.device), x.dtype)"),
        (
            "(x.dtype, str(x.device))",
            "(x.dtype, str(x.device), tuple(x.shape))",
        ),
        (
            "('run', x.dtype, str(x.device),)",
            "('run', x.dtype, str(x.device), tuple(x.shape),)",
        ),
        ("(M,)", "(M, x.dtype, str(x.device),)"),
    ] {
        let code = keyed("x, y, M, N", &format!("key = {key}"));
        let marked = code.replace(key, &format!("{key}  # TP106"));
        fixes(&RULE, &marked, &code.replace(key, fixed));
    }
}

#[test]
fn a_tuple_over_several_lines_keeps_its_layout() {
    let code = keyed("x, y, M", "key = (\n    M,\n    x.dtype,\n)");
    let marked = code.replace("key = (\n", "key = (  # TP106\n");
    let fixed = code.replace("x.dtype,\n", "x.dtype,\n        str(x.device),\n");
    fixes(&RULE, &marked, &fixed);
}

#[test]
fn what_the_kernel_uses_as_an_array_is_a_tensor() {
    let code = |key: &str, mark: &str| {
        format!(
            "import cuda.tile as ct\n{HEAD}@ct.kernel\ndef copy(x, y):\n    ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (64,)))\n\n\
                 def run(n, a, b, s, g, c):\n    key = {key}{mark}\n    if key not in _tuned:\n        \
                 _tuned[key] = exhaustive_search(c, s, g, copy, lambda cfg: (a, b))\n    return _tuned[key]\n"
        )
    };
    fixes(
        &RULE,
        &code("(n,)", "  # TP106"),
        &code("(n, a.dtype, str(a.device),)", ""),
    );
}

#[test]
fn parameters_called_dtype_and_device_are_used() {
    let code = keyed("x, y, M, dtype, device", "key = (M, N)");
    let marked = code.replace("(M, N)", "(M, N)  # TP106");
    fixes(
        &RULE,
        &marked,
        &code.replace("(M, N)", "(M, N, dtype, str(device))"),
    );
}

#[test]
fn a_flag_of_the_space() {
    let code = "from cuda.tile.tune import exhaustive_search\n\n_tuned = {}\n\n\
            def run(x, causal, s, g, k, a):\n    key = (x.shape, x.dtype, str(x.device))MARK\n    \
            if key not in _tuned:\n        configs = list(space(causal))\n        \
            _tuned[key] = exhaustive_search(configs, s, g, k, a)\n    return _tuned[key]\n";
    let fixed = code.replace("str(x.device))MARK", "str(x.device), causal)");
    fixes(&RULE, &code.replace("MARK", "  # TP106"), &fixed);
    // Derived from it.
    good(
        &RULE,
        &code
            .replace("MARK", "")
            .replace("str(x.device))", "str(x.device), int(causal))"),
    );
}

#[test]
fn a_dimension_of_the_grid() {
    let code = |key: &str, mark: &str| {
        format!(
            "{HEAD}def tuned(x, rows, cols, s, k, c, a):\n    key = {key}{mark}\n    if key not in _tuned:\n        \
                 _tuned[key] = exhaustive_search(c, s, lambda cfg: (rows, cols // cfg), k, a)\n    return _tuned[key]\n\n\
                 def run(x, s, k, c, a):\n    rows, cols = x.shape\n    return tuned(x, rows, cols, s, k, c, a)\n"
        )
    };
    let complete = "(rows, cols, x.dtype, str(x.device))";
    good(&RULE, &code(complete, ""));
    fixes(
        &RULE,
        &code("(cols, x.dtype, str(x.device))", "  # TP106"),
        &code("(cols, x.dtype, str(x.device), rows)", ""),
    );
    for taken in [
        "cols = x.shape[1]",
        "cols = x.size(1)",
        "rows, cols = x.size()",
        "_, cols = x.shape[-2:]",
        "n, cols = 1, x.shape[1]",
    ] {
        bad(
            &RULE,
            &format!(
                "{HEAD}def run(x, s, k, c, a):\n    {taken}\n    key = (x.numel(), x.dtype, str(x.device))  # TP106\n    if key not in _tuned:\n        \
                 def grid(cfg):\n            return (cols,)\n        _tuned[key] = exhaustive_search(c, s, grid, k, a)\n"
            ),
        );
    }
    // What callers calculate may follow from the key; what is derived from it does.
    good(
        &RULE,
        &code("(cols, x.dtype, str(x.device))", "").replace(
            "rows, cols = x.shape",
            "cols = x.shape[1]\n    rows = cols * 2",
        ),
    );
    good(&RULE, &code("(x.shape, x.dtype, str(x.device))", ""));
    bad(
        &RULE,
        &code("(x.shape[0], x.dtype, str(x.device))", "  # TP106"),
    );
    good(
        &RULE,
        &code("(half, cols, x.dtype, str(x.device))", "")
            .replace("    key =", "    half = rows // 2\n    key ="),
    );
}

#[test]
fn every_form_of_cache() {
    for (ask, keep) in [
        ("if key not in _tuned:", "_tuned[key] = "),
        (
            "best = _tuned.get(key)\n    if best is None:",
            "best = _tuned[key] = ",
        ),
        ("if key not in self.tuned:", "self.tuned[key] = "),
        ("if not key in _tuned:", "_tuned[key] = "),
    ] {
        bad(
            &RULE,
            &format!(
                "{HEAD}def run(self, x, M, s, g, k, c, a):\n    key = (M, x.dtype)  # TP106\n    {ask}\n        \
                 {keep}exhaustive_search(c, s, g, k, a)\n    return x.shape\n"
            ),
        );
    }
    // Written in place.
    bad(
        &RULE,
        &format!(
            "{HEAD}def run(x, M, s, g, k, c, a):\n    if (M, x.dtype) not in _tuned:\n        \
             r = exhaustive_search(c, s, g, k, a)\n        _tuned[(M, x.dtype)] = r.best.config  # TP106\n    return x.shape\n"
        ),
    );
    // An early return; two branches.
    bad(
        &RULE,
        &format!(
            "{HEAD}def run(x, M, s, g, k, c, a):\n    if M > 4:\n        key = ('big', M)  # TP106\n    else:\n        \
             key = ('small', M, x.dtype)  # TP106\n    if key in _tuned:\n        return _tuned[key]\n    \
             _tuned[key] = exhaustive_search(c, s, g, k, a)\n    return x.shape\n"
        ),
    );
    // The key comes from a caller.
    bad(
        &RULE,
        &format!(
            "{HEAD}def tuned(s, g, k, c, a, key):\n    if key not in _tuned:\n        \
             _tuned[key] = exhaustive_search(c, s, g, k, a)\n    return _tuned[key]\n\n\
             def run(x, M, s, g, k, c, a):\n    key = (M, x.dtype)  # TP106\n    return tuned(s, g, k, c, a, key)\n"
        ),
    );
    bad(
        &RULE,
        "from cuda.tile_experimental import autotune_launch\n\ndef run(x, s, g, k, a, c):\n    \
             autotune_launch(s, g, k, a, search_space=c, key=(x.shape, x.dtype))  # TP106\n",
    );
}

#[test]
fn kept_by_the_caller_of_the_function_that_searches() {
    let code = |key: &str, mark: &str| {
        format!(
            "{HEAD}def best(x, s, g, k, c, a):\n    return exhaustive_search(c, s, g, k, a).best.config\n\n\
                 def run(x, n, s, g, k, c, a):\n    key = {key}{mark}\n    if key not in _tuned:\n        \
                 _tuned[key] = best(x, s, g, k, c, a)\n    return _tuned[key], x.shape\n"
        )
    };
    fixes(
        &RULE,
        &code("(n, x.dtype)", "  # TP106"),
        &code("(n, x.dtype, str(x.device))", ""),
    );
    good(&RULE, &code("(n, x.dtype, str(x.device))", ""));
    good(&RULE, &code("key_for(n)", ""));
    good(&RULE, &code("describe(x)", ""));
}

#[test]
fn complete_in_some_way() {
    for key in [
        "key = (tuple(x.shape), x.dtype, str(x.device))",
        "key = (M, x.dtype, torch.cuda.current_device())",
        "key = (M, x.dtype, torch.cuda.get_device_capability())",
        "key = (M, x.dtype, x.device)",
        "rows = next_power_of_2(M)\nkey = (rows, x.dtype, x.device.index)",
        "key = (M,)\nkey = key + (x.dtype, str(x.device))",
        "key = (M,)\nkey += (x.dtype, str(x.device))",
        "shape = (M, x.dtype)\nkey = (shape, str(x.device))",
        "key = f'{M}-{x.dtype}-{x.device}'",
        "key = make_key(x, y)",
        "key = (M, *rest)",
        "key = signature(x)",
        "key = tuple((t.shape, t.dtype, str(t.device)) for t in (x, y))",
    ] {
        good(&RULE, &keyed("x, y, M, rest", key));
    }
    good(
        &RULE,
        &format!(
            "{HEAD}def keys(*ts):\n    return tuple((t.shape, t.dtype, str(t.device)) for t in ts)\n\n{}",
            keyed("x, y", "key = keys(x, y)").trim_start_matches(HEAD)
        ),
    );
    for (dtype, device) in [
        ("x.dtype", "str(x.device)"),
        ("is_fp8", "capability"),
        ("x.element_size()", "torch.cuda.current_device()"),
        ("x.itemsize", "arch"),
        ("str(dtype)", "num_sms"),
        ("precision", "gpu_name"),
        ("out_dtype", "sm_count"),
        ("dtypes", "props.multi_processor_count"),
    ] {
        good(
            &RULE,
            &keyed("x, y, M", &format!("key = (M, {dtype}, {device})")),
        );
        bad(
            &RULE,
            &keyed("x, y, M", &format!("key = (M, {dtype})  # TP106")),
        );
        bad(
            &RULE,
            &keyed("x, y, M", &format!("key = (M, {device})  # TP106")),
        );
        bad(
            &RULE,
            &keyed("x, y, M", &format!("key = ({dtype}, {device})  # TP106")),
        );
    }
    bad(
        &RULE,
        &keyed("x, y, M", "key = (M, x.dtype, search_id)  # TP106"),
    );
    // What is calculated from it at second hand does not tell it.
    bad(
        &RULE,
        &keyed(
            "x, y, M",
            "bytes = M * x.element_size()\nparts = bytes // 4096\nkey = (M, parts, str(x.device))  # TP106",
        ),
    );
    // The caller's key is not seen.
    good(&RULE, &keyed("x, y, key", "pass"));
    good(&RULE, &keyed("x, y, cache_key", "key = (cache_key, 1)"));
}

#[test]
fn what_is_no_tuning_cache() {
    // A cache of configurations; a search whose result is not kept; a test.
    good(
        &RULE,
        "_c = {}\n\ndef configs(n, m):\n    key = (n, m)\n    if key not in _c:\n        _c[key] = [n]\n    return _c[key]\n",
    );
    good(
        &RULE,
        &format!(
            "{HEAD}def run(x, s, g, k, c, a):\n    out = {{}}\n    out['best'] = exhaustive_search(c, s, g, k, a)\n    return x.shape, out\n"
        ),
    );
    good(
        &RULE,
        &keyed("x, y, M", "key = (M,)").replace("def run", "import pytest\n\ndef run"),
    );
}

#[test]
fn what_is_lacking_is_listed() {
    for (key, said) in [
        ("(M, x.dtype)", "lacks the device"),
        ("(M,)", "the dtype and the device"),
    ] {
        let code = keyed("x, y, M", &format!("key = {key}  # TP106"));
        let (_, found) = bad(&RULE, &code);
        assert!(found[0].message.contains(said), "{found:?}");
    }
}

#[test]
fn a_flag_that_callers_give_to_the_space() {
    let code = |params: &str, before: &str, mark: &str| {
        let key = format!("{before}key = (M, x.dtype, str(x.device)){mark}");
        format!(
            "def configs(flag):\n    return [flag]\n\n{}",
            keyed(params, &key).replace("exhaustive_search(c,", "exhaustive_search(configs(flag),")
        )
    };
    let (_, found) = bad(&RULE, &code("x, y, M, flag", "", "  # TP106"));
    assert!(
        found[0].message.contains("`flag` of the space"),
        "{found:?}"
    );
    good(&RULE, &code("x, y, M", "flag = 1\n", ""));
}
