//! Inlay hints: configurations at a space, the kernel at a launch, what the compiler made of a load.

use tileperf_analysis::views::compiled;
use tileperf_analysis::views::counts::line;
use tileperf_analysis::views::hints::{configurations, resolved_kernels};
use tileperf_syntax::Span;

use crate::{DocId, Engine};

/// An inlay hint.
#[derive(Debug, Clone, PartialEq)]
pub struct Inlay {
    /// The byte after which it stands.
    pub offset: usize,
    /// Its text.
    pub label: String,
    /// More words on hover.
    pub tooltip: String,
}

impl Engine {
    /// The hints within `range` of a document.
    pub fn inlay_hints(&self, doc: &DocId, range: Span) -> Vec<Inlay> {
        let Some(file) = self.shared.file(doc) else {
            return Vec::new();
        };
        let settings = self.settings();
        let mut out = Vec::new();
        let inside = |offset: u32| range.start <= offset && offset <= range.end;
        if settings.inlay_hints.configurations {
            for space in self.shared.links().spaces.get(doc).into_iter().flatten() {
                // At the end of the line of the name: `def space(n):` keeps its form.
                let at = file
                    .text
                    .line_span(file.text.line_of(space.name_span.end as usize))
                    .end;
                if !inside(at) {
                    continue;
                }
                let counts = self.counts(doc, space.span);
                let label = configurations(&counts);
                if !label.is_empty() {
                    let tooltip = format!(
                        "Configurations that this search space yields: {}.",
                        line(&counts)
                    );
                    out.push(Inlay {
                        offset: at as usize,
                        label: format!("  {label}"),
                        tooltip,
                    });
                }
            }
        }
        if settings.inlay_hints.resolved_kernel {
            let named = file
                .model
                .launches
                .iter()
                .map(|l| (l.kernel_span, &l.candidates));
            let searched = file
                .model
                .searches
                .iter()
                .map(|s| (s.kernel_span, &s.candidates));
            for (span, candidates) in named.chain(searched).filter(|(s, _)| inside(s.end)) {
                let kernels = self.shared.kernels(&file, candidates);
                let written = file.text.slice(span);
                let names: Vec<&str> = kernels.iter().map(|k| k.kernel().name.as_str()).collect();
                if names.iter().any(|n| *n != written) {
                    let label = resolved_kernels(&names);
                    let all = names.join("`, `");
                    let tooltip = format!("The kernel launched here is `{all}`.");
                    out.push(Inlay {
                        offset: span.end as usize,
                        label: format!(": {label}"),
                        tooltip,
                    });
                }
            }
        }
        if settings.inlay_hints.compiled
            && let Some(compiled) = self.shared.compiled_of(doc)
        {
            let shown = compiled::inlays(&compiled.kernels_and_callers()).into_iter();
            let shown = shown.filter(|hint| inside(hint.span.end));
            out.extend(shown.map(|hint| Inlay {
                offset: hint.span.end as usize,
                label: format!(" {}", hint.label),
                tooltip: hint.tooltip,
            }));
        }
        out.sort_by_key(|i| i.offset);
        out
    }
}
