//! Implementations registered for an op, and the kernels that each comes to launch.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use tileperf_syntax::Span;

use super::{At, Build};
use crate::model::names::Target;
use crate::model::scan::{Call, CallArg, ScopeKind};
use crate::model::value::Value;
use crate::model::{Candidate, Registration};

/// Functions followed from one registration: a module of helpers that call each other ends there.
const REACH: usize = 200;

/// What a function does itself.
struct Doings<'m> {
    launches: &'m [Candidate],
    calls: Vec<At>,
}

impl<'a> Build<'a> {
    pub(super) fn registration(&mut self, call: &'a Call, at: At) {
        let paths = self.names.paths(&call.callee, at);
        let named = call.callee.last().is_some_and(|n| n == "register_impl");
        let imported = paths.iter().any(|p| p.ends_with(".register_impl"));
        if !(named || imported) || paths.iter().any(|p| p.starts_with("torch.")) {
            return;
        }
        let text = |arg: Option<&CallArg>| match arg.map(|a| &a.value) {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        };
        let op = (call.argument(Some(0), "name")).or_else(|| call.argument(None, "op"));
        let function = self.registered(call, at.item);
        let function_span = function
            .as_ref()
            .map_or(call.callee_span, |(_, span)| *span);
        let registration = Registration {
            span: self.place(at.item, call.span),
            op_span: self.place(at.item, op.map_or(call.callee_span, |a| a.span)),
            op: text(op),
            backend: text(call.argument(Some(1), "backend")),
            function_span: self.place(at.item, function_span),
            function: function.map(|(name, _)| name),
            kernels: Vec::new(),
            stale: self.stale(at.item),
        };
        self.out.registrations.push(registration);
    }

    /// The function that `register_impl(...)` decorates, or that its result is called with.
    fn registered(&self, call: &Call, item: usize) -> Option<(SmolStr, Span)> {
        let scan = self.names.scans[item];
        let decorated = scan.scopes.iter().find_map(|s| {
            let def = s.def.as_ref()?;
            let by_it = def.decorators.iter().any(|d| d.span == call.span);
            by_it.then(|| (def.name.name.clone(), def.name.span))
        });
        let applied = || {
            scan.calls.iter().find_map(|outer| {
                let calls_it = matches!(outer.callee, Value::Call(..))
                    && outer.span.start == call.span.start
                    && outer.span != call.span;
                let arg = outer.args.first().filter(|_| calls_it)?;
                Some((arg.value.last()?.clone(), arg.ident.unwrap_or(arg.span)))
            })
        };
        decorated.or_else(applied)
    }

    /// Follows each registered function to the kernels it launches, through calls in this file.
    pub(super) fn registered_kernels(&mut self) {
        let mut launched: FxHashMap<&str, Vec<Candidate>> = FxHashMap::default();
        for launch in &self.out.launches {
            let kernels = launched.entry(&launch.function).or_default();
            kernels.extend_from_slice(&launch.candidates);
        }
        // Registered functions share most of what they call.
        let mut known: FxHashMap<At, Doings> = FxHashMap::default();
        let mut kernels: Vec<Vec<Candidate>> = Vec::new();
        for registration in &self.out.registrations {
            let mut reached: Vec<At> = Vec::new();
            reached.extend(
                registration
                    .function
                    .as_ref()
                    .and_then(|f| self.module_function(f)),
            );
            let mut launches: Vec<Candidate> = Vec::new();
            let mut next = 0;
            while let Some(&at) = reached.get(next) {
                next += 1;
                let doings = known.entry(at).or_insert_with(|| Doings {
                    launches: (launched.get(&*self.names.qualified(at))).map_or(&[], Vec::as_slice),
                    calls: self.called_functions(at),
                });
                for kernel in doings.launches {
                    if !launches.contains(kernel) {
                        launches.push(kernel.clone());
                    }
                }
                for &function in &doings.calls {
                    if !reached.contains(&function) && reached.len() < REACH {
                        reached.push(function);
                    }
                }
            }
            kernels.push(launches);
        }
        for (registration, kernels) in self.out.registrations.iter_mut().zip(kernels) {
            registration.kernels = kernels;
        }
    }

    /// The last definition of a module-level name.
    fn module_function(&self, name: &str) -> Option<At> {
        (self.names.bound(name).iter().rev()).find_map(|(origin, value)| match value {
            Value::Def(scope) => Some(origin.sibling(*scope)),
            _ => None,
        })
    }

    /// Functions of this file that a function calls, itself or in functions nested in it.
    fn called_functions(&self, at: At) -> Vec<At> {
        let mut out = Vec::new();
        // Most calls are `ct.` this or that: what was told of the one before holds for the next.
        let mut foreign: Option<(usize, &SmolStr)> = None;
        for call in &self.names.scans[at.item].calls {
            let from = at.sibling(call.scope);
            let root = call.callee.root().map(|root| (call.scope, root));
            if root.is_some() && root == foreign || !self.names.is_within(from, at) {
                continue;
            }
            if self.names.is_foreign(&call.callee, from) {
                foreign = root;
                continue;
            }
            let callee = match &call.callee {
                // `Function.apply(...)` runs its `forward`.
                Value::Attr(base, name) if name == "apply" => base,
                callee => callee,
            };
            for target in self.names.resolve(callee, from) {
                let Target::Def(def) = target else { continue };
                let scope = self.names.scope(def);
                if scope.kind == ScopeKind::Class {
                    // Constructing or applying: any method may launch.
                    let first = out.len();
                    out.extend(scope.binds.iter().filter_map(|b| match b.value {
                        Value::Def(method) => Some(def.sibling(method)),
                        _ => None,
                    }));
                    out[first..].sort_by_key(|method| method.scope);
                } else {
                    out.push(def);
                }
            }
        }
        out
    }
}
