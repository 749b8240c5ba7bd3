//! What is proven, and what only looks like it.

use super::OPTIMIZATION;
use crate::playbook::testing::{after, none, none_for, offered, variants};
use crate::rules::testing::whole;
use crate::target::{Target, Version};

/// A kernel that reads a tile of `x` at `index`, and the function that launches it.
fn code(kernel: &str, host: &str) -> String {
    format!(
        "@ct.kernel\ndef k(x, y, n, T: ct.Constant[int]):\n    {}\n\ndef run(x, n, s):\n    {}\n",
        kernel.replace('\n', "\n    "),
        host.replace('\n', "\n    ")
    )
}

const LOAD: &str = "t = ct.load(x, (ct.bid(0),), (T,))";

/// The body of the launching function for the last two arguments and a grid.
fn launch(before: &str, grid: &str, args: &str) -> String {
    format!("{before}ct.launch(s, {grid}, k, (x, x, {args}))")
}

#[test]
fn launches_that_prove_it() {
    for (before, grid, args) in [
        // Whole tiles only, whatever is left.
        ("", "(x.shape[0] // 64,)", "n, 64"),
        ("m = x.shape[0]\n", "(m // 64, 1)", "n, 64"),
        (
            "(m,) = x.shape\nb = 64\ngrid = (m // b,)\n",
            "grid",
            "n, 64",
        ),
        ("", "(x.numel() // 64,)", "n, 64"),
        ("", "(x.size(0) // n,)", "n, n"),
        // All tiles are whole.
        (
            "assert x.shape[0] % 64 == 0\n",
            "(ct.cdiv(x.shape[0], 64),)",
            "n, 64",
        ),
        (
            "m = x.shape[-1]\nassert m % 64 == 0 and n > 1, 'odd'\n",
            "((m + 64 - 1) // 64,)",
            "n, 64",
        ),
        (
            "if x.shape[0] % n != 0:\n    raise ValueError\n",
            "(ct.cdiv(x.shape[0], n),)",
            "n, n",
        ),
        (
            "if n < 4 or x.shape[0] % n:\n    return\n",
            "(ct.cdiv(x.shape[0], n),)",
            "n, n",
        ),
        (
            "if not x.shape[0] % 64 == 0:\n    return x\n",
            "(ct.cdiv(x.shape[0], 64),)",
            "n, 64",
        ),
        ("x2 = torch.empty((4096,))\n", "(64,)", "n, 64"),
        // By way of something that is the same.
        ("assert n == x.shape[0]\n", "(n // 64,)", "n, 64"),
        (
            "assert n % 64 == 0 and x.shape[0] == n\n",
            "(ct.cdiv(n, 64),)",
            "n, 64",
        ),
        (
            "if x.shape != z.shape:\n    raise ValueError\n",
            "(z.shape[0] // 64,)",
            "n, 64",
        ),
        (
            "assert z.shape == x.shape\nassert m == z.shape[0]\nassert n == m\n",
            "(n // 64,)",
            "n, 64",
        ),
        (
            "m = f(n)\nassert m % 64 == 0\nassert m == x.shape[0]\n",
            "(ct.cdiv(m, 64),)",
            "n, 64",
        ),
        // One element at a time.
        ("", "(x.shape[0],)", "n, 1"),
    ] {
        let mut host = launch(before, grid, args);
        if before.starts_with("x2") {
            host = host.replace("(x, x,", "(x2, x,");
        }
        let code = code(LOAD, &host);
        assert_eq!(variants(&OPTIMIZATION, &code), [""], "{code}");
    }
    let guarded =
        "if x.shape[0] % 64 == 0:\n    ct.launch(s, (ct.cdiv(x.shape[0], 64),), k, (x, x, n, 64))";
    assert_eq!(variants(&OPTIMIZATION, &code(LOAD, guarded)), [""]);
}

#[test]
fn launches_that_do_not() {
    for (before, grid, args) in [
        // The last tile may stick out.
        ("", "(ct.cdiv(x.shape[0], 64),)", "n, 64"),
        ("", "(x.shape[0],)", "n, 64"),
        ("", "(x.shape[0] // 32,)", "n, 64"),
        ("", "(n // 64,)", "n, 64"),
        ("", "(x.shape[1] // 64,)", "n, 64"),
        // Another number, another array, another way around, too late, or not for sure.
        (
            "assert x.shape[0] % 32 == 0\n",
            "(ct.cdiv(x.shape[0], 64),)",
            "n, 64",
        ),
        (
            "assert n % 64 == 0\n",
            "(ct.cdiv(x.shape[0], 64),)",
            "n, 64",
        ),
        (
            "assert x.shape[0] % 64 == 0 or n\n",
            "(ct.cdiv(x.shape[0], 64),)",
            "n, 64",
        ),
        (
            "assert x.shape[0] % 64 != 0\n",
            "(ct.cdiv(x.shape[0], 64),)",
            "n, 64",
        ),
        (
            "assert x.shape[0] % 64 == 1\n",
            "(ct.cdiv(x.shape[0], 64),)",
            "n, 64",
        ),
        (
            "if x.shape[0] % 64 != 0:\n    print(x)\n",
            "(ct.cdiv(x.shape[0], 64),)",
            "n, 64",
        ),
        (
            "if x.shape[0] % 64 != 0 and n:\n    return\n",
            "(ct.cdiv(x.shape[0], 64),)",
            "n, 64",
        ),
        (
            "if n:\n    assert x.shape[0] % 64 == 0\n",
            "(ct.cdiv(x.shape[0], 64),)",
            "n, 64",
        ),
        ("assert n != x.shape[0]\n", "(n // 64,)", "n, 64"),
        ("assert n >= x.shape[0]\n", "(n // 64,)", "n, 64"),
        (
            "assert z.shape == x.shape\n",
            "(z.shape[1] // 64,)",
            "n, 64",
        ),
        ("x = x.view(-1)\n", "(x.shape[0] // 64,)", "n, 64"),
        ("m = x.shape[0]\nm = m + 1\n", "(m // 64,)", "n, 64"),
        ("x2 = torch.empty((4095,))\n", "(64,)", "n, 64"),
    ] {
        let mut host = launch(before, grid, args);
        if before.starts_with("x2") {
            host = host.replace("(x, x,", "(x2, x,");
        }
        none(&OPTIMIZATION, &code(LOAD, &host));
    }
    let late =
        "ct.launch(s, (ct.cdiv(x.shape[0], 64),), k, (x, x, n, 64))\nassert x.shape[0] % 64 == 0";
    none(&OPTIMIZATION, &code(LOAD, late));
    // Every launch has to.
    let two = "if n:\n    ct.launch(s, (x.shape[0] // 64,), k, (x, x, n, 64))\nelse:\n    ct.launch(s, (n,), k, (x, x, n, 64))";
    none(&OPTIMIZATION, &code(LOAD, two));
    let elsewhere = "ct.launch(s, (x.shape[0] // 64,), k, (x, x, n, 64))\nlater(k)";
    none(&OPTIMIZATION, &code(LOAD, elsewhere));
}

#[test]
fn indices_that_stay_below() {
    let host = "m, c = x.shape\nassert c % 64 == 0\ny = torch.empty_like(x)\nct.launch(s, (m,), k, (x, y, m, 64))";
    for kernel in [
        "i = ct.bid(0)\nfor j in range(ct.num_tiles(x, axis=1, shape=(1, T))):\n    t = ct.load(x, (i, j), (1, T))",
        "for i in range(ct.bid(0), n, ct.num_blocks(0)):\n    for j in range(ct.cdiv(x.shape[1], T)):\n        t = ct.load(x, index=(i, j), shape=(1, T))",
        "for i in range(x.shape[0]):\n    for j in range(0, x.shape[1] // T, 2):\n        t = ct.load(y, (i, j), (1, T))",
        "j = ct.bid(0) % (x.shape[1] // T)\nt = ct.load(x, (ct.bid(0), j), (1, T))",
        "m = ct.num_tiles(x, 1, (1, T))\nfor j in range(m):\n    ct.store(y, (ct.bid(0), j), ct.zeros((1, T), ct.float32))",
    ] {
        assert_eq!(
            variants(&OPTIMIZATION, &code(kernel, host)),
            [""],
            "{kernel}"
        );
    }
    for kernel in [
        // From elsewhere, backwards, changed, or of other tiles.
        "t = ct.load(x, (ct.bid(0), n), (1, T))",
        "t = ct.load(x, (ct.bid(1), 0), (1, T))",
        "i = ct.bid(0) + 1\nt = ct.load(x, (i, 0), (1, T))",
        "for j in range(-1, x.shape[1] // T):\n    t = ct.load(x, (ct.bid(0), j), (1, T))",
        "for j in range(8, x.shape[1] // T, -1):\n    t = ct.load(x, (ct.bid(0), j), (1, T))",
        "for j in range(x.shape[1] // T):\n    j = j + 1\n    t = ct.load(x, (ct.bid(0), j), (1, T))",
        "for j in range(x.shape[1]):\n    t = ct.load(x, (ct.bid(0), j), (1, T))",
        "for j in range(ct.num_tiles(x, axis=0, shape=(T, 1))):\n    t = ct.load(x, (ct.bid(0), j), (1, T))",
        "for j in range(ct.num_tiles(x, axis=1, shape=(1, 32))):\n    t = ct.load(x, (ct.bid(0), j), (1, T))",
        "for j in range(ct.num_tiles(x, axis=1, shape=(1, T), order='F')):\n    t = ct.load(x, (ct.bid(0), j), (1, T))",
        "for j in range(x.shape[1] // T):\n    t = ct.load(x, (ct.bid(0), j), (1, T), order='F')",
        "for j in range(x.shape[1] // T):\n    t = ct.load(x, (ct.bid(0), j), (1, T), check_bounds=True)",
        "for j in range(x.shape[1] // T):\n    t = ct.load(x.slice(1, 2, 3), (ct.bid(0), j), (1, T))",
        "x = x.slice(1, 2, 3)\nfor j in range(x.shape[1] // T):\n    t = ct.load(x, (ct.bid(0), j), (1, T))",
        "for j in range(x.shape[1] // T):\n    pass\nt = ct.load(x, (ct.bid(0), j), (1, T))",
        "t = ct.load(x, (ct.bid(0), 0), (1, T))",
        "ct.store(x, (ct.bid(0), 0), ct.reshape(ct.zeros((T,), ct.float32), (1, -1)))",
    ] {
        none(&OPTIMIZATION, &code(kernel, host));
    }
}

#[test]
fn arrays_that_the_launching_function_makes() {
    let launch = |made: &str| {
        format!(
            "assert n % 64 == 0\nm = f(n)\ny = {made}\nct.launch(s, (ct.cdiv(m * n, 64),), k, (y, y, n, 64))"
        )
    };
    for made in [
        "torch.empty((m * n,))",
        "torch.zeros([m * n], device=x.device)",
        "torch.empty(m * n, dtype=x.dtype)",
        "torch.full((m * n,), 1.0)",
        "torch.empty_like(torch.ones(m * n))",
    ] {
        let code = code(LOAD, &launch(made));
        match made.contains("_like") {
            // What has no name is not followed.
            true => none(&OPTIMIZATION, &code),
            false => assert_eq!(variants(&OPTIMIZATION, &code), [""], "{made}"),
        }
    }
    for made in [
        "torch.full(m * n, 1.0)",
        "torch.empty(m, n)",
        "torch.empty((m, n))",
        "torch.empty(*x.shape)",
        "torch.empty(n)",
        "other.empty(m * n)",
        "torch.arange(m * n)",
    ] {
        none(&OPTIMIZATION, &code(LOAD, &launch(made)));
    }
}

#[test]
fn the_proof_is_shown() {
    let host = "assert n % 64 == 0\ny = torch.zeros((n,))\nct.launch(s, (ct.cdiv(n, 64),), k, (y, y, n, 64))";
    let text = whole(&code(LOAD, host));
    let all = offered(&text, &Target::default());
    let action = all.iter().find(|a| a.optimization.id == "M").unwrap();
    assert_eq!(
        action.premises,
        ["`ct.bid(0)` stays below `cdiv(n, 64)`, and 64 divides axis 0 of `x`, which is `n`"]
    );
}

#[test]
fn padding_goes_wherever_it_stands() {
    let host = "ct.launch(s, (x.shape[0] // 64,), k, (x, x, n, 64))";
    for (before, wanted) in [
        (
            "t = ct.load(x, ct.bid(0), T, padding_mode=ct.PaddingMode.ZERO, latency=2)",
            "t = ct.load(x, ct.bid(0), T, check_bounds=False, latency=2)",
        ),
        (
            "t = ct.load(\n    x,  # all of it\n    index=(ct.bid(0),),\n    shape=(T,),\n)",
            "t = ct.load(\n    x,  # all of it\n    index=(ct.bid(0),),\n    shape=(T,),\n    check_bounds=False,\n)",
        ),
    ] {
        after(&OPTIMIZATION, &code(before, host), "", &code(wanted, host));
    }
}

#[test]
fn not_before_the_compiler_takes_it() {
    let host = "ct.launch(s, (x.shape[0] // 64,), k, (x, x, n, 64))";
    let old = Target {
        cuda_tile: Some(Version::new(1, 5, 0)),
        ..Target::default()
    };
    none_for(&OPTIMIZATION, &code(LOAD, host), &old);
}
