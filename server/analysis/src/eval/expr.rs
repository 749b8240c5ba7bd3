//! Expressions.

use std::rc::Rc;

use smol_str::SmolStr;
use tileperf_syntax::ast::{Arg, Expr, ExprKind};

use super::cond::Cond;
use super::interp::{Interp, R, Stop};
use super::seq::{Len, Seq};
use super::space::Note;
use super::stmt::Exits;
use super::sym::{Kind, Range};
use super::value::{Args, Code, Dict, Iter, Obj, Value};

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
            K::Logical { and, left, right } => return self.eval_logical(expr, *and, left, right),
            K::Compare { .. } => {
                let cond = self.cond(expr)?;
                self.cond_value(cond)
            }
            K::Conditional { test, body, orelse } => {
                let cond = self.cond(test)?;
                match self.decide(cond) {
                    Some(true) => self.eval(body)?,
                    Some(false) => self.eval(orelse)?,
                    None => self.either(cond, body, orelse)?,
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
    fn either(&mut self, cond: Cond, body: &'e Expr, orelse: &'e Expr) -> R<Value<'e>> {
        let mut values: Vec<Value<'e>> = Vec::new();
        let cell = std::cell::RefCell::new(&mut values);
        let run = |i: &mut Self, e: &'e Expr| -> R<Exits<'e>> {
            let value = i.eval(e)?;
            cell.borrow_mut().push(value);
            Ok(Exits::next())
        };
        self.both(cond, &mut |i| run(i, body), &mut |i| run(i, orelse))?;
        Ok(self.any_of(values))
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
                let mut values = vec![value];
                let cell = std::cell::RefCell::new(&mut values);
                let mut run = |i: &mut Self| -> R<Exits<'e>> {
                    let value = i.eval(right)?;
                    cell.borrow_mut().push(value);
                    Ok(Exits::next())
                };
                let mut skip = |_: &mut Self| Ok(Exits::next());
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
    fn items(&mut self, items: &'e [Expr]) -> R<Seq<'e>> {
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
                    super::methods::dict_set(&mut dict, &key, &value, true);
                }
                None => {
                    let more = self.eval(value)?;
                    self.merge_into(&mut dict, &more);
                }
            }
        }
        Ok(Value::Ref(self.alloc(Obj::Dict(dict))))
    }

    /// `dict.update(more)`.
    pub(super) fn merge_into(&mut self, dict: &mut Dict<'e>, more: &Value<'e>) {
        match self.object_of(more) {
            Some(Obj::Dict(other)) => {
                for (k, v, certain) in other.entries.clone() {
                    super::methods::dict_set(dict, &k, &v, certain);
                }
                dict.open |= matches!(self.object_of(more), Some(Obj::Dict(d)) if d.open);
            }
            _ => dict.open = true,
        }
    }

    // Assignment.

    pub(super) fn assign(&mut self, target: &'e Expr, value: Value<'e>) -> R<()> {
        match &target.kind {
            ExprKind::Name(name) => self.assign_name(name, value),
            ExprKind::Tuple(targets) | ExprKind::List(targets) => self.unpack(targets, &value)?,
            ExprKind::Starred(inner) => self.assign(inner, value)?,
            ExprKind::Attribute { value: base, attr } => {
                let base = self.eval(base)?;
                self.set_attribute(&base, &attr.name, value);
            }
            ExprKind::Subscript { value: base, index } => {
                let base = self.eval(base)?;
                let key = match index.as_slice() {
                    [one] if !matches!(one.kind, ExprKind::Slice { .. }) => Some(self.eval(one)?),
                    [_] => None,
                    many => {
                        let seq = self.items(many)?;
                        Some(self.tuple_of(seq))
                    }
                };
                self.set_item(&base, key, value);
            }
            _ => {}
        }
        Ok(())
    }

    fn unpack(&mut self, targets: &'e [Expr], value: &Value<'e>) -> R<()> {
        // Of several tuples, the parts of one belong together only as alternatives of each part.
        let seq = self.iterate(value)?;
        let star = targets
            .iter()
            .position(|t| matches!(t.kind, ExprKind::Starred(_)));
        let values = match seq.values() {
            Some(values) => values,
            None => {
                let (samples, open) = seq.all_values();
                let one = if open {
                    self.fresh()
                } else {
                    self.any_of(samples)
                };
                for (at, target) in targets.iter().enumerate() {
                    let part = if star == Some(at) {
                        self.list(Seq::unknown())
                    } else if matches!(value, Value::Sym(_)) {
                        self.pure("[]", &[value.clone(), Value::Int(at as i64)])
                    } else {
                        one.clone()
                    };
                    self.assign(target, part)?;
                }
                return Ok(());
            }
        };
        match star {
            None if values.len() == targets.len() => {
                for (target, value) in targets.iter().zip(values) {
                    self.assign(target, value)?;
                }
            }
            Some(at) if values.len() + 1 >= targets.len() => {
                let tail = targets.len() - at - 1;
                let middle = values[at..values.len() - tail].to_vec();
                for (target, value) in targets[..at].iter().zip(&values) {
                    self.assign(target, value.clone())?;
                }
                let middle = self.list(Seq::of(middle));
                self.assign(&targets[at], middle)?;
                for (target, value) in targets[at + 1..].iter().zip(&values[values.len() - tail..])
                {
                    self.assign(target, value.clone())?;
                }
            }
            _ => return Err(Stop::Raise),
        }
        Ok(())
    }

    fn set_item(&mut self, base: &Value<'e>, key: Option<Value<'e>>, value: Value<'e>) {
        for base in base.alternatives() {
            let certain = matches!(base, Value::Ref(_));
            let Value::Ref(id) = base else { continue };
            match (self.obj_mut(*id), &key) {
                (Some(Obj::Dict(dict)), Some(key)) => {
                    super::methods::dict_set(dict, key, &value, certain)
                }
                (Some(Obj::List(seq)), Some(Value::Int(at))) => {
                    let at = if *at < 0 {
                        seq.slots.len() as i64 + at
                    } else {
                        *at
                    };
                    match usize::try_from(at).ok().filter(|_| seq.exact()) {
                        Some(at) if at < seq.slots.len() => {
                            seq.slots[at].value = value.clone();
                            seq.rewritten = true;
                        }
                        _ => seq.open = true,
                    }
                }
                // A slice assignment may change the length.
                (Some(Obj::List(seq)), None) => seq.replace(Seq::unknown()),
                (Some(Obj::List(seq)), Some(_)) => {
                    let with = seq.clone().any_of(seq.len);
                    seq.replace(Seq { open: true, ..with });
                }
                _ => {}
            }
        }
    }

    pub(super) fn augment(&mut self, target: &'e Expr, op: &str, value: &'e Expr) -> R<()> {
        let old = self.eval(target)?;
        let new = self.eval(value)?;
        if let Value::Ref(id) = old {
            match (self.obj(id), op) {
                (Some(Obj::List(_)), "+") => {
                    let more = self.iterate(&new)?;
                    if let Some(Obj::List(seq)) = self.obj_mut(id) {
                        seq.extend(&more);
                    }
                    return Ok(());
                }
                (Some(Obj::Set(_)), "|") => {
                    let more = self.iterate(&new)?;
                    self.set_extend(id, &more);
                    return Ok(());
                }
                (Some(Obj::Dict(dict)), "|") => {
                    let mut dict = dict.clone();
                    self.merge_into(&mut dict, &new);
                    if let Some(Obj::Dict(d)) = self.obj_mut(id) {
                        *d = dict;
                    }
                    return Ok(());
                }
                _ => {}
            }
        }
        let result = self.binary(op, &old, &new);
        self.assign(target, result)
    }

    // Subscripts.

    fn eval_subscript(&mut self, base: &Value<'e>, index: &'e [Expr]) -> R<Value<'e>> {
        if let [
            Expr {
                kind: ExprKind::Slice { lower, upper, step },
                ..
            },
        ] = index
        {
            let mut bounds = Vec::new();
            for bound in [lower, upper, step] {
                bounds.push(match bound {
                    Some(e) => self.eval(e)?,
                    None => Value::None,
                });
            }
            return self.slice(base, &bounds[0], &bounds[1], &bounds[2]);
        }
        let key = match index {
            [one] if !matches!(one.kind, ExprKind::Starred(_)) => self.eval(one)?,
            many => {
                let seq = self.items(many)?;
                self.tuple_of(seq)
            }
        };
        let mut values = Vec::new();
        for base in base.alternatives() {
            match self.item(base, &key) {
                Ok(value) => values.push(value),
                Err(Stop::Raise) => {}
                Err(stop) => return Err(stop),
            }
        }
        if values.is_empty() {
            return Err(Stop::Raise);
        }
        let value = self.any_of(values);
        Ok(self.settle(value))
    }

    fn item(&mut self, base: &Value<'e>, key: &Value<'e>) -> R<Value<'e>> {
        let seq = match base {
            Value::Tuple(items) => Seq::of(items.to_vec()),
            Value::Ref(id) => match self.obj(*id) {
                Some(Obj::List(seq)) => seq.clone(),
                Some(Obj::Dict(_)) => return self.dict_get(*id, key, None),
                _ => {
                    self.risks += 1;
                    return Ok(self.fresh());
                }
            },
            _ => {
                self.risks += 1;
                return Ok(self.pure("[]", &[base.clone(), key.clone()]));
            }
        };
        let (samples, open) = seq.all_values();
        match key.int() {
            Some(at) if seq.exact() => {
                let at = if at < 0 {
                    seq.slots.len() as i64 + at
                } else {
                    at
                };
                match usize::try_from(at).ok().and_then(|at| seq.slots.get(at)) {
                    Some(slot) => Ok(slot.value.clone()),
                    None => Err(Stop::Raise),
                }
            }
            _ if open || seq.cache => {
                self.risks += 1;
                Ok(self.fresh())
            }
            _ if samples.is_empty() => Err(Stop::Raise),
            _ => {
                self.risks += 1;
                Ok(self.any_of(samples))
            }
        }
    }

    fn slice(
        &mut self,
        base: &Value<'e>,
        lower: &Value<'e>,
        upper: &Value<'e>,
        step: &Value<'e>,
    ) -> R<Value<'e>> {
        let seq = match base {
            Value::Tuple(items) => Seq::of(items.to_vec()),
            Value::Ref(id) => match self.obj(*id) {
                Some(Obj::List(seq)) => seq.clone(),
                _ => return Ok(self.fresh()),
            },
            Value::Str(_) => return Ok(self.fresh_of(Kind::Str, Range::ALL)),
            _ => return Ok(self.fresh()),
        };
        let bound = |v: &Value<'e>, default: i64| match v {
            Value::None => Some(default),
            v => v.int(),
        };
        let size = seq.slots.len() as i64;
        let clamp = |v: i64| if v < 0 { (size + v).max(0) } else { v } as usize;
        let cut = match (bound(lower, 0), bound(upper, i64::MAX), bound(step, 1)) {
            (Some(a), Some(b), Some(step)) if seq.exact() && step > 0 => {
                let part = seq.slice(clamp(a), Some(clamp(b)));
                Seq::of(
                    part.values()
                        .unwrap_or_default()
                        .into_iter()
                        .step_by(step as usize)
                        .collect(),
                )
            }
            (Some(0), Some(i64::MAX), Some(-1)) if seq.exact() => {
                let mut values = seq.values().unwrap_or_default();
                values.reverse();
                Seq::of(values)
            }
            (Some(a), Some(b), Some(1)) if a >= 0 && b >= 0 => {
                seq.slice(a as usize, (b != i64::MAX).then_some(b as usize))
            }
            // `xs[:n]` with an unknown n.
            (Some(0), None, Some(1)) => {
                let range = self.range(upper);
                let most = range.hi.and_then(|h| u64::try_from(h).ok());
                let least = range.lo.and_then(|l| u64::try_from(l).ok()).unwrap_or(0);
                let mut len = seq.len.shorter(Len {
                    min: least,
                    max: most,
                });
                if range.lo.is_none_or(|l| l < 0) {
                    len = Len::up_to(seq.len.max);
                }
                seq.any_of(len)
            }
            _ => {
                let len = seq.len.without_min();
                seq.any_of(len)
            }
        };
        Ok(match base {
            Value::Tuple(_) => self.tuple_of(cut),
            _ => self.list(cut),
        })
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

    /// What iterating over a value gives; consumes iterators.
    pub(super) fn iterate(&mut self, value: &Value<'e>) -> R<Seq<'e>> {
        match value {
            Value::Tuple(items) => Ok(Seq::of(items.to_vec())),
            Value::Str(s) => Ok(Seq::of(
                s.chars()
                    .map(|c| Value::Str(SmolStr::new(c.to_string())))
                    .collect(),
            )),
            Value::OneOf(items) => {
                let mut joined: Option<Seq<'e>> = None;
                for item in items.iter() {
                    let seq = self.iterate(item)?;
                    let syms = &mut self.syms;
                    joined = Some(match joined {
                        Some(j) => j.join(&seq, &mut |a, b| Self::join_values(syms, a, b)),
                        None => seq,
                    });
                }
                Ok(joined.unwrap_or_else(Seq::unknown))
            }
            Value::Ref(id) => match self.obj(*id) {
                Some(Obj::List(seq) | Obj::Set(seq)) if seq.cache => Ok(Seq::unknown()),
                Some(Obj::List(seq) | Obj::Set(seq)) => {
                    self.burn(seq.slots.len() / 16)?;
                    match self.obj(*id) {
                        Some(Obj::List(seq) | Obj::Set(seq)) => Ok(seq.clone()),
                        _ => Ok(Seq::unknown()),
                    }
                }
                Some(Obj::Dict(dict)) => {
                    let mut keys = Seq::empty();
                    dict.entries
                        .iter()
                        .for_each(|(k, _, certain)| keys.push(k.clone(), *certain));
                    if dict.open {
                        keys.extend(&Seq::unknown());
                    }
                    Ok(keys)
                }
                Some(Obj::Iter(_)) => self.drain(*id),
                Some(Obj::Record(_)) => {
                    let iter = self.attribute(value, "__iter__")?;
                    if let Value::Func(_) = iter {
                        let place = self.at_test;
                        let result = self.call(&iter, Args::default(), place)?;
                        return self.iterate(&result);
                    }
                    self.record_values(*id)
                }
                _ => Ok(Seq::unknown()),
            },
            Value::Sym(_) => {
                self.risks += 1;
                let falsy = matches!(self.truth(value), Cond::Known(false));
                Ok(if falsy { Seq::empty() } else { Seq::unknown() })
            }
            Value::None | Value::Int(_) | Value::Bool(_) | Value::Float(_) | Value::Func(_) => {
                Err(Stop::Raise)
            }
            _ => {
                self.risks += 1;
                Ok(Seq::unknown())
            }
        }
    }

    /// What is left of an iterator; afterwards nothing is.
    pub(super) fn drain(&mut self, id: u32) -> R<Seq<'e>> {
        let iter = match self.obj_mut(id) {
            Some(Obj::Iter(iter)) => std::mem::replace(iter, Iter::Rest(Seq::empty())),
            _ => return Ok(Seq::unknown()),
        };
        match iter {
            Iter::Rest(seq) => Ok(seq),
            Iter::Call(func, scope) => self.run_generator(&func, scope),
            Iter::Expr(expr, scope, first, place) => {
                let ExprKind::Comprehension {
                    element, clauses, ..
                } = &expr.kind
                else {
                    return Ok(Seq::unknown());
                };
                let out = self.alloc(Obj::List(Seq::empty()));
                let inner = self.alloc(Obj::Scope(super::value::Scope::new(
                    Some(scope),
                    place.module,
                )));
                self.in_scope(inner, place, |i| {
                    i.clauses(clauses, Some(*first), &mut |i| {
                        let item = i.eval(element)?;
                        i.add_to(out, item);
                        Ok(())
                    })
                })?;
                match self.obj(out) {
                    Some(Obj::List(seq)) => Ok(seq.clone()),
                    _ => Ok(Seq::unknown()),
                }
            }
        }
    }
}
