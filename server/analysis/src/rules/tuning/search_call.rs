//! What a search is given, as the rules about autotuning see it: its arguments, what names stand
//! for, what its callbacks give.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use tileperf_syntax::ast::{Arg, Expr, ExprKind, FunctionDef, Stmt, StmtKind};
use tileperf_syntax::{Item, Span};

use crate::body::{argument, bindings, walk};
use crate::model::{Search, SearchApi};
use crate::rules::context::functions;
use crate::rules::{FileContext, KernelFacts};

/// A search of a file with the code around it. Its places are relative to the item.
pub(crate) struct SearchCall<'a> {
    pub(in crate::rules) file: FileContext<'a>,
    pub(in crate::rules) search: &'a Search,
    pub(in crate::rules) item: &'a Item,
    pub(in crate::rules) call: &'a Expr,
    args: &'a [Arg],
    /// The functions around the call, innermost first.
    pub(in crate::rules) around: Vec<&'a FunctionDef>,
}

/// An argument of a search.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Given {
    Space,
    Stream,
    Grid,
    Kernel,
    Args,
    LaunchArgs,
    Hints,
}

/// What a callback gives: one of the values it returns.
#[derive(Clone, Copy)]
pub(in crate::rules) struct Gives<'a> {
    pub(in crate::rules) item: &'a Item,
    /// The name by which it knows the configuration.
    pub(in crate::rules) config: Option<&'a SmolStr>,
    pub(in crate::rules) value: &'a Expr,
}

impl<'a> SearchCall<'a> {
    pub(crate) fn of(file: &FileContext<'a>, search: &'a Search) -> Option<SearchCall<'a>> {
        if search.stale {
            return None;
        }
        let call = file.expr(search.span)?;
        let ExprKind::Call { args, .. } = &call.node.kind else {
            return None;
        };
        let around = file.functions_around(search.span);
        Some(SearchCall {
            file: *file,
            search,
            item: call.item,
            call: call.node,
            args,
            around: around.into_iter().map(|f| f.node).collect(),
        })
    }

    /// An argument of the call.
    pub(crate) fn arg(&self, given: Given) -> Option<&'a Expr> {
        let new = self.search.api == SearchApi::ExhaustiveSearch;
        let (place, name) = match (given, new) {
            (Given::Space, true) => (Some(0), "search_space"),
            (Given::Space, false) => (None, "search_space"),
            (Given::Stream, true) => (Some(1), "stream"),
            (Given::Stream, false) => (Some(0), "stream"),
            (Given::Grid, true) => (Some(2), "grid_fn"),
            (Given::Grid, false) => (Some(1), "grid_fn"),
            (Given::Kernel, true) => (Some(3), "kernel"),
            (Given::Kernel, false) => (Some(2), "kernel"),
            (Given::Args, true) => (Some(4), "args_fn"),
            (Given::Args, false) => (Some(3), "args_fn"),
            (Given::LaunchArgs, true) => return None,
            (Given::LaunchArgs, false) => (Some(4), "launch_args_fn"),
            (Given::Hints, _) => (Some(5), "hints_fn"),
        };
        argument(self.args, place, name)
    }

    /// Some arguments are not written out.
    pub(crate) fn is_open(&self) -> bool {
        self.args.iter().any(|a| a.stars > 0)
    }

    /// The place in the file of something in the call's item.
    pub(in crate::rules) fn place(&self, span: Span) -> Span {
        self.item.place(span)
    }

    /// What stands at a place of the call's item.
    pub(in crate::rules) fn source(&self, span: Span) -> &'a str {
        self.file.source(self.place(span))
    }

    /// The statements of the innermost function, or of the module.
    pub(in crate::rules) fn body(&self) -> &'a [Stmt] {
        match self.around.first() {
            Some(def) => &def.body,
            None => &self.item.facts.body,
        }
    }

    /// Every value that a local name is bound to; `None` among them where it is bound in another way
    /// than by an assignment, a parameter included.
    pub(in crate::rules) fn values(&self, name: &str) -> Vec<Option<&'a Expr>> {
        for def in &self.around {
            let mut found = Vec::new();
            if def.params.iter().any(|p| p.name.name == name) {
                found.push(None);
            }
            bindings(&def.body, name, &mut |value| found.push(value));
            if !found.is_empty() {
                return found;
            }
        }
        if self.around.is_empty() {
            let mut found = Vec::new();
            bindings(&self.item.facts.body, name, &mut |value| found.push(value));
            return found;
        }
        Vec::new()
    }

    /// What a local name stands for if it is bound once, else the expression itself.
    pub(in crate::rules) fn follow(&self, expr: &'a Expr) -> &'a Expr {
        let Some(name) = expr.name() else { return expr };
        match self.values(name).as_slice() {
            [Some(value)] => value,
            _ => expr,
        }
    }

    /// What a name of the module stands for if one statement at its top binds it.
    pub(in crate::rules) fn module_value(&self, name: &str) -> Option<(&'a Item, &'a Expr)> {
        let mut found = Vec::new();
        for item in &self.file.file.items {
            bindings(&item.facts.body, name, &mut |value| {
                found.push(value.map(|v| (item, v)));
            });
        }
        match found.as_slice() {
            [one] => *one,
            _ => None,
        }
    }

    /// The functions that a name can be: those nested in the functions around the call, else those
    /// at the top of the file.
    pub(in crate::rules) fn functions(&self, name: &str) -> Vec<(&'a Item, &'a FunctionDef)> {
        let named = |body: &'a [Stmt]| {
            let mut all = Vec::new();
            here(body, &mut all);
            all.retain(|d| d.name.name == name);
            all
        };
        for def in &self.around {
            let found = named(&def.body);
            if !found.is_empty() {
                return found.into_iter().map(|d| (self.item, d)).collect();
            }
        }
        (self.file.file.items.iter())
            .flat_map(|item| named(&item.facts.body).into_iter().map(move |d| (item, d)))
            .collect()
    }

    /// What a callback can give: a lambda's value, what a function of the file returns.
    pub(in crate::rules) fn gives(&self, callback: &'a Expr) -> Vec<Gives<'a>> {
        let callback = self.follow(callback);
        if let ExprKind::Lambda { params, body } = &callback.kind {
            return vec![Gives {
                item: self.item,
                config: params.first().map(|p| &p.name.name),
                value: body,
            }];
        }
        let Some(name) = callback.name() else {
            return Vec::new();
        };
        let mut out = Vec::new();
        for (item, def) in self.functions(name) {
            for value in returns(&def.body) {
                out.push(Gives {
                    item,
                    config: def.params.first().map(|p| &p.name.name),
                    value,
                });
            }
        }
        if out.is_empty() {
            // Each branch may set its own lambda.
            for value in self.values(name).into_iter().flatten() {
                if let ExprKind::Lambda { params, body } = &value.kind {
                    out.push(Gives {
                        item: self.item,
                        config: params.first().map(|p| &p.name.name),
                        value: body,
                    });
                }
            }
        }
        out
    }

    /// Names among the arguments of the trials that a kernel uses as arrays.
    pub(in crate::rules) fn array_args(&self, kernels: &[Arc<KernelFacts>]) -> Vec<&'a str> {
        let mut out = Vec::new();
        let Some(args) = self.arg(Given::Args) else {
            return out;
        };
        for given in self.gives(args) {
            let ExprKind::Tuple(parts) = &given.value.kind else {
                continue;
            };
            let whole = |k: &&Arc<KernelFacts>| k.params.len() == parts.len();
            for kernel in kernels.iter().filter(whole) {
                let Some(device) = &kernel.device else {
                    continue;
                };
                let pairs = kernel.params.iter().zip(parts);
                let arrays = pairs.filter(|(p, _)| device.body.arrays.contains(&p.name));
                out.extend(arrays.filter_map(|(_, a)| a.name()).map(SmolStr::as_str));
            }
        }
        out
    }

    /// Names around the call that are surely tensors.
    pub(in crate::rules) fn tensors(&self) -> FxHashSet<&'a str> {
        tensors_in(&self.file, self.around.iter().copied())
    }
}

/// Names of functions that are surely tensors: the code asks for something that only tensors have,
/// or says so.
pub(in crate::rules) fn tensors_in<'a>(
    file: &FileContext<'a>,
    defs: impl IntoIterator<Item = &'a FunctionDef>,
) -> FxHashSet<&'a str> {
    let mut found = FxHashSet::default();
    for def in defs {
        for param in &def.params {
            let annotated = param.annotation.as_ref().and_then(Expr::last_ident);
            if annotated.is_some_and(|i| i.name == "Tensor") {
                found.insert(param.name.name.as_str());
            }
        }
        walk(&def.body, &mut |expr, _| {
            if let ExprKind::Attribute { value, attr } = &expr.kind
                && let Some(name) = value.name()
                && TENSOR_ONLY.contains(&attr.name.as_str())
                && !file.module.imports.contains_key(name)
            {
                found.insert(name.as_str());
            }
        });
    }
    found
}

/// What only tensors have.
const TENSOR_ONLY: [&str; 16] = [
    "dtype",
    "device",
    "shape",
    "stride",
    "numel",
    "is_cuda",
    "contiguous",
    "is_contiguous",
    "data_ptr",
    "new_empty",
    "element_size",
    "ndim",
    "reshape",
    "unsqueeze",
    "squeeze",
    "is_floating_point",
];

/// The functions that statements define, those nested in other definitions left out.
fn here<'a>(body: &'a [Stmt], out: &mut Vec<&'a FunctionDef>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::FunctionDef(def) => out.push(def),
            StmtKind::ClassDef(_) => {}
            _ => stmt.blocks().into_iter().for_each(|b| here(b, out)),
        }
    }
}

/// What a function returns.
pub(in crate::rules) fn returns(body: &[Stmt]) -> Vec<&Expr> {
    let mut out = Vec::new();
    for stmt in body {
        match &stmt.kind {
            StmtKind::Return(Some(value)) => out.push(value),
            StmtKind::FunctionDef(_) | StmtKind::ClassDef(_) => {}
            _ => (stmt.blocks().into_iter()).for_each(|b| out.extend(returns(b))),
        }
    }
    out
}

/// Every function of a file with its item.
pub(in crate::rules) fn all_functions<'a>(
    file: &FileContext<'a>,
) -> Vec<(&'a Item, &'a FunctionDef)> {
    let mut out = Vec::new();
    for item in &file.file.items {
        let mut all = Vec::new();
        functions(&item.facts.body, &mut all);
        out.extend(all.into_iter().map(|d| (item, d)));
    }
    out
}

/// The names that an expression reads, each once, in order.
pub(in crate::rules) fn names<'a>(expr: &'a Expr) -> Vec<&'a SmolStr> {
    let mut out: Vec<&'a SmolStr> = Vec::new();
    expr.walk(&mut |e| {
        if let ExprKind::Name(name) = &e.kind
            && !out.contains(&name)
        {
            out.push(name);
        }
    });
    out
}

/// The file holds tests or benchmarks: what it searches is not on anybody's path.
pub(crate) fn is_test(file: &FileContext<'_>) -> bool {
    file.module.imports.contains_key("pytest")
        || (file.module.functions.keys()).any(|n| n.starts_with("test_") || n.starts_with("bench_"))
}
