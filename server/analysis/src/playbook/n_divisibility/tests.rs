//! What the host says, and what nobody says.

use super::OPTIMIZATION;
use crate::playbook::testing::{none, none_for, offered, variants};
use crate::rewrite;
use crate::rules::testing::whole;
use crate::target::{Target, Version};

/// A kernel that takes a slice at `start`, and the function that launches it.
fn code(start: &str, host: &str) -> String {
    format!(
        "@ct.kernel\ndef k(x, n, m, T: ct.Constant[int]):\n    \"\"\"Takes a part.\"\"\"\n    s = {start}\n    part = x.slice(1, s, s + 64)\n    ct.store(x, (0, 0), ct.load(part, (ct.bid(0), 0), (T, T)))\n\ndef run(x, n, m, s):\n    {}\n",
        host.replace('\n', "\n    ")
    )
}

/// What is written into the kernel.
fn assumed(start: &str, host: &str) -> Vec<String> {
    let text = whole(&code(start, host));
    let all = offered(&text, &Target::default());
    let action = all.iter().find(|a| a.optimization.id == "N");
    let action = action.unwrap_or_else(|| panic!("nothing for\n{text}"));
    let applied = rewrite::apply(&text, &action.edits).unwrap();
    let lines = applied.lines().map(str::trim);
    let lines = lines.filter(|line| line.contains("assume"));
    lines.map(str::to_owned).collect()
}

const LAUNCH: &str = "ct.launch(s, (4,), k, (x, n, m, 8))";

#[test]
fn what_the_host_says() {
    let launch = |n: &str| format!("ct.launch(s, (4,), k, (x, {n}, m, 8))");
    for (before, n, by) in [
        ("assert n % 64 == 0\n", "n", 64),
        ("assert n % 96 == 0\n", "n", 32),
        ("assert n % 64 == 0 and n % 128 == 0\n", "n", 128),
        ("if n % 16:\n    raise ValueError(n)\n", "n", 16),
        ("if m < 2 or n % 16 > 0:\n    return None\n", "n", 16),
        ("size = 32\nassert n % size == 0\n", "n", 32),
        ("first = pick(n)\nassert first % 8 == 0\n", "first", 8),
        ("", "256", 256),
        ("", "m * 8", 8),
        ("first = 16 * m\n", "first", 16),
        ("assert n % 8 == 0\n", "n * 4", 32),
        ("assert n % 65536 == 0\n", "n", 1024),
    ] {
        let host = format!("{before}{}", launch(n));
        let wanted = format!("n = ct.assume_divisible_by(n, {by})");
        assert_eq!(assumed("n", &host), [wanted], "{host}");
    }
    let branches = "if n % 64 == 0:\n    ct.launch(s, (4,), k, (x, n, m, 8))\nelse:\n    ct.launch(s, (4,), k, (x, 8, m, 8))";
    assert_eq!(assumed("n", branches), ["n = ct.assume_divisible_by(n, 8)"]);
    let both = format!("assert n % 64 == 0\nassert m % 8 == 0\n{LAUNCH}");
    assert_eq!(assumed("n * ct.bid(0) + m", &both).len(), 2);
}

#[test]
fn what_nobody_says() {
    for before in [
        "",
        "assert m % 64 == 0\n",
        "assert n % 63 == 0\n",
        "assert n % m == 0\n",
        "assert n % 64 == 8\n",
        "assert n % 64 != 0\n",
        "assert n % 64 == 0 or m\n",
        "if n % 64:\n    print(n)\n",
        "if m:\n    assert n % 64 == 0\n",
        "assert n % 64 == 0\nn = n + 1\n",
    ] {
        none(&OPTIMIZATION, &code("n", &format!("{before}{LAUNCH}")));
    }
    for host in [
        "ct.launch(s, (4,), k, (x, n + 64, m, 8))",
        "ct.launch(s, (4,), k, (x, f(n), m, 8))",
        "if n % 64 == 0:\n    print(n)\nelse:\n    ct.launch(s, (4,), k, (x, n, m, 8))",
        "ct.launch(s, (4,), k, (x, n, m, 8))\nassert n % 64 == 0",
        "assert n % 64 == 0\nif m:\n    ct.launch(s, (4,), k, (x, n, m, 8))\nelse:\n    ct.launch(s, (4,), k, (x, m, m, 8))",
        "assert n % 64 == 0\nct.launch(s, (4,), k, (x, n, m, 8))\nlater(k)",
    ] {
        none(&OPTIMIZATION, &code("n", host));
    }
}

#[test]
fn only_numbers_at_which_slices_begin() {
    let host = format!("assert n % 64 == 0\n{LAUNCH}");
    for start in ["8", "T", "ct.bid(0)", "m", "ct.gather(x, (n, 0)).item()"] {
        none(&OPTIMIZATION, &code(start, &host));
    }
    let said = code("ct.assume_divisible_by(n, 64)", &host);
    none(&OPTIMIZATION, &said);
    let old = Target {
        cuda_tile: Some(Version::new(1, 4, 0)),
        ..Target::default()
    };
    none_for(&OPTIMIZATION, &code("n", &host), &old);
    assert_eq!(variants(&OPTIMIZATION, &code("n", &host)), [""]);
}
