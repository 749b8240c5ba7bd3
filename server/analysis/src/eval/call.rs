//! Calls of functions and classes of the workspace.

use std::rc::Rc;

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef, Param, Stmt, StmtKind};

use super::env::Place;
use super::interp::{Frame, Interp, R, Stop};
use super::seq::Seq;
use super::sym::{Kind, Range};
use super::value::{
    Args, Class, ClassBody, Code, Dict, Func, Iter, Obj, ObjId, Record, Scope, Value,
};

/// Calls inside calls; deeper is recursion that nobody can follow.
const MAX_FRAMES: usize = 40;

/// Decorators that leave a function what it is, by their last name.
const PLAIN_DECORATORS: [&str; 22] = [
    "lru_cache",
    "cache",
    "cached",
    "cached_property",
    "property",
    "staticmethod",
    "classmethod",
    "wraps",
    "no_grad",
    "inference_mode",
    "register_impl",
    "register",
    "override",
    "final",
    "overload",
    "typechecked",
    "compiler_disable",
    "disable",
    "memoize",
    "abstractmethod",
    "profile",
    "annotate",
];

impl<'e> Interp<'e> {
    /// A function value in the present scope.
    pub(super) fn closure(&mut self, code: Code<'e>) -> R<Func<'e>> {
        let mut defaults = Vec::new();
        for param in code.params() {
            defaults.push(match &param.default {
                Some(default) => Some(self.eval(default)?),
                None => None,
            });
        }
        let here = self.place(Span::default());
        Ok(Func {
            code,
            scope: self.scope_id(),
            module: here.module,
            item: here.item,
            defaults,
            bound: Args::default(),
        })
    }

    /// A function as one of its decorators leaves it.
    pub(super) fn decorate(&mut self, value: Value<'e>, decorator: &'e Expr) -> R<Value<'e>> {
        let named = match &decorator.kind {
            ExprKind::Call { func, .. } => func.last_ident(),
            _ => decorator.last_ident(),
        };
        if named.is_some_and(|n| PLAIN_DECORATORS.contains(&n.name.as_str())) {
            return Ok(value);
        }
        let decorator_value = self.eval(decorator)?;
        match decorator_value {
            Value::Func(_) => {
                let place = self.place(decorator.span);
                self.call(&decorator_value, Args::one(value), place)
            }
            _ => Ok(self.fresh()),
        }
    }

    pub(super) fn call(
        &mut self,
        callee: &Value<'e>,
        args: Args<'e>,
        place: Place,
    ) -> R<Value<'e>> {
        match callee {
            Value::Func(func) => self.call_function(func, args),
            Value::Class(class) => self.instantiate(class, args, place),
            Value::External(path) => self.call_external(path, args, place),
            Value::Method(method) => self.call_method(&method.0, &method.1, args),
            Value::OneOf(items) => {
                let mut values = Vec::new();
                for item in items.iter() {
                    let before = self.state.clone();
                    values.push(self.call(item, args.clone(), place)?);
                    let after = std::mem::take(&mut self.state);
                    self.state = self.join_states(before, after)?;
                }
                Ok(self.any_of(values))
            }
            Value::Ref(_) => {
                let method = self.attribute(callee, "__call__")?;
                match method {
                    Value::Func(func) => self.call_function(&func, args),
                    _ => Ok(self.unknown_call(&args)),
                }
            }
            Value::Sym(sym) => {
                // Sizes of a tensor are asked in many ways and do not change.
                let asks = match self.syms.node(*sym) {
                    super::sym::Node::Op { op, .. } => {
                        matches!(
                            op.as_str(),
                            ".size"
                                | ".dim"
                                | ".stride"
                                | ".numel"
                                | ".element_size"
                                | ".ndimension"
                        )
                    }
                    _ => false,
                };
                if asks {
                    let mut operands = vec![callee.clone()];
                    operands.extend(args.all().cloned());
                    self.risks += 1;
                    return Ok(self.pure("call", &operands));
                }
                Ok(self.unknown_call(&args))
            }
            _ => Ok(self.unknown_call(&args)),
        }
    }

    /// A call of something unknown: it may change the containers it is given.
    fn unknown_call(&mut self, args: &Args<'e>) -> Value<'e> {
        self.risks += 1;
        let given: Vec<ObjId> = args
            .all()
            .filter_map(|v| {
                if let Value::Ref(id) = v {
                    Some(*id)
                } else {
                    None
                }
            })
            .collect();
        for id in given {
            match self.obj_mut(id) {
                Some(Obj::List(seq) | Obj::Set(seq)) => seq.replace(Seq::unknown()),
                Some(Obj::Dict(dict)) => {
                    dict.open = true;
                    dict.entries.iter_mut().for_each(|e| e.2 = false);
                }
                Some(Obj::Iter(iter)) => *iter = Iter::Rest(Seq::unknown()),
                _ => {}
            }
        }
        self.fresh()
    }

    pub(super) fn call_function(&mut self, func: &Rc<Func<'e>>, args: Args<'e>) -> R<Value<'e>> {
        if self.frames.len() >= MAX_FRAMES {
            return Err(Stop::Fuel);
        }
        let scope = self.alloc(Obj::Scope(Scope::new(Some(func.scope), func.module)));
        self.bind(func, args, scope)?;
        match func.code {
            Code::Def(def) if self.is_generator(def) => {
                if def.is_async {
                    return Ok(self.fresh());
                }
                Ok(Value::Ref(
                    self.alloc(Obj::Iter(Iter::Call(func.clone(), scope))),
                ))
            }
            Code::Def(def) if def.is_async => Ok(self.fresh()),
            _ => self.run_body(func, scope, None, None),
        }
    }

    /// Runs a function's body in a scope that holds its arguments.
    pub(super) fn run_body(
        &mut self,
        func: &Func<'e>,
        scope: ObjId,
        out: Option<ObjId>,
        slice: Option<Rc<super::slice::Slice>>,
    ) -> R<Value<'e>> {
        self.frames.push(Frame {
            scope,
            module: func.module,
            item: func.item,
            out,
            slice,
        });
        let done = match func.code {
            Code::Lambda(_, body) => self.eval(body),
            Code::Def(def) => self.exec_block(&def.body).and_then(|exits| {
                let fell = exits
                    .next
                    .then(|| (std::mem::take(&mut self.state), Value::None));
                match self.join_returns(exits.ret, fell)? {
                    Some((state, value)) => {
                        self.state = state;
                        Ok(value)
                    }
                    None => Err(Stop::Raise),
                }
            }),
        };
        self.frames.pop();
        done.map(|v| self.settle(v))
    }

    /// Everything that a generator yields.
    pub(super) fn run_generator(&mut self, func: &Func<'e>, scope: ObjId) -> R<Seq<'e>> {
        if self.frames.len() >= MAX_FRAMES {
            return Err(Stop::Fuel);
        }
        let out = self.alloc(Obj::List(Seq::empty()));
        self.deeper(|i| i.run_body(func, scope, Some(out), None))?;
        match self.obj(out) {
            Some(Obj::List(seq)) => Ok(seq.clone()),
            _ => Ok(Seq::unknown()),
        }
    }

    pub(super) fn is_generator(&mut self, def: &'e FunctionDef) -> bool {
        let key = std::ptr::from_ref(def);
        if let Some(known) = self.generators.get(&key) {
            return *known;
        }
        let yields = yields(&def.body);
        self.generators.insert(key, yields);
        yields
    }

    pub(super) fn bind(&mut self, func: &Func<'e>, args: Args<'e>, scope: ObjId) -> R<()> {
        let mut pos: Vec<Value<'e>> = func.bound.pos.iter().cloned().chain(args.pos).collect();
        let mut named: Vec<(SmolStr, Value<'e>)> = func.bound.named.clone();
        for (name, value) in args.named {
            named.retain(|(n, _)| *n != name);
            named.push((name, value));
        }
        pos.reverse();
        let mut vars = Vec::new();
        for (at, param) in func.code.params().iter().enumerate() {
            let name = &param.name.name;
            let value = match param.stars {
                1 => {
                    let mut seq = Seq::of(std::mem::take(&mut pos).into_iter().rev().collect());
                    if args.open {
                        seq.extend(&Seq::unknown());
                    }
                    self.tuple_of(seq)
                }
                2 => {
                    let entries = std::mem::take(&mut named);
                    let entries = entries
                        .into_iter()
                        .map(|(k, v)| (Value::Str(k), v, true))
                        .collect();
                    Value::Ref(self.alloc(Obj::Dict(Dict {
                        entries,
                        open: args.open,
                        cache: false,
                    })))
                }
                _ => {
                    let given = match named.iter().position(|(n, _)| n == name) {
                        Some(i) => Some(named.remove(i).1),
                        None if !param.keyword_only => pos.pop(),
                        None => None,
                    };
                    match (given, func.defaults.get(at).cloned().flatten()) {
                        (Some(value), _) => value,
                        (None, default) if args.open => {
                            let unknown = self.fresh();
                            default.map_or(unknown.clone(), |d| self.join(&d, &unknown))
                        }
                        (None, Some(default)) => default,
                        (None, None) => return Err(Stop::Raise),
                    }
                }
            };
            vars.push((name.clone(), value));
        }
        if let Some(Obj::Scope(s)) = self.obj_mut(scope) {
            s.vars = vars;
        }
        Ok(())
    }

    /// Arguments of which nothing is known beyond what the parameters say.
    pub(super) fn unknown_args(&mut self, func: &Func<'e>) -> Args<'e> {
        let mut args = Args {
            open: false,
            ..Args::default()
        };
        let bound = func.bound.pos.len();
        let mut spread = false;
        for param in func.code.params().iter().skip(bound) {
            match param.stars {
                0 => {
                    let value = self.unknown_param(param);
                    args.named.push((param.name.name.clone(), value));
                }
                _ => spread = true,
            }
        }
        if spread {
            // Only what goes to `*args` and `**kwargs` is open: every named parameter is given.
            args.open = true;
        }
        args
    }

    fn unknown_param(&mut self, param: &'e Param) -> Value<'e> {
        let none = matches!(
            &param.default,
            Some(Expr {
                kind: ExprKind::None,
                ..
            })
        );
        let kind = match param
            .annotation
            .as_ref()
            .and_then(Expr::name)
            .map(SmolStr::as_str)
        {
            Some("int") if !none => Kind::Int,
            Some("bool") if !none => Kind::Bool,
            Some("float") if !none => Kind::Number,
            Some("str") if !none => Kind::Str,
            _ => Kind::Any,
        };
        let name = format!("parameter {} at {}", param.name.name, param.name.span.start);
        Value::Sym(self.syms.root(name, kind, Range::ALL))
    }

    // Classes.

    pub(super) fn instantiate(
        &mut self,
        class: &Rc<Class<'e>>,
        args: Args<'e>,
        place: Place,
    ) -> R<Value<'e>> {
        let mut record = Record {
            class: Some(class.clone()),
            maker: class.name.clone(),
            fields: Vec::new(),
            args: Vec::new(),
            open: args.open,
            place,
        };
        let def = match &class.body {
            ClassBody::Fields(names) => {
                let mut pos = args.pos.into_iter();
                for name in names {
                    let value = args
                        .named
                        .iter()
                        .find(|(n, _)| n == name)
                        .map(|(_, v)| v.clone());
                    let value = value.or_else(|| pos.next()).unwrap_or(Value::None);
                    record.set(name, value);
                }
                return Ok(Value::Ref(self.alloc(Obj::Record(record))));
            }
            ClassBody::Def(def) => *def,
        };
        let instance = self.alloc(Obj::Record(record));
        let init = self.class_attribute(class, "__init__")?;
        if let Some(Value::Func(init)) = init {
            let mut given = args;
            given.pos.insert(0, Value::Ref(instance));
            self.call_function(&init, given)?;
            return Ok(Value::Ref(instance));
        }
        let fields = self.class_fields(class)?;
        if fields.is_empty() && !def.bases.is_empty() {
            // The base decides what the arguments mean; keywords are still attributes, most likely.
            if let Some(Obj::Record(r)) = self.obj_mut(instance) {
                r.open = true;
                r.args = args.pos;
                r.fields = args.named;
            }
            return Ok(Value::Ref(instance));
        }
        let mut pos = args.pos.into_iter();
        for (name, default) in fields {
            let given = args
                .named
                .iter()
                .find(|(n, _)| *n == name)
                .map(|(_, v)| v.clone());
            let value = match (given.or_else(|| pos.next()), default) {
                (Some(value), _) | (None, Some(value)) => value,
                (None, None) => self.fresh(),
            };
            if let Some(Obj::Record(r)) = self.obj_mut(instance) {
                r.set(&name, value);
            }
        }
        let post = self.class_attribute(class, "__post_init__")?;
        if let Some(Value::Func(post)) = post {
            self.call_function(&post, Args::one(Value::Ref(instance)))?;
        }
        Ok(Value::Ref(instance))
    }

    /// Annotated fields of a data class or named tuple with their defaults, those of bases first.
    pub(super) fn class_fields(
        &mut self,
        class: &Rc<Class<'e>>,
    ) -> R<Vec<(SmolStr, Option<Value<'e>>)>> {
        let def = match &class.body {
            ClassBody::Fields(names) => {
                return Ok(names.iter().map(|n| (n.clone(), None)).collect());
            }
            ClassBody::Def(def) => *def,
        };
        let mut fields: Vec<(SmolStr, Option<Value<'e>>)> = Vec::new();
        for base in self.bases(class)? {
            fields.extend(self.deeper(|i| i.class_fields(&base))?);
        }
        for stmt in &def.body {
            let StmtKind::AnnAssign {
                target,
                value,
                annotation,
            } = &stmt.kind
            else {
                continue;
            };
            let Some(name) = target.name() else { continue };
            if annotation.walk_finds("ClassVar") {
                continue;
            }
            let default = match value {
                Some(value) => Some(self.in_class(class, |i| i.field_default(value))?),
                None => None,
            };
            fields.retain(|(n, _)| n != name);
            fields.push((name.clone(), default));
        }
        Ok(fields)
    }

    /// The default of a field, `field(default=...)` understood.
    fn field_default(&mut self, value: &'e Expr) -> R<Value<'e>> {
        if let ExprKind::Call { func, args } = &value.kind
            && func.last_ident().is_some_and(|n| n.name == "field")
        {
            for arg in args {
                match arg.name.as_ref().map(|n| n.name.as_str()) {
                    Some("default") => return self.eval(&arg.value),
                    Some("default_factory") => {
                        let factory = self.eval(&arg.value)?;
                        let place = self.place(arg.value.span);
                        return self.call(&factory, Args::default(), place);
                    }
                    _ => {}
                }
            }
            return Ok(self.fresh());
        }
        self.eval(value)
    }

    /// Runs `f` where a class was defined.
    pub(super) fn in_class<T>(
        &mut self,
        class: &Class<'e>,
        f: impl FnOnce(&mut Self) -> R<T>,
    ) -> R<T> {
        let place = Place {
            module: class.module,
            item: class.item,
            span: Span::default(),
        };
        if self.obj(class.scope).is_none() {
            self.module_scope(class.module);
        }
        self.in_scope(class.scope, place, f)
    }

    pub(super) fn bases(&mut self, class: &Rc<Class<'e>>) -> R<Vec<Rc<Class<'e>>>> {
        let ClassBody::Def(def) = &class.body else {
            return Ok(Vec::new());
        };
        let mut out = Vec::new();
        for base in def.bases.iter().filter(|b| b.name.is_none()) {
            if let Value::Class(base) = self.in_class(class, |i| i.eval(&base.value))?
                && !Rc::ptr_eq(&base, class)
            {
                out.push(base);
            }
        }
        Ok(out)
    }
}

/// Whether a body yields, nested functions aside.
fn yields(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| {
        if matches!(stmt.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_)) {
            return false;
        }
        let mut found = false;
        stmt.own_exprs(&mut |e| found |= expr_yields(e));
        found || stmt.blocks().into_iter().any(yields)
    })
}

fn expr_yields(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Yield(_) | ExprKind::YieldFrom(_) => true,
        ExprKind::Lambda { .. } => false,
        _ => {
            let mut found = false;
            expr.children(&mut |c| found |= expr_yields(c));
            found
        }
    }
}

/// A question on an expression's text, kept out of the syntax crate.
trait Mentions {
    fn walk_finds(&self, name: &str) -> bool;
}

impl Mentions for Expr {
    fn walk_finds(&self, name: &str) -> bool {
        let mut found = false;
        self.walk(&mut |e| found |= e.last_ident().is_some_and(|n| n.name == name));
        found
    }
}
