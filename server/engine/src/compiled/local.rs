//! The architecture of this machine's GPU: what kernels are compiled for where no setting says it.
//!
//! The driver can hang or crash whoever asks it, so the engine is given somebody else to ask, and asks
//! once. Whoever only shows something takes what is known by then.

use std::sync::OnceLock;

use parking_lot::Mutex;
use tileperf_analysis::arch::Arch;

use crate::Engine;
use crate::engine::Shared;
use crate::settings::{Origin, Settings};

/// The setting that counts before the GPU.
const SETTING: &str = "compile.archs";

/// A GPU of this machine that cuTile compiles for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalGpu {
    /// Its architecture.
    pub arch: Arch,
    /// What it is called, for people.
    pub name: String,
}

/// Asks for the GPU. May take seconds, and must return.
pub type AskGpu = Box<dyn Fn() -> Option<LocalGpu> + Send + Sync>;

/// Whom to ask, and the answer.
#[derive(Default)]
pub(super) struct Local {
    ask: Mutex<Option<AskGpu>>,
    known: OnceLock<Option<LocalGpu>>,
}

impl Engine {
    /// Has this asked for the machine's GPU, once, when kernels are first to be compiled and no setting
    /// says for what. Without it the setting's default counts.
    pub fn ask_gpu_with(&self, ask: AskGpu) {
        *self.shared.compiled.local.ask.lock() = Some(ask);
    }

    /// The GPU whose architecture kernels are compiled for; `None` if a setting says for what, or there
    /// is none. Asks, if nobody has, and waits for the answer.
    pub fn local_gpu(&self) -> Option<LocalGpu> {
        self.shared.local_gpu()
    }
}

impl Shared {
    /// As [`Engine::local_gpu`].
    pub(super) fn local_gpu(&self) -> Option<LocalGpu> {
        if !is_unset(&self.settings.read()) {
            return None;
        }
        let local = &self.compiled.local;
        let known = local.known.get_or_init(|| {
            let ask = local.ask.lock();
            ask.as_ref().and_then(|ask| ask())
        });
        known.clone()
    }

    /// The architectures to compile for, the main one first, as far as is known.
    pub(crate) fn compile_archs(&self) -> Vec<Arch> {
        let settings = self.settings.read();
        let gpu = self.compiled.local.known.get();
        match gpu.and_then(Option::as_ref) {
            Some(gpu) if is_unset(&settings) => vec![gpu.arch],
            _ => settings.compile.archs.clone(),
        }
    }
}

fn is_unset(settings: &Settings) -> bool {
    settings.origin(SETTING) == Some(&Origin::Default)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn the_gpu_counts_where_no_setting_does_and_is_asked_for_once() {
        for (settings, gpu, archs, questions) in [
            (&[][..], Some(Arch::Sm100), vec![Arch::Sm100], 1),
            (&[], None, vec![Arch::Sm90], 1),
            (
                &["compile.archs=sm_80,sm_90"],
                Some(Arch::Sm100),
                vec![Arch::Sm80, Arch::Sm90],
                0,
            ),
            // What rules are judged for is another setting.
            (&["archs=sm_80"], Some(Arch::Sm120), vec![Arch::Sm120], 1),
        ] {
            let engine = Engine::new();
            let settings = settings.iter().map(|s| (*s).to_owned()).collect();
            engine.configure(Vec::new(), serde_json::Value::Null, settings, false);
            let asked = Arc::new(AtomicU32::new(0));
            let counter = Arc::clone(&asked);
            engine.ask_gpu_with(Box::new(move || {
                counter.fetch_add(1, Ordering::Relaxed);
                gpu.map(|arch| LocalGpu {
                    arch,
                    name: "a GPU".to_owned(),
                })
            }));
            // Nobody waits for it who only looks.
            let before = engine.settings().compile.archs.clone();
            assert_eq!(engine.compile_archs(), before);
            assert_eq!(asked.load(Ordering::Relaxed), 0);
            for _ in 0..2 {
                let known = engine.local_gpu().map(|gpu| gpu.arch);
                assert_eq!(known, gpu.filter(|_| questions == 1));
                assert_eq!(engine.compile_archs(), archs);
            }
            assert_eq!(asked.load(Ordering::Relaxed), questions);
        }
    }
}
