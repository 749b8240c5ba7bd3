//! Everything that belongs to a kernel, a space or an op.

use rustc_hash::FxHashSet;

use crate::queries::kernel_at::Thing;
use crate::view::{FileView, KernelRef, Location};
use crate::{DocId, Engine};

impl Engine {
    /// The uses of the thing under the cursor across the workspace: launches, searches, hint
    /// replacements, registrations and tests of a kernel; searches of a space; registrations and
    /// tests of an op.
    pub fn references(&self, doc: &DocId, offset: usize, declaration: bool) -> Vec<Location> {
        let Some(file) = self.shared.file(doc) else {
            return Vec::new();
        };
        let mut out = match self.shared.thing_at(&file, offset) {
            Some(Thing::Kernels(_, kernels)) => self.kernel_references(&kernels, declaration),
            Some(Thing::Spaces(_, spaces)) => {
                let mut out = Vec::new();
                for (space_doc, space) in &spaces {
                    if declaration && let Some(file) = self.shared.file(space_doc) {
                        out.push(file.at(space.name_span));
                    }
                    out.extend(self.searches_of(space_doc, space.span));
                }
                out
            }
            Some(Thing::Registration(_, number)) => match &file.model.registrations[number].op {
                Some(op) => self.op_references(op),
                None => Vec::new(),
            },
            None => Vec::new(),
        };
        let mut seen = FxHashSet::default();
        out.retain(|l| seen.insert((l.doc.clone(), l.span)));
        out
    }

    fn kernel_references(&self, kernels: &[KernelRef], declaration: bool) -> Vec<Location> {
        let links = self.shared.links();
        let mut out = Vec::new();
        for kernel in kernels {
            if declaration {
                out.push(kernel.location());
            }
            let uses = links.uses.get(&(kernel.file.doc.clone(), kernel.number));
            out.extend(uses.into_iter().flatten().map(|u| u.location.clone()));
            out.extend(self.tests_of_kernel(&kernel.file.doc, kernel.number));
        }
        out
    }

    fn searches_of(&self, space_doc: &DocId, span: tileperf_syntax::Span) -> Vec<Location> {
        let mut out = Vec::new();
        for file in self.shared.relevant_files() {
            for search in &file.model.searches {
                let uses = search
                    .spaces
                    .iter()
                    .filter_map(|s| self.shared.locate_space(&file, s));
                if uses
                    .into_iter()
                    .any(|(doc, space)| doc == *space_doc && space.span == span)
                {
                    out.push(file.at(search.space_ident.unwrap_or(search.space_span)));
                }
            }
        }
        out
    }

    fn op_references(&self, op: &str) -> Vec<Location> {
        let mut out = Vec::new();
        for file in self.shared.relevant_files() {
            for registration in file
                .model
                .registrations
                .iter()
                .filter(|r| r.op.as_deref() == Some(op))
            {
                out.push(file.at(registration.op_span));
                out.extend(self.tests_of_op(op, &file));
            }
        }
        out
    }

    /// The places in this document that mean the same kernel or space as the one under the cursor.
    pub fn highlights(&self, doc: &DocId, offset: usize) -> Vec<Location> {
        let mut out: Vec<Location> = self
            .references(doc, offset, true)
            .into_iter()
            .filter(|l| l.doc == *doc)
            .collect();
        out.sort_by_key(|l| l.span);
        out
    }

    /// Tests of the ops whose implementations launch a kernel.
    pub(crate) fn tests_of_kernel(&self, doc: &DocId, number: usize) -> Vec<Location> {
        let links = self.shared.links();
        let mut out = Vec::new();
        for used in links.uses.get(&(doc.clone(), number)).into_iter().flatten() {
            if let crate::UseKind::Registration { op, .. } = &used.kind
                && let Some(file) = self.shared.file(&used.location.doc)
            {
                out.extend(self.tests_of_op(op, &file));
            }
        }
        out
    }

    /// The test functions of an op registered in `file`.
    pub(crate) fn tests_of_op(&self, op: &str, file: &FileView) -> Vec<Location> {
        let files = self.shared.test_files(op, &file.doc);
        files
            .iter()
            .flat_map(|doc| self.shared.test_functions(doc))
            .collect()
    }
}
