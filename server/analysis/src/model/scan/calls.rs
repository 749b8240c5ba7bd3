//! Calls as the model asks of them: who is called, with what, and whether a cache guards it.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Arg, Expr, ExprKind};
use tileperf_syntax::{SiteKind, Span};

use super::{Scanner, Value};
use crate::model::AccessKind;

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

/// A call named like one of cuTile's accesses.
#[derive(Debug)]
pub(crate) struct RawAccess {
    pub(crate) scope: usize,
    pub(crate) kind: AccessKind,
    /// The name that the call starts with: `ct` of `ct.load`, `load` of `load`.
    pub(crate) root: SmolStr,
    pub(crate) span: Span,
}

impl Call {
    /// The argument for a parameter of this place and name. One that can only be given by name has
    /// no place.
    pub(crate) fn argument(&self, place: Option<usize>, name: &str) -> Option<&CallArg> {
        let by_place = || {
            let mut positional = self.positional().take_while(|a| !a.starred);
            positional.nth(place?)
        };
        (self.args.iter())
            .find(|a| a.name.as_deref() == Some(name))
            .or_else(by_place)
    }

    /// Arguments without a name, `*args` and `**kwargs` among them.
    pub(crate) fn positional(&self) -> impl Iterator<Item = &CallArg> {
        self.args.iter().filter(|a| a.name.is_none())
    }
}

impl Scanner {
    pub(super) fn call(&mut self, span: Span, func: &Expr, args: &[Arg]) {
        let callee = Value::of(func);
        if let (Value::Attr(container, method), Some(last)) = (&callee, args.last())
            && matches!(
                method.as_str(),
                "append" | "add" | "setdefault" | "insert" | "put"
            )
            && let Some(name) = container.last()
        {
            self.store(name.clone(), Value::of(&last.value));
        }
        let scope = self.scope;
        if let Some((root, kind)) = access(&callee) {
            self.out.accesses.push(RawAccess {
                scope,
                kind,
                root,
                span,
            });
        }
        let call = Call {
            scope,
            span,
            callee,
            callee_span: ident_of(func).unwrap_or(func.span),
            args: args.iter().map(argument).collect(),
            site: self.sites.get(&span).copied(),
            guarded: self.guard.is_guarded(),
        };
        self.index(&call, self.out.calls.len());
        self.out.calls.push(call);
    }

    /// Notes by what a call will be looked for.
    fn index(&mut self, call: &Call, number: usize) {
        if let Some(last) = call.callee.last() {
            let calls = self.out.callees.entry(last.clone()).or_default();
            calls.push(number);
        }
        if call.site.is_some() || matches!(call.callee, Value::Call(..)) {
            self.out.notable.push(number);
        }
        for arg in &call.args {
            if let Value::Name(name) = &arg.value {
                self.out.given.insert(name.clone());
            }
        }
    }
}

fn argument(arg: &Arg) -> CallArg {
    CallArg {
        name: arg.name.as_ref().map(|n| n.name.clone()),
        value: Value::of(&arg.value),
        span: arg.value.span,
        ident: ident_of(&arg.value),
        starred: arg.stars > 0,
    }
}

/// What a callee named like an access is, and the name it starts with.
fn access(callee: &Value) -> Option<(SmolStr, AccessKind)> {
    let kind = AccessKind::of(callee.last()?)?;
    Some((callee.root()?.clone(), kind))
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
