//! A search that runs an in-place kernel on live data.

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, StmtKind};

use super::tuning::search_call::{Given, Gives, SearchCall, is_test};
use crate::body::walk;
use crate::model::{KernelParam, SearchApi};
use crate::rewrite::Edits;
use crate::rules::rule::rule;
use crate::rules::{FileContext, Findings, KernelFacts, Links, Severity};

rule! {
    /// A search runs a kernel that writes over what it reads, on the caller's data: every trial
    /// changes the input of the next one.
    ///
    /// A search launches the kernel many times for each configuration. If the array that it stores
    /// to is one that it loads, the data have been through the kernel dozens of times before the one
    /// launch that was meant. Search into a scratch buffer that is allocated once, outside
    /// `args_fn`, and let only the final launch work in place. A `.clone()` inside `args_fn` is right but
    /// costs about 4 us in every trial, which a search of a kernel under 50 us mostly times: a hint.
    ///
    /// ```python bad
    /// import cuda.tile as ct
    /// import torch
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// @ct.kernel
    /// def rotate(x, out, BLOCK: ct.Constant[int]):
    ///     tile = ct.load(x, (ct.bid(0),), (BLOCK,))
    ///     ct.store(out, (ct.bid(0),), -tile)
    ///
    /// def tune(q, stream, grid, configs):
    ///     return exhaustive_search(configs, stream, grid, rotate, lambda cfg: (q, q, cfg.block))  # TP103
    /// ```
    ///
    /// ```python fixed
    /// import cuda.tile as ct
    /// import torch
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// @ct.kernel
    /// def rotate(x, out, BLOCK: ct.Constant[int]):
    ///     tile = ct.load(x, (ct.bid(0),), (BLOCK,))
    ///     ct.store(out, (ct.bid(0),), -tile)
    ///
    /// def tune(q, stream, grid, configs):
    ///     q_scratch = torch.empty_like(q)
    ///     return exhaustive_search(configs, stream, grid, rotate, lambda cfg: (q, q_scratch, cfg.block))
    /// ```
    ///
    /// ```python good
    /// import cuda.tile as ct
    /// import torch
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// @ct.kernel
    /// def rotate(x, out, BLOCK: ct.Constant[int]):
    ///     tile = ct.load(x, (ct.bid(0),), (BLOCK,))
    ///     ct.store(out, (ct.bid(0),), -tile)
    ///
    /// def tune(q, stream, grid, configs):
    ///     out = torch.empty_like(q)
    ///     return exhaustive_search(configs, stream, grid, rotate, lambda cfg: (q, out, cfg.block))
    /// ```
    TP103 "inplace-autotune-no-split" Error,
    Workspace(check)
}

fn check(file: &FileContext<'_>, links: &dyn Links, out: &mut Findings<'_>) {
    if is_test(file) {
        return;
    }
    for search in &file.model.searches {
        let Some(call) = SearchCall::of(file, search) else {
            continue;
        };
        let Some(args) = call.arg(Given::Args) else {
            continue;
        };
        let kernels = links.kernels(&search.candidates);
        for given in call.gives(args) {
            let found = kernels.iter().find_map(|k| Overwrite::of(&call, given, k));
            if let Some(found) = found {
                found.report(&call, args, out);
                break;
            }
            if let Some(clone) = kernels.iter().find_map(|k| cloned(&call, given, k)) {
                clone.report(out);
                break;
            }
        }
    }
}

/// What a callback gives a kernel, by parameter, if all of it is written out.
fn pairs<'a, 'k>(
    call: &SearchCall<'a>,
    given: Gives<'a>,
    kernel: &'k KernelFacts,
) -> Option<Vec<(&'k KernelParam, &'a Expr)>> {
    let value = if given.item.span == call.item.span {
        call.follow(given.value)
    } else {
        given.value
    };
    let ExprKind::Tuple(args) = &value.kind else {
        return None;
    };
    let starred = |a: &Expr| matches!(a.kind, ExprKind::Starred(_));
    let whole = !args.iter().any(starred) && args.len() == kernel.params.len();
    whole.then(|| kernel.params.iter().zip(args).collect())
}

/// A copy that is made for every trial.
struct Clone<'a> {
    tensor: &'a str,
    /// In the file.
    span: Span,
}

/// The copy of something live that a kernel writes to.
fn cloned<'a>(call: &SearchCall<'a>, given: Gives<'a>, kernel: &KernelFacts) -> Option<Clone<'a>> {
    let device = kernel.device.as_ref()?;
    let mut pairs = pairs(call, given, kernel)?.into_iter();
    pairs.find_map(|(param, arg)| {
        if !device.body.stored.contains(&param.name) {
            return None;
        }
        let mut copy = arg;
        while let Some(base) = view_of(copy) {
            copy = base;
        }
        let ExprKind::Call { func, .. } = &copy.kind else {
            return None;
        };
        let ExprKind::Attribute { value, attr } = &func.kind else {
            return None;
        };
        let tensor = (attr.name == "clone").then(|| live(call, value))??;
        Some(Clone {
            tensor,
            span: given.item.place(copy.span),
        })
    })
}

impl Clone<'_> {
    fn report(self, out: &mut Findings<'_>) {
        out.push(
            self.span,
            format!(
                "every trial copies `{}`, which costs about 4 us: with a kernel under 50 us that is much of \
                 what the search times; allocate a scratch buffer once",
                self.tensor
            ),
        )
        .severity(Severity::Hint);
    }
}

/// An argument that a kernel reads and writes.
struct Overwrite<'a> {
    kernel: String,
    /// The tensor's name.
    tensor: &'a str,
    /// Where the tensor stands among the arguments as what is written.
    written: Vec<&'a Expr>,
    /// It is read through another parameter.
    split: bool,
}

impl<'a> Overwrite<'a> {
    fn of(call: &SearchCall<'a>, given: Gives<'a>, kernel: &KernelFacts) -> Option<Self> {
        let device = kernel.device.as_ref()?;
        let pairs = pairs(call, given, kernel)?;
        for (param, arg) in &pairs {
            if !device.body.stored.contains(&param.name) {
                continue;
            }
            let Some(tensor) = live(call, arg) else { continue };
            let reads = |name: &str, arg: &Expr| {
                device.body.loaded.contains(name) && live(call, arg) == Some(tensor)
            };
            let split = (pairs.iter())
                .any(|(other, arg)| other.name != param.name && reads(&other.name, arg));
            // What it stores first and loads then is its own.
            let same = device.body.read_first.contains(&param.name);
            if split || same {
                let written = (pairs.iter())
                    .filter(|(p, a)| {
                        device.body.stored.contains(&p.name) && live(call, a) == Some(tensor)
                    })
                    .map(|(_, a)| *a)
                    .collect();
                return Some(Overwrite {
                    kernel: kernel.name.to_string(),
                    tensor,
                    written,
                    split: split && !same,
                });
            }
        }
        None
    }

    fn report(self, call: &SearchCall<'a>, args: &'a Expr, out: &mut Findings<'_>) {
        let edits = self.scratch(call, args);
        let described = out.push(
            call.search.callee_span,
            format!(
                "`{}` writes over `{}`, which it also reads: every trial of the search changes the input of the next",
                self.kernel, self.tensor
            ),
        );
        if let Some(edits) = edits {
            described.review_fix(format!("Search into a scratch copy of `{}`", self.tensor), edits);
        }
    }

    /// A buffer allocated before the search, which the trials write to.
    fn scratch(&self, call: &SearchCall<'a>, args: &'a Expr) -> Option<Edits<'a>> {
        // The old search launches once more, with what `args_fn` gives if nothing else is said.
        let launches = call.search.api == SearchApi::AutotuneLaunch;
        if launches && call.arg(Given::LaunchArgs).is_none() {
            return None;
        }
        // The final launch may use a callback that is not written in the call.
        let ExprKind::Lambda { .. } = &args.kind else {
            return None;
        };
        let stmt = statement(call)?;
        let name = format!("{}_scratch", self.tensor);
        if call.file.text.contains(&name) {
            return None;
        }
        let torch = call.file.module.imports.get("torch");
        let value = if self.split && torch.is_some_and(|p| p == "torch") {
            format!("torch.empty_like({})", self.tensor)
        } else {
            format!("{}.clone()", self.tensor)
        };
        let mut edits = Edits::new(call.file.text)
            .lines_before(stmt, &[&format!("{name} = {value}")]);
        for arg in &self.written {
            // Through another local name there is nothing to replace here.
            let mut place = None;
            arg.walk(&mut |e| {
                if place.is_none() && e.name().is_some_and(|n| n == self.tensor) {
                    place = Some(e.span);
                }
            });
            let span = place?;
            edits = edits.replace(call.place(span), name.clone());
        }
        Some(edits)
    }
}

/// Where the simple statement begins that holds the search, if it begins its line.
fn statement(call: &SearchCall<'_>) -> Option<u32> {
    let mut found = None;
    walk(call.body(), &mut |expr, place| {
        if expr.span == call.call.span {
            found = place.stmt();
        }
    });
    let stmt = found?;
    if !matches!(
        stmt.kind,
        StmtKind::Assign { .. } | StmtKind::Expr(_) | StmtKind::Return(_) | StmtKind::AnnAssign { .. }
    ) {
        return None;
    }
    let start = call.place(stmt.span).start;
    let line = crate::rewrite::line_start(call.file.text, start);
    let before = call.file.text.get(line as usize..start as usize)?;
    before.trim().is_empty().then_some(start)
}

/// The tensor that an argument is, or is a view of, unless it was made for the search: a name that
/// callers know.
fn live<'a>(call: &SearchCall<'a>, arg: &'a Expr) -> Option<&'a str> {
    live_within(call, arg, 6)
}

fn live_within<'a>(call: &SearchCall<'a>, arg: &'a Expr, hops: u32) -> Option<&'a str> {
    let hops = hops.checked_sub(1)?;
    match &arg.kind {
        ExprKind::Name(name) => {
            let values = call.values(name);
            let assigned: Vec<&Expr> = values.iter().flatten().copied().collect();
            if assigned.is_empty() {
                // A parameter, or a part of something unpacked.
                return values.first().map(|_| name.as_str());
            }
            let mut roots = assigned.iter().map(|v| {
                if viewed(v).is_some_and(|base| base == name) {
                    // `x = x.contiguous()`
                    return Some(name.as_str());
                }
                live_within(call, v, hops)
            });
            let first = roots.next()??;
            roots.all(|r| r == Some(first)).then_some(first)
        }
        _ => live_within(call, view_of(arg)?, hops),
    }
}

/// What a call gives a view of.
fn view_of(expr: &Expr) -> Option<&Expr> {
    let ExprKind::Call { func, .. } = &expr.kind else {
        return None;
    };
    match &func.kind {
        ExprKind::Attribute { value, attr } if VIEWS.contains(&attr.name.as_str()) => Some(value),
        _ => None,
    }
}

/// The name at the bottom of views.
fn viewed(expr: &Expr) -> Option<&SmolStr> {
    let base = view_of(expr)?;
    base.name().or_else(|| viewed(base))
}

/// Methods that give the same memory.
const VIEWS: [&str; 10] = [
    "view",
    "reshape",
    "flatten",
    "squeeze",
    "unsqueeze",
    "contiguous",
    "detach",
    "view_as",
    "transpose",
    "permute",
];

#[cfg(test)]
mod tests {
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
            &tuned("    q_scratch = q.clone()\n", "double", "lambda cfg: (q_scratch, cfg.n)", ""),
        );
        fixes(
            &RULE,
            &tuned("", "move", "lambda cfg: (q, q, 8)", "  # TP103"),
            &tuned("    q_scratch = torch.empty_like(q)\n", "move", "lambda cfg: (q, q_scratch, 8)", ""),
        );
        fixes(
            &RULE,
            &tuned("", "move", "args_fn=lambda cfg: (q.view(-1), q.view(-1), 8)", "  # TP103"),
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
        bad(&RULE, &tuned("    flat = q.reshape(-1)\n", "move", "lambda cfg: (flat, q, 8)", "  # TP103"));
        bad(&RULE, &tuned("    q = q.contiguous()\n", "double", "lambda cfg: (q, 8)", "  # TP103"));
        bad(&RULE, &tuned("    def args(cfg):\n        return (q, q, 8)\n", "move", "args", "  # TP103"));
        bad(&RULE, &tuned("    args = (q, q, 8)\n", "move", "lambda cfg: args", "  # TP103"));
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
            bad(&RULE, &tuned("", "move", &format!("lambda cfg: (q, q.{view}(), 8)"), "  # TP103"));
        }
        good(&RULE, &tuned("", "move", "lambda cfg: (q, q.float(), 8)", ""));
        // One of the branches makes a buffer.
        let either = "    if p:\n        out = q\n    else:\n        out = torch.empty_like(q)\n";
        good(&RULE, &tuned(either, "move", "lambda cfg: (q, out, 8)", ""));
    }

    #[test]
    fn the_old_search_launches_itself() {
        let old = |args: &str| {
            tuned("", "double", args, "  # TP103")
                .replace("from cuda.tile.tune import exhaustive_search", "from cuda.tile_experimental import autotune_launch")
                .replace("exhaustive_search(c, s, g, double,", "autotune_launch(s, g, double,")
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
            assert!(text[found[0].span.range()].ends_with(".clone()"), "{found:?}");
            assert!(found[0].message.contains("`q`") && found[0].fixes.is_empty(), "{found:?}");
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
        good_beside(&RULE, &others, &tune("shift", "lambda cfg: (q, torch.empty_like(q), cfg.n)", ""));
        good_beside(&RULE, &[], &tune("shift", "lambda cfg: (q, q, cfg.n)", ""));
    }

    #[test]
    fn scratch_clones_and_own_buffers() {
        for (lines, kernel, args) in [
            ("", "move", "lambda cfg: (q, p, 8)"),
            ("", "double", "lambda cfg: (p.empty(), 8)"),
            ("    p = q.clone()\n", "double", "lambda cfg: (p, 8)"),
            ("    p = q.clone()\n", "double", "lambda cfg: (p.clone(), 8)"),
            // Only read.
            ("", "move", "lambda cfg: (q.clone(), p, 8)"),
            ("    out = torch.empty_like(q)\n", "move", "lambda cfg: (q, out, 8)"),
            ("    q = q.clone()\n", "double", "lambda cfg: (q, 8)"),
            ("    dummy = torch.zeros(8)\n", "double", "lambda cfg: (dummy, 8)"),
            ("    dummy = q.new_empty(8)\n", "double", "lambda cfg: (dummy, 8)"),
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
}
