//! Who uses which kernel and which space, across all files: the index read backwards.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use tileperf_analysis::model::{HintContext, SpaceKind, SpaceRef};
use tileperf_analysis::rules::KernelUses;
use tileperf_syntax::Span;

use crate::DocId;
use crate::engine::Shared;
use crate::view::{FileView, Location};

/// How a kernel is used somewhere.
#[derive(Debug, Clone, PartialEq)]
pub enum UseKind {
    /// A launch, in this function.
    Launch(SmolStr),
    /// A search, in this function.
    Search(SmolStr),
    /// Remade with other hints.
    Hints(HintContext),
    /// Launched by the implementation registered for an op.
    Registration {
        /// The op.
        op: SmolStr,
        /// The backend; empty if not literal.
        backend: SmolStr,
    },
}

/// A use of a kernel.
#[derive(Debug, Clone)]
pub struct Use {
    /// How.
    pub kind: UseKind,
    /// The identifier that names the kernel, or the registered function's name.
    pub location: Location,
    /// The whole call.
    pub call: Span,
}

/// A space that some search uses, in the file that defines it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SpaceAt {
    pub(crate) name: SmolStr,
    pub(crate) name_span: Span,
    pub(crate) span: Span,
    pub(crate) kind: SpaceKind,
}

/// All links of the workspace at one moment.
#[derive(Debug, Default)]
pub(crate) struct Links {
    /// Uses by kernel, in file order.
    pub(crate) uses: FxHashMap<(DocId, usize), Vec<Use>>,
    /// Spaces by defining file.
    pub(crate) spaces: FxHashMap<DocId, Vec<SpaceAt>>,
    /// Spaces by the searches of a kernel: file and number in `spaces`.
    pub(crate) kernel_spaces: FxHashMap<(DocId, usize), Vec<(DocId, SpaceAt)>>,
}

impl Shared {
    /// The links of the present texts, computed at most once for each state of the workspace.
    pub(crate) fn links(&self) -> Arc<Links> {
        let mut cached = self.links.lock();
        let generation = self.generation.load(Ordering::Acquire);
        if let Some((at, links)) = &*cached
            && *at == generation
        {
            return Arc::clone(links);
        }
        let links = Arc::new(self.compute_links());
        *cached = Some((generation, Arc::clone(&links)));
        links
    }

    /// How the workspace uses the n-th kernel of a file.
    pub(crate) fn kernel_uses(&self, doc: &DocId, kernel: usize) -> KernelUses {
        let links = self.links();
        let mut uses = KernelUses::default();
        for used in (links.uses.get(&(doc.clone(), kernel)).into_iter()).flatten() {
            match used.kind {
                UseKind::Launch(_) => uses.launches += 1,
                UseKind::Search(_) => uses.searches += 1,
                UseKind::Hints(_) => uses.remade += 1,
                UseKind::Registration { .. } => {}
            }
        }
        uses
    }

    fn compute_links(&self) -> Links {
        let mut links = Links::default();
        for file in self.relevant_files() {
            for launch in &file.model.launches {
                let used = Use {
                    kind: UseKind::Launch(launch.function.clone()),
                    location: file.at(launch.kernel_span),
                    call: launch.span,
                };
                self.add(&mut links, &file, &launch.candidates, &used);
            }
            for hints in &file.model.hint_uses {
                let used = Use {
                    kind: UseKind::Hints(hints.context),
                    location: file.at(hints.kernel_span),
                    call: hints.span,
                };
                self.add(&mut links, &file, &hints.candidates, &used);
            }
            for registration in &file.model.registrations {
                let used = Use {
                    kind: UseKind::Registration {
                        op: registration.op.clone().unwrap_or_default(),
                        backend: registration.backend.clone().unwrap_or_default(),
                    },
                    location: file.at(registration.function_span),
                    call: registration.span,
                };
                self.add(&mut links, &file, &registration.kernels, &used);
            }
            for search in &file.model.searches {
                let used = Use {
                    kind: UseKind::Search(search.function.clone()),
                    location: file.at(search.kernel_span),
                    call: search.span,
                };
                self.add(&mut links, &file, &search.candidates, &used);
                let spaces: Vec<_> = search
                    .spaces
                    .iter()
                    .filter_map(|s| self.locate_space(&file, s))
                    .collect();
                for (doc, space) in &spaces {
                    let known = links.spaces.entry(doc.clone()).or_default();
                    if !known.iter().any(|k| k.span == space.span) {
                        known.push(space.clone());
                    }
                }
                for kernel in self.kernels(&file, &search.candidates) {
                    let known = links
                        .kernel_spaces
                        .entry((kernel.file.doc.clone(), kernel.number))
                        .or_default();
                    for space in &spaces {
                        if !known.contains(space) {
                            known.push(space.clone());
                        }
                    }
                }
            }
        }
        for spaces in links.spaces.values_mut() {
            spaces.sort_by_key(|s| s.span.start);
        }
        links
    }

    fn add(
        &self,
        links: &mut Links,
        file: &FileView,
        candidates: &[tileperf_analysis::model::Candidate],
        used: &Use,
    ) {
        for kernel in self.kernels(file, candidates) {
            links
                .uses
                .entry((kernel.file.doc.clone(), kernel.number))
                .or_default()
                .push(used.clone());
        }
    }

    /// The file and place of a space.
    pub(crate) fn locate_space(
        &self,
        file: &FileView,
        space: &SpaceRef,
    ) -> Option<(DocId, SpaceAt)> {
        match space {
            SpaceRef::Local(number) => {
                let space = file.model.spaces.get(*number)?;
                let at = SpaceAt {
                    name: space.name.clone(),
                    name_span: space.name_span,
                    span: space.span,
                    kind: space.kind,
                };
                Some((file.doc.clone(), at))
            }
            SpaceRef::Imported(path) => {
                let (file, name, name_span, span) = self.space(path, 8)?;
                let known = file.model.spaces.iter().find(|s| s.span == span);
                let kind = known.map_or(SpaceKind::Function, |s| s.kind);
                Some((
                    file.doc.clone(),
                    SpaceAt {
                        name,
                        name_span,
                        span,
                        kind,
                    },
                ))
            }
        }
    }
}
