//! A kernel's parameters, and which of them are compile-time constants.

use super::{At, Build};
use crate::model::KernelParam;
use crate::model::names::{Target, is_api};
use crate::model::scan::Def;
use crate::model::value::Value;

/// Annotations at module level and whether each makes a constant: the kernels of a file share a few.
#[derive(Default)]
pub(super) struct Annotations<'a>(Vec<(&'a Value, bool)>);

impl<'a> Build<'a> {
    pub(super) fn params(
        &self,
        at: At,
        def: &'a Def,
        known: &mut Annotations<'a>,
    ) -> Vec<KernelParam> {
        let outer = self.names.parent(at);
        def.params
            .iter()
            .map(|p| KernelParam {
                name: p.name.name.clone(),
                span: self.place(at.item, p.name.span),
                constant: (p.annotation_value.as_ref())
                    .is_some_and(|v| self.is_constant(v, outer, known)),
                annotation: (p.annotation).map(|s| self.source(at.item, s).to_owned()),
            })
            .collect()
    }

    fn is_constant(&self, value: &'a Value, at: At, known: &mut Annotations<'a>) -> bool {
        if at.scope != 0 {
            return self.means_constant(value, at);
        }
        if let Some((_, answer)) = known.0.iter().find(|(k, _)| *k == value) {
            return *answer;
        }
        let answer = self.means_constant(value, at);
        known.0.push((value, answer));
        answer
    }

    /// `ct.Constant`, `ct.Constant[int]`, a module's own alias of it, or a union's part.
    fn means_constant(&self, value: &'a Value, at: At) -> bool {
        let mut targets = match value {
            Value::Text(text) => return text.contains("Constant"),
            Value::Item(base, _) => self.names.resolve(base, at),
            value => self.names.resolve(value, at),
        };
        // `ConstInt = ct.Constant[int]`: the alias is a subscript.
        if let Value::Name(name) = value {
            for (origin, value) in self.names.bound(name) {
                if let Value::Item(base, _) = value {
                    targets.extend(self.names.resolve(base, *origin));
                }
            }
        }
        (targets.iter()).any(|t| matches!(t, Target::Path(path) if is_constant_path(path)))
    }
}

/// cuTile's own, or a project's alias, imported: `from .types import ConstInt`.
fn is_constant_path(path: &str) -> bool {
    let last = path.rsplit('.').next().unwrap_or_default();
    is_api(path, "Constant") || last.starts_with("Const") && !path.starts_with("typing")
}
