//! Functions, lambdas and classes: what opens a scope, with its decorators and parameters.

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{self, ClassDef, Expr, ExprKind, FunctionDef, Ident, Param};

use super::{Scanner, ScopeKind, Value};
use crate::model::fingerprint;

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

impl Scanner {
    pub(super) fn class(&mut self, class: &ClassDef, span: Span) {
        let exprs = (class.decorators.iter()).chain(class.bases.iter().map(|a| &a.value));
        exprs.for_each(|e| self.expr(e));
        let def = Def {
            name: class.name.clone(),
            span,
            decorators: Vec::new(),
            params: Vec::new(),
            is_generator: false,
            is_static: false,
            fingerprint: 0,
        };
        let scope = self.open(ScopeKind::Class, Some(def));
        self.bind(&class.name.name, Value::Def(scope));
        let bases = class.bases.iter().map(|b| Value::of(&b.value));
        self.out.scopes[scope].returns.extend(bases);
        self.within(scope, |s| s.block(&class.body));
    }

    pub(super) fn function(&mut self, def: &FunctionDef) {
        def.decorators.iter().for_each(|d| self.expr(d));
        self.defaults(&def.params);
        let decorators: Vec<Decorator> = def.decorators.iter().map(decorator).collect();
        let is_static =
            (decorators.iter()).any(|d| d.value.last().is_some_and(|n| n == "staticmethod"));
        let info = Def {
            name: def.name.clone(),
            span: def.def_span,
            decorators,
            params: def.params.iter().map(param).collect(),
            is_generator: ast::yields(&def.body),
            is_static,
            fingerprint: fingerprint::of(def),
        };
        let scope = self.open(ScopeKind::Function, Some(info));
        self.bind(&def.name.name, Value::Def(scope));
        self.within(scope, |s| {
            s.params(&def.params);
            def.decorators.iter().for_each(|d| s.parametrized(d));
            // What guarded the definition does not guard the call.
            let guards = s.guard.suspend();
            s.block(&def.body);
            s.guard.resume(guards);
        });
    }

    pub(super) fn lambda(&mut self, params: &[Param], body: &Expr) {
        self.defaults(params);
        let scope = self.open(ScopeKind::Lambda, None);
        self.within(scope, |s| {
            s.params(params);
            s.here().returns.push(Value::of(body));
            s.expr(body);
        });
    }

    /// Defaults are read where the function is defined, not where it runs.
    fn defaults(&mut self, params: &[Param]) {
        let defaults = params.iter().filter_map(|p| p.default.as_ref());
        defaults.for_each(|e| self.expr(e));
    }

    fn params(&mut self, params: &[Param]) {
        for (i, param) in params.iter().enumerate() {
            self.bind(&param.name.name, Value::Param(i));
        }
    }

    /// `@pytest.mark.parametrize("kernel, n", [(k, 1), ...])` binds the parameters it names.
    fn parametrized(&mut self, decorator: &Expr) {
        let ExprKind::Call { func, args } = &decorator.kind else {
            return;
        };
        let [names, values, ..] = args.as_slice() else {
            return;
        };
        if func.last_ident().is_none_or(|i| i.name != "parametrize") {
            return;
        }
        let names: Vec<&str> = match &names.value.kind {
            ExprKind::Str(text) => text.split(',').map(str::trim).collect(),
            ExprKind::Tuple(items) | ExprKind::List(items) => items
                .iter()
                .filter_map(|i| match &i.kind {
                    ExprKind::Str(name) => Some(name.as_str()),
                    _ => None,
                })
                .collect(),
            _ => return,
        };
        let each = Value::Item(Box::new(Value::of(&values.value)), None);
        let part = |i| Value::Item(Box::new(each.clone()), Some(i));
        for (i, name) in names.iter().enumerate() {
            let value = match names.len() {
                // One name: the value itself, or the one of a `pytest.param`.
                1 => Value::Either(vec![each.clone(), part(0)]),
                _ => part(i),
            };
            self.bind(&SmolStr::new(name), value);
        }
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
