//! A function that a search is given: what it takes from a configuration.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef, Stmt, StmtKind};

use crate::body::bindings;
use crate::eval::{Config, Enclosing, Known, ModuleId, Scope};
use crate::signature::launches::Located;
use crate::slice::Source;

/// Names followed one after the other.
const MAX_DEPTH: usize = 4;

/// A function of a configuration.
#[derive(Clone, Copy)]
pub(super) struct Callback<'w> {
    /// By which name it knows it.
    config: &'w SmolStr,
    /// Its statements; none of a lambda.
    body: &'w [Stmt],
    /// What it gives.
    value: &'w Expr,
}

impl<'w> Callback<'w> {
    /// The arguments that it gives, as far as they are written one by one.
    pub(super) fn items(&self) -> Option<Vec<&'w Expr>> {
        match &self.follow(self.value, MAX_DEPTH).kind {
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                let one = |item: &&Expr| !matches!(item.kind, ExprKind::Starred(_));
                Some(items.iter().take_while(one).collect())
            }
            ExprKind::Binary { op, left, .. } if op == "+" => Callback {
                value: left,
                ..*self
            }
            .items(),
            _ => None,
        }
    }

    /// The places whose arguments are fields of the configuration.
    pub(super) fn each<'c>(
        &self,
        items: &[&'w Expr],
        config: &'c Config,
    ) -> Vec<(usize, &'c Known)> {
        let items = items.iter().enumerate();
        items
            .filter_map(|(place, item)| Some((place, self.known(item, config, MAX_DEPTH)?)))
            .collect()
    }

    /// The hints that are fields of the configuration. `None` if one is computed.
    pub(super) fn named<'c>(&self, config: &'c Config) -> Option<Vec<(SmolStr, &'c Known)>> {
        let mut out = Vec::new();
        let mut add = |name: &SmolStr, value: &'w Expr| {
            out.push((name.clone(), self.known(value, config, MAX_DEPTH)?));
            Some(())
        };
        match &self.follow(self.value, MAX_DEPTH).kind {
            ExprKind::Dict(entries) => {
                for (key, value) in entries {
                    let ExprKind::Str(name) = &key.as_ref()?.kind else {
                        return None;
                    };
                    add(&SmolStr::new(name), value)?;
                }
            }
            ExprKind::Call { func, args } if func.name().is_some_and(|name| name == "dict") => {
                for arg in args {
                    add(&arg.name.as_ref()?.name, &arg.value)?;
                }
            }
            _ => return None,
        }
        Some(out)
    }

    /// The field that an expression names.
    fn known<'c>(&self, expr: &'w Expr, config: &'c Config, depth: usize) -> Option<&'c Known> {
        let is_config = |value: &Expr| value.name() == Some(self.config);
        match &expr.kind {
            ExprKind::Attribute { value, attr } if is_config(value) => field(config, &attr.name),
            ExprKind::Subscript { value, index } if is_config(value) => {
                match &index.first()?.kind {
                    ExprKind::Str(name) => field(config, name),
                    ExprKind::Int(number) => match (field(config, "")?, usize::try_from(*number)) {
                        (Known::Tuple(parts), Ok(number)) => parts.get(number),
                        _ => None,
                    },
                    _ => None,
                }
            }
            ExprKind::Name(_) if is_config(expr) => field(config, ""),
            ExprKind::Name(_) => {
                let same = self.follow(expr, depth);
                match std::ptr::eq(same, expr) {
                    true => None,
                    false => self.known(same, config, depth.checked_sub(1)?),
                }
            }
            ExprKind::Call { func, args } => match (func.name()?.as_str(), args.as_slice()) {
                ("int" | "bool" | "float", [one]) => {
                    self.known(&one.value, config, depth.checked_sub(1)?)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// What a name of the callback stands for, if it is bound once.
    fn follow(&self, expr: &'w Expr, depth: usize) -> &'w Expr {
        let Some(name) = expr.name().filter(|_| depth > 0) else {
            return expr;
        };
        let mut found = Vec::new();
        bindings(self.body, name, &mut |value| found.push(value));
        match found.as_slice() {
            [Some(value)] => self.follow(value, depth - 1),
            _ => expr,
        }
    }
}

/// The value of a field.
pub(super) fn field<'c>(config: &'c Config, name: &str) -> Option<&'c Known> {
    let mut fields = config.fields.iter();
    fields.find(|(field, _)| field == name).map(|(_, v)| v)
}

/// The function that an argument of a search is, if there is one only.
pub(super) fn callback<'w>(
    module: ModuleId,
    source: &Source<'w>,
    at: &Located<'w>,
    argument: &'w Expr,
) -> Option<Callback<'w>> {
    if let Some(lambda) = of_lambda(argument) {
        return Some(lambda);
    }
    let name = argument.name()?;
    let scope = Scope::at(module, at.item, at.body, at.call.span);
    let around = scope.around.iter().rev().filter_map(|around| match around {
        Enclosing::Function(def) => Some(def.body.as_slice()),
        Enclosing::Class(_) => None,
    });
    let top = source
        .file
        .items
        .iter()
        .map(|item| item.facts.body.as_slice());
    for body in around.chain(top) {
        let mut functions = Vec::new();
        named(body, name, &mut functions);
        match functions.as_slice() {
            [] => {}
            [one] => return of_function(one),
            _ => return None,
        }
        let mut bound = Vec::new();
        bindings(body, name, &mut |value| bound.push(value));
        match bound.as_slice() {
            [] => {}
            [Some(one)] => return of_lambda(one),
            _ => return None,
        }
    }
    None
}

fn of_lambda(expr: &Expr) -> Option<Callback<'_>> {
    let ExprKind::Lambda { params, body } = &expr.kind else {
        return None;
    };
    Some(Callback {
        config: &params.first()?.name.name,
        body: &[],
        value: body,
    })
}

/// A function that returns in one place, at its end.
fn of_function(def: &FunctionDef) -> Option<Callback<'_>> {
    let StmtKind::Return(Some(value)) = &def.body.last()?.kind else {
        return None;
    };
    Some(Callback {
        config: &def.params.first()?.name.name,
        body: &def.body,
        value,
    })
}

/// The functions of that name that statements define, those within other definitions left out.
fn named<'w>(body: &'w [Stmt], name: &str, out: &mut Vec<&'w FunctionDef>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::FunctionDef(def) if def.name.name == name => out.push(def),
            StmtKind::FunctionDef(_) | StmtKind::ClassDef(_) => {}
            _ => {
                for block in stmt.blocks() {
                    named(block, name, out);
                }
            }
        }
    }
}
