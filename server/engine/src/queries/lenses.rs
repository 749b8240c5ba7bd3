//! The line above each kernel.

use tileperf_analysis::views::lens::{LensFacts, title};
use tileperf_syntax::Span;

use crate::view::Location;
use crate::{DocId, Engine, UseKind};

/// A lens.
#[derive(Debug, Clone)]
pub struct Lens {
    /// The kernel's topmost decorator, above which it stands.
    pub span: Span,
    /// Its title.
    pub title: String,
    /// Where the kernel is used, for a click.
    pub uses: Vec<Location>,
}

impl Engine {
    /// The lenses of a document, one a kernel.
    pub fn lenses(&self, doc: &DocId) -> Vec<Lens> {
        let Some(file) = self.shared.file(doc) else {
            return Vec::new();
        };
        let links = self.shared.links();
        let mut out = Vec::new();
        for (number, kernel) in file.model.kernels.iter().enumerate() {
            let id = (doc.clone(), number);
            let uses = links.uses.get(&id).map_or(&[][..], Vec::as_slice);
            let mut facts = LensFacts {
                stale: kernel.stale,
                ..LensFacts::default()
            };
            for used in uses {
                match &used.kind {
                    UseKind::Launch(_) => facts.launches += 1,
                    UseKind::Search(_) => facts.searches += 1,
                    UseKind::Registration { op, .. }
                        if !facts.ops.iter().any(|o| o == op.as_str()) =>
                    {
                        facts.ops.push(op.to_string());
                    }
                    _ => {}
                }
            }
            for (space_doc, space) in links.kernel_spaces.get(&id).into_iter().flatten() {
                let counts = self.counts(space_doc, space.span).to_vec();
                if !facts.spaces.contains(&counts) {
                    facts.spaces.push(counts);
                }
            }
            out.push(Lens {
                span: kernel.top,
                title: title(&facts),
                uses: uses.iter().map(|u| u.location.clone()).collect(),
            });
        }
        out
    }
}
