//! Expressions.

use std::rc::Rc;

use smol_str::SmolStr;
use tileperf_syntax::ast::{Arg, Expr, ExprKind};

use super::cond::Cond;
use super::interp::{Interp, R, Stop};
use super::seq::Seq;
use super::space::Note;
use super::stmt::Exits;
use super::value::{Args, Code, Dict, Obj, Value};

impl<'e> Interp<'e> {
    pub(super) fn eval(&mut self, expr: &'e Expr) -> R<Value<'e>> {
        let value = self.deeper(|i| i.eval_kind(expr))?;
        if let Some(watch) = self.watch
            && watch.place.span == expr.span
            && watch.place == self.place(expr.span)
        {
            self.observe(&value)?;
        }
        Ok(value)
    }

    fn eval_kind(&mut self, expr: &'e Expr) -> R<Value<'e>> {
        use ExprKind as K;
        let detach = std::mem::take(&mut self.detach);
        Ok(match &expr.kind {
            K::Name(name) => self.lookup(name)?,
            K::Int(v) => Value::Int(*v),
            K::Float(v) => Value::Float(*v),
            K::Bool(v) => Value::Bool(*v),
            K::None => Value::None,
            K::Str(s) => Value::str(s),
            K::Ellipsis => Value::External(SmolStr::new("...")),
            K::Attribute { value, attr } => {
                let base = self.eval(value)?;
                self.attribute(&base, &attr.name)?
            }
            K::Call { func, args } => return self.eval_call(expr, func, args),
            K::Subscript { value, index } => {
                let base = self.eval(value)?;
                return self.eval_subscript(&base, index);
            }
            K::Tuple(items) => {
                let seq = self.items(items)?;
                self.tuple_of(seq)
            }
            K::List(items) => {
                let seq = self.items(items)?;
                self.list(seq)
            }
            K::Set(items) => {
                let seq = self.items(items)?;
                self.set_of(seq)
            }
            K::Dict(pairs) => self.eval_dict(pairs)?,
            K::FString(parts) => {
                let mut values = vec![Value::Int(i64::from(expr.span.start))];
                for part in parts {
                    values.push(self.eval(part)?);
                }
                self.pure("str", &values)
            }
            K::Unary { op, .. } if op == "not" => {
                let cond = self.cond(expr)?;
                self.cond_value(cond)
            }
            K::Unary { op, operand } => {
                let value = self.eval(operand)?;
                self.unary(op, &value)
            }
            K::Binary { op, left, right } => {
                let (a, b) = (self.eval(left)?, self.eval(right)?);
                self.binary(op, &a, &b)
            }
            K::Logical { and, left, right } => {
                return self.eval_logical(expr, *and, left, right, detach);
            }
            K::Compare { .. } => {
                let cond = self.cond(expr)?;
                self.cond_value(cond)
            }
            K::Conditional { test, body, orelse } => {
                let cond = self.cond(test)?;
                match self.decide(cond) {
                    Some(true) => self.eval(body)?,
                    Some(false) => self.eval(orelse)?,
                    None => self.either(cond, body, orelse, detach)?,
                }
            }
            K::Lambda { params, body } => {
                Value::Func(Rc::new(self.closure(Code::Lambda(params, body))?))
            }
            K::Comprehension { .. } => self.comprehension(expr, None)?,
            K::Starred(inner) | K::Await(inner) => {
                self.eval(inner)?;
                self.fresh()
            }
            K::Yield(value) => {
                let value = match value {
                    Some(value) => self.eval(value)?,
                    None => Value::None,
                };
                if let Some(out) = self.frames.last().and_then(|f| f.out) {
                    self.add_to(out, value);
                }
                self.fresh()
            }
            K::YieldFrom(value) => {
                let source = self.eval(value)?;
                let seq = self.iterate(&source)?;
                if seq.len.exact().is_none() {
                    let place = self.place(value.span);
                    self.note(Note::UnknownLength(place));
                }
                if let Some(out) = self.frames.last().and_then(|f| f.out)
                    && let Some(Obj::List(list)) = self.obj_mut(out)
                {
                    list.extend(&seq);
                }
                self.fresh()
            }
            K::Named { target, value } => {
                let value = self.eval(value)?;
                self.assign_name(&target.name, value.clone());
                value
            }
            K::Slice { .. } => self.fresh(),
            K::Unknown(parts) => {
                for part in parts {
                    self.eval(part)?;
                }
                self.risks += 1;
                self.fresh()
            }
        })
    }

    /// Evaluates either of two expressions, nobody knows which.
    fn either(
        &mut self,
        cond: Cond,
        body: &'e Expr,
        orelse: &'e Expr,
        detach: bool,
    ) -> R<Value<'e>> {
        let mut values: Vec<Value<'e>> = Vec::new();
        let cell = std::cell::RefCell::new(&mut values);
        let run = |i: &mut Self, e: &'e Expr| -> R<Exits<'e>> {
            let value = i.eval(e)?;
            let value = if detach { i.detached(value) } else { value };
            cell.borrow_mut().push(value);
            Ok(Exits::next())
        };
        self.both(cond, &mut |i| run(i, body), &mut |i| run(i, orelse))?;
        Ok(self.any_of(values))
    }

    /// A container as it is on this branch: joining the branches would forget that one of them
    /// found something in it. Only for a value that no name can change any more.
    fn detached(&mut self, value: Value<'e>) -> Value<'e> {
        match self.object_of(&value) {
            Some(obj @ (Obj::List(_) | Obj::Set(_))) => {
                let copy = obj.clone();
                Value::Ref(self.alloc(copy))
            }
            _ => value,
        }
    }

    /// The condition that an expression is, as a test.
    pub(super) fn cond(&mut self, expr: &'e Expr) -> R<Cond> {
        let cond = self.deeper(|i| i.cond_kind(expr))?;
        self.at_test = self.place(expr.span);
        Ok(cond)
    }

    fn cond_kind(&mut self, expr: &'e Expr) -> R<Cond> {
        match &expr.kind {
            ExprKind::Unary { op, operand } if op == "not" => Ok(self.cond(operand)?.not()),
            ExprKind::Logical { and, left, right } => {
                let a = self.cond(left)?;
                if matches!(a, Cond::Known(b) if b != *and) {
                    return Ok(a);
                }
                match self.cond(right) {
                    Ok(b) => Ok(self.combine(*and, a, b)),
                    // Had the left side come out as the right one needs, it would have raised.
                    Err(Stop::Raise) if !matches!(a, Cond::Known(_)) => Ok(Cond::Known(!and)),
                    Err(stop) => Err(stop),
                }
            }
            ExprKind::Compare { first, rest } => {
                if let Some(cond) = self.length_test(first, rest)? {
                    return Ok(cond);
                }
                let mut left = self.eval(first)?;
                let mut total = Cond::Known(true);
                for (op, right) in rest {
                    let right = self.eval(right)?;
                    let value = self.compare(op, &left, &right);
                    let cond = self.truth(&value);
                    total = self.combine(true, total, cond);
                    if matches!(total, Cond::Known(false)) {
                        break;
                    }
                    left = right;
                }
                Ok(total)
            }
            _ => {
                let value = self.eval(expr)?;
                Ok(self.truth(&value))
            }
        }
    }

    /// `len(x) > 0` and the like, which say whether `x` holds anything.
    fn length_test(&mut self, first: &'e Expr, rest: &'e [(SmolStr, Expr)]) -> R<Option<Cond>> {
        let (
            ExprKind::Call { func, args },
            [
                (
                    op,
                    Expr {
                        kind: ExprKind::Int(bound),
                        ..
                    },
                ),
            ],
        ) = (&first.kind, rest)
        else {
            return Ok(None);
        };
        let filled = match (op.as_str(), bound) {
            (">" | "!=", 0) | (">=", 1) => true,
            ("==" | "<=", 0) | ("<", 1) => false,
            _ => return Ok(None),
        };
        if func.name().is_none_or(|n| n != "len") || args.len() != 1 {
            return Ok(None);
        }
        let value = self.eval(&args[0].value)?;
        if !matches!(self.object_of(&value), Some(Obj::List(_) | Obj::Set(_))) {
            return Ok(None);
        }
        let cond = self.truth(&value);
        Ok(Some(if filled { cond } else { cond.not() }))
    }

    fn eval_logical(
        &mut self,
        expr: &'e Expr,
        and: bool,
        left: &'e Expr,
        right: &'e Expr,
        detach: bool,
    ) -> R<Value<'e>> {
        let boolean = |e: &Expr| {
            matches!(
                &e.kind,
                ExprKind::Compare { .. } | ExprKind::Bool(_) | ExprKind::Logical { .. }
            ) || matches!(&e.kind, ExprKind::Unary { op, .. } if op == "not")
        };
        // Of two tests the value is a test, and can wait until somebody asks.
        if boolean(left) && boolean(right) {
            let cond = self.cond(expr)?;
            return Ok(self.cond_value(cond));
        }
        let value = self.eval(left)?;
        let cond = self.truth(&value);
        match self.decide(cond) {
            Some(b) if b == and => self.eval(right),
            Some(_) => Ok(self.settle(value)),
            None => {
                // Nothing else holds what the expression itself has made.
                let own = !matches!(
                    left.kind,
                    ExprKind::Name(_) | ExprKind::Attribute { .. } | ExprKind::Subscript { .. }
                );
                let mut values = Vec::new();
                let cell = std::cell::RefCell::new(&mut values);
                let mut run = |i: &mut Self| -> R<Exits<'e>> {
                    let value = i.eval(right)?;
                    cell.borrow_mut().push(value);
                    Ok(Exits::next())
                };
                let mut skip = |i: &mut Self| -> R<Exits<'e>> {
                    let value = if own || detach {
                        i.detached(value.clone())
                    } else {
                        value.clone()
                    };
                    cell.borrow_mut().push(value);
                    Ok(Exits::next())
                };
                if and {
                    self.both(cond, &mut run, &mut skip)?;
                } else {
                    self.both(cond, &mut skip, &mut run)?;
                }
                Ok(self.any_of(values))
            }
        }
    }

    /// Elements of a display, starred ones spread.
    pub(super) fn items(&mut self, items: &'e [Expr]) -> R<Seq<'e>> {
        let mut seq = Seq::empty();
        for item in items {
            if let ExprKind::Starred(inner) = &item.kind {
                let source = self.eval(inner)?;
                let more = self.iterate(&source)?;
                seq.extend(&more);
            } else {
                seq.push(self.eval(item)?, true);
            }
        }
        Ok(seq)
    }

    fn eval_dict(&mut self, pairs: &'e [(Option<Expr>, Expr)]) -> R<Value<'e>> {
        let mut dict = Dict::default();
        for (key, value) in pairs {
            match key {
                Some(key) => {
                    let key = self.eval(key)?;
                    let value = self.eval(value)?;
                    super::dicts::dict_set(&mut dict, &key, &value, true);
                }
                None => {
                    let more = self.eval(value)?;
                    self.merge_into(&mut dict, &more);
                }
            }
        }
        Ok(Value::Ref(self.alloc(Obj::Dict(dict))))
    }

    // Calls.

    fn eval_call(&mut self, expr: &'e Expr, func: &'e Expr, args: &'e [Arg]) -> R<Value<'e>> {
        let place = self.place(expr.span);
        let observed = self.observed.len();
        if let ExprKind::Attribute { value, attr } = &func.kind {
            let base = self.eval(value)?;
            if self.has_methods(&base) {
                let args = self.eval_args(args)?;
                return self.call_method(&base, &attr.name, args);
            }
            let callee = self.attribute(&base, &attr.name)?;
            let args = self.eval_args(args)?;
            return self.call_seen(&callee, args, place, observed);
        }
        let callee = self.eval(func)?;
        let args = self.eval_args(args)?;
        self.call_seen(&callee, args, place, observed)
    }

    /// A call, unless its arguments held the watched expression: what a search makes of its space
    /// is not asked.
    fn call_seen(
        &mut self,
        callee: &Value<'e>,
        args: Args<'e>,
        place: super::env::Place,
        observed: usize,
    ) -> R<Value<'e>> {
        if self.observed.len() > observed {
            return Ok(self.fresh());
        }
        self.call(callee, args, place)
    }

    /// Whether methods of the value are those of a built-in type.
    fn has_methods(&self, base: &Value<'e>) -> bool {
        match base {
            Value::Str(_) | Value::Tuple(_) => true,
            Value::Ref(_) => {
                matches!(
                    self.object_of(base),
                    Some(Obj::List(_) | Obj::Set(_) | Obj::Dict(_) | Obj::Iter(_))
                )
            }
            Value::OneOf(items) => items.iter().all(|v| self.has_methods(v)),
            _ => false,
        }
    }

    fn eval_args(&mut self, args: &'e [Arg]) -> R<Args<'e>> {
        let mut out = Args::default();
        for arg in args {
            // `*x` is a splat whichever way the grammar wraps it.
            let (stars, expr) = match &arg.value.kind {
                ExprKind::Starred(inner) if arg.stars == 0 => (1, &**inner),
                _ => (arg.stars, &arg.value),
            };
            let value = self.eval(expr)?;
            match (stars, &arg.name) {
                (0, Some(name)) => out.named.push((name.name.clone(), value)),
                (0, None) => out.pos.push(value),
                (1, _) => {
                    let seq = self.iterate(&value)?;
                    match seq.values() {
                        Some(values) => out.pos.extend(values),
                        None => out.open = true,
                    }
                }
                _ => match self.object_of(&value) {
                    Some(Obj::Dict(dict)) if !dict.open => {
                        for (key, value, certain) in dict.entries.clone() {
                            match key {
                                Value::Str(name) if certain => out.named.push((name, value)),
                                _ => out.open = true,
                            }
                        }
                    }
                    _ => out.open = true,
                },
            }
        }
        Ok(out)
    }
}
