//! The grid and arguments of a launch, and the arguments of a search's trials, followed to where they
//! were written.

use std::sync::Arc;

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Arg, Expr, ExprKind, Stmt, StmtKind};

use super::tuning::search_call::{Given, Gives, SearchCall};
use super::{FileContext, InItem, KernelFacts, Links};
use crate::body::{Bound, argument, bound};
use crate::model::{Candidate, Launch, LaunchApi, Search};

/// How many names are followed one after the other.
const HOPS: u32 = 4;

/// A launch of the file with its arguments.
pub(super) struct LaunchCall<'a> {
    api: LaunchApi,
    call: InItem<'a, Expr>,
    args: &'a [Arg],
}

impl<'a> LaunchCall<'a> {
    /// The call of a launch that is worth judging: its text parses, and no test expects it to fail.
    pub(super) fn of(file: &FileContext<'a>, launch: &Launch) -> Option<LaunchCall<'a>> {
        if launch.stale {
            return None;
        }
        let call = file.expr(launch.span)?;
        let ExprKind::Call { args, .. } = &call.node.kind else {
            return None;
        };
        let open = args.iter().any(|a| a.stars > 0);
        if open || is_expected_to_fail(&call.item.facts.body, call.node.span) {
            return None;
        }
        Some(LaunchCall {
            api: launch.api,
            call,
            args,
        })
    }

    /// The grid.
    pub(super) fn grid(&self) -> Option<InItem<'a, Expr>> {
        let place = match self.api {
            LaunchApi::Launch => 1,
            LaunchApi::CutileCall => 0,
        };
        self.argument(place, "grid")
    }

    /// What is passed to the kernel, one by one, if all of it is written out.
    fn passed(&self, file: &FileContext<'a>) -> Option<Vec<InItem<'a, Expr>>> {
        let (place, name) = match self.api {
            LaunchApi::Launch => (3, "kernel_args"),
            LaunchApi::CutileCall => (2, "args"),
        };
        let mut out = Vec::new();
        elements(file, self.argument(place, name)?, &mut out, HOPS)?;
        Some(out)
    }

    fn argument(&self, place: usize, name: &str) -> Option<InItem<'a, Expr>> {
        let node = argument(self.args, Some(place), name)?;
        Some(self.call.with(node))
    }
}

/// What is passed to a kernel somewhere, one by one.
pub(super) struct Passed<'a> {
    /// The function's name in the call that passes it.
    pub(super) callee: Span,
    /// The kernel as written.
    pub(super) kernel: &'a str,
    candidates: &'a [Candidate],
    pub(super) args: Vec<InItem<'a, Expr>>,
}

impl Passed<'_> {
    /// The kernels that it may be passed to, if all of them are known.
    pub(super) fn kernels(&self, links: &dyn Links) -> Option<Vec<Arc<KernelFacts>>> {
        let mut out = Vec::new();
        for candidate in self.candidates {
            let found = links.kernels(std::slice::from_ref(candidate));
            if found.is_empty() {
                return None;
            }
            out.extend(found);
        }
        (!out.is_empty()).then_some(out)
    }
}

/// Whatever launches pass to kernels, and searches by the callbacks that give it, as far as all of
/// it is written out.
pub(super) fn passed<'a>(file: &FileContext<'a>) -> Vec<Passed<'a>> {
    let launches = file.model.launches.iter().filter_map(|launch| {
        Some(Passed {
            callee: launch.callee_span,
            kernel: &launch.kernel_text,
            candidates: &launch.candidates,
            args: LaunchCall::of(file, launch)?.passed(file)?,
        })
    });
    let searches = file.model.searches.iter().flat_map(|s| in_trials(file, s));
    launches.chain(searches).collect()
}

/// What a search passes to its kernel, for each value that a callback gives.
fn in_trials<'a>(file: &FileContext<'a>, search: &'a Search) -> Vec<Passed<'a>> {
    let Some(call) = SearchCall::of(file, search) else {
        return Vec::new();
    };
    if is_expected_to_fail(&call.item.facts.body, call.call.span) {
        return Vec::new();
    }
    let callbacks = [Given::Args, Given::LaunchArgs].map(|given| call.arg(given));
    let given = callbacks.into_iter().flatten().flat_map(|c| call.gives(c));
    given
        .filter_map(|given| {
            Some(Passed {
                callee: search.callee_span,
                kernel: &search.kernel_text,
                candidates: &search.candidates,
                args: given_args(file, given)?,
            })
        })
        .collect()
}

fn given_args<'a>(file: &FileContext<'a>, given: Gives<'a>) -> Option<Vec<InItem<'a, Expr>>> {
    let value = InItem {
        item: given.item,
        node: given.value,
    };
    let mut out = Vec::new();
    elements(file, value, &mut out, HOPS)?;
    // Outside, the configuration's name is that of something else.
    let is_config = |e: &InItem<'_, Expr>| e.node.name().is_some() && e.node.name() == given.config;
    (!out.iter().any(is_config)).then_some(out)
}

/// The elements of a tuple or list, `+` and `*rest` included.
fn elements<'a>(
    file: &FileContext<'a>,
    expr: InItem<'a, Expr>,
    out: &mut Vec<InItem<'a, Expr>>,
    hops: u32,
) -> Option<()> {
    let expr = follow(file, expr);
    let hops = hops.checked_sub(1)?;
    match &expr.node.kind {
        ExprKind::Tuple(items) | ExprKind::List(items) => {
            for item in items {
                match &item.kind {
                    ExprKind::Starred(inner) => {
                        elements(file, expr.with(inner.as_ref()), out, hops)?;
                    }
                    _ => out.push(expr.with(item)),
                }
            }
        }
        ExprKind::Binary { op, left, right } if op == "+" => {
            elements(file, expr.with(left.as_ref()), out, hops)?;
            elements(file, expr.with(right.as_ref()), out, hops)?;
        }
        ExprKind::Call { func, args } if func.name().is_some_and(|n| n == "tuple") => {
            let [only] = args.as_slice() else { return None };
            elements(file, expr.with(&only.value), out, hops)?;
        }
        _ => return None,
    }
    Some(())
}

/// What a name stands for: the only value that its scope gives it. Anything else is itself.
pub(super) fn follow<'a>(file: &FileContext<'a>, expr: InItem<'a, Expr>) -> InItem<'a, Expr> {
    let mut expr = expr;
    for _ in 0..HOPS {
        let Some(name) = expr.node.name() else { break };
        match value_of(file, &expr, name) {
            Some(value) => expr = value,
            None => break,
        }
    }
    expr
}

fn value_of<'a>(
    file: &FileContext<'a>,
    at: &InItem<'a, Expr>,
    name: &SmolStr,
) -> Option<InItem<'a, Expr>> {
    let around = file.functions_around(at.place(at.node.span));
    for function in &around {
        if function.node.params.iter().any(|p| p.name.name == *name) {
            return None;
        }
        match bound(&function.node.body, name) {
            Bound::Nowhere => {}
            Bound::Once(value) => return Some(function.with(value)),
            Bound::Otherwise => return None,
        }
    }
    // A name of the module is looked for only from there: functions run when it may have changed.
    if !around.is_empty() {
        return None;
    }
    let mut found = None;
    for item in &file.file.items {
        match bound(&item.facts.body, name) {
            Bound::Nowhere => {}
            Bound::Once(node) if found.is_none() => found = Some(InItem { item, node }),
            _ => return None,
        }
    }
    found
}

/// Whether a test expects what stands there to fail: `with pytest.raises(TypeError):` around it.
fn is_expected_to_fail(body: &[Stmt], span: Span) -> bool {
    let around = body.iter().find(|s| s.span.contains(span));
    around.is_some_and(|stmt| {
        let expects = match &stmt.kind {
            StmtKind::With { items, .. } => items.iter().any(|(value, _)| is_raises(value)),
            _ => false,
        };
        expects || (stmt.blocks().into_iter()).any(|b| is_expected_to_fail(b, span))
    })
}

fn is_raises(value: &Expr) -> bool {
    let ExprKind::Call { func, .. } = &value.kind else {
        return false;
    };
    func.last_ident()
        .is_some_and(|n| n.name.to_lowercase().contains("raises"))
}
