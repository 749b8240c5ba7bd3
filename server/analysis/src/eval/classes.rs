//! Classes of the workspace: instances, fields, bases.
use std::rc::Rc;

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, StmtKind};

use super::env::Place;
use super::interp::{Interp, R};
use super::value::{Args, Class, ClassBody, Obj, Record, Value};

impl<'e> Interp<'e> {
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
    fn class_fields(&mut self, class: &Rc<Class<'e>>) -> R<Vec<(SmolStr, Option<Value<'e>>)>> {
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
