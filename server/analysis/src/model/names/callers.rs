//! From a function to the calls of it in its file: what a parameter holds is what callers pass, and
//! a kernel often reaches its launch as one.

use super::{At, Callees, Names, Target};
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
    fn calls_of(&self, name: &str) -> impl Iterator<Item = (At, &'a Call)> {
        let index = || {
            let mut index = Callees::default();
            for (item, scan) in self.scans.iter().enumerate() {
                for (name, calls) in &scan.callees {
                    index.entry(name).or_default().push((item, calls));
                }
            }
            index
        };
        let items = self.calls.get_or_init(index).get(name);
        (items.into_iter().flatten())
            .flat_map(|(item, calls)| calls.iter().map(|call| (*item, *call)))
            .map(|(item, call)| self.call(item, call))
    }

    /// A call by its number in an item, and where it stands.
    pub(crate) fn call(&self, item: usize, number: usize) -> (At, &'a Call) {
        let call = &self.scans[item].calls[number];
        (At::new(item, call.scope), call)
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
        for (at, call) in self.calls_of(&def.name.name) {
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
            for (at, call) in self.calls_of("apply") {
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
