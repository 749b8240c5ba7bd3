//! One question asked of the names of a file, followed part by part to its answers.

use smol_str::SmolStr;

use super::{At, Names, Target, paths};
use crate::model::scan::ScopeKind;
use crate::model::value::Value;

/// Look-ups per question. The longest chain seen in public kernels takes under a hundred.
const FUEL: u32 = 4_000;

/// A value in the scope in which it is read.
pub(super) type Part = (*const Value, At);

pub(super) struct Resolver<'s, 'a> {
    pub(super) names: &'s Names<'a>,
    fuel: u32,
    /// The parts being resolved, each within the one before. Seldom more than ten: a list is searched
    /// faster than a table is filled.
    open: Vec<Part>,
    out: Vec<Target<'a>>,
}

impl<'s, 'a> Resolver<'s, 'a> {
    /// Everything that `value`, read in scope `at`, can be.
    pub(super) fn run(names: &'s Names<'a>, value: &'a Value, at: At) -> Vec<Target<'a>> {
        let mut resolver = Resolver {
            names,
            fuel: FUEL,
            open: names.open.take(),
            out: Vec::new(),
        };
        resolver.visit(value, at);
        names.open.set(resolver.open);
        resolver.out
    }

    pub(super) fn push(&mut self, target: Target<'a>) {
        if !self.out.contains(&target) {
            self.out.push(target);
        }
    }

    /// Resolves a part and gives its targets without adding them to the answer.
    pub(super) fn aside(&mut self, value: &'a Value, at: At) -> Vec<Target<'a>> {
        let outer = std::mem::take(&mut self.out);
        self.visit(value, at);
        std::mem::replace(&mut self.out, outer)
    }

    pub(super) fn visit(&mut self, value: &'a Value, at: At) {
        let part = (std::ptr::from_ref(value), at);
        if self.fuel == 0 || self.open.contains(&part) {
            return;
        }
        self.open.push(part);
        self.fuel -= 1;
        match value {
            Value::Name(name) => self.name(name, at),
            Value::Attr(base, attr) if attr == "_pyfunc" => self.visit(base, at),
            Value::Attr(base, attr) => self.attribute(base, attr, at),
            Value::Call(callee, args) => self.call(value, callee, args, at),
            Value::Either(parts) => parts.iter().for_each(|v| self.visit(v, at)),
            Value::Seq(..) | Value::Map(_) => self.push(Target::Whole(at, value)),
            Value::Item(base, place) => self.item(base, *place, at),
            Value::Import(path) => {
                let path = paths::absolute(path, &self.names.package);
                self.push(Target::Path(path));
            }
            Value::Param(index) => self.push(Target::Param(at, *index)),
            Value::Def(scope) => self.push(Target::Def(at.sibling(*scope))),
            Value::Text(_) | Value::Nothing | Value::Other => {}
        }
        // The same part may be reached again on another way within one question.
        self.open.pop();
    }

    /// A name: what the innermost scope that binds it gives it.
    fn name(&mut self, name: &'a SmolStr, at: At) {
        let names = self.names;
        for here in names.outward(at) {
            let scope = names.scope(here);
            // A class's names are not seen from its methods.
            if scope.kind == ScopeKind::Class && here != at {
                continue;
            }
            let mut found = false;
            for bind in scope.bound(name) {
                found = true;
                self.visit(&bind.value, at.sibling(bind.origin));
            }
            if found {
                return;
            }
        }
        match names.module.get(name.as_str()) {
            Some(binds) => {
                for (origin, value) in binds {
                    self.visit(value, *origin);
                }
            }
            None => {
                for star in &names.stars {
                    self.push(Target::Path(paths::join(star, name)));
                }
            }
        }
    }
}
