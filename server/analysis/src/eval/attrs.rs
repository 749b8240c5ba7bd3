//! Attributes: of records, classes, modules, and of what nobody knows.

use std::rc::Rc;

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, FunctionDef, StmtKind};

use super::interp::{Interp, R};
use super::library::DEVICE_PROPERTIES;
use super::seq::Seq;
use super::sym::{Arg, Kind, Node, Range};
use super::triton;
use super::value::{Args, Class, ClassBody, Func, Obj, ObjId, Scope, Value};

impl<'e> Interp<'e> {
    pub(super) fn attribute(&mut self, base: &Value<'e>, name: &str) -> R<Value<'e>> {
        match base {
            Value::OneOf(items) => {
                let mut values = Vec::new();
                for item in items.iter() {
                    values.push(self.attribute(item, name)?);
                }
                Ok(self.any_of(values))
            }
            Value::Module(module) => {
                let module = *module;
                if let Some(value) = self.deeper(|i| i.module_name(module, name))? {
                    return Ok(self.settle(value));
                }
                Ok(match self.import(module, 1, name) {
                    Some(submodule) => Value::Module(submodule),
                    None => self.root(format!("{}:{name}", module.0)),
                })
            }
            Value::External(path) => Ok(self.external_attribute(path, name)),
            Value::Ref(id) => match self.obj(*id) {
                Some(Obj::Record(_)) => self.record_attribute(*id, name),
                _ => Ok(Value::Method(Rc::new((base.clone(), SmolStr::new(name))))),
            },
            Value::Str(_) | Value::Tuple(_) => {
                Ok(Value::Method(Rc::new((base.clone(), SmolStr::new(name)))))
            }
            Value::Class(class) => self.class_value(class, name),
            Value::Sym(sym) => {
                self.risks += 1;
                if let Node::Op { op, args } = self.syms.node(*sym)
                    && op == "call"
                    && matches!(args.first(), Some(Arg::External(path)) if path == DEVICE_PROPERTIES)
                {
                    return Ok(self.device_property(base, name));
                }
                let read = self.syms.op(&format!(".{name}"), vec![Arg::Sym(*sym)]);
                if let Some(stored) = self.state.facts.stores.get(&read) {
                    return Ok(stored.clone());
                }
                Ok(self.settle(Value::Sym(read)))
            }
            _ => {
                self.risks += 1;
                Ok(self.fresh())
            }
        }
    }

    fn external_attribute(&mut self, path: &SmolStr, name: &str) -> Value<'e> {
        let full = format!("{path}.{name}");
        match full.as_str() {
            "math.inf" | "numpy.inf" => return Value::Float(f64::INFINITY),
            "math.pi" => return Value::Float(std::f64::consts::PI),
            "sys.maxsize" => return Value::Int(i64::MAX),
            _ => {}
        }
        if let Some(value) = triton::attribute(&full) {
            return value;
        }
        match self.import(self.module_here(), 0, &full) {
            Some(module) => Value::Module(module),
            None => Value::External(full.into()),
        }
    }

    fn device_property(&mut self, device: &Value<'e>, name: &str) -> Value<'e> {
        self.asked = true;
        let (major, minor) = self.arch.capability();
        match name {
            "major" => Value::Int(i64::from(major)),
            "minor" => Value::Int(i64::from(minor)),
            "warp_size" => Value::Int(32),
            "multi_processor_count" | "total_memory" | "L2_cache_size" => Value::Sym(
                self.syms
                    .root(format!("device {name}"), Kind::Int, Range::from(1)),
            ),
            "name" => Value::Sym(self.syms.root("device name", Kind::Str, Range::ALL)),
            _ => self.pure(&format!(".{name}"), std::slice::from_ref(device)),
        }
    }

    fn record_attribute(&mut self, id: ObjId, name: &str) -> R<Value<'e>> {
        let Some(Obj::Record(record)) = self.obj(id) else {
            return Ok(self.fresh());
        };
        if let Some(value) = record.get(name) {
            let value = value.clone();
            return Ok(self.settle(value));
        }
        let (class, open) = (record.class.clone(), record.open);
        if record.maker.starts_with("triton.") {
            let record = record.clone();
            if let Some(value) = self.triton_attribute(&record, name) {
                return Ok(self.settle(value));
            }
        }
        if name == "__dict__" {
            return Ok(self.vars_of(id));
        }
        if matches!(name, "_replace" | "_asdict") {
            return Ok(Value::Method(Rc::new((Value::Ref(id), SmolStr::new(name)))));
        }
        if let Some(class) = class
            && let Some((value, def)) = self.class_member(&class, name)?
        {
            let Value::Func(func) = &value else {
                return Ok(value);
            };
            return match def.map_or("", how) {
                "staticmethod" => Ok(value),
                "classmethod" => Ok(bound(func, Value::Class(class))),
                "property" | "cached_property" => {
                    self.call_function(func, Args::one(Value::Ref(id)))
                }
                _ => Ok(bound(func, Value::Ref(id))),
            };
        }
        self.risks += 1;
        if !open {
            return Ok(self.fresh());
        }
        // The same attribute read twice is the same unknown.
        let value = self.root(format!("attribute {name} of {id}"));
        if let Some(Obj::Record(record)) = self.obj_mut(id) {
            record.set(name, value.clone());
        }
        Ok(self.settle(value))
    }

    fn class_value(&mut self, class: &Rc<Class<'e>>, name: &str) -> R<Value<'e>> {
        if name == "__name__" {
            return Ok(Value::Str(class.name.clone()));
        }
        match self.class_member(class, name)? {
            Some((Value::Func(func), Some(def))) if how(def) == "classmethod" => {
                Ok(bound(&func, Value::Class(class.clone())))
            }
            Some((value, _)) => Ok(value),
            None => {
                self.risks += 1;
                Ok(self.root(format!("{}.{name}", class.name)))
            }
        }
    }

    pub(super) fn class_attribute(
        &mut self,
        class: &Rc<Class<'e>>,
        name: &str,
    ) -> R<Option<Value<'e>>> {
        Ok(self.class_member(class, name)?.map(|(value, _)| value))
    }

    /// What a class, or a base of it, says of a name; for a method its definition too.
    fn class_member(
        &mut self,
        class: &Rc<Class<'e>>,
        name: &str,
    ) -> R<Option<(Value<'e>, Option<&'e FunctionDef>)>> {
        let ClassBody::Def(def) = &class.body else {
            return Ok(None);
        };
        let def = *def;
        for stmt in def.body.iter().rev() {
            if let StmtKind::FunctionDef(method) = &stmt.kind
                && method.name.name == name
            {
                let func = self.in_class(class, |i| i.closure(super::value::Code::Def(method)))?;
                let mut value = Value::Func(Rc::new(func));
                for decorator in method.decorators.iter().rev() {
                    value = self.in_class(class, |i| i.decorate(value, decorator))?;
                }
                return Ok(Some((value, Some(method))));
            }
        }
        let mut touched = rustc_hash::FxHashSet::default();
        def.body
            .iter()
            .for_each(|s| super::env::touched(s, &mut touched));
        if touched.contains(name) {
            let scope = self.alloc(Obj::Scope(Scope::new(Some(class.scope), class.module)));
            let place = super::env::Place {
                module: class.module,
                item: class.item,
                span: tileperf_syntax::Span::default(),
            };
            self.in_scope(scope, place, |i| i.exec_block(&def.body))?;
            if let Some(Obj::Scope(s)) = self.obj(scope)
                && let Some(value) = s.get(name)
            {
                return Ok(Some((value.clone(), None)));
            }
        }
        for base in self.bases(class)? {
            if let Some(found) = self.deeper(|i| i.class_member(&base, name))? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    pub(super) fn set_attribute(&mut self, base: &Value<'e>, name: &str, value: Value<'e>) {
        match base {
            Value::Ref(id) => {
                if let Some(Obj::Record(record)) = self.obj_mut(*id) {
                    record.set(name, value);
                }
            }
            Value::OneOf(items) => {
                for item in items.iter() {
                    let unknown = self.fresh();
                    self.set_attribute(item, name, unknown);
                }
            }
            Value::Sym(sym) => {
                let read = self.syms.op(&format!(".{name}"), vec![Arg::Sym(*sym)]);
                let mut facts = super::heap::Facts::clone(&self.state.facts);
                facts.stores.insert(read, value);
                self.state.facts = Rc::new(facts);
            }
            _ => {}
        }
    }

    /// The attributes of a record as a dictionary.
    pub(super) fn vars_of(&mut self, id: ObjId) -> Value<'e> {
        let dict = match self.obj(id) {
            Some(Obj::Record(r)) => super::value::Dict {
                entries: r
                    .fields
                    .iter()
                    .map(|(n, v)| (Value::Str(n.clone()), v.clone(), true))
                    .collect(),
                open: r.open,
                cache: false,
            },
            _ => super::value::Dict {
                open: true,
                ..Default::default()
            },
        };
        Value::Ref(self.alloc(Obj::Dict(dict)))
    }

    /// What iterating over a record gives: the fields, if it is a tuple.
    pub(super) fn record_values(&mut self, id: ObjId) -> R<Seq<'e>> {
        let Some(Obj::Record(record)) = self.obj(id) else {
            return Ok(Seq::unknown());
        };
        let is_tuple = match record.class.as_ref().map(|c| &c.body) {
            Some(ClassBody::Fields(_)) => true,
            Some(ClassBody::Def(def)) => def
                .bases
                .iter()
                .any(|b| Expr::last_ident(&b.value).is_some_and(|n| n.name == "NamedTuple")),
            None => false,
        };
        if is_tuple {
            let values = record.fields.iter().map(|(_, v)| v.clone()).collect();
            return Ok(Seq::of(values));
        }
        self.risks += 1;
        Ok(Seq::unknown())
    }
}

fn bound<'e>(func: &Func<'e>, receiver: Value<'e>) -> Value<'e> {
    let mut args = func.bound.clone();
    args.pos.insert(0, receiver);
    Value::Func(Rc::new(Func {
        code: func.code,
        scope: func.scope,
        module: func.module,
        item: func.item,
        defaults: func.defaults.clone(),
        bound: args,
    }))
}

/// The decorator that says how a method is bound.
fn how(def: &FunctionDef) -> &str {
    def.decorators
        .iter()
        .filter_map(|d| match &d.kind {
            tileperf_syntax::ast::ExprKind::Name(n) => Some(n.as_str()),
            tileperf_syntax::ast::ExprKind::Attribute { attr, .. } => Some(attr.name.as_str()),
            _ => None,
        })
        .find(|n| {
            matches!(
                *n,
                "staticmethod" | "classmethod" | "property" | "cached_property"
            )
        })
        .unwrap_or("")
}
