//! What an object or a container holds: attributes, members of classes, elements, and what is put
//! into either elsewhere in the file.

use smol_str::SmolStr;

use super::resolver::Resolver;
use super::{At, Target, paths};
use crate::model::scan::ScopeKind;
use crate::model::value::Value;

/// How many base classes deep a member is looked for: a class may name itself as its base.
const BASES: u32 = 8;

impl<'a> Resolver<'_, 'a> {
    /// `base.attr`: of a module, a class or its instance, or of anything with such an attribute.
    pub(super) fn attribute(&mut self, base: &'a Value, attr: &'a SmolStr, at: At) {
        let mut known = false;
        for target in self.aside(base, at) {
            match target {
                Target::Path(path) => {
                    known = true;
                    self.push(Target::Path(paths::join(&path, attr)));
                }
                Target::Def(def) | Target::Instance(def) => known |= self.member(def, attr, 0),
                // `self` of a method.
                Target::Param(function, 0) => {
                    let class = self.names.parent(function);
                    known |= self.member(class, attr, 0);
                }
                Target::Whole(origin, Value::Call(_, args)) => {
                    for (name, value) in args {
                        if name.as_ref() == Some(attr) {
                            known = true;
                            self.visit(value, origin);
                        }
                    }
                }
                _ => {}
            }
        }
        if !known {
            self.stored(attr);
        }
    }

    /// A member of a class or of its bases; `false` if there is none, or no class.
    fn member(&mut self, class: At, attr: &SmolStr, depth: u32) -> bool {
        let scope = self.names.scope(class);
        if scope.kind != ScopeKind::Class || depth > BASES {
            return false;
        }
        let mut found = false;
        for bind in scope.bound(attr) {
            found = true;
            self.visit(&bind.value, class.sibling(bind.origin));
        }
        if found {
            return true;
        }
        for base in &scope.returns {
            for target in self.aside(base, class.sibling(scope.parent)) {
                if let Target::Def(base) = target {
                    found |= self.member(base, attr, depth + 1);
                }
            }
        }
        found
    }

    /// `base[place]`, or any element of it.
    pub(super) fn item(&mut self, base: &'a Value, place: Option<usize>, at: At) {
        for target in self.aside(base, at) {
            match target {
                Target::Whole(origin, Value::Seq(parts, _)) => {
                    match place.and_then(|i| parts.get(i)) {
                        Some(part) => self.visit(part, origin),
                        None => parts.iter().for_each(|v| self.visit(v, origin)),
                    }
                }
                Target::Whole(origin, Value::Map(values)) => {
                    values.iter().for_each(|v| self.visit(v, origin));
                }
                Target::Called(path) => self.push(Target::Called(path)),
                // An element of what callers pass: the parameter stands for it.
                Target::Param(function, index) => self.push(Target::Param(function, index)),
                _ => {}
            }
        }
        if let Some(name) = base.last() {
            self.stored(name);
        }
    }

    /// What is put anywhere into a container or attribute of this name.
    fn stored(&mut self, name: &str) {
        if let Some(values) = self.names.stores.get(name) {
            for (origin, value) in values {
                self.visit(value, *origin);
            }
        }
    }
}
