//! The cache that keeps what a search found: its dictionary, its key, what the key says.

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef, Stmt, StmtKind};
use tileperf_syntax::{Item, Span};

use super::search_call::{SearchCall, returns};
use crate::body::{bindings, walk};
use crate::rules::FileContext;

/// A function that keeps what a search found: the one that searches, or one that calls it.
#[derive(Clone, Copy)]
pub(in crate::rules) struct Keeper<'a> {
    pub(in crate::rules) file: FileContext<'a>,
    pub(in crate::rules) item: &'a Item,
    pub(in crate::rules) def: Option<&'a FunctionDef>,
    pub(in crate::rules) body: &'a [Stmt],
    /// The search, or the call that leads to it.
    pub(in crate::rules) search: Span,
}

impl<'a> Keeper<'a> {
    /// The key by which it keeps what was found, if it also asks for it by that key.
    pub(in crate::rules) fn key(&self) -> Option<&'a Expr> {
        let mut found = None;
        stores(self.body, &mut |stmt, cache, key| {
            let after = stmt.span.end >= self.search.end;
            if found.is_none() && after && self.looks_up(cache, key) {
                found = Some(key);
            }
        });
        found
    }

    fn source(&self, span: Span) -> &'a str {
        self.file.source(self.item.place(span))
    }

    /// Whether it asks a container for a key: `key in cache`, `cache.get(key)`, `cache[key]`.
    fn looks_up(&self, cache: &Expr, key: &Expr) -> bool {
        let same = |a: &Expr, b: &Expr| self.source(a.span) == self.source(b.span);
        let mut found = false;
        walk(self.body, &mut |expr, place| match &expr.kind {
            ExprKind::Compare { first, rest } => {
                found |= (rest.iter()).any(|(op, right)| {
                    matches!(op.as_str(), "in" | "not in") && same(first, key) && same(right, cache)
                });
            }
            ExprKind::Call { func, args } => {
                if let ExprKind::Attribute { value, attr } = &func.kind {
                    found |= attr.name == "get"
                        && same(value, cache)
                        && args.first().is_some_and(|a| same(&a.value, key));
                }
            }
            ExprKind::Subscript { value, index } => {
                let written = place.stmt().is_some_and(|s| match &s.kind {
                    StmtKind::Assign { targets, .. } => targets.iter().any(|t| t.span == expr.span),
                    _ => false,
                });
                found |=
                    !written && same(value, cache) && index.first().is_some_and(|i| same(i, key));
            }
            _ => {}
        });
        found
    }
}

/// Calls `visit` for each `container[key] = value`.
fn stores<'a>(body: &'a [Stmt], visit: &mut dyn FnMut(&'a Stmt, &'a Expr, &'a Expr)) {
    for stmt in body {
        if let StmtKind::Assign { targets, .. } = &stmt.kind {
            for target in targets {
                if let ExprKind::Subscript { value, index } = &target.kind
                    && let [key] = index.as_slice()
                {
                    visit(stmt, value, key);
                }
            }
        }
        if !matches!(stmt.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_)) {
            for inner in stmt.blocks() {
                stores(inner, visit);
            }
        }
    }
}

/// What a key distinguishes.
#[derive(Debug, Default)]
pub(in crate::rules) struct Says<'a> {
    pub(in crate::rules) shape: bool,
    /// All extents of some tensor.
    pub(in crate::rules) whole: bool,
    pub(in crate::rules) dtype: bool,
    pub(in crate::rules) device: bool,
    /// Names that it is made of, directly or through others.
    pub(in crate::rules) names: FxHashSet<&'a str>,
    /// Part of it cannot be seen.
    pub(in crate::rules) open: bool,
}

/// The functions in which the names of a key are looked up.
pub(in crate::rules) struct KeyScope<'c, 'a> {
    pub(in crate::rules) call: &'c SearchCall<'a>,
    /// The function that makes the key.
    pub(in crate::rules) def: Option<&'a FunctionDef>,
    pub(in crate::rules) tensors: &'c FxHashSet<&'a str>,
}

/// How deep expressions and names are followed.
const DEPTH: u32 = 24;

/// How a part of a key was come by.
#[derive(Debug, Clone, Copy, Default)]
struct Hops {
    depth: u32,
    /// Names on the way whose value is calculated: what it is calculated from shows less and less.
    calculated: u32,
}

impl Hops {
    /// On to what a name is bound to.
    fn through(self, value: &Expr) -> Hops {
        let plain = matches!(
            value.kind,
            ExprKind::Tuple(_)
                | ExprKind::Name(_)
                | ExprKind::Attribute { .. }
                | ExprKind::FString(_)
        );
        let joined = matches!(&value.kind, ExprKind::Binary { op, .. } if op == "+");
        Hops {
            calculated: self.calculated + u32::from(!plain && !joined),
            ..self
        }
    }
}

impl<'a> KeyScope<'_, 'a> {
    /// What a key says.
    pub(in crate::rules) fn says(&self, key: &'a Expr) -> Says<'a> {
        let mut says = Says::default();
        self.part(key, Hops::default(), &mut says);
        says
    }

    fn part(&self, expr: &'a Expr, hops: Hops, says: &mut Says<'a>) {
        if hops.depth > DEPTH {
            says.open = true;
            return;
        }
        let depth = Hops {
            depth: hops.depth + 1,
            ..hops
        };
        match &expr.kind {
            ExprKind::Name(name) => self.name(name, depth, says),
            // One extent.
            ExprKind::Subscript { value, .. }
                if (value.last_ident()).is_some_and(|i| i.name == "shape") =>
            {
                says.shape = true;
            }
            ExprKind::Attribute { value, attr } => {
                says.whole |= attr.name == "shape";
                self.attribute(value, &attr.name, depth, says);
            }
            ExprKind::Call { func, args } => {
                self.called(func, args.iter().map(|a| &a.value), depth, says);
            }
            ExprKind::Starred(_) => says.open = true,
            _ => expr.children(&mut |child| self.part(child, depth, says)),
        }
    }

    fn attribute(&self, value: &'a Expr, attr: &str, depth: Hops, says: &mut Says<'a>) {
        if says.word(attr, depth) {
            // Of a tensor's properties this is the one that the key tells.
            says.names.extend(value.name().map(SmolStr::as_str));
        } else {
            self.part(value, depth, says);
        }
    }

    fn called(
        &self,
        func: &'a Expr,
        args: impl Iterator<Item = &'a Expr>,
        depth: Hops,
        says: &mut Says<'a>,
    ) {
        let mut whole_tensor = false;
        for arg in args {
            whole_tensor |= arg
                .name()
                .is_some_and(|n| self.tensors.contains(n.as_str()))
                || matches!(arg.kind, ExprKind::Starred(_));
            self.part(arg, depth, says);
        }
        if let ExprKind::Attribute { value, attr } = &func.kind {
            return self.attribute(value, &attr.name, depth, says);
        }
        let Some(name) = func.name() else { return };
        says.word(name, depth);
        let helpers = self.call.functions(name);
        for (_, helper) in &helpers {
            // What a helper asks of what it is given.
            walk(&helper.body, &mut |expr, _| {
                if let ExprKind::Attribute { attr, .. } = &expr.kind {
                    says.word(&attr.name, depth);
                    says.whole |= attr.name == "shape";
                }
            });
            for value in returns(&helper.body) {
                value.walk(&mut |e| {
                    says.open |= matches!(e.kind, ExprKind::Starred(_));
                });
            }
        }
        // A helper of another file says nobody knows what.
        let lower = name.to_ascii_lowercase();
        let makes_key = ["key", "sig", "hash"].iter().any(|w| lower.contains(w));
        says.open |= helpers.is_empty() && (whole_tensor || makes_key);
    }

    fn name(&self, name: &'a SmolStr, depth: Hops, says: &mut Says<'a>) {
        if !says.names.insert(name) {
            return;
        }
        says.word(name, depth);
        let Some(def) = self.def else { return };
        let is_param = def.params.iter().any(|p| p.name.name == *name);
        if is_param {
            let lower = name.to_ascii_lowercase();
            // A part of the key that the caller made.
            says.open |= ["key", "args", "sig"].iter().any(|w| lower.contains(w));
        }
        bindings(&def.body, name, &mut |value| {
            if let Some(value) = value {
                self.part(value, depth.through(value), says);
            }
        });
        // `key += (x.dtype,)`
        added(&def.body, name, &mut |value| self.part(value, depth, says));
    }
}

impl Says<'_> {
    /// Notes what a name stands for by its words; whether that is a dtype or a device.
    fn word(&mut self, name: &str, hops: Hops) -> bool {
        let lower = name.to_ascii_lowercase().replace("search", "");
        let has = |words: &[&str]| words.iter().any(|w| lower.contains(w));
        let dtype = has(&["dtype", "fp8", "itemsize", "element_size", "precision"]);
        let device = has(&[
            "device",
            "capabilit",
            "arch",
            "gpu",
            "num_sm",
            "sm_count",
            "n_sm",
            "multi_processor",
        ]);
        let shows = hops.calculated < 2;
        self.dtype |= dtype && shows;
        self.device |= device && shows;
        let builtin = matches!(
            lower.as_str(),
            "str"
                | "tuple"
                | "int"
                | "bool"
                | "torch"
                | "cuda"
                | "index"
                | "hash"
                | "repr"
                | "len"
                | "type"
                | "float"
        );
        self.shape |= !dtype && !device && !builtin;
        dtype || device
    }
}

/// Calls `visit` with what `name += value` adds.
fn added<'a>(body: &'a [Stmt], name: &str, visit: &mut dyn FnMut(&'a Expr)) {
    for stmt in body {
        if let StmtKind::AugAssign { target, value, .. } = &stmt.kind
            && target.name().is_some_and(|n| n == name)
        {
            visit(value);
        }
        if !matches!(stmt.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_)) {
            for inner in stmt.blocks() {
                added(inner, name, visit);
            }
        }
    }
}
