//! From the space argument of a search to the function or list that gives the configurations.

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use tileperf_syntax::Span;

use super::names::{At, Names, Target};
use super::value::Value;

/// Where a space is, before it has a number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Found {
    /// A function of this file.
    Function(At),
    /// A list of this file: the item, its place in the item, the variable's name.
    List {
        item: usize,
        span: Span,
        name: SmolStr,
    },
    /// Imported.
    Imported(SmolStr),
}

/// Follows a space expression.
pub(super) fn follow<'a>(names: &Names<'a>, value: &'a Value, at: At) -> Vec<Found> {
    let mut follow = Follow {
        names,
        seen: FxHashSet::default(),
        out: Vec::new(),
    };
    follow.visit(value, at, "");
    follow.out
}

struct Follow<'s, 'a> {
    names: &'s Names<'a>,
    seen: FxHashSet<(*const Value, At)>,
    out: Vec<Found>,
}

impl<'a> Follow<'_, 'a> {
    fn push(&mut self, found: Found) {
        if !self.out.contains(&found) {
            self.out.push(found);
        }
    }

    fn visit(&mut self, value: &'a Value, at: At, name: &str) {
        if self.seen.len() > 200 || !self.seen.insert((std::ptr::from_ref(value), at)) {
            return;
        }
        match value {
            Value::Seq(_, span) => {
                self.push(Found::List {
                    item: at.item,
                    span: *span,
                    name: name.into(),
                });
            }
            Value::Call(callee, args)
                if callee.last().is_some_and(|n| {
                    matches!(
                        n.as_str(),
                        "list" | "tuple" | "sorted" | "set" | "reversed" | "iter" | "filter"
                    )
                }) =>
            {
                if let Some((_, inner)) = args.last().filter(|_| args.len() == 1).or(args.first()) {
                    self.visit(inner, at, name);
                }
            }
            Value::Call(callee, _) => {
                for target in self.names.resolve(callee, at) {
                    match target {
                        Target::Def(def) => self.push(Found::Function(def)),
                        Target::Path(path) => self.push(Found::Imported(path)),
                        _ => {}
                    }
                }
            }
            Value::Either(parts) => parts.iter().for_each(|v| self.visit(v, at, name)),
            Value::Name(name) => self.named(name, value, at),
            Value::Item(base, _) => {
                for target in self.names.resolve(base, at) {
                    match target {
                        Target::Whole(origin, Value::Seq(parts, _)) => {
                            parts.iter().for_each(|v| self.visit(v, origin, ""));
                        }
                        Target::Whole(origin, Value::Map(parts)) => {
                            parts.iter().for_each(|v| self.visit(v, origin, ""));
                        }
                        _ => {}
                    }
                }
            }
            _ => self.resolved(value, at, name),
        }
    }

    /// A name: what it was assigned, a parameter's arguments, or a function to be called for it.
    fn named(&mut self, name: &'a SmolStr, value: &'a Value, at: At) {
        let scan = self.names.scans[at.item];
        let mut scope = at.scope;
        loop {
            let here = &scan.scopes[scope];
            let binds: Vec<_> = here.binds.iter().filter(|b| b.name == *name).collect();
            if scope != 0 && !binds.is_empty() {
                for bind in binds {
                    match &bind.value {
                        Value::Param(_) | Value::Def(_) | Value::Import(_) => {
                            self.resolved(value, at, name)
                        }
                        value => self.visit(
                            value,
                            At {
                                item: at.item,
                                scope: bind.origin,
                            },
                            name,
                        ),
                    }
                }
                return;
            }
            if scope == 0 {
                break;
            }
            scope = here.parent;
        }
        let Some((_, binds)) = self.names.module().find(|(n, _)| *n == name.as_str()) else {
            return;
        };
        for (origin, bound) in binds {
            match bound {
                Value::Def(_) | Value::Import(_) => self.resolved(value, at, name),
                bound => self.visit(bound, *origin, name),
            }
        }
    }

    fn resolved(&mut self, value: &'a Value, at: At, name: &str) {
        for target in self.names.resolve_through_callers(value, at) {
            match target {
                Target::Def(def) => self.push(Found::Function(def)),
                Target::Path(path) => self.push(Found::Imported(path)),
                Target::Called(path) => self.push(Found::Imported(path)),
                Target::Whole(origin, Value::Seq(_, span)) => {
                    self.push(Found::List {
                        item: origin.item,
                        span: *span,
                        name: name.into(),
                    });
                }
                _ => {}
            }
        }
    }
}
