//! One pass over an item: its scopes, what each name in them is bound to, and every call.
//!
//! The result depends on the item alone and is kept with it; putting the items of a file together
//! ([`super::file`]) is the only work that an edit elsewhere in the file repeats.

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use tileperf_syntax::ast::{
    self, Clause, Expr, ExprKind, FunctionDef, Handler, Ident, Param, Stmt, StmtKind,
};
use tileperf_syntax::{ItemFacts, SiteKind, Span};

use super::AccessKind;
use super::guard;
use super::value::Value;

/// What an item holds.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// Scope 0 is the module's own part of the item; parents come before children.
    pub(crate) scopes: Vec<Scope>,
    /// Every call, in source order.
    pub(crate) calls: Vec<Call>,
    /// Values put into containers: `cache[key] = v`, `.append(v)`, by the container's last name.
    pub(crate) stores: Vec<(SmolStr, usize, Value)>,
    /// Calls that look like memory accesses or matrix multiplications, in source order.
    pub(crate) accesses: Vec<RawAccess>,
    /// `from m import *` of these modules.
    pub(crate) stars: Vec<SmolStr>,
    /// Names bound to an API of another name.
    pub(crate) aliases: Vec<SmolStr>,
}

/// A call named like one of cuTile's accesses.
#[derive(Debug)]
pub(crate) struct RawAccess {
    pub(crate) scope: usize,
    pub(crate) kind: AccessKind,
    /// The name that the call starts with: `ct` of `ct.load`, `load` of `load`.
    pub(crate) root: SmolStr,
    pub(crate) span: Span,
}

/// What the queries look for by name; a name bound to one of these is looked for as well.
const API_NAMES: [&str; 7] = [
    "kernel",
    "launch",
    "cutile_call",
    "register_impl",
    "exhaustive_search",
    "autotune_launch",
    "cached_replace_hints",
];

/// A name bound to a value.
#[derive(Debug)]
pub(crate) struct Bind {
    pub(crate) name: SmolStr,
    pub(crate) value: Value,
    /// The scope in which the value's own names are looked up: for `self.x = y` the method's, though
    /// the name belongs to the class.
    pub(crate) origin: usize,
}

/// A name's reach.
#[derive(Debug)]
pub(crate) struct Scope {
    pub(crate) kind: ScopeKind,
    pub(crate) parent: usize,
    pub(crate) binds: Vec<Bind>,
    pub(crate) returns: Vec<Value>,
    /// What a generator yields.
    pub(crate) yields: Vec<Value>,
    pub(crate) def: Option<Def>,
    globals: FxHashSet<SmolStr>,
    nonlocals: FxHashSet<SmolStr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScopeKind {
    Module,
    Class,
    Function,
    Lambda,
}

/// A function or class definition.
#[derive(Debug)]
pub(crate) struct Def {
    pub(crate) name: Ident,
    /// From `def` to the end of the body.
    pub(crate) span: Span,
    pub(crate) decorators: Vec<Decorator>,
    pub(crate) params: Vec<ParamInfo>,
    pub(crate) is_generator: bool,
    pub(crate) is_static: bool,
    /// Depends on the body's tokens only, not on comments or where it stands.
    pub(crate) fingerprint: u64,
}

#[derive(Debug)]
pub(crate) struct Decorator {
    pub(crate) value: Value,
    pub(crate) span: Span,
    /// Keyword arguments of the outermost call: name and place of the value.
    pub(crate) keywords: Vec<(SmolStr, Span)>,
}

#[derive(Debug, Clone)]
pub(crate) struct ParamInfo {
    pub(crate) name: Ident,
    pub(crate) annotation: Option<Span>,
    /// The annotation with its subscript taken off.
    pub(crate) annotation_value: Option<Value>,
    pub(crate) default: Option<Value>,
}

/// A call expression.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) scope: usize,
    pub(crate) span: Span,
    pub(crate) callee: Value,
    /// Of the callee's last name.
    pub(crate) callee_span: Span,
    pub(crate) args: Vec<CallArg>,
    /// What the joined query took it for.
    pub(crate) site: Option<SiteKind>,
    /// Runs only on a cache miss, as far as this function shows.
    pub(crate) guarded: bool,
}

#[derive(Debug)]
pub(crate) struct CallArg {
    pub(crate) name: Option<SmolStr>,
    pub(crate) value: Value,
    pub(crate) span: Span,
    /// The identifier that names the argument's value, for navigation: the last name of `a.b`, the
    /// first of `k.replace_hints()` or `list(space)`.
    pub(crate) ident: Option<Span>,
    pub(crate) starred: bool,
}

/// Scans an item's facts.
pub(crate) fn scan(facts: &ItemFacts) -> Scan {
    let mut scanner = Scanner {
        out: Scan::default(),
        sites: facts.sites.iter().map(|s| (s.span, s.kind)).collect(),
        scope: 0,
        guard: guard::Tracker::default(),
    };
    scanner.open(ScopeKind::Module, 0, None);
    scanner.scope = 0;
    scanner.block(&facts.body);
    scanner.out
}

struct Scanner {
    out: Scan,
    sites: rustc_hash::FxHashMap<Span, SiteKind>,
    scope: usize,
    guard: guard::Tracker,
}

impl Scanner {
    fn open(&mut self, kind: ScopeKind, parent: usize, def: Option<Def>) -> usize {
        self.out.scopes.push(Scope {
            kind,
            parent,
            binds: Vec::new(),
            returns: Vec::new(),
            yields: Vec::new(),
            def,
            globals: FxHashSet::default(),
            nonlocals: FxHashSet::default(),
        });
        self.out.scopes.len() - 1
    }

    fn bind(&mut self, name: &SmolStr, value: Value) {
        let mut scope = self.scope;
        if self.out.scopes[scope].globals.contains(name) {
            scope = 0;
        } else if self.out.scopes[scope].nonlocals.contains(name) {
            scope = self.out.scopes[scope].parent;
        }
        self.note_alias(name, &value);
        let origin = self.scope;
        self.out.scopes[scope].binds.push(Bind {
            name: name.clone(),
            value,
            origin,
        });
    }

    /// Remembers names that stand for an API under another name: `go = ct.launch`.
    fn note_alias(&mut self, name: &SmolStr, value: &Value) {
        let last = match value {
            Value::Import(path) => path.rsplit('.').next(),
            value => value.last().map(SmolStr::as_str),
        };
        if last.is_some_and(|l| l != name && API_NAMES.contains(&l)) {
            self.out.aliases.push(name.clone());
        }
    }

    fn block(&mut self, body: &[Stmt]) {
        let mark = self.guard.mark();
        for stmt in body {
            self.stmt(stmt);
            self.guard.after(stmt);
        }
        self.guard.release(mark);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::FunctionDef(def) => return self.function(def),
            StmtKind::ClassDef(class) => {
                stmt.own_exprs(&mut |e| self.expr(e));
                let def = Def {
                    name: class.name.clone(),
                    span: stmt.span,
                    decorators: Vec::new(),
                    params: Vec::new(),
                    is_generator: false,
                    is_static: false,
                    fingerprint: 0,
                };
                let scope = self.open(ScopeKind::Class, self.scope, Some(def));
                self.bind(&class.name.name, Value::Def(scope));
                for base in &class.bases {
                    self.out.scopes[scope].returns.push(Value::of(&base.value));
                }
                let outer = std::mem::replace(&mut self.scope, scope);
                self.block(&class.body);
                self.scope = outer;
                return;
            }
            StmtKind::Import(names) => {
                for name in names {
                    match &name.alias {
                        Some(alias) => {
                            self.bind(&alias.name, Value::Import(name.name.name.clone()))
                        }
                        // `import a.b` binds `a`, whose attribute is the module `a.b`.
                        None => {
                            let root: SmolStr =
                                name.name.name.split('.').next().unwrap_or_default().into();
                            self.bind(&root, Value::Import(root.clone()));
                        }
                    }
                }
            }
            StmtKind::ImportFrom {
                module,
                level,
                names,
                star,
            } => {
                // Relative levels stay visible as leading dots; the file knows its package.
                let base = format!("{}{module}", ".".repeat(*level as usize));
                if *star {
                    self.out.stars.push(base.as_str().into());
                }
                for name in names {
                    let bound = name.alias.as_ref().unwrap_or(&name.name);
                    let separator = if module.is_empty() { "" } else { "." };
                    let path = format!("{base}{separator}{}", name.name.name);
                    self.bind(&bound.name, Value::Import(path.into()));
                }
            }
            StmtKind::Global(names) => {
                self.out.scopes[self.scope]
                    .globals
                    .extend(names.iter().map(|n| n.name.clone()));
            }
            StmtKind::Nonlocal(names) => {
                self.out.scopes[self.scope]
                    .nonlocals
                    .extend(names.iter().map(|n| n.name.clone()));
            }
            StmtKind::Assign { targets, value } => {
                for target in targets {
                    self.assign(target, &Value::of(value));
                }
            }
            StmtKind::AnnAssign {
                target,
                value: Some(value),
                ..
            } => self.assign(target, &Value::of(value)),
            StmtKind::AugAssign { target, value, .. } => {
                if let Some(name) = target.last_ident() {
                    self.out.stores.push((
                        name.name,
                        self.scope,
                        Value::Item(Box::new(Value::of(value)), None),
                    ));
                }
            }
            StmtKind::For { target, iter, .. } => {
                self.assign(target, &Value::Item(Box::new(Value::of(iter)), None));
            }
            StmtKind::With { items, .. } => {
                for (value, target) in items {
                    if let Some(target) = target {
                        self.assign(target, &Value::of(value));
                    }
                }
            }
            StmtKind::Return(Some(value)) => {
                let value = Value::of(value);
                self.out.scopes[self.scope].returns.push(value);
            }
            _ => {}
        }
        stmt.own_exprs(&mut |e| self.expr(e));
        self.bodies(stmt);
    }

    /// The statements within a statement, each under the guard its branch implies.
    fn bodies(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::If { branches, orelse } => {
                let mark = self.guard.mark();
                for (test, body) in branches {
                    let inner = self.guard.mark();
                    self.guard.enter_if(test, true);
                    self.block(body);
                    self.guard.release(inner);
                    // Later branches run when this test was false.
                    self.guard.enter_if(test, false);
                }
                self.block(orelse);
                self.guard.release(mark);
            }
            StmtKind::Try {
                body,
                handlers,
                orelse,
                finally,
            } => {
                self.block(body);
                for Handler {
                    types,
                    body: handler,
                    ..
                } in handlers
                {
                    let mark = self.guard.mark();
                    self.guard.enter_handler(types.as_ref(), body);
                    self.block(handler);
                    self.guard.release(mark);
                }
                self.block(orelse);
                self.block(finally);
            }
            _ => stmt.blocks().into_iter().for_each(|b| self.block(b)),
        }
    }

    fn assign(&mut self, target: &Expr, value: &Value) {
        match &target.kind {
            ExprKind::Name(name) => {
                self.guard.bound(name, value);
                self.bind(name, value.clone());
            }
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                let starred = items.iter().any(|i| matches!(i.kind, ExprKind::Starred(_)));
                for (i, item) in items.iter().enumerate() {
                    let place = (!starred).then_some(i);
                    match value {
                        Value::Seq(parts, _) if !starred && parts.len() == items.len() => {
                            self.assign(item, &parts[i]);
                        }
                        _ => self.assign(item, &Value::Item(Box::new(value.clone()), place)),
                    }
                }
            }
            ExprKind::Starred(inner) => self.assign(inner, value),
            ExprKind::Subscript {
                value: container, ..
            } => {
                if let Some(name) = container.last_ident() {
                    self.out.stores.push((name.name, self.scope, value.clone()));
                }
            }
            ExprKind::Attribute {
                value: object,
                attr,
            } => {
                // `self.x = v`: an attribute of the class whose method this is.
                if matches!(object.name().map(SmolStr::as_str), Some("self" | "cls"))
                    && let Some(class) = self.enclosing_class()
                {
                    let origin = self.scope;
                    self.out.scopes[class].binds.push(Bind {
                        name: attr.name.clone(),
                        value: value.clone(),
                        origin,
                    });
                } else {
                    self.out
                        .stores
                        .push((attr.name.clone(), self.scope, value.clone()));
                }
            }
            _ => {}
        }
    }

    fn enclosing_class(&self) -> Option<usize> {
        let mut scope = self.scope;
        while scope != 0 {
            if self.out.scopes[scope].kind == ScopeKind::Class {
                return Some(scope);
            }
            scope = self.out.scopes[scope].parent;
        }
        None
    }

    fn function(&mut self, def: &FunctionDef) {
        for decorator in &def.decorators {
            self.expr(decorator);
        }
        def.params
            .iter()
            .filter_map(|p| p.default.as_ref())
            .for_each(|e| self.expr(e));
        let decorators: Vec<Decorator> = def.decorators.iter().map(decorator).collect();
        let is_static = decorators
            .iter()
            .any(|d| d.value.last().is_some_and(|n| n == "staticmethod"));
        let info = Def {
            name: def.name.clone(),
            span: def.def_span,
            decorators,
            params: def.params.iter().map(param).collect(),
            is_generator: ast::yields(&def.body),
            is_static,
            fingerprint: super::fingerprint::of(def),
        };
        let scope = self.open(ScopeKind::Function, self.scope, Some(info));
        self.bind(&def.name.name, Value::Def(scope));
        let outer = std::mem::replace(&mut self.scope, scope);
        self.params(&def.params);
        self.parametrized(&def.decorators);
        // What guarded the definition does not guard the call.
        let guards = self.guard.suspend();
        self.block(&def.body);
        self.guard.resume(guards);
        self.scope = outer;
    }

    /// `@pytest.mark.parametrize("kernel, n", [(k, 1), ...])` binds the parameters it names.
    fn parametrized(&mut self, decorators: &[Expr]) {
        for decorator in decorators {
            let ExprKind::Call { func, args } = &decorator.kind else {
                continue;
            };
            let [names, values, ..] = args.as_slice() else {
                continue;
            };
            if func.last_ident().is_none_or(|i| i.name != "parametrize") {
                continue;
            }
            let names: Vec<&str> = match &names.value.kind {
                ExprKind::Str(text) => text.split(',').map(str::trim).collect(),
                ExprKind::Tuple(items) | ExprKind::List(items) => items
                    .iter()
                    .filter_map(|i| {
                        if let ExprKind::Str(s) = &i.kind {
                            Some(s.as_str())
                        } else {
                            None
                        }
                    })
                    .collect(),
                _ => continue,
            };
            let each = Value::Item(Box::new(Value::of(&values.value)), None);
            for (i, name) in names.iter().enumerate() {
                let value = match names.len() {
                    // One name: the value itself, or the one of a `pytest.param`.
                    1 => Value::Either(vec![
                        each.clone(),
                        Value::Item(Box::new(each.clone()), Some(0)),
                    ]),
                    _ => Value::Item(Box::new(each.clone()), Some(i)),
                };
                self.bind(&SmolStr::new(name), value);
            }
        }
    }

    fn params(&mut self, params: &[Param]) {
        for (i, param) in params.iter().enumerate() {
            self.bind(&param.name.name, Value::Param(i));
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Call { func, args } => {
                let (callee, callee_span) = (Value::of(func), ident_of(func).unwrap_or(func.span));
                if let (Value::Attr(container, method), Some(last)) = (&callee, args.last())
                    && matches!(
                        method.as_str(),
                        "append" | "add" | "setdefault" | "insert" | "put"
                    )
                    && let Some(name) = container.last()
                {
                    self.out
                        .stores
                        .push((name.clone(), self.scope, Value::of(&last.value)));
                }
                if let Some((root, kind)) = access(&callee) {
                    let (scope, span) = (self.scope, expr.span);
                    self.out.accesses.push(RawAccess {
                        scope,
                        kind,
                        root,
                        span,
                    });
                }
                self.out.calls.push(Call {
                    scope: self.scope,
                    span: expr.span,
                    callee,
                    callee_span,
                    args: args
                        .iter()
                        .map(|a| CallArg {
                            name: a.name.as_ref().map(|n| n.name.clone()),
                            value: Value::of(&a.value),
                            span: a.value.span,
                            ident: ident_of(&a.value),
                            starred: a.stars > 0,
                        })
                        .collect(),
                    site: self.sites.get(&expr.span).copied(),
                    guarded: self.guard.is_guarded(),
                });
            }
            ExprKind::Lambda { params, body } => {
                params
                    .iter()
                    .filter_map(|p| p.default.as_ref())
                    .for_each(|e| self.expr(e));
                let scope = self.open(ScopeKind::Lambda, self.scope, None);
                let outer = std::mem::replace(&mut self.scope, scope);
                self.params(params);
                let value = Value::of(body);
                self.out.scopes[scope].returns.push(value);
                self.expr(body);
                self.scope = outer;
                return;
            }
            ExprKind::Comprehension { clauses, .. } => {
                for clause in clauses {
                    if let Clause::For { target, iter } = clause {
                        self.assign(target, &Value::Item(Box::new(Value::of(iter)), None));
                    }
                }
            }
            ExprKind::Yield(Some(value)) => {
                let value = Value::of(value);
                self.out.scopes[self.scope].yields.push(value);
            }
            ExprKind::Named { target, value } => {
                let value = Value::of(value);
                self.guard.bound(&target.name, &value);
                self.bind(&target.name, value);
            }
            _ => {}
        }
        expr.children(&mut |child| self.expr(child));
    }
}

/// What a callee named like an access is, and the name it starts with.
fn access(callee: &Value) -> Option<(SmolStr, AccessKind)> {
    let kind = AccessKind::of(callee.last()?)?;
    let mut root = callee;
    while let Value::Attr(base, _) = root {
        root = base;
    }
    match root {
        Value::Name(name) => Some((name.clone(), kind)),
        _ => None,
    }
}

/// The identifier an editor should jump from: the kernel's name in `k`, `m.k`, `k.replace_hints()`,
/// `cached_replace_hints(k, ...)` or `list(space(n))`.
fn ident_of(expr: &Expr) -> Option<Span> {
    match &expr.kind {
        ExprKind::Name(_) | ExprKind::Attribute { .. } => expr.last_ident().map(|i| i.span),
        ExprKind::Call { func, args } => match &func.kind {
            ExprKind::Attribute { value, attr } if attr.name == "replace_hints" => ident_of(value),
            ExprKind::Name(name)
                if matches!(
                    name.as_str(),
                    "list" | "tuple" | "sorted" | "cached_replace_hints"
                ) =>
            {
                args.first().and_then(|a| ident_of(&a.value))
            }
            _ => func.last_ident().map(|i| i.span),
        },
        ExprKind::Subscript { value, .. } => ident_of(value),
        _ => None,
    }
}

fn decorator(expr: &Expr) -> Decorator {
    let keywords = match &expr.kind {
        ExprKind::Call { args, .. } => args
            .iter()
            .filter_map(|a| Some((a.name.as_ref()?.name.clone(), a.value.span)))
            .collect(),
        _ => Vec::new(),
    };
    Decorator {
        value: Value::of(expr),
        span: expr.span,
        keywords,
    }
}

fn param(param: &Param) -> ParamInfo {
    let bare = |a: &Expr| match &a.kind {
        ExprKind::Subscript { value, .. } => Value::of(value),
        _ => Value::of(a),
    };
    ParamInfo {
        name: param.name.clone(),
        annotation: param.annotation.as_ref().map(|a| a.span),
        annotation_value: param.annotation.as_ref().map(bare),
        default: param.default.as_ref().map(Value::of),
    }
}
