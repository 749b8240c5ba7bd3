//! Assignments: to names, to the parts of a tuple, into containers and attributes.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind};

use super::{Scanner, Value};

impl Scanner {
    /// `target = value`
    pub(super) fn assign(&mut self, target: &Expr, value: &Value) {
        match &target.kind {
            ExprKind::Name(name) => self.assign_name(name, value.clone()),
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
                    self.store(name.name, value.clone());
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
                    self.bind_in(class, &attr.name, value.clone());
                } else {
                    self.store(attr.name.clone(), value.clone());
                }
            }
            _ => {}
        }
    }

    /// `name = value`
    pub(super) fn assign_name(&mut self, name: &SmolStr, value: Value) {
        self.guard.bound(name, &value);
        self.bind(name, value);
    }

    /// `for target in iter`
    pub(super) fn assign_each(&mut self, target: &Expr, iter: &Expr) {
        self.assign(target, &Value::Item(Box::new(Value::of(iter)), None));
    }
}
