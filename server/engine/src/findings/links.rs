//! What other files add to a file's findings.

use std::cell::OnceCell;
use std::sync::Arc;

use tileperf_analysis::model::{Candidate, Kernel, SpaceRef};
use tileperf_analysis::rules::{FileContext, InItem, KernelFacts, KernelUses, Links, SpaceFacts};
use tileperf_syntax::ast::FunctionDef;

use crate::Engine;
use crate::counts::Evaluating;
use crate::snapshot::Snapshot;
use crate::view::FileView;

/// The links of one file, followed when a rule asks.
pub(super) struct Linking<'e> {
    engine: &'e Engine,
    file: FileView,
    evaluating: Evaluating<'e>,
}

impl<'e> Linking<'e> {
    pub(super) fn new(
        engine: &'e Engine,
        file: FileView,
        workspace: &'e OnceCell<Snapshot<'e>>,
    ) -> Self {
        Self {
            engine,
            file,
            evaluating: Evaluating::new(workspace),
        }
    }
}

impl Links for Linking<'_> {
    fn kernels(&self, candidates: &[Candidate]) -> Vec<Arc<KernelFacts>> {
        let shared = &self.engine.shared;
        let target = self.engine.target();
        (shared.kernels(&self.file, candidates).into_iter())
            .filter_map(|kernel| {
                let view = shared.view(&kernel.file.doc, &target)?;
                let text = view.text.as_str();
                let mut facts =
                    (view.checked).kernel(&view.parsed, text, &view.model, kernel.number)?;
                if kernel.file.doc != self.file.doc {
                    facts.here = None;
                }
                Some(Arc::new(facts))
            })
            .collect()
    }

    fn at_home(&self, candidates: &[Candidate], ask: &mut dyn FnMut(&FileContext<'_>, &Kernel)) {
        let shared = &self.engine.shared;
        let target = self.engine.target();
        for kernel in shared.kernels(&self.file, candidates) {
            if let Some(view) = shared.view(&kernel.file.doc, &target) {
                let text = view.text.as_str();
                (view.checked).ask_kernel(&view.parsed, text, &view.model, kernel.number, ask);
            }
        }
    }

    fn function(&self, path: &str, ask: &mut dyn FnMut(&FileContext<'_>, InItem<'_, FunctionDef>)) {
        let shared = &self.engine.shared;
        if let Some((doc, name)) = shared.function(path)
            && let Some(view) = shared.view(&doc, &self.engine.target())
        {
            let text = view.text.as_str();
            (view.checked).ask_function(&view.parsed, text, &view.model, &name, ask);
        }
    }

    fn space(&self, space: &SpaceRef) -> Option<SpaceFacts> {
        let (doc, at) = self.engine.shared.locate_space(&self.file, space)?;
        let here = doc == self.file.doc;
        Some(SpaceFacts {
            name: at.name,
            name_here: here.then_some(at.name_span),
            here: here.then_some(at.span),
            by_arch: (self.engine.evaluated_by(&self.evaluating, &doc, at.span)).to_vec(),
        })
    }

    fn uses(&self, kernel: usize) -> KernelUses {
        self.engine.shared.kernel_uses(&self.file.doc, kernel)
    }
}
