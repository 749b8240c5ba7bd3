//! What a launch, search or hint replacement may refer to, in the terms in which the model leads out
//! of its file.

use super::{At, Build};
use crate::model::Candidate;
use crate::model::names::Target;
use crate::model::scan::ScopeKind;
use crate::model::value::Value;

impl<'a> Build<'a> {
    /// The kernels that an expression may be.
    pub(super) fn candidates(&self, value: &'a Value, at: At) -> Vec<Candidate> {
        self.as_candidates(&self.names.resolve_through_callers(value, at))
    }

    pub(super) fn as_candidates(&self, targets: &[Target<'a>]) -> Vec<Candidate> {
        let mut out = Vec::new();
        for candidate in targets.iter().filter_map(|t| self.as_candidate(t)) {
            if !out.contains(&candidate) {
                out.push(candidate);
            }
        }
        out
    }

    fn as_candidate(&self, target: &Target<'a>) -> Option<Candidate> {
        match target {
            Target::Def(at) => self.kernels.get(at).copied().map(Candidate::Local),
            Target::Path(path) if !path.starts_with("cuda.") => {
                Some(Candidate::Imported(path.clone()))
            }
            Target::Called(path) if !path.starts_with("cuda.") => {
                Some(Candidate::Returned(path.clone()))
            }
            Target::Param(at, index) => self.parameter(*at, *index),
            _ => None,
        }
    }

    /// A parameter of a function that can be called from elsewhere; not of a lambda.
    fn parameter(&self, at: At, index: usize) -> Option<Candidate> {
        let def = self.names.scope(at).def.as_ref()?;
        let param = def.params.get(index)?;
        let in_class = self.names.scope(self.names.parent(at)).kind == ScopeKind::Class;
        let bound = in_class && !def.is_static && index > 0;
        Some(Candidate::Param {
            function: self.names.qualified(at),
            name: param.name.name.clone(),
            place: index - usize::from(bound),
        })
    }
}
