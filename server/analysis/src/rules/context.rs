//! What rules are shown: an item, a file, and what other files add.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef, Stmt, StmtKind};
use tileperf_syntax::{Item, ParsedFile, Span};

use crate::arch::Arch;
use crate::body::{Body, Device, ModuleEnv};
use crate::eval::Space as Evaluated;
use crate::model::{Candidate, FileModel, Hint, Kernel, KernelParam, SpaceRef};
use crate::rewrite::Edits;
use crate::target::Target;

/// A function of device code as it is kept from one edit to the next.
#[derive(Debug)]
pub struct DeviceFacts {
    /// From `def` to the end of the body, relative to the item.
    pub def_span: Span,
    /// Its expressions.
    pub body: Body,
    /// Parameters that are compile-time constants.
    pub constants: FxHashSet<SmolStr>,
    /// It is a kernel, not a helper.
    pub is_kernel: bool,
    /// It takes any number of arguments: `*args`.
    pub open: bool,
}

/// A top-level statement. Places are relative to it.
#[derive(Clone, Copy)]
pub struct ItemContext<'a> {
    /// Its statements: one, or more after a fault.
    pub body: &'a [Stmt],
    /// Its text.
    pub text: &'a str,
    /// Device code in it.
    pub devices: &'a [Arc<DeviceFacts>],
    /// The file around it.
    pub module: &'a ModuleEnv,
    /// What is judged for.
    pub target: &'a Target,
}

impl<'a> ItemContext<'a> {
    /// What stands at a place of the item.
    pub fn source(&self, span: Span) -> &'a str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// Every function in the item, methods and nested ones included.
    pub fn functions(&self) -> Vec<&'a FunctionDef> {
        let mut out = Vec::new();
        functions(self.body, &mut out);
        out
    }

    /// Whether a function is device code.
    pub fn is_device(&self, def: &FunctionDef) -> bool {
        self.devices.iter().any(|d| d.def_span == def.def_span)
    }
}

/// Every function of statements, nested ones included, in source order.
pub(super) fn functions<'a>(body: &'a [Stmt], out: &mut Vec<&'a FunctionDef>) {
    for stmt in body {
        if let StmtKind::FunctionDef(def) = &stmt.kind {
            out.push(def);
        }
        for inner in stmt.blocks() {
            functions(inner, out);
        }
    }
}

/// A file. Places are the file's unless said otherwise.
#[derive(Clone, Copy)]
pub struct FileContext<'a> {
    /// Its items.
    pub file: &'a ParsedFile,
    /// Its text.
    pub text: &'a str,
    /// What it means.
    pub model: &'a FileModel,
    /// Its names.
    pub module: &'a ModuleEnv,
    /// What is judged for.
    pub target: &'a Target,
    /// Device code by item, in the order of the items.
    pub(super) devices: &'a [Arc<[Arc<DeviceFacts>]>],
}

/// Something of an item: its own places are relative to the item.
pub struct InItem<'a, T: ?Sized> {
    /// The item.
    pub item: &'a Item,
    /// What it is.
    pub node: &'a T,
}

// Derived, these would ask the same of `T`.
impl<T: ?Sized> Clone for InItem<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for InItem<'_, T> {}

impl<'a, T: ?Sized> InItem<'a, T> {
    /// Something else of the same item.
    pub fn with<U: ?Sized>(&self, node: &'a U) -> InItem<'a, U> {
        InItem {
            item: self.item,
            node,
        }
    }

    /// A place of the item in the file.
    pub fn place(&self, span: Span) -> Span {
        self.item.place(span)
    }
}

impl InItem<'_, Expr> {
    /// Takes a keyword argument out of this call, with the parentheses if it is the only argument; `None`
    /// if there is no such argument.
    pub fn without_argument<'t>(&self, edits: Edits<'t>, name: &str) -> Option<Edits<'t>> {
        let ExprKind::Call { func, args } = &self.node.kind else {
            return None;
        };
        let arg = (args.iter()).find(|a| a.name.as_ref().is_some_and(|n| n.name == name))?;
        let keyword = arg.name.as_ref()?;
        if args.len() == 1 {
            let parens = Span {
                start: func.span.end,
                end: self.node.span.end,
            };
            return Some(edits.replace(self.place(parens), ""));
        }
        let whole = Span {
            start: keyword.span.start,
            end: arg.value.span.end,
        };
        Some(edits.delete_element(self.place(whole)))
    }
}

impl<'a> FileContext<'a> {
    /// What stands at a place.
    pub fn source(&self, span: Span) -> &'a str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// The item at a place.
    pub fn item(&self, span: Span) -> Option<(usize, &'a Item)> {
        item(self.file, span)
    }

    /// The expression with exactly this place: a launch, a search, an argument.
    pub fn expr(&self, span: Span) -> Option<InItem<'a, Expr>> {
        expression(self.file, span)
    }

    /// The innermost function around a place, and those around it, innermost first.
    pub fn functions_around(&self, span: Span) -> Vec<InItem<'a, FunctionDef>> {
        let Some((_, item)) = self.item(span) else {
            return Vec::new();
        };
        let own = relative(span, item);
        let mut all = Vec::new();
        functions(&item.facts.body, &mut all);
        let mut around: Vec<_> = (all.into_iter())
            .filter(|d| d.def_span.contains(own) && d.name.span != own)
            .map(|node| InItem { item, node })
            .collect();
        around.reverse();
        around
    }

    /// The function whose definition has exactly this place: a kernel, a space.
    pub fn function(&self, span: Span) -> Option<InItem<'a, FunctionDef>> {
        let (_, item) = self.item(span)?;
        let own = relative(span, item);
        let mut all = Vec::new();
        functions(&item.facts.body, &mut all);
        let node = all.into_iter().find(|d| d.def_span == own)?;
        Some(InItem { item, node })
    }

    /// A kernel's device code.
    pub fn kernel(&self, kernel: &Kernel) -> Option<Arc<DeviceFacts>> {
        self.device_code(kernel.span)
    }

    /// The device code of the function whose definition has exactly this place.
    pub fn device_code(&self, span: Span) -> Option<Arc<DeviceFacts>> {
        let (number, item) = self.item(span)?;
        let own = relative(span, item);
        (self.devices.get(number)?.iter())
            .find(|d| d.def_span == own)
            .cloned()
    }

    /// Every function of device code with its facts.
    pub fn device_functions(&self) -> Vec<(InItem<'a, FunctionDef>, Arc<DeviceFacts>)> {
        let mut out = Vec::new();
        for (item, devices) in self.file.items.iter().zip(self.devices) {
            if devices.is_empty() || item.is_stale() {
                continue;
            }
            let mut all = Vec::new();
            functions(&item.facts.body, &mut all);
            for node in all {
                let facts = devices.iter().find(|d| d.def_span == node.def_span);
                out.extend(facts.map(|facts| (InItem { item, node }, Arc::clone(facts))));
            }
        }
        out
    }

    /// A function of device code, as the rules about such are shown it.
    pub fn as_device<'d>(&self, def: &'d FunctionDef, facts: &'d DeviceFacts) -> Device<'d>
    where
        'a: 'd,
    {
        Device {
            def,
            body: &facts.body,
            module: self.module,
            is_kernel: facts.is_kernel,
            constants: &facts.constants,
            code: None,
        }
    }

    /// The device code of the function at the top of the file that has this name.
    pub fn device_named(&self, name: &str) -> Option<Device<'a>> {
        let known = self.file.items.iter().zip(self.devices);
        known
            .filter(|(item, _)| !item.is_stale())
            .find_map(|(item, devices)| {
                let def = item.facts.body.iter().find_map(|stmt| match &stmt.kind {
                    StmtKind::FunctionDef(def) if def.name.name == name => Some(&**def),
                    _ => None,
                })?;
                let facts = devices.iter().find(|d| d.def_span == def.def_span)?;
                Some(Device {
                    def,
                    body: &facts.body,
                    module: self.module,
                    is_kernel: facts.is_kernel,
                    constants: &facts.constants,
                    code: None,
                })
            })
    }

    /// A kernel's device code with its definition.
    pub fn device<'d>(
        &self,
        kernel: &Kernel,
        facts: &'d DeviceFacts,
    ) -> Option<(InItem<'a, FunctionDef>, Device<'d>)>
    where
        'a: 'd,
    {
        let def = self.function(kernel.span)?;
        let device = Device {
            def: def.node,
            body: &facts.body,
            module: self.module,
            is_kernel: true,
            constants: &facts.constants,
            code: None,
        };
        Some((def, device))
    }
}

fn item(file: &ParsedFile, span: Span) -> Option<(usize, &Item)> {
    let items = &file.items;
    let next = items.partition_point(|i| i.span.start <= span.start);
    let number = next.checked_sub(1)?;
    let item = items.get(number)?;
    (item.span.end >= span.end && !item.is_stale()).then_some((number, item))
}

/// The expression of a file with exactly this place.
pub(crate) fn expression(file: &ParsedFile, span: Span) -> Option<InItem<'_, Expr>> {
    let (_, item) = item(file, span)?;
    let node = expr_at(&item.facts.body, relative(span, item))?;
    Some(InItem { item, node })
}

fn relative(span: Span, item: &Item) -> Span {
    span.moved(-i64::from(item.span.start))
}

fn expr_at(body: &[Stmt], span: Span) -> Option<&Expr> {
    for stmt in body.iter().filter(|s| s.span.contains(span)) {
        let mut found = None;
        stmt.own_exprs(&mut |e| {
            if found.is_none() {
                found = expr_within(e, span);
            }
        });
        let found = found.or_else(|| stmt.blocks().into_iter().find_map(|b| expr_at(b, span)));
        if found.is_some() {
            return found;
        }
    }
    None
}

/// The outermost expression in another that has exactly this place.
fn expr_within(expr: &Expr, span: Span) -> Option<&Expr> {
    if !expr.span.contains(span) {
        return None;
    }
    if expr.span == span {
        return Some(expr);
    }
    let mut found = None;
    expr.children(&mut |child| {
        if found.is_none() {
            found = expr_within(child, span);
        }
    });
    found
}

/// A kernel of any file, as a rule about its launches and searches sees it.
#[derive(Debug, Clone)]
pub struct KernelFacts {
    /// Its name.
    pub name: SmolStr,
    /// Its parameters.
    pub params: Vec<KernelParam>,
    /// Hints fixed at its decorator.
    pub hints: Vec<Hint>,
    /// Its code; nothing if its text does not parse.
    pub device: Option<Arc<DeviceFacts>>,
    /// Where it is, if it is in the same file.
    pub here: Option<Span>,
}

/// A space of any file, evaluated.
#[derive(Debug, Clone)]
pub struct SpaceFacts {
    /// Its name; empty for a list written in the call.
    pub name: SmolStr,
    /// The name or list, if it is in the same file.
    pub name_here: Option<Span>,
    /// The definition or list, if it is in the same file.
    pub here: Option<Span>,
    /// What it gives on each architecture that is judged for.
    pub by_arch: Vec<(Arch, Arc<Evaluated>)>,
}

/// How a kernel is used, anywhere.
#[derive(Debug, Clone, Default)]
pub struct KernelUses {
    /// Launches.
    pub launches: usize,
    /// Searches.
    pub searches: usize,
    /// Calls that remake it with other hints.
    pub remade: usize,
}

/// What other files, and the evaluator, add to a file.
pub trait Links {
    /// The kernels that candidates of the file are.
    fn kernels(&self, candidates: &[Candidate]) -> Vec<Arc<KernelFacts>>;
    /// Asks about each of these kernels in the file that defines it.
    fn at_home(&self, candidates: &[Candidate], ask: &mut dyn FnMut(&FileContext<'_>, &Kernel));
    /// A space that a search of the file uses.
    fn space(&self, space: &SpaceRef) -> Option<SpaceFacts>;
    /// Asks about the function at the top of a file that an absolute dotted path means, there.
    fn function(&self, path: &str, ask: &mut dyn FnMut(&FileContext<'_>, InItem<'_, FunctionDef>));
    /// How the n-th kernel of the file is used.
    fn uses(&self, kernel: usize) -> KernelUses;
}
