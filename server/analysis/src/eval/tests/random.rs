//! Programs made at random: what is said of a function over all its inputs holds for each of them.
//!
//! The counts with given arguments take the other way through the evaluator, where everything is
//! known; that way was compared with Python's own on thousands of such programs.

use std::fmt::Write as _;

use super::{said, space};
use crate::arch::Arch;

/// A small generator of numbers, so that a failure can be repeated from its seed.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.next(of.len())]
    }
}

struct Program {
    random: Random,
    text: String,
    names: usize,
}

impl Program {
    fn new(seed: u64) -> Self {
        let mut program = Self {
            random: Random(seed),
            text: String::new(),
            names: 0,
        };
        program.text.push_str(
            "import torch\nSIZES = [16, 32, 64]\nTABLE = {1: [4, 8], 2: [16], 4: [32, 64, 128]}\ndef keep(c, limit=64):\n    if c > limit:\n        return False\n    return True\ndef configs(n: int, m: int, flag: bool, opt=None):\n    cap = torch.cuda.get_device_capability()\n    seen = set()\n    out = []\n",
        );
        for _ in 0..3 {
            program.statement(4, 3, &mut vec!["n".into(), "m".into()], false);
        }
        program.text.push_str("    yield from out\n");
        program
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn int(&mut self, vars: &[String], depth: usize) -> String {
        let var = vars[self.random.next(vars.len())].clone();
        match self.random.next(if depth == 0 { 4 } else { 8 }) {
            0 | 1 => var,
            2 => self
                .random
                .pick(&["0", "1", "2", "4", "8", "16", "64"])
                .to_owned(),
            3 => self
                .random
                .pick(&["cap[0]", "cap[1]", "cap[0] * 10 + cap[1]"])
                .to_owned(),
            4 => format!(
                "({} {} {})",
                self.int(vars, depth - 1),
                self.random.pick(&["//", "%"]),
                self.random.pick(&["2", "3", "16"])
            ),
            5 => format!(
                "({} {} {})",
                self.int(vars, depth - 1),
                self.random.pick(&["+", "-", "*"]),
                self.int(vars, 0)
            ),
            6 => format!(
                "{}({}, {})",
                self.random.pick(&["min", "max"]),
                self.int(vars, depth - 1),
                self.int(vars, 0)
            ),
            _ => format!(
                "({} if {} else {})",
                self.int(vars, 0),
                self.test(vars, depth - 1),
                self.int(vars, 0)
            ),
        }
    }

    fn test(&mut self, vars: &[String], depth: usize) -> String {
        match self.random.next(if depth == 0 { 5 } else { 8 }) {
            0 | 1 => format!(
                "{} {} {}",
                self.int(vars, depth),
                self.random.pick(&["<", "<=", "==", "!=", ">"]),
                self.int(vars, 0)
            ),
            2 => self
                .random
                .pick(&[
                    "flag",
                    "not flag",
                    "opt is None",
                    "opt is not None and opt > 8",
                ])
                .to_owned(),
            3 => self
                .random
                .pick(&["cap[0] >= 9", "cap in [(12, 0), (12, 1)]", "cap == (9, 0)"])
                .to_owned(),
            4 => format!(
                "{} in {}",
                self.int(vars, 0),
                self.random.pick(&["SIZES", "(1, 2, 4)", "TABLE", "seen"])
            ),
            5 => format!(
                "({} and {})",
                self.test(vars, depth - 1),
                self.test(vars, 0)
            ),
            6 => format!(
                "(not {} or {})",
                self.test(vars, 0),
                self.test(vars, depth - 1)
            ),
            _ => format!("keep({}, limit={})", self.int(vars, 0), self.int(vars, 0)),
        }
    }

    fn list(&mut self, vars: &[String], depth: usize) -> String {
        match self.random.next(if depth == 0 { 4 } else { 9 }) {
            0 => "SIZES".to_owned(),
            1 => self
                .random
                .pick(&["[1, 2, 3]", "range(3)", "range(min(n, 3))", "range(m % 4)"])
                .to_owned(),
            2 => format!("TABLE.get({}, [])", self.int(vars, 0)),
            3 => format!("[{}, {}]", self.int(vars, 0), self.int(vars, 0)),
            4 => {
                let mut inner = vars.to_vec();
                inner.push("q".into());
                format!(
                    "[{} for q in {} if {}]",
                    self.int(&inner, 0),
                    self.list(vars, depth - 1),
                    self.test(&inner, 1)
                )
            }
            5 => format!("sorted(set({}))", self.list(vars, depth - 1)),
            6 => format!(
                "list({})[{}]",
                self.list(vars, depth - 1),
                self.random.pick(&[":2", "1:", ":n", "::2"])
            ),
            7 => format!(
                "(list({}) or {})",
                self.list(vars, depth - 1),
                self.list(vars, 0)
            ),
            _ => format!(
                "({} if {} else {})",
                self.list(vars, depth - 1),
                self.test(vars, 0),
                self.list(vars, 0)
            ),
        }
    }

    fn line(&mut self, indent: usize, text: &str) {
        let _ = writeln!(self.text, "{:indent$}{text}", "");
    }

    fn block(&mut self, indent: usize, depth: usize, vars: &[String], in_loop: bool) {
        let mut inner = vars.to_vec();
        for _ in 0..1 + self.random.next(2) {
            self.statement(indent, depth - 1, &mut inner, in_loop);
        }
    }

    fn statement(&mut self, indent: usize, depth: usize, vars: &mut Vec<String>, in_loop: bool) {
        let vars_now = vars.clone();
        match self.random.next(if depth == 0 { 5 } else { 10 }) {
            0 | 1 => {
                let value = self.int(&vars_now, 1);
                let line = self.random.pick(&["yield", "out.append"]);
                self.line(indent, &format!("{line} ({value})"));
            }
            2 => {
                let (name, value) = (self.name(), self.int(&vars_now, 2));
                self.line(indent, &format!("{name} = {value}"));
                vars.push(name);
            }
            3 => {
                let test = self.test(&vars_now, 1);
                self.line(indent, &format!("if {test}:"));
                let exits: &[&str] = if in_loop {
                    &["continue", "break"]
                } else {
                    &["return", "pass"]
                };
                let exit = self.random.pick(exits);
                self.line(indent + 4, exit);
            }
            4 => {
                let list = self.list(&vars_now, 1);
                let line = self.random.pick(&["out.extend", "yield from"]);
                self.line(indent, &format!("{line} ({list})"));
            }
            5 | 6 => {
                let (name, list) = (self.name(), self.list(&vars_now, 2));
                self.line(indent, &format!("for {name} in {list}:"));
                let mut inner = vars_now;
                inner.push(name);
                self.block(indent + 4, depth, &inner, true);
            }
            7 => {
                let test = self.test(&vars_now, 2);
                self.line(indent, &format!("if {test}:"));
                self.block(indent + 4, depth, &vars_now, in_loop);
                self.line(indent, "else:");
                self.block(indent + 4, depth, &vars_now, in_loop);
            }
            8 => {
                let key = self.int(&vars_now, 1);
                self.line(indent, &format!("if ({key}) not in seen:"));
                self.line(indent + 4, &format!("seen.add({key})"));
                self.block(indent + 4, depth, &vars_now, in_loop);
            }
            _ => {
                self.line(indent, "try:");
                let key = self.int(&vars_now, 0);
                self.line(indent + 4, &format!("out.extend(TABLE[{key}])"));
                self.line(indent, "except KeyError:");
                self.block(indent + 4, depth, &vars_now, in_loop);
            }
        }
    }
}

#[test]
fn a_range_holds_every_count() {
    let mut known = 0;
    for seed in 1..=250 {
        let text = Program::new(seed).text;
        let arch = Arch::EVALUATED[seed as usize % Arch::EVALUATED.len()];
        let over_all = space(&text, arch);
        for args in [
            "0, 3, True",
            "4, 8, False, 16",
            "16, 1, True, 4",
            "2, 100, False, None",
        ] {
            let one = space(&format!("{text}\nsearch(list(configs({args})))"), arch);
            if !one.count.reached {
                continue;
            }
            known += usize::from(one.count.exact().is_some());
            let all = &over_all.count;
            let within = all.reached
                && all.min <= one.count.max.unwrap_or(u64::MAX)
                && one
                    .count
                    .exact()
                    .is_none_or(|n| all.min <= n && all.max.is_none_or(|m| n <= m));
            assert!(
                within,
                "seed {seed}, configs({args}) on {arch}: {} is not in {}\n{text}",
                said(&one),
                said(&over_all)
            );
        }
    }
    assert!(
        known > 700,
        "with all arguments given, nearly every count is exact: {known} of 1000"
    );
}

#[test]
fn deep_and_endless_code_ends() {
    let nested = |n: usize| format!("search({}1{})", "[".repeat(n), "]".repeat(n));
    let chain = |n: usize| format!("search([1]{})", " + [1]".repeat(n));
    let calls = |n: usize| {
        let mut text = String::from("def f0():\n    return [1]\n");
        for i in 1..n {
            let _ = writeln!(text, "def f{i}():\n    return f{}() + [1]", i - 1);
        }
        text + &format!("search(f{}())", n - 1)
    };
    let loops = |n: usize| {
        let mut text = String::from("def configs(xs):\n");
        for i in 0..n {
            let _ = writeln!(text, "{:i$}    for v{i} in xs:", "");
        }
        text + &format!("{:n$}    yield 1\n", "")
    };
    let texts = [
        nested(5000),
        chain(5000),
        calls(200),
        loops(60),
        "def configs(n):\n    while n:\n        n = configs(n - 1)\n        yield n\n".to_owned(),
        "def configs():\n    x = [1]\n    while True:\n        x = x + x\n        yield x\n"
            .to_owned(),
        "def configs():\n    x = [1]\n    for y in x:\n        x.append(y)\n        yield y\n"
            .to_owned(),
        "x = y\ny = x\nsearch(x)".to_owned(),
        "def configs():\n    t = s = (1,)\n    u = 'x'\n    for i in range(400):\n        t = (t, t)\n        s = s + s\n        u = u + u\n        yield t, s, u\n".to_owned(),
        "def configs():\n    t = [1]\n    for i in range(400):\n        t = list(zip(t, t))\n        t = list({1: t[0]}.items())\n        yield t\n".to_owned(),
        "def configs():\n    g = iter([1])\n    for i in range(3000):\n        g = (x for x in g)\n    yield from g\n".to_owned(),
        "x = [1]\nx.append(x)\nsearch([x, (x, x)])".to_owned(),
        "class A:\n    def __iter__(self):\n        return self\nsearch(A())".to_owned(),
        "def f():\n    return f\nsearch(f)".to_owned(),
        "from itertools import permutations as p\nsearch(list(p(range(9), 1 << 60)))".to_owned(),
        "search([1] * (1 << 62) * (1 << 62))".to_owned(),
        "search([(-9223372036854775807 - 1) // -1, -(-9223372036854775807 - 1), 1 << 63])".to_owned(),
        "def configs(n: int):\n    m = -n // -1 * 9223372036854775807 + n % 3 - (n << 62)\n    if m > n and -m < n:\n        yield m\n".to_owned(),
        "class A(A):\n    pass\nsearch(A())".to_owned(),
        "def f(g):\n    return g(g)\nsearch(f(f))".to_owned(),
    ];
    // As much stack as a worker thread has.
    let worker = std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(move || {
            for text in texts {
                let space = space(&text, Arch::Sm90);
                assert!(space.count.max.is_none_or(|m| space.count.min <= m));
            }
        });
    worker
        .expect("a thread")
        .join()
        .expect("no overflow and no panic");
}
