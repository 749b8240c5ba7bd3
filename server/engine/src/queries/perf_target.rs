//! What an experiment on a kernel needs to know of the workspace: which files may change, which op it
//! implements, and where that is tested.

use std::path::PathBuf;

use smol_str::SmolStr;
use tileperf_analysis::model::Kernel;

use crate::engine::Shared;
use crate::view::{FileView, KernelRef, Location};
use crate::{DocId, Engine, UseKind};

/// A kernel as the subject of experiments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerfTarget {
    /// Its qualified name.
    pub kernel: SmolStr,
    /// Its file.
    pub file: PathBuf,
    /// Line of its topmost decorator, one-based.
    pub line: u32,
    /// Files that launch it or register what launches it, its own not counted.
    pub wrappers: Vec<PathBuf>,
    /// The ops it implements, the first in source order first.
    pub ops: Vec<SmolStr>,
    /// Test files of these ops.
    pub tests: Vec<PathBuf>,
}

impl Engine {
    /// The kernels that `name` may mean, all of them if there is no name: qualified or bare names, in
    /// `file` if one is given.
    pub fn perf_targets(&self, file: Option<&DocId>, name: Option<&str>) -> Vec<PerfTarget> {
        let files: Vec<FileView> = match file {
            Some(doc) => self.shared.file(doc).into_iter().collect(),
            None => self.shared.relevant_files(),
        };
        let fits = |kernel: &Kernel| {
            name.is_none_or(|name| kernel.qualified == name || kernel.name == name)
        };
        let mut out = Vec::new();
        for file in files {
            for number in 0..file.model.kernels.len() {
                if fits(&file.model.kernels[number]) {
                    let kernel = KernelRef {
                        file: file.clone(),
                        number,
                    };
                    out.extend(self.perf_target(&kernel));
                }
            }
        }
        out
    }

    /// The kernel at an offset of a document, as a subject of experiments: the one around it, named
    /// by it, or the next one below.
    pub fn perf_target_at(&self, doc: &DocId, offset: usize) -> Option<PerfTarget> {
        let file = self.shared.file(doc)?;
        let around = |k: &Kernel| {
            let start = k.top.start.min(k.span.start) as usize;
            start <= offset && offset <= k.span.end as usize
        };
        let kernels = &file.model.kernels;
        let number = (kernels.iter().position(around))
            .or_else(|| kernels.iter().position(|k| k.span.start as usize >= offset))
            .or_else(|| kernels.len().checked_sub(1))?;
        self.perf_target(&KernelRef { file, number })
    }

    fn perf_target(&self, kernel: &KernelRef) -> Option<PerfTarget> {
        let found = kernel.kernel();
        let links = self.shared.links();
        let id = (kernel.file.doc.clone(), kernel.number);
        let own = kernel.file.doc.path()?;
        let mut wrappers = Vec::new();
        let mut ops: Vec<SmolStr> = Vec::new();
        let mut tests = Vec::new();
        for used in links.uses.get(&id).into_iter().flatten() {
            let path = used.location.doc.path();
            match &used.kind {
                UseKind::Launch(_) | UseKind::Search(_) => {}
                UseKind::Registration { op, .. } => {
                    if !op.is_empty() && !ops.contains(op) {
                        ops.push(op.clone());
                        let found = self.shared.test_files(op, &used.location.doc);
                        tests.extend(found.iter().filter_map(DocId::path));
                    }
                }
                UseKind::Hints(_) => continue,
            }
            wrappers.extend(path.filter(|p| *p != own));
        }
        wrappers.sort();
        wrappers.dedup();
        tests.dedup();
        Some(PerfTarget {
            kernel: found.qualified.clone(),
            line: kernel.file.text.line_column(found.top.start as usize).0,
            file: own,
            wrappers,
            ops,
            tests,
        })
    }
}

impl Shared {
    /// The name of a kernel where it is first defined in the present text of a file.
    pub(crate) fn kernel_place(&self, doc: &DocId, qualified: &str) -> Option<Location> {
        let file = self.file(doc)?;
        let kernels = &file.model.kernels;
        let kernel = kernels
            .iter()
            .find(|kernel| kernel.qualified == qualified)?;
        Some(file.at(kernel.name_span))
    }
}
