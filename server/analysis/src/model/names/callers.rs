//! From a function to the calls of it in its file: what a parameter holds is what callers pass, and
//! a kernel often reaches its launch as one.

use rustc_hash::FxHashMap;

use super::{At, Names, Target};
use crate::model::scan::{Call, ScopeKind};
use crate::model::value::Value;

/// A call of a function of this file.
pub(crate) struct Caller<'a> {
    pub(crate) call: &'a Call,
    /// Where the call stands.
    pub(crate) at: At,
    /// How many leading parameters the call does not pass itself (`self`).
    skip: usize,
}

impl<'a> Names<'a> {
    /// Calls by the last name of their callee.
    fn calls_of(&self, name: &str) -> &[(At, &'a Call)] {
        let index = || {
            let mut calls: FxHashMap<&str, Vec<(At, &Call)>> = FxHashMap::default();
            for (item, scan) in self.scans.iter().enumerate() {
                for call in &scan.calls {
                    if let Some(last) = call.callee.last() {
                        let found = (At::new(item, call.scope), call);
                        calls.entry(last).or_default().push(found);
                    }
                }
            }
            calls
        };
        (self.calls.get_or_init(index).get(name)).map_or(&[], Vec::as_slice)
    }

    /// Calls in this file of the function at `function`.
    pub(crate) fn callers(&self, function: At) -> Vec<Caller<'a>> {
        let Some(def) = &self.scope(function).def else {
            return Vec::new();
        };
        let parent = self.parent(function);
        let in_class = self.scope(parent).kind == ScopeKind::Class;
        let through_class = |callee: &'a Value, at| {
            matches!(callee, Value::Attr(base, _)
                if self.resolve(base, at).contains(&Target::Def(parent)))
        };
        let mut out = Vec::new();
        for &(at, call) in self.calls_of(&def.name.name) {
            let is_it = match &call.callee {
                // A method through an object of unknown class: by name.
                Value::Attr(..) if in_class => true,
                callee => self.resolve(callee, at).contains(&Target::Def(function)),
            };
            if is_it {
                let bound = in_class && !def.is_static && !through_class(&call.callee, at);
                let skip = usize::from(bound);
                out.push(Caller { call, at, skip });
            }
        }
        if in_class && def.name.name == "forward" {
            // `torch.autograd.Function`: `F.apply(a, b)` calls `F.forward(ctx, a, b)`.
            for &(at, call) in self.calls_of("apply") {
                if through_class(&call.callee, at) {
                    out.push(Caller { call, at, skip: 1 });
                }
            }
        }
        out
    }

    /// What callers pass for parameter `index`, its default included.
    pub(super) fn passed(&self, function: At, index: usize) -> Vec<(&'a Value, At)> {
        let Some(def) = &self.scope(function).def else {
            return Vec::new();
        };
        let Some(param) = def.params.get(index) else {
            return Vec::new();
        };
        let outside = self.parent(function);
        let mut out: Vec<_> = param.default.iter().map(|d| (d, outside)).collect();
        for Caller { call, at, skip } in self.callers(function) {
            let given = call.argument(index.checked_sub(skip), &param.name.name);
            out.extend(given.map(|a| (&a.value, at)));
        }
        out
    }
}
