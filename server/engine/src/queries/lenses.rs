//! The line above each kernel.

use smol_str::SmolStr;
use tileperf_analysis::views::compiled::lens;
use tileperf_analysis::views::lens::{LensFacts, title};
use tileperf_syntax::Span;

use crate::runs::ACTION;
use crate::view::Location;
use crate::{DocId, Engine, UseKind};

/// A lens.
#[derive(Debug, Clone)]
pub struct Lens {
    /// The kernel's topmost decorator, above which it stands.
    pub span: Span,
    /// Its title.
    pub title: String,
    /// The kernel's qualified name.
    pub kernel: SmolStr,
    /// The title of the lens that starts a run, or tells how one goes on.
    pub action: String,
    /// Where the kernel is used, for a click.
    pub uses: Vec<Location>,
    /// How many signatures of it can be shown, as far as it was compiled.
    pub signatures: usize,
}

impl Engine {
    /// The lenses of a document, one a kernel. A name that is defined twice in a file, as in branches,
    /// is one subject of experiments, shown at its first definition.
    pub fn lenses(&self, doc: &DocId) -> Vec<Lens> {
        let Some(file) = self.shared.file(doc) else {
            return Vec::new();
        };
        let links = self.shared.links();
        let compiled = self.shared.compiled_of(doc);
        let mut out = Vec::new();
        for (number, kernel) in file.model.kernels.iter().enumerate() {
            let id = (doc.clone(), number);
            let uses = links.uses.get(&id).map_or(&[][..], Vec::as_slice);
            let run = match kernel.ordinal {
                0 => self.shared.runs.of(doc, &kernel.qualified),
                _ => None,
            };
            let mut facts = LensFacts {
                stale: kernel.stale,
                compiled: compiled.as_ref().and_then(|c| lens(c.facts_of(kernel))),
                measured: run.as_ref().and_then(|run| run.for_lens()),
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
                let counts = self.counts(space_doc, space.span);
                if !facts.spaces.contains(&counts) {
                    facts.spaces.push(counts);
                }
            }
            out.push(Lens {
                span: kernel.top,
                title: title(&facts),
                kernel: kernel.qualified.clone(),
                action: run.map_or_else(|| ACTION.to_owned(), |run| run.action_title()),
                signatures: (compiled.as_ref()).map_or(0, |c| c.signatures_of(kernel)),
                uses: uses.iter().map(|u| u.location.clone()).collect(),
            });
        }
        out
    }
}
