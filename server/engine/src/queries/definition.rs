//! From a launch, search, registration or hint replacement to what it means.

use crate::queries::kernel_at::Thing;
use crate::view::{KernelRef, Location};
use crate::{DocId, Engine};

impl Engine {
    /// Where the thing under the cursor is defined. At a launch: the kernels it may be; at a
    /// search's space: the function or list; at an op's name: the function registered and the
    /// kernels that it launches. Places are those of the identifiers, so that an editor which also
    /// asks a Python language server shows one entry and not two.
    pub fn definition(&self, doc: &DocId, offset: usize) -> Vec<Location> {
        let Some(file) = self.shared.file(doc) else {
            return Vec::new();
        };
        match self.shared.thing_at(&file, offset) {
            Some(Thing::Kernels(_, kernels)) => kernels.iter().map(KernelRef::location).collect(),
            Some(Thing::Spaces(_, spaces)) => spaces
                .into_iter()
                .filter_map(|(doc, space)| Some(self.shared.file(&doc)?.at(space.name_span)))
                .collect(),
            Some(Thing::Registration(_, number)) => {
                let registration = &file.model.registrations[number];
                let kernels = self.shared.kernels(&file, &registration.kernels);
                std::iter::once(file.at(registration.function_span))
                    .chain(kernels.iter().map(KernelRef::location))
                    .collect()
            }
            None => Vec::new(),
        }
    }
}
