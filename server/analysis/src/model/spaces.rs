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
            Value::Call(callee, args) => self.called(callee, args, at),
            Value::Either(parts) => parts.iter().for_each(|v| self.visit(v, at, name)),
            Value::Name(name) => self.named(name, value, at),
            Value::Item(base, place) => {
                for target in self.names.resolve(base, at) {
                    let (origin, parts) = match target {
                        Target::Whole(origin, Value::Seq(parts, _)) => (origin, parts),
                        Target::Whole(origin, Value::Map(parts)) => (origin, parts),
                        _ => continue,
                    };
                    match place.and_then(|i| parts.get(i)) {
                        Some(part) => self.visit(part, origin, ""),
                        None => parts.iter().for_each(|v| self.visit(v, origin, "")),
                    }
                }
            }
            Value::Attr(base, attr) => {
                // `candidate.configs` of `Candidate(configs=list(space(n)))`.
                for target in self.names.resolve_through_callers(base, at) {
                    if let Target::Whole(origin, Value::Call(_, args)) = target {
                        for (_, given) in
                            args.iter().filter(|(name, _)| name.as_ref() == Some(attr))
                        {
                            self.visit(given, origin, attr);
                        }
                    }
                }
                self.resolved(value, at, attr);
            }
            _ => self.resolved(value, at, name),
        }
    }

    /// A call: of a function that makes the space, or of one that is given a space and prunes it.
    fn called(&mut self, callee: &'a Value, args: &'a [(Option<SmolStr>, Value)], at: At) {
        let outer = std::mem::take(&mut self.out);
        for (_, arg) in args {
            if matches!(arg, Value::Call(..) | Value::Name(_)) {
                self.visit(arg, at, "");
            }
        }
        let given = std::mem::replace(&mut self.out, outer);
        let mut pruned = false;
        for found in given {
            if let Found::Function(def) = &found
                && self.makes_space(*def)
            {
                pruned = true;
                self.push(found);
            }
        }
        if pruned {
            return;
        }
        for target in self.names.resolve(callee, at) {
            match target {
                Target::Def(def) => self.push(Found::Function(def)),
                Target::Path(path) => self.push(Found::Imported(path)),
                _ => {}
            }
        }
    }

    /// Whether a function gives several things, not one: a helper that an argument calls for a
    /// number is no space.
    fn makes_space(&self, def: At) -> bool {
        let scope = self.names.scope(def);
        scope.def.as_ref().is_some_and(|d| d.is_generator)
            || scope.returns.iter().any(|v| matches!(v, Value::Seq(..)))
    }

    /// A name: what it was assigned, a parameter's arguments, or a function to be called for it.
    fn named(&mut self, name: &'a SmolStr, value: &'a Value, at: At) {
        let names = self.names;
        for here in names.outward(at) {
            let mut known = false;
            for bind in names.scope(here).bound(name) {
                known = true;
                match &bind.value {
                    Value::Param(_) | Value::Def(_) | Value::Import(_) => {
                        self.resolved(value, at, name)
                    }
                    bound => self.visit(bound, at.sibling(bind.origin), name),
                }
            }
            if known {
                return;
            }
        }
        for (origin, bound) in names.bound(name) {
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
