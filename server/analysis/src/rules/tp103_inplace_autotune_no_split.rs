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
            let Some(tensor) = live(call, arg) else {
                continue;
            };
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
            described.review_fix(
                format!("Search into a scratch copy of `{}`", self.tensor),
                edits,
            );
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
        let mut edits =
            Edits::new(call.file.text).lines_before(stmt, &[&format!("{name} = {value}")]);
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
        StmtKind::Assign { .. }
            | StmtKind::Expr(_)
            | StmtKind::Return(_)
            | StmtKind::AnnAssign { .. }
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
mod tests;
