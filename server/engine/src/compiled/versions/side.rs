//! One version of the files: which of its functions are device code, and what is left as host code.

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use tileperf_analysis::arch::Arch;
use tileperf_analysis::model::function_fingerprint;
use tileperf_analysis::slice::Unsliceable;
use tileperf_syntax::ast::StmtKind;
use tileperf_syntax::{Item, ParsedFile, Span, Text};

use crate::compiled::subject::{KernelKey, Subject, subjects};
use crate::snapshot::Snapshot;
use crate::words::has_word;
use crate::{DocId, Engine};

/// A kernel, ready to be compiled or not.
pub(super) type Sliced = (KernelKey, Result<Subject, Unsliceable>);

/// One of the two, sliced.
pub(super) struct Side<'v> {
    pub(super) engine: &'v Engine,
    pub(super) kernels: Vec<Sliced>,
}

impl<'v> Side<'v> {
    pub(super) fn new(engine: &'v Engine, reach: &[DocId], arch: Arch) -> Self {
        let snapshot = Snapshot::new(&engine.shared);
        let cached = &engine.shared.compiled.cached;
        let mut sliced = Vec::new();
        for doc in reach {
            if let Some(file) = engine.shared.file(doc) {
                let kernels = &file.model.kernels;
                sliced.extend(subjects(&snapshot, cached, doc, kernels, arch));
            }
        }
        Self {
            engine,
            kernels: sliced,
        }
    }

    fn source(&self, doc: &DocId) -> (Text, std::sync::Arc<ParsedFile>) {
        self.engine.shared.source(doc)
    }

    pub(super) fn is_clean(&self, doc: &DocId) -> bool {
        self.source(doc).1.is_clean()
    }

    /// The functions at the top of files that kernels are compiled with and no host code names.
    pub(super) fn device(&self, reach: &[DocId]) -> FxHashSet<(DocId, SmolStr)> {
        let mut device: FxHashSet<(DocId, SmolStr)> = FxHashSet::default();
        for doc in reach {
            let (text, parsed) = self.source(doc);
            let kernels = self.kernel_spans(doc);
            for item in &parsed.items {
                let Some(name) = function(item) else {
                    continue;
                };
                let is_kernel = kernels.iter().any(|kernel| item.span.contains(*kernel));
                if !is_kernel && self.is_sliced(doc, &text, item) {
                    device.insert((doc.clone(), name.clone()));
                }
            }
        }
        // A function that host code calls makes what it calls host code.
        loop {
            let hosts: Vec<String> = reach
                .iter()
                .map(|doc| self.host_text(doc, &device))
                .collect();
            let before = device.len();
            device.retain(|(_, name)| !hosts.iter().any(|text| has_word(text, name)));
            if device.len() == before {
                return device;
            }
        }
    }

    /// Whether a kernel is compiled with a top-level statement of a file.
    fn is_sliced(&self, doc: &DocId, text: &Text, item: &Item) -> bool {
        let first = text.line_of(item.span.start as usize);
        let last = text.line_of(item.span.end as usize);
        self.kernels.iter().any(|(_, subject)| {
            let modules = subject.iter().flat_map(|subject| &subject.slice.modules);
            let mut here = modules.filter(|module| module.path == doc.as_str());
            here.any(|module| {
                let lines = module.text.lines().skip(first).take(last + 1 - first);
                lines.into_iter().any(|line| !line.trim().is_empty())
            })
        })
    }

    fn kernel_spans(&self, doc: &DocId) -> Vec<Span> {
        let file = self.engine.shared.file(doc);
        let kernels = file.iter().flat_map(|file| &file.model.kernels);
        kernels
            .map(|kernel| Span {
                start: kernel.top.start.min(kernel.span.start),
                end: kernel.span.end,
            })
            .collect()
    }

    /// What is left of a file without kernels, device functions and imports.
    fn host_text(&self, doc: &DocId, device: &FxHashSet<(DocId, SmolStr)>) -> String {
        let (text, parsed) = self.source(doc);
        let mut out: Vec<u8> = text.as_str().as_bytes().to_vec();
        let mut blank = |span: Span| {
            if let Some(part) = out.get_mut(span.range()) {
                part.fill(b' ');
            }
        };
        self.kernel_spans(doc).into_iter().for_each(&mut blank);
        for item in parsed.items.iter().filter(|item| !item.is_stale()) {
            let is_import = item.facts.body.iter().all(|stmt| {
                matches!(
                    stmt.kind,
                    StmtKind::Import { .. } | StmtKind::ImportFrom { .. }
                )
            });
            let is_device =
                function(item).is_some_and(|name| device.contains(&(doc.clone(), name.clone())));
            if is_import || is_device {
                blank(item.span);
            }
        }
        String::from_utf8_lossy(&out).into_owned()
    }

    /// The top-level statements of a file that are neither kernels nor device functions, without
    /// comments between them.
    pub(super) fn host(&self, doc: &DocId, device: &FxHashSet<(DocId, SmolStr)>) -> Vec<String> {
        let (text, parsed) = self.source(doc);
        let file = self.engine.shared.file(doc);
        // A function or class around a kernel is host code as well.
        let kernels: Vec<Span> = (file.iter().flat_map(|file| &file.model.kernels))
            .filter(|kernel| kernel.qualified == kernel.name)
            .map(|kernel| kernel.span)
            .collect();
        let is_compiled = |item: &Item| {
            let is_kernel = item.facts.body.len() == 1
                && kernels.iter().any(|kernel| item.span.contains(*kernel));
            let name = function(item);
            is_kernel || name.is_some_and(|name| device.contains(&(doc.clone(), name.clone())))
        };
        let host = parsed.items.iter().filter(|item| !is_compiled(item));
        // Python reads all line ends alike.
        host.map(|item| text.slice(item.span).replace("\r\n", "\n"))
            .collect()
    }

    pub(super) fn has_function(&self, doc: &DocId, name: &str) -> bool {
        self.code_of(doc, name).is_some()
    }

    /// The code of the functions with a name at the top of a file; `None` without any.
    pub(super) fn code_of(&self, doc: &DocId, name: &str) -> Option<Vec<u64>> {
        let (_, parsed) = self.source(doc);
        let stmts = parsed.items.iter().flat_map(|item| &item.facts.body);
        let all: Vec<u64> = stmts
            .filter_map(|stmt| match &stmt.kind {
                StmtKind::FunctionDef(def) if def.name.name == name => {
                    Some(function_fingerprint(def))
                }
                _ => None,
            })
            .collect();
        (!all.is_empty()).then_some(all)
    }
}

/// The name of the function that a top-level statement defines.
fn function(item: &Item) -> Option<&SmolStr> {
    match item.facts.body.as_slice() {
        [stmt] if !item.is_stale() => match &stmt.kind {
            StmtKind::FunctionDef(def) => Some(&def.name.name),
            _ => None,
        },
        _ => None,
    }
}
