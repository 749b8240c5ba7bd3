//! The facts of a file as `tileperf facts --format json` prints them: the schema of the command
//! line, stable for other programs.

use std::collections::BTreeMap;

use serde::Serialize;
use smol_str::SmolStr;
use tileperf_analysis::arch::Arch;
use tileperf_analysis::model::HintContext;
use tileperf_analysis::views::counts::Count;

use crate::view::FileView;
use crate::{DocId, Engine};

/// The facts of one file. Lines are one-based.
#[derive(Debug, Clone, Serialize)]
pub struct FileFacts {
    /// Of this layout.
    pub schema: &'static str,
    /// The file as it was given.
    pub path: String,
    /// Kernels in source order.
    pub kernels: Vec<KernelFacts>,
    /// Launches in source order.
    pub launches: Vec<LaunchFacts>,
    /// Registrations in source order.
    pub registrations: Vec<RegistrationFacts>,
    /// Searches in source order.
    pub searches: Vec<SearchFacts>,
    /// Spaces defined in this file that some search uses.
    pub spaces: Vec<SpaceFacts>,
    /// Kernels remade with other hints.
    pub replace_hints: Vec<HintFacts>,
}

/// A kernel.
#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs)] // The names are those of the schema.
pub struct KernelFacts {
    pub name: SmolStr,
    pub line: u32,
    pub decorator_line: u32,
    /// Values as written.
    pub hints: BTreeMap<SmolStr, String>,
    pub params: Vec<ParamFacts>,
}

/// A kernel's parameter.
#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs)]
pub struct ParamFacts {
    pub name: SmolStr,
    pub constant: bool,
}

/// A launch.
#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs)]
pub struct LaunchFacts {
    pub line: u32,
    /// Source text.
    pub kernel: String,
    /// Names of the kernels it may be.
    pub candidates: Vec<SmolStr>,
}

/// A registration.
#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs)]
pub struct RegistrationFacts {
    pub line: u32,
    pub op: Option<SmolStr>,
    pub backend: Option<SmolStr>,
    pub function: Option<SmolStr>,
}

/// A search.
#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs)]
pub struct SearchFacts {
    pub line: u32,
    pub api: &'static str,
    pub space: String,
    pub kernel: String,
}

/// A space.
#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs)]
pub struct SpaceFacts {
    pub line: u32,
    pub name: SmolStr,
    pub configs: BTreeMap<Arch, Count>,
}

/// A hint replacement.
#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs)]
pub struct HintFacts {
    pub line: u32,
    pub kernel: String,
    pub context: HintContext,
}

impl Engine {
    /// The facts of a file of the workspace, printed under the name `path`; nothing if it has none.
    pub fn facts(&self, doc: &DocId, path: &str) -> Option<FileFacts> {
        let file = self.shared.file(doc)?;
        let links = self.shared.links();
        let spaces = links.spaces.get(doc).map_or(&[][..], Vec::as_slice);
        if file.model.is_empty() && spaces.is_empty() {
            return None;
        }
        let line = |at: u32| file.text.line_column(at as usize).0;
        let model = &file.model;
        Some(FileFacts {
            schema: "tileperf.facts/1",
            path: path.to_owned(),
            kernels: model
                .kernels
                .iter()
                .map(|k| KernelFacts {
                    name: k.name.clone(),
                    line: line(k.span.start),
                    decorator_line: line(k.decorator_span.start),
                    hints: k
                        .hints
                        .iter()
                        .map(|h| (h.name.clone(), h.text.clone()))
                        .collect(),
                    params: k
                        .params
                        .iter()
                        .map(|p| ParamFacts {
                            name: p.name.clone(),
                            constant: p.constant,
                        })
                        .collect(),
                })
                .collect(),
            launches: model
                .launches
                .iter()
                .map(|l| LaunchFacts {
                    line: line(l.span.start),
                    kernel: l.kernel_text.clone(),
                    candidates: self.candidate_names(&file, &l.candidates),
                })
                .collect(),
            registrations: model
                .registrations
                .iter()
                .map(|r| RegistrationFacts {
                    line: line(r.span.start),
                    op: r.op.clone(),
                    backend: r.backend.clone(),
                    function: r.function.clone(),
                })
                .collect(),
            searches: model
                .searches
                .iter()
                .map(|s| SearchFacts {
                    line: line(s.span.start),
                    api: s.api.name(),
                    space: s.space_text.clone(),
                    kernel: s.kernel_text.clone(),
                })
                .collect(),
            spaces: spaces
                .iter()
                .map(|s| SpaceFacts {
                    line: line(s.span.start),
                    name: s.name.clone(),
                    configs: self.counts(doc, s.span).into_iter().collect(),
                })
                .collect(),
            replace_hints: model
                .hint_uses
                .iter()
                .map(|h| HintFacts {
                    line: line(h.span.start),
                    kernel: h.kernel_text.clone(),
                    context: h.context,
                })
                .collect(),
        })
    }

    fn candidate_names(
        &self,
        file: &FileView,
        candidates: &[tileperf_analysis::model::Candidate],
    ) -> Vec<SmolStr> {
        let mut names: Vec<SmolStr> = Vec::new();
        for kernel in self.shared.kernels(file, candidates) {
            if !names.contains(&kernel.kernel().name) {
                names.push(kernel.kernel().name.clone());
            }
        }
        names
    }

    /// Every Python file of the workspace that mentions cuTile or that a search's space leads to,
    /// in path order.
    pub fn files_with_facts(&self) -> Vec<DocId> {
        let mut ids: Vec<DocId> = self
            .shared
            .relevant_files()
            .into_iter()
            .map(|f| f.doc)
            .collect();
        ids.extend(self.shared.links().spaces.keys().cloned());
        ids.sort();
        ids.dedup();
        ids
    }
}
