//! A kernel's code: its accesses, and the fingerprint that ties measurements to it.

use smol_str::SmolStr;

use super::{At, Build};
use crate::model::names::Target;
use crate::model::value::Value;
use crate::model::{Access, fingerprint};

impl Build<'_> {
    /// The accesses in a kernel's own body: calls of cuTile's functions, not of what only has such a
    /// name.
    pub(super) fn accesses(&self, at: At) -> Vec<Access> {
        let ours = |root: &SmolStr| {
            self.out.imports.get(root).is_none_or(|path| {
                path.starts_with("cuda.tile") || path == "cuda" || path.ends_with(".ct")
            })
        };
        (self.names.scans[at.item].accesses.iter())
            .filter(|a| self.names.is_within(at.sibling(a.scope), at) && ours(&a.root))
            .map(|a| Access {
                kind: a.kind,
                span: self.place(at.item, a.span),
            })
            .collect()
    }

    /// Of the kernel's code and that of every function of this file it calls.
    pub(super) fn fingerprint(&self, at: At) -> u64 {
        let mut seen = vec![at];
        let mut parts = Vec::new();
        let mut next = 0;
        while let Some(&at) = seen.get(next) {
            next += 1;
            if let Some(def) = &self.names.scope(at).def {
                parts.push(def.fingerprint);
            }
            for call in &self.names.scans[at.item].calls {
                if call.scope != at.scope || !matches!(call.callee, Value::Name(_)) {
                    continue;
                }
                for target in self.names.resolve(&call.callee, at) {
                    if let Target::Def(def) = target
                        && !seen.contains(&def)
                    {
                        seen.push(def);
                    }
                }
            }
        }
        fingerprint::join(&parts)
    }
}
