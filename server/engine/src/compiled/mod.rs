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
mod compare;
mod frontend;
mod kept;
mod now;
mod queue;
mod service;
mod shown;
mod subject;
mod toolchain;

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
pub use compare::{Compared, Sameness, Version as FileVersion};
use kept::Known;
pub use now::CompiledRow;
pub use queue::Depth;
use queue::Queue;
pub(crate) use shown::Shown;
use shown::ShownCache;
pub(crate) use subject::KernelKey;
use toolchain::Tools;

/// What a server knows of compiled code, and what it is about to find out.
#[derive(Default)]
pub(crate) struct Compiled {
    known: Mutex<AllKnown>,
    shown: ShownCache,
    queue: Queue,
    started: AtomicBool,
    tools: Tools,
    cached: Cached,
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
    /// have changed. Returns at once.
    pub fn compile_soon(&self, doc: &DocId, depth: Depth) {
        let allowed = self.is_trusted() && self.is_awake();
        if !allowed || !self.settings().compile.enabled {
            return;
        }
        service::start(&self.shared);
        self.cancel_outdated(doc);
        self.shared.compiled.queue.ask(doc.clone(), depth);
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

    /// The architectures that are compiled for, the main one first.
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
    /// As [`Engine::compile_archs`].
    pub(crate) fn compile_archs(&self) -> Vec<Arch> {
        self.settings.read().compile.archs.clone()
    }

    /// Whether anything is compiled or waits for it.
    pub(crate) fn is_compiling(&self) -> bool {
        let (running, waiting) = self.compiled.queue.state();
        !running.is_empty() || waiting > 0
    }
}
