//! Compiled facts: what the compiler made of the kernels of open documents, kept up in the
//! background.
//!
//! Two threads work, one a tier. The frontend answers in a tenth of a second and is asked when
//! nothing is typed for a moment; tileiras takes seconds and is asked on open, on save and when
//! nothing is typed for longer. The document asked for last comes first; a compile whose kernel has
//! been edited meanwhile is killed. What is known stays, marked stale, until the next answer.
//!
//! Nothing is compiled before the workspace is trusted, and while a benchmark takes samples.

mod anchor;
mod attempt;
mod cached;
mod choice;
mod compare;
mod failure;
mod frontend;
mod kept;
mod local;
mod names;
mod now;
mod places;
mod queue;
mod reach;
mod recorded;
mod service;
mod shown;
mod space;
mod spaces;
mod subject;
mod toolchain;
mod trials;
mod tried;
mod versions;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use parking_lot::{Mutex, RwLock};
use rustc_hash::FxHashMap;
use tileperf_analysis::arch::Arch;
use tileperf_analysis::target::Version;

use crate::engine::Shared;
use crate::{DocId, Engine};
pub(crate) use attempt::Attempt;
use cached::Cached;
use choice::Choices;
pub use choice::{SignatureChoice, SignatureChoices};
pub use compare::{Compared, Sameness, Version as FileVersion};
use kept::Known;
use local::Local;
pub use local::{AskGpu, LocalGpu};
pub use now::{CompiledRow, Order, Signatures};
pub use queue::Depth;
use queue::Queue;
pub(crate) use recorded::Recorded;
use shown::ShownCache;
pub use space::{SpaceBegun, SpaceListener, SpaceRow};
use spaces::Spaces;
pub(crate) use subject::KernelKey;
pub use toolchain::CompilerVersions;
use toolchain::{Installed, Tools};
use trials::Trials;
pub(crate) use trials::is_on;

/// What a server knows of compiled code, and what it is about to find out.
#[derive(Default)]
pub(crate) struct Compiled {
    known: Mutex<AllKnown>,
    shown: ShownCache,
    queue: Queue,
    started: AtomicBool,
    tools: Tools,
    installed: Installed,
    spaces: Spaces,
    cached: Cached,
    pub(crate) recorded: Recorded,
    choices: Choices,
    local: Local,
    trials: Trials,
    cache: RwLock<Option<PathBuf>>,
    /// Why nothing is compiled, as was last said.
    obstacle: Mutex<Option<String>>,
    /// The version of cuda-tile in the project's Python.
    pub(crate) version: RwLock<Option<Version>>,
}

/// What is known of all kernels.
#[derive(Default)]
struct AllKnown {
    all: FxHashMap<KernelKey, Known>,
    /// Counts every change of it.
    results: u64,
}

/// How compiling stands, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileState {
    /// The compiler: its Python, and the versions of cuda-tile and tileiras; or why there is none.
    /// `None` if it was not needed so far.
    pub toolchain: Option<Result<String, String>>,
    /// What is compiled at this moment.
    pub running: Vec<String>,
    /// How much waits.
    pub waiting: usize,
}

impl Engine {
    /// Where compiled kernels and the frontend's scripts are kept. Without it nothing is compiled.
    pub fn keep_compiled_in(&self, cache: PathBuf) {
        *self.shared.compiled.cache.write() = Some(cache);
    }

    /// Has the kernels of an open document compiled in the background, if that is allowed and they
    /// have changed. What runs for others is ended first, for which an edited document is analyzed on
    /// this thread; compiling itself is not waited for.
    pub fn compile_soon(&self, doc: &DocId, depth: Depth) {
        let allowed = self.is_trusted() && self.is_awake();
        if !allowed || !self.settings().compile.enabled {
            return;
        }
        service::start(&self.shared);
        self.cancel_outdated(doc);
        self.shared.compiled.trials.interrupt();
        self.shared.compiled.queue.ask(doc.clone(), depth);
    }

    /// Has what findings of an open document claim of two compiles tried in the background, where
    /// kernels of it were compiled. Returns at once.
    pub(crate) fn try_soon(&self, doc: &DocId) {
        let compiled = &self.shared.compiled;
        let is_known = compiled.known.lock().all.keys().any(|key| key.doc == *doc);
        if is_known {
            compiled.trials.ask(&self.shared, doc);
        }
    }

    /// Other open documents with kernels that were compiled with functions of this one.
    pub fn compiled_with(&self, doc: &DocId) -> Vec<DocId> {
        let known = self.shared.compiled.known.lock();
        let mut others: Vec<DocId> = (known.all.iter())
            .filter(|(key, known)| key.doc != *doc && known.files.contains(doc))
            .map(|(key, _)| key.doc.clone())
            .collect();
        others.sort();
        others.dedup();
        others.retain(|other| self.shared.docs.contains_key(other));
        others
    }

    /// How compiling stands.
    pub fn compile_state(&self) -> CompileState {
        let obstacle = self.shared.compiled.obstacle.lock().clone();
        let known = self.shared.compiled.tools.label().map(Ok);
        let toolchain = obstacle.map(Err).or(known);
        let (running, waiting) = self.shared.compiled.queue.state();
        CompileState {
            toolchain,
            running,
            waiting,
        }
    }

    /// The architectures that are compiled for, the main one first, as far as is known: see
    /// [`Engine::local_gpu`].
    pub fn compile_archs(&self) -> Vec<Arch> {
        self.shared.compile_archs()
    }

    /// Ends the compile of a kernel that is another one by now.
    fn cancel_outdated(&self, doc: &DocId) {
        let Some(file) = self.shared.file(doc) else {
            return;
        };
        self.shared.compiled.queue.cancel_unless(doc, |key, model| {
            let kernels = &file.model.kernels;
            kernels
                .iter()
                .any(|k| KernelKey::new(doc, k) == *key && k.fingerprint == model)
        });
    }
}

impl Shared {
    /// Whether anything is compiled or waits for it.
    pub(crate) fn is_compiling(&self) -> bool {
        let (running, waiting) = self.compiled.queue.state();
        !running.is_empty() || waiting > 0
    }
}
