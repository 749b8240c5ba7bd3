//! Calls of functions and classes of the workspace.

use std::rc::Rc;

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef, Param};

use super::env::Place;
use super::interp::{Frame, Interp, R, Stop};
use super::seq::Seq;
use super::sym::{Kind, Range};
use super::value::{Args, Code, Dict, Func, Iter, Obj, ObjId, Scope, Value};

/// Calls inside calls; deeper is recursion that nobody can follow.
const MAX_FRAMES: usize = 40;

impl<'e> Interp<'e> {
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

    fn is_generator(&mut self, def: &'e FunctionDef) -> bool {
        let key = std::ptr::from_ref(def);
        if let Some(known) = self.generators.get(&key) {
            return *known;
        }
        let yields = tileperf_syntax::ast::yields(&def.body);
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
}
