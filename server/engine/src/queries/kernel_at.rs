//! What stands under a cursor.

use tileperf_syntax::Span;

use crate::DocId;
use crate::engine::Shared;
use crate::links::SpaceAt;
use crate::view::{FileView, KernelRef};

/// The cuTile thing at a place.
pub(crate) enum Thing {
    /// Kernels: at a definition one, at a launch all that it may be.
    Kernels(Span, Vec<KernelRef>),
    /// Spaces of a search.
    Spaces(Span, Vec<(DocId, SpaceAt)>),
    /// A registration, by number.
    Registration(Span, usize),
}

impl Shared {
    pub(crate) fn thing_at(&self, file: &FileView, offset: usize) -> Option<Thing> {
        let model = &file.model;
        if let Some(number) = model
            .kernels
            .iter()
            .position(|k| k.name_span.touches(offset))
        {
            let kernel = KernelRef {
                file: file.clone(),
                number,
            };
            return Some(Thing::Kernels(
                model.kernels[number].name_span,
                vec![kernel],
            ));
        }
        let named = model
            .launches
            .iter()
            .map(|l| (l.kernel_span, &l.candidates))
            .chain(
                model
                    .searches
                    .iter()
                    .map(|s| (s.kernel_span, &s.candidates)),
            )
            .chain(
                model
                    .hint_uses
                    .iter()
                    .map(|h| (h.kernel_span, &h.candidates)),
            );
        for (span, candidates) in named {
            if span.touches(offset) {
                return Some(Thing::Kernels(span, self.kernels(file, candidates)));
            }
        }
        for search in &model.searches {
            if let Some(span) = search.space_ident.filter(|s| s.touches(offset)) {
                let spaces = search
                    .spaces
                    .iter()
                    .filter_map(|s| self.locate_space(file, s))
                    .collect();
                return Some(Thing::Spaces(span, spaces));
            }
        }
        if let Some(number) = model
            .registrations
            .iter()
            .position(|r| r.op_span.touches(offset))
        {
            return Some(Thing::Registration(
                model.registrations[number].op_span,
                number,
            ));
        }
        let links = self.links();
        let spaces = links.spaces.get(&file.doc)?;
        let space = spaces
            .iter()
            .find(|s| s.name_span.touches(offset) && !s.name.is_empty())?;
        Some(Thing::Spaces(
            space.name_span,
            vec![(file.doc.clone(), space.clone())],
        ))
    }
}
