//! What a call gives: an instance, what a function of this file returns, or an argument handed
//! through by a wrapper, a cache or a container.

use smol_str::SmolStr;

use super::resolver::Resolver;
use super::{At, Target, is_api};
use crate::model::scan::ScopeKind;
use crate::model::value::Value;

/// Arguments as [`Value::Call`] keeps them.
type Args = [(Option<SmolStr>, Value)];

impl<'a> Resolver<'_, 'a> {
    pub(super) fn call(&mut self, whole: &'a Value, callee: &'a Value, args: &'a Args, at: At) {
        let first = args.iter().find(|(name, _)| name.is_none()).map(|(_, v)| v);
        match (callee, callee.last().map_or("", SmolStr::as_str)) {
            (Value::Attr(base, _), "replace_hints" | "values" | "items" | "keys" | "copy") => {
                return self.visit(base, at);
            }
            (Value::Attr(base, _), "get" | "pop" | "setdefault") => {
                self.item(base, None, at);
                return args.iter().skip(1).for_each(|(_, v)| self.visit(v, at));
            }
            // Gives its first argument back, wrapped, sorted or cached.
            (
                _,
                "cached_replace_hints"
                | "partial"
                | "wraps"
                | "list"
                | "tuple"
                | "sorted"
                | "reversed"
                | "iter"
                | "next"
                | "set",
            ) => {
                return first.into_iter().for_each(|v| self.visit(v, at));
            }
            (Value::Name(_), "enumerate" | "zip") => {
                return args.iter().for_each(|(_, v)| self.visit(v, at));
            }
            _ => {}
        }
        if let Value::Call(inner, _) = callee
            && self.gives_decorator(inner, at)
        {
            return first.into_iter().for_each(|v| self.visit(v, at));
        }
        for target in self.aside(callee, at) {
            match target {
                Target::Path(path) if is_api(&path, "kernel") || path == "functools.cache" => {
                    first.into_iter().for_each(|v| self.visit(v, at));
                }
                Target::Path(path) => {
                    self.push(Target::Called(path));
                    self.push(Target::Whole(at, whole));
                }
                Target::Def(def) if self.names.scope(def).kind == ScopeKind::Class => {
                    self.push(Target::Instance(def));
                    self.push(Target::Whole(at, whole));
                }
                Target::Def(def) => self.returned(def, args, at),
                _ => {}
            }
        }
    }

    /// Whether calling `callee` gives a decorator that is then called by hand:
    /// `lru_cache(None)(f)`, `ct.kernel(**options)(f)`.
    fn gives_decorator(&mut self, callee: &'a Value, at: At) -> bool {
        let named = callee.last().map(SmolStr::as_str);
        matches!(named, Some("lru_cache" | "kernel"))
            || (self.aside(callee, at).iter())
                .any(|t| matches!(t, Target::Path(p) if is_api(p, "kernel")))
    }

    /// What calling a function of this file gives: its returns, with parameters replaced.
    fn returned(&mut self, function: At, args: &'a Args, at: At) {
        let scope = self.names.scope(function);
        let Some(def) = &scope.def else { return };
        // `with f() as k`: what a context manager yields.
        let is_context =
            (def.decorators.iter()).any(|d| d.value.last().is_some_and(|n| n == "contextmanager"));
        let yields: &[Value] = if is_context { &scope.yields } else { &[] };
        for value in scope.returns.iter().chain(yields) {
            for target in self.aside(value, function) {
                match target {
                    Target::Param(of, index) if of == function => {
                        let name = def.params.get(index).map(|p| &p.name.name);
                        let by_name = args.iter().find(|(n, _)| n.is_some() && n.as_ref() == name);
                        let by_place = || args.iter().filter(|(n, _)| n.is_none()).nth(index);
                        if let Some((_, value)) = by_name.or_else(by_place) {
                            self.visit(value, at);
                        }
                    }
                    other => self.push(other),
                }
            }
        }
    }
}
