//! What may make a kernel faster, with what compiled code says of it.
//!
//! Asked, the engine answers from what is known. What is not known is found out in the background
//! ([`Engine::prove_soon`]) or, on the command line, there and then ([`Engine::prove_now`]).

mod elsewhere;
mod named;
mod originals;
mod proofs;

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use smol_str::SmolStr;
use tileperf_analysis::arch::Arch;
use tileperf_analysis::playbook::{
    Action, Elsewhere, Look, Mixed, Naming, Originals, Proof, Surroundings, present,
};
use tileperf_analysis::rewrite;
use tileperf_compiler::CancelToken;
use tileperf_perf::flow;
use tileperf_syntax::{Span, Text};

use crate::compiled::{Attempt, KernelKey};
use crate::engine::Shared;
use crate::findings::View;
use crate::runs::mixed_on_disk;
use crate::view::FileView;
use crate::{Depth, DocId, Engine};
use elsewhere::Launching;
pub use elsewhere::OtherFile;
pub(crate) use originals::OriginalFiles;
pub(crate) use proofs::Proofs;

/// A kernel and what may make it faster.
#[derive(Debug, Clone)]
pub struct KernelActions {
    /// The file.
    pub doc: DocId,
    /// The editor's version of the file, if it is open.
    pub version: Option<i32>,
    /// The file's text.
    pub text: Text,
    /// The kernel's qualified name.
    pub kernel: SmolStr,
    /// 0 for the first kernel of that name in the file.
    pub ordinal: u32,
    /// The name at its definition.
    pub name_span: Span,
    /// What kind of kernel it is: `matmul`, `attention`. Nothing if its text does not parse.
    pub kind: Option<&'static str>,
    /// The most promising first.
    pub actions: Vec<Offered>,
    /// The other files that actions change, by [`tileperf_analysis::playbook::EditsElsewhere::file`].
    pub elsewhere: Vec<OtherFile>,
}

/// An action with what is known of it.
#[derive(Debug, Clone)]
pub struct Offered {
    /// The action.
    pub action: Action,
    /// What compiled code says, and of which architecture.
    pub proof: Option<(Arch, Proof)>,
}

impl Engine {
    /// What may make each kernel of a file faster, in source order.
    pub fn actions(&self, doc: &DocId) -> Vec<KernelActions> {
        let kernels = self.shared.file(doc).map_or(0, |f| f.model.kernels.len());
        (0..kernels)
            .filter_map(|n| self.actions_of(doc, n))
            .collect()
    }

    /// What may make the kernel around a place faster. At a launch: what of the kernel that it launches
    /// changes the code there.
    pub fn actions_at(&self, doc: &DocId, at: Span) -> Option<KernelActions> {
        let file = self.shared.file(doc)?;
        let around = |kernel: &tileperf_analysis::model::Kernel| {
            let start = kernel.top.start.min(kernel.span.start);
            start <= at.start && at.end <= kernel.span.end
        };
        match file.model.kernels.iter().position(around) {
            Some(number) => self.actions_of(doc, number),
            None => self.actions_at_launch(&file, at),
        }
    }

    fn actions_at_launch(&self, file: &FileView, at: Span) -> Option<KernelActions> {
        let launches = file.model.launches.iter();
        let launch = (launches.filter(|l| !l.stale)).find(|l| l.span.contains(at))?;
        let kernels = self.shared.kernels(file, &launch.candidates);
        let [kernel] = kernels.as_slice() else {
            return None;
        };
        let parsed = self.shared.parsed(&file.doc);
        let item = (parsed.items.iter()).find(|item| item.span.contains(launch.span))?;
        let mut of = self.actions_of(&kernel.file.doc, kernel.number)?;
        let KernelActions {
            doc,
            actions,
            elsewhere,
            ..
        } = &mut of;
        actions.retain(|offered| {
            let action = &offered.action;
            let own = action.edits.iter().filter(|_| *doc == file.doc);
            let is_here = |number: usize| elsewhere.get(number).is_some_and(|f| f.doc == file.doc);
            let there = action.elsewhere.iter().filter(|e| is_here(e.file));
            let mut all = own.chain(there.flat_map(|e| &e.edits));
            all.any(|edit| item.span.contains(edit.span))
        });
        Some(of)
    }

    fn actions_of(&self, doc: &DocId, number: usize) -> Option<KernelActions> {
        let view = self.shared.view(doc, &self.target())?;
        let kernel = view.model.kernels.get(number)?;
        let launching = self.shared.launching(doc, number);
        let actions = self.shared.offered(&view, doc, number, &launching);
        let key = KernelKey::new(doc, kernel);
        let arch = self.compile_archs().first().copied();
        let proofs = &self.shared.proofs;
        let offered = actions.into_iter().map(|action| Offered {
            proof: arch.and_then(|arch| Some((arch, proofs.known(&key, kernel, arch, &action)?))),
            action,
        });
        Some(KernelActions {
            doc: doc.clone(),
            version: view.version,
            kernel: kernel.qualified.clone(),
            ordinal: kernel.ordinal,
            name_span: kernel.name_span,
            kind: (view.checked).kind(&view.parsed, view.text.as_str(), &view.model, number),
            actions: offered.collect(),
            elsewhere: launching.iter().map(Launching::file).collect(),
            text: view.text,
        })
    }

    /// Compiles a kernel as it is and with each of its actions, and notes what comes out. As far as the
    /// frontend only, it is known whether the kernel still compiles.
    ///
    /// # Errors
    /// Nothing can be compiled: no trust, no compiler, cancelled; or the kernel cannot be taken out of
    /// its file.
    pub fn prove_now(
        &self,
        doc: &DocId,
        of: &mut KernelActions,
        arch: Arch,
        depth: Depth,
        cancel: &CancelToken,
    ) -> Result<(), String> {
        if of.actions.is_empty() {
            return Ok(());
        }
        let key = KernelKey {
            doc: doc.clone(),
            qualified: of.kernel.clone(),
            ordinal: of.ordinal,
        };
        let attempt = Attempt::new(&self.shared, &key, arch, depth, cancel)?;
        for offered in &mut of.actions {
            let proof = proven(&attempt, of.text.as_str(), &offered.action, cancel)?;
            offered.proof = Some((arch, proof));
        }
        Ok(())
    }
}

impl Shared {
    /// What the playbook proposes for the n-th kernel of a file, with what the workspace says of it.
    fn offered(
        &self,
        view: &View,
        doc: &DocId,
        number: usize,
        launching: &[Launching],
    ) -> Vec<Action> {
        let uses = self.kernel_uses(doc, number);
        let named = |naming: Naming<'_>| {
            let other = |number: usize| launching.get(number).map(|l| &l.doc);
            let of = naming.of.and_then(other).unwrap_or(doc);
            let but: Vec<&DocId> = naming.but.iter().filter_map(|n| other(*n)).collect();
            self.is_named_elsewhere(of, naming.name, &but)
        };
        let elsewhere: Vec<Elsewhere<'_>> = launching.iter().map(Launching::as_elsewhere).collect();
        let look = |show: &mut dyn FnMut(&Originals<'_>)| self.originals(doc, view, show);
        let mixed = self.mixed(doc, view, number);
        let (mut searched, mut compiled, mut remade) = (Vec::new(), Vec::new(), Vec::new());
        if let Some(kernel) = view.model.kernels.get(number).map(|k| &k.qualified) {
            let is_searched = uses.searches > 0;
            if is_searched {
                compiled = self.compiled_spaces(doc, kernel);
            }
            if let Some((root, file)) = self.sessions_of(doc, kernel) {
                remade = self.remade(&root, &file, kernel);
                if is_searched {
                    searched = self.searches(&root, &file, kernel);
                }
            }
        }
        let around = Surroundings {
            uses: &uses,
            mixed: &mixed,
            searched: &searched,
            compiled: &compiled,
            remade: &remade,
            elsewhere: &elsewhere,
            originals: (self.is_ready()).then_some(&look as Look<'_>),
            named: (self.has_read_all()).then_some(&named as &dyn Fn(Naming<'_>) -> bool),
        };
        let (parsed, text, model) = (&view.parsed, view.text.as_str(), &view.model);
        (view.checked).actions_within(parsed, text, model, number, Some(around))
    }

    /// Changes that made a kernel faster here and slower there. A server has them from the journals that
    /// it follows; a command reads them.
    fn mixed(&self, doc: &DocId, view: &View, number: usize) -> Vec<Mixed> {
        let Some(kernel) = view.model.kernels.get(number) else {
            return Vec::new();
        };
        if let Some(note) = self.runs.of(doc, &kernel.qualified) {
            return note.mixed.clone();
        }
        let Some((root, inside)) = self.project_of(doc) else {
            return Vec::new();
        };
        mixed_on_disk(&root, &inside, &kernel.qualified)
    }

    /// Where the sessions of a kernel lie: the root, and its file there.
    fn sessions_of(&self, doc: &DocId, kernel: &str) -> Option<(PathBuf, PathBuf)> {
        let Some(note) = self.runs.of(doc, kernel) else {
            return self.project_of(doc);
        };
        let inside = doc.path()?.strip_prefix(&note.root).ok()?.to_owned();
        Some((note.root.clone(), inside))
    }

    /// Where a command looks for sessions of a file: the root, and the file there.
    fn project_of(&self, doc: &DocId) -> Option<(PathBuf, PathBuf)> {
        let keeps = self.index.keeps.load(Ordering::Relaxed);
        let path = doc.path().filter(|_| keeps)?;
        let workspace = self.workspace.read().roots.first().cloned();
        let workspace = workspace.or_else(|| path.parent().map(Path::to_owned));
        let root = flow::root_of(&path, &workspace.unwrap_or_default());
        let inside = path.strip_prefix(&root).unwrap_or(&path).to_owned();
        Some((root, inside))
    }
}

/// What compiled code says of an action on a text.
fn proven(
    attempt: &Attempt<'_>,
    text: &str,
    action: &Action,
    cancel: &CancelToken,
) -> Result<Proof, String> {
    let edited = rewrite::apply(text, &action.edits).map_err(|error| error.to_string())?;
    let after = attempt.after(&edited, cancel)?;
    Ok(present(action, &attempt.before, &after))
}
