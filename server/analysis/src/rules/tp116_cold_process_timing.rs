//! Timing the first run of a kernel.

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef};

use super::host;
use crate::rules::rule::rule;
use crate::rules::{FileContext, Findings, InItem, Links};

rule! {
    /// A kernel's first run in a process is timed: compiling, or tuning, is in the number.
    ///
    /// The first launch of a kernel compiles it (seconds), loads it (0.2 s were seen on an H200) and
    /// finds cold caches and clocks. Run it once or a few times before the clock starts, and
    /// synchronize, so that only the kernel is timed. `exhaustive_search` warms up each candidate by
    /// itself.
    ///
    /// ```python bad
    /// import time
    ///
    /// @ct.kernel
    /// def scale(x):
    ///     ct.store(x, (ct.bid(0),), ct.load(x, (ct.bid(0),), (128,)) * 2)
    ///
    /// def bench(x, stream):
    ///     start = time.perf_counter()
    ///     for _ in range(100):
    ///         ct.launch(stream, (64,), scale, (x,))  # TP116
    ///     torch.cuda.synchronize()
    ///     return (time.perf_counter() - start) / 100
    /// ```
    ///
    /// ```python good
    /// import time
    ///
    /// @ct.kernel
    /// def scale(x):
    ///     ct.store(x, (ct.bid(0),), ct.load(x, (ct.bid(0),), (128,)) * 2)
    ///
    /// def bench(x, stream):
    ///     ct.launch(stream, (64,), scale, (x,))
    ///     torch.cuda.synchronize()
    ///     start = time.perf_counter()
    ///     for _ in range(100):
    ///         ct.launch(stream, (64,), scale, (x,))
    ///     torch.cuda.synchronize()
    ///     return (time.perf_counter() - start) / 100
    /// ```
    TP116 "cold-process-timing" Hint,
    Workspace(check)
}

/// Words in names of those who know that the first run is another one, or want to time it.
const AWARE: [&str; 7] = ["warm", "compil", "cold", "first", "jit", "tune", "tuning"];

fn check(file: &FileContext<'_>, _: &dyn Links, out: &mut Findings<'_>) {
    if file.model.launches.is_empty() {
        return;
    }
    let functions = host::functions(file);
    let launching = launching(file, &functions);
    scope(file, &host::module(file), &launching, out);
    for def in &functions {
        let body = def.with(def.node.body.as_slice());
        if !is_aware(&def.node.name.name) {
            scope(file, &[body], &launching, out);
        }
    }
}

/// Names of functions that launch a kernel, themselves or through others of the file.
fn launching<'a>(
    file: &FileContext<'a>,
    functions: &[InItem<'a, FunctionDef>],
) -> FxHashSet<&'a SmolStr> {
    let launches: FxHashSet<Span> = file.model.launches.iter().map(|l| l.span).collect();
    let mut found: FxHashSet<&SmolStr> = FxHashSet::default();
    // Each round adds the callers of those found; few rounds are ever needed.
    for _ in 0..4 {
        let before = found.len();
        for def in functions {
            let mut launches_here = false;
            let body = def.with(def.node.body.as_slice());
            host::each(&[body], &mut |expr, _| {
                if let ExprKind::Call { func, .. } = &expr.node.kind {
                    launches_here |= launches.contains(&expr.place(expr.node.span))
                        || func.name().is_some_and(|n| found.contains(n));
                }
            });
            if launches_here {
                found.insert(&def.node.name.name);
            }
        }
        if found.len() == before {
            break;
        }
    }
    found
}

/// What a scope does, in order.
enum Step {
    /// A clock is read.
    Clock,
    /// A kernel runs: what is called, and where.
    Run(String, Span),
}

fn scope<'a>(
    file: &FileContext<'a>,
    scope: &[InItem<'a, [tileperf_syntax::ast::Stmt]>],
    launching: &FxHashSet<&SmolStr>,
    out: &mut Findings<'_>,
) {
    let mut steps: Vec<Step> = Vec::new();
    let mut lambdas: Vec<Span> = Vec::new();
    let mut aware = false;
    host::each(scope, &mut |expr, _| {
        let place = expr.place(expr.node.span);
        match &expr.node.kind {
            ExprKind::Lambda { .. } => lambdas.push(place),
            ExprKind::Name(name) => aware |= is_aware(name),
            ExprKind::Call { func, .. } => {
                // What a lambda does, it does when it is called.
                if lambdas.iter().any(|l| l.contains(place)) {
                    return;
                }
                if let Some(run) = timed(file, expr, launching) {
                    steps.extend([Step::Clock, run, Step::Clock]);
                } else if is_clock(file, expr.node) {
                    steps.push(Step::Clock);
                } else if let Some(name) = runs(file, expr, func, launching) {
                    steps.push(Step::Run(name, place));
                }
            }
            _ => {}
        }
    });
    if aware {
        return;
    }
    let Some(start) = steps.iter().position(|s| matches!(s, Step::Clock)) else {
        return;
    };
    let Some(end) = steps.iter().rposition(|s| matches!(s, Step::Clock)) else {
        return;
    };
    let mut warm: Vec<&str> = (steps[..start].iter())
        .filter_map(|s| match s {
            Step::Run(name, _) => Some(name.as_str()),
            Step::Clock => None,
        })
        .collect();
    for step in &steps[start..end] {
        let Step::Run(name, place) = step else {
            continue;
        };
        if !warm.contains(&name.as_str()) {
            warm.push(name);
            out.push(
                *place,
                format!(
                    "The first run of `{name}` is timed here, compiling and loading it included; run it \
                     once before the clock starts"
                ),
            );
        }
    }
}

fn is_aware(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    AWARE.iter().any(|word| lower.contains(word))
}

/// Whether a call reads a clock: `time.perf_counter()`, `event.record()`.
fn is_clock(file: &FileContext<'_>, expr: &Expr) -> bool {
    let ExprKind::Call { func, .. } = &expr.kind else {
        return false;
    };
    if let Some((base, "record", _)) = host::method(expr) {
        let called = base.last_ident().map(|i| i.name.to_ascii_lowercase());
        return called.is_some_and(|name| {
            ["start", "end", "stop", "begin", "event"]
                .iter()
                .any(|w| name.contains(w))
        });
    }
    file.module.path(func).is_some_and(|path| {
        matches!(
            path.as_str(),
            "time.time"
                | "time.time_ns"
                | "time.perf_counter"
                | "time.perf_counter_ns"
                | "time.monotonic"
                | "timeit.default_timer"
        )
    })
}

/// What `timeit` is given to run: it starts its clock before the first time.
fn timed(
    file: &FileContext<'_>,
    expr: InItem<'_, Expr>,
    launching: &FxHashSet<&SmolStr>,
) -> Option<Step> {
    let ExprKind::Call { func, args } = &expr.node.kind else {
        return None;
    };
    let path = file.module.path(func)?;
    if !matches!(path.as_str(), "timeit.timeit" | "timeit.repeat") {
        return None;
    }
    let mut run = None;
    args.first()?.value.walk(&mut |inner| {
        let call = expr.with(inner);
        if let ExprKind::Call { func, .. } = &inner.kind
            && run.is_none()
        {
            run = runs(file, call, func, launching)
                .map(|name| Step::Run(name, call.place(inner.span)));
        }
    });
    run
}

/// The kernel or function that a call runs, if it launches.
fn runs(
    file: &FileContext<'_>,
    expr: InItem<'_, Expr>,
    func: &Expr,
    launching: &FxHashSet<&SmolStr>,
) -> Option<String> {
    let place = expr.place(expr.node.span);
    if let Some(launch) = file.model.launches.iter().find(|l| l.span == place) {
        return Some(launch.kernel_text.clone());
    }
    let name = func.name().filter(|n| launching.contains(n));
    name.map(|n| n.to_string())
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    const HEAD: &str = "import time\nimport torch\nfrom time import perf_counter as now\nimport cuda.tile as ct\n@ct.kernel\ndef k(x):\n    pass\n\ndef op(x):\n    ct.launch(s, (1,), k, (x,))\n\ndef outer(x):\n    return op(x)\n\n";

    fn timed(code: &str) {
        bad(&RULE, &format!("{HEAD}{code}"));
    }

    fn silent(code: &str) {
        good(&RULE, &format!("{HEAD}{code}"));
    }

    #[test]
    fn clocks_around_a_first_run() {
        timed("t = now()\nouter(x)  # TP116\nprint(now() - t)\n");
        timed(
            "def bench(x):\n    start = torch.cuda.Event(enable_timing=True)\n    end = torch.cuda.Event(enable_timing=True)\n    start.record()\n    op(x)  # TP116\n    end.record()\n    return start.elapsed_time(end)\n",
        );
        timed("import timeit\nprint(timeit.timeit(lambda: outer(x), number=9))  # TP116\n");
        // Another one was run before.
        timed(
            "op(x)\nt = time.time()\nct.launch(s, (1,), k, (x,))  # TP116\nprint(time.time() - t)\n",
        );
        timed(
            "def bench(x):\n    ts = []\n    for _ in range(9):\n        t = time.perf_counter()\n        op(x)  # TP116\n        ts.append(time.perf_counter() - t)\n    return ts\n",
        );
    }

    #[test]
    fn runs_before_the_clock_and_other_clocks() {
        silent("op(x)\nt = now()\nop(x)\nprint(now() - t)\n");
        silent("for _ in range(3):\n    op(x)\nt = now()\nop(x)\nprint(now() - t)\n");
        silent(
            "import timeit\nop(x)\nprint(timeit.timeit(lambda: op(x), number=9), timeit.timeit('1'))\n",
        );
        // It says what it wants to know.
        silent("t = now()\nop(x)\nfirst_run = now() - t\n");
        silent(
            "def bench(x, warmup=3):\n    for i in range(9):\n        t = now()\n        op(x)\n        if i >= warmup:\n            ts.append(now() - t)\n",
        );
        silent("def compile_time(x):\n    t = now()\n    op(x)\n    return now() - t\n");
        // The clock times something else, or is read once only.
        silent("t = now()\nload()\nprint(now() - t)\nop(x)\n");
        silent("def load():\n    return torch.load(p)\n\nt = now()\nload()\nprint(now() - t)\n");
        silent("print(now())\nop(x)\n");
        silent("stream().record(1)\nop(x)\nstream().record(2)\n");
        silent("clocks[0]()\nop(x)\nclocks[1]()\n");
        timed(
            "def all_of(x):\n    most(x)\n\ndef most(x):\n    outer(x)\n\nt = now()\nall_of(x)  # TP116\nprint(now() - t)\n",
        );
        silent("t = now()\nf = lambda: op(x)\nprint(now() - t)\n");
        timed("f = lambda: 1\nt = now()\nop(x)  # TP116\nprint(now() - t)\n");
        silent("stream.record(op)\nop(x)\nlog.record(1)\n");
        // Timed by somebody else.
        silent("ms = do_bench(lambda: op(x))\n");
    }

    #[test]
    fn runs_through_several_functions_and_within_lambdas() {
        timed(
            "def most(x):\n    outer(x)\n\ndef all_of(x):\n    most(x)\n\nt = now()\nall_of(x)  # TP116\nprint(now() - t)\n",
        );
        silent("t = now()\nf = lambda: op(x)\nprint(now() - t)\n");
    }
}
