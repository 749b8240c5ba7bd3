//! Where a scope stands among the others of its item.

use smol_str::SmolStr;

use super::{At, Names};
use crate::model::scan::{Scope, ScopeKind};

impl<'a> Names<'a> {
    pub(crate) fn scope(&self, at: At) -> &'a Scope {
        &self.scans[at.item].scopes[at.scope]
    }

    /// The scope that encloses another; the module's encloses itself.
    pub(crate) fn parent(&self, at: At) -> At {
        at.sibling(self.scope(at).parent)
    }

    /// A scope and those that enclose it, from the inside out, the module's left out.
    pub(crate) fn outward(&self, at: At) -> impl Iterator<Item = At> {
        std::iter::successors(Some(at), |at| Some(self.parent(*at))).take_while(|at| at.scope != 0)
    }

    /// Whether a scope is another or stands within it.
    pub(crate) fn is_within(&self, at: At, outer: At) -> bool {
        self.outward(at).any(|here| here == outer)
    }

    /// The function that holds a scope; none at module level.
    pub(crate) fn function_of(&self, at: At) -> Option<At> {
        (self.outward(at)).find(|here| self.scope(*here).kind == ScopeKind::Function)
    }

    /// The dotted name of a scope, as Python's `__qualname__` gives it.
    pub(crate) fn qualified(&self, at: At) -> SmolStr {
        let mut parts: Vec<&str> = Vec::new();
        for here in self.outward(at) {
            if let Some(def) = &self.scope(here).def {
                parts.push(&def.name.name);
                let outer = self.scope(self.parent(here)).kind;
                if matches!(outer, ScopeKind::Function | ScopeKind::Lambda) {
                    parts.push("<locals>");
                }
            }
        }
        parts.reverse();
        parts.join(".").into()
    }
}
