//! A launch that passes more or fewer arguments than the kernel has parameters.

use tileperf_syntax::Span;

use super::launch;
use crate::rules::rule::rule;
use crate::rules::{FileContext, Findings, KernelFacts, Links};

rule! {
    /// A launch passes another number of arguments than its kernel has parameters: it raises
    /// `TypeError`.
    ///
    /// Every parameter needs its argument, those with a default value and compile-time constants
    /// included. Seen with cuda-tile 1.7: `Kernel expects 3 arguments but 2 were given`. A
    /// search whose `args_fn` gives another number finds no configuration that works.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def scale(x, factor, BLOCK: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     ct.store(x, (i,), ct.load(x, (i,), (BLOCK,)) * factor)
    ///
    /// def run(x, stream):
    ///     ct.launch(stream, (8,), scale, (x, 128))  # TP208
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def scale(x, factor, BLOCK: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     ct.store(x, (i,), ct.load(x, (i,), (BLOCK,)) * factor)
    ///
    /// def run(x, stream, args):
    ///     ct.launch(stream, (8,), scale, (x, 2.0, 128))
    ///     ct.launch(stream, (8,), scale, (x, *args))
    /// ```
    TP208 "launch-arity" Error,
    Workspace(check)
}

fn check(file: &FileContext<'_>, links: &dyn Links, out: &mut Findings<'_>) {
    let mut said: Vec<Span> = Vec::new();
    for passed in launch::passed(file) {
        // A search has as many callbacks as it has branches.
        if said.contains(&passed.callee) {
            continue;
        }
        let Some(kernels) = passed.kernels(links) else {
            continue;
        };
        let takes = |kernel: &KernelFacts| {
            // Without its code nobody knows whether it ends in `*args`.
            let open = kernel.device.as_ref().is_none_or(|d| d.open);
            open || kernel.params.len() == passed.args.len()
        };
        if kernels.iter().any(|k| takes(k)) {
            continue;
        }
        let [first, ..] = kernels.as_slice() else {
            continue;
        };
        let message = format!(
            "`{}` has {}, but {} passed",
            first.name,
            counted(first.params.len(), "parameter"),
            match passed.args.len() {
                1 => "1 argument is".to_owned(),
                n => format!("{n} arguments are"),
            },
        );
        out.push(passed.callee, message);
        said.push(passed.callee);
    }
}

fn counted(count: usize, word: &str) -> String {
    match count {
        1 => format!("1 {word}"),
        n => format!("{n} {word}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, bad_beside, good, good_beside};

    const KERNELS: &str = "@ct.kernel\ndef two(x, y):\n    ct.store(x, (0,), ct.load(y, (0,), (8,)))\n\n@ct.kernel\ndef three(x, y, n=1):\n    ct.store(x, (0,), ct.load(y, (0,), (8,)) * n)\n\n@ct.kernel\ndef many(x, *rest):\n    ct.store(x, (0,), ct.load(rest[0], (0,), (8,)))\n\n";

    fn code(text: &str) -> String {
        format!("import cuda.tile as ct\nimport pytest\n\n{KERNELS}{text}")
    }

    #[test]
    fn arguments_are_counted_wherever_they_were_written() {
        for text in [
            "def run(s, x):\n    ct.launch(s, (1,), two, (x,))  # TP208\n",
            "def run(s, x):\n    ct.launch(s, (1,), two, ())  # TP208\n",
            "def run(s, x):\n    ct.launch(s, (1,), two, (x, x, 1))  # TP208\n",
            "def run(s, x):\n    ct.launch(s, (1,), three, (x, x))  # TP208\n",
            "def run(s, x):\n    args = (x, x, 1)\n    ct.launch(s, (1,), two, args)  # TP208\n",
            "def run(s, x):\n    both = (x, x)\n    ct.launch(s, (1,), two, both + (1,))  # TP208\n",
            "def run(s, x):\n    both = (x, x)\n    ct.launch(s, (1,), two, (*both, 1))  # TP208\n",
            "def run(s, x):\n    tuned = two.replace_hints(occupancy=2)\n    ct.launch(s, (1,), tuned, (x,))  # TP208\n",
            "from cuda.tile.jax import cutile_call\ndef run(x):\n    return cutile_call((1,), two, (x,))  # TP208\n",
            "from cuda.tile.jax import cutile_call\ndef run(x):\n    return cutile_call(kernel=two, args=(x,), grid=(1,))  # TP208\n",
            "def run(s, x, b):\n    k = two if b else three\n    ct.launch(s, (1,), k, (x,))  # TP208\n",
            "ct.launch(S, (1,), two, (X,))  # TP208\n",
            "def run(s, x, lock):\n    with lock, open('f') as f:\n        ct.launch(s, (1,), two, (x,))  # TP208\n",
        ] {
            bad(&RULE, &code(text));
        }
        let (_, found) = bad(
            &RULE,
            &code("def run(s, x):\n    ct.launch(s, (1,), three, (x,))  # TP208\n"),
        );
        assert_eq!(
            found[0].message,
            "`three` has 3 parameters, but 1 argument is passed"
        );
    }

    fn searched(lines: &str, call: &str) -> String {
        code(&format!(
            "from cuda.tile.tune import exhaustive_search\nfrom cuda.tile_experimental import autotune_launch\n\n\
             def tune(s, g, c, x, b):\n{lines}    {call}\n"
        ))
    }

    #[test]
    fn what_a_search_passes_is_counted() {
        for (lines, call) in [
            (
                "",
                "exhaustive_search(c, s, g, two, lambda cfg: (x,))  # TP208",
            ),
            (
                "",
                "exhaustive_search(c, s, g, three, args_fn=lambda cfg: (x, x, 1, cfg.n))  # TP208",
            ),
            (
                "    def args(cfg):\n        return (x, x, cfg.n)\n",
                "exhaustive_search(c, s, g, two, args)  # TP208",
            ),
            (
                "    args = (x,)\n",
                "exhaustive_search(c, s, g, two, lambda cfg: args + ())  # TP208",
            ),
            (
                "    if b:\n        a = lambda cfg: (x,)\n    else:\n        a = lambda cfg: (x, x, x)\n",
                "exhaustive_search(c, s, g, two, a)  # TP208",
            ),
            (
                "",
                "autotune_launch(s, g, two, lambda cfg: (x,), search_space=c)  # TP208",
            ),
            (
                "",
                "autotune_launch(s, g, two, lambda cfg: (x, x), lambda cfg: (x,), search_space=c)  # TP208",
            ),
        ] {
            let (_, found) = bad(&RULE, &searched(lines, call));
            assert_eq!(found.len(), 1, "{call}");
        }
    }

    #[test]
    fn what_a_search_may_pass_is_not() {
        for (lines, call) in [
            ("", "exhaustive_search(c, s, g, two, lambda cfg: (x, x))"),
            ("", "exhaustive_search(c, s, g, two, lambda cfg: (x, *b))"),
            ("", "exhaustive_search(c, s, g, two, lambda cfg: make(x))"),
            ("", "exhaustive_search(c, s, g, two, b)"),
            (
                "",
                "exhaustive_search(c, s, g, many, lambda cfg: (x, x, x))",
            ),
            ("", "exhaustive_search(c, s, g, unknown, lambda cfg: (x,))"),
            ("", "exhaustive_search(c, s, (x,), two)"),
            (
                "",
                "autotune_launch(s, g, two, lambda cfg: (x, x), search_space=c)",
            ),
            (
                "    with pytest.raises(TypeError):\n    ",
                "exhaustive_search(c, s, g, two, lambda cfg: (x,))",
            ),
        ] {
            good(&RULE, &searched(lines, call));
        }
    }

    #[test]
    fn kernels_of_other_files_are_counted_too() {
        let others = [("ops", KERNELS)];
        let call = |kernel: &str, mark: &str| {
            format!(
                "import cuda.tile as ct\nimport ops\nfrom ops import two as pair\nfrom cuda.tile.tune import exhaustive_search\n\ndef tune(s, g, c, x):\n    exhaustive_search(c, s, g, {kernel}, lambda cfg: (x, cfg.n, 1)){mark}\n    ct.launch(s, (1,), {kernel}, (x, x, 1)){mark}\n"
            )
        };
        bad_beside(&RULE, &others, &call("pair", "  # TP208"));
        bad_beside(&RULE, &others, &call("ops.two", "  # TP208"));
        good_beside(&RULE, &others, &call("ops.three", ""));
        good_beside(&RULE, &others, &call("ops.missing", ""));
    }

    #[test]
    fn what_is_not_written_out_is_not_counted() {
        for text in [
            "def run(s, x):\n    ct.launch(s, (1,), two, (x, x))\n    ct.launch(s, (1,), three, (x, x, 1))\n",
            "def run(s, x):\n    ct.launch(s, (1,), two, (*x,))\n    ct.launch(s, (1,), two, x)\n    ct.launch(s, (1,), two, x + (1,))\n",
            "def run(s, x):\n    ct.launch(s, (1,), many, (x, x, x))\n",
            "def run(s, x):\n    ct.launch(s, (1,), unknown, (x,))\n",
            "def run(s, x, k):\n    ct.launch(s, (1,), k, (x,))\n",
            "def run(s, x, b):\n    k = two if b else three\n    ct.launch(s, (1,), k, (x, x))\n    ct.launch(s, (1,), k, (x, x, 1))\n",
            "def run(s, x, b):\n    args = (x,)\n    if b:\n        args = (x, x)\n    ct.launch(s, (1,), two, args)\n",
            "def run(s, x, b):\n    args = (x,)\n    args += (x,)\n    ct.launch(s, (1,), two, args)\n",
            "def run(s, args=(1,)):\n    if s:\n        args = (1,)\n    ct.launch(s, (1,), two, args)\n",
            "def run(s, x):\n    with pytest.raises(TypeError, match='2 arguments'):\n        ct.launch(s, (1,), two, (x,))\n",
            "args = (1,)\ndef run(s, x):\n    ct.launch(s, (1,), two, args)\n",
            "def run(s, x, lock):\n    with lock, pytest.raises(TypeError) as e:\n        ct.launch(s, (1,), two, (x,))\n",
            "def run(s, x, lib):\n    ct.launch(s, (1,), two, make([x]))\n    ct.launch(s, (1,), two, lib.tuple([x]))\n",
            "from ops import other\ndef run(s, x, b):\n    k = two if b else other\n    ct.launch(s, (1,), k, (x,))\n",
            "class Lib:\n    def launch(self, *a): ...\nlib = Lib()\nlib.launch(0, (1,), two, (1,))\n",
        ] {
            good(&RULE, &code(text));
        }
    }
}
