//! Definitions, decorators and imports.
use std::rc::Rc;

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{ClassDef, Expr, ExprKind, FunctionDef, ImportName};

use super::interp::{Interp, R};
use super::value::{Args, Class, ClassBody, Code, Func, Value};

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

    pub(super) fn define(&mut self, def: &'e FunctionDef) -> R<Value<'e>> {
        let func = self.closure(Code::Def(def))?;
        let mut value = Value::Func(Rc::new(func));
        for decorator in def.decorators.iter().rev() {
            value = self.decorate(value, decorator)?;
        }
        Ok(value)
    }

    pub(super) fn define_class(&mut self, class: &'e ClassDef) -> Value<'e> {
        let scope = self.scope_id();
        let here = self.place(Span::default());
        Value::Class(Rc::new(Class {
            name: class.name.name.clone(),
            body: ClassBody::Def(class),
            module: here.module,
            item: here.item,
            scope,
        }))
    }

    pub(super) fn import_names(
        &mut self,
        names: &'e [ImportName],
        wanted: Option<&[&str]>,
    ) -> R<()> {
        for name in names {
            let path = name.name.name.as_str();
            let (bound, path) = match &name.alias {
                Some(alias) => (alias.name.as_str(), path),
                None => {
                    let first = path.split('.').next().unwrap_or_default();
                    (first, first)
                }
            };
            if wanted.is_some_and(|w| !w.contains(&bound)) {
                continue;
            }
            self.risks += 1;
            let value = match self.import(self.module_here(), 0, path) {
                Some(module) => Value::Module(module),
                None => Value::External(SmolStr::new(path)),
            };
            self.assign_name(bound, value);
        }
        Ok(())
    }

    pub(super) fn import_from(
        &mut self,
        module: &str,
        level: u32,
        names: &'e [ImportName],
        wanted: Option<&[&str]>,
    ) -> R<()> {
        let here = self.module_here();
        for name in names {
            let bound = name.alias.as_ref().unwrap_or(&name.name).name.as_str();
            if wanted.is_some_and(|w| !w.contains(&bound)) {
                continue;
            }
            self.risks += 1;
            let wanted_name = name.name.name.as_str();
            let separator = if module.is_empty() { "" } else { "." };
            let path = format!("{module}{separator}{wanted_name}");
            let value = match self.import(here, level, module) {
                Some(from) => match self.deeper(|i| i.module_name(from, wanted_name))? {
                    Some(value) => value,
                    None => match self.import(here, level, &path) {
                        Some(submodule) => Value::Module(submodule),
                        None => self.root(format!("{}:{wanted_name}", from.0)),
                    },
                },
                None => match self.import(here, level, &path) {
                    Some(submodule) => Value::Module(submodule),
                    None => Value::External(format!("{}{path}", ".".repeat(level as usize)).into()),
                },
            };
            self.assign_name(bound, value);
        }
        Ok(())
    }
}
