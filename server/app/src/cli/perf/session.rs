//! What every verb needs: the kernel that is meant, its session, trust, and a way to be interrupted.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use tileperf_engine::{DocId, Engine, PerfTarget};
use tileperf_perf::event::{Entry, Tried};
use tileperf_perf::flow::{self, Loop, Options};
use tileperf_perf::plan::{Plan, Probe};
use tileperf_perf::session::Phase;
use tileperf_perf::store::Store;
use tileperf_perf::verdict::Identity;
use tileperf_perf::{Error, Session, journal};
use tileperf_proc::CancelToken;

use super::super::workspace::{self, SettingsArgs};
use super::shown::Shown;
use super::{device, identity};
use crate::dirs;

/// Which kernel.
#[derive(Debug, Args)]
pub(super) struct KernelArgs {
    /// The kernel: FILE:KERNEL, FILE, or KERNEL. Without it, the only session of the project.
    #[arg(value_name = "KERNEL")]
    pub(super) kernel: Option<String>,

    #[command(flatten)]
    pub(super) settings: SettingsArgs,
}

/// How to say what happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For reading.
    Text,
    /// The journal's events, one JSON object a line.
    Json,
}

/// What a verb that runs the project's code is given.
#[derive(Debug, Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    pub(super) kernel: KernelArgs,

    /// Run this project's code without asking.
    #[arg(long)]
    pub(super) trust: bool,

    /// How to say what happens.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,
}

/// What the user named: a file, a kernel, both or neither, and the project that it is in.
#[derive(Debug, Clone)]
pub(super) struct Named {
    /// The root of sessions: the repository's, else the project's.
    pub(super) root: PathBuf,
    /// The file, absolute.
    pub(super) file: Option<PathBuf>,
    /// The kernel's name.
    pub(super) kernel: Option<String>,
}

impl Named {
    /// Reads `FILE:KERNEL`, `FILE` or `KERNEL`.
    ///
    /// # Errors
    /// A file that does not exist.
    pub(super) fn parse(text: Option<&str>) -> anyhow::Result<Self> {
        let here = workspace::existing(Path::new("."))?;
        let (file, kernel) = match text {
            None => (None, None),
            Some(text) => match text.rsplit_once(':') {
                Some((file, kernel)) => (Some(file), Some(kernel)),
                None if text.ends_with(".py") || text.contains('/') => (Some(text), None),
                None => (None, Some(text)),
            },
        };
        let file = file
            .map(|f| workspace::existing(Path::new(f)))
            .transpose()?;
        let of = file.as_deref().unwrap_or(&here);
        let workspace = workspace::root_of(of);
        let root = flow::root_of(of, &workspace);
        let root = root.canonicalize().unwrap_or(root);
        Ok(Self {
            root,
            file,
            kernel: kernel.map(str::to_owned),
        })
    }

    /// The same, by the name of a kernel if one is given.
    pub(super) fn called(self, kernel: Option<&str>) -> Self {
        let kernel = kernel.map(str::to_owned).or(self.kernel);
        Self { kernel, ..self }
    }

    /// Where nothing is named, what the only session is about.
    pub(super) fn or_of_session(self) -> Self {
        if self.kernel.is_some() || self.file.is_some() {
            return self;
        }
        match self.session(false) {
            Ok((_, session)) => Self {
                file: Some(self.root.join(&session.plan.file)),
                kernel: Some(session.plan.kernel.to_string()),
                ..self
            },
            Err(_) => self,
        }
    }

    /// An engine that has read the project.
    pub(super) fn engine(&self, settings: &SettingsArgs, trust: bool) -> Engine {
        let (engine, problems) = workspace::engine(vec![self.root.clone()], settings, trust);
        for problem in problems {
            tracing::warn!("{problem}");
        }
        engine
    }

    /// The one kernel that is meant.
    ///
    /// # Errors
    /// None, or several, which are then named.
    pub(super) fn target(&self, engine: &Engine) -> anyhow::Result<PerfTarget> {
        let doc = self.file.as_deref().map(DocId::file);
        if let (Some(doc), Some(path)) = (&doc, &self.file) {
            // Named by the user, so it counts although git may ignore it and the index with it.
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            engine.open(doc.clone(), 0, text);
        }
        engine.index_now();
        let mut targets = engine.perf_targets(doc.as_ref(), self.kernel.as_deref());
        match targets.len() {
            1 => Ok(targets.remove(0)),
            0 => match (&self.kernel, &self.file) {
                (Some(kernel), _) => {
                    bail!("there is no kernel {kernel} in {}", self.root.display())
                }
                (None, Some(file)) => bail!("there is no kernel in {}", file.display()),
                (None, None) => bail!("there is no kernel in {}", self.root.display()),
            },
            _ => {
                let names: Vec<String> = (targets.iter())
                    .take(12)
                    .map(|t| {
                        let file = t.file.strip_prefix(&self.root).unwrap_or(&t.file);
                        format!("{}:{}", file.display(), t.kernel)
                    })
                    .collect();
                bail!("which kernel? {}", names.join(", "))
            }
        }
    }

    /// The session that is meant: of the kernel named, else the only one that is not over.
    ///
    /// # Errors
    /// [`Error::NoSession`], [`Error::WhichSession`], a damaged journal.
    pub(super) fn session(&self, finished_too: bool) -> anyhow::Result<(Store, Session)> {
        let mut found = Vec::new();
        for name in Store::sessions(&self.root) {
            let store = Store::new(&self.root, &name);
            let entries = journal::read(&store.journal())?;
            let Some(session) = Session::fold(&entries) else {
                continue;
            };
            let fits = self.kernel.as_deref().is_none_or(|k| {
                let plan = &session.plan.kernel;
                plan == k || plan.rsplit('.').next() == Some(k) || name == k
            });
            let file = self.root.join(&session.plan.file);
            let fits = fits && self.file.as_ref().is_none_or(|f| *f == file);
            if fits {
                found.push((entries.last().map(|e| e.at.clone()), store, session));
            }
        }
        let alive = |s: &Session| !matches!(s.phase, Phase::Finished | Phase::Abandoned);
        let any_alive = found.iter().any(|(_, _, s)| alive(s));
        if any_alive || !finished_too {
            found.retain(|(_, _, s)| alive(s));
        } else if found.len() > 1 {
            // All are over: the one that was last worked on.
            found.sort_by(|a, b| a.0.cmp(&b.0));
            found.drain(..found.len() - 1);
        }
        match found.len() {
            1 => {
                let (_, store, session) = found.remove(0);
                Ok((store, session))
            }
            0 => {
                let kernel = self
                    .kernel
                    .clone()
                    .unwrap_or_else(|| "this project".to_owned());
                Err(Error::NoSession { kernel }.into())
            }
            _ => {
                let names = found
                    .iter()
                    .map(|(_, _, s)| s.plan.kernel.to_string())
                    .collect();
                Err(Error::WhichSession { names }.into())
            }
        }
    }
}

/// What a plan says of the device.
pub(super) struct Measured<'p> {
    on: &'p str,
    commands_see: Option<&'p str>,
}

impl<'p> Measured<'p> {
    pub(super) fn of(plan: &'p Plan) -> Self {
        let own = plan.environment.get("CUDA_VISIBLE_DEVICES");
        Self {
            on: &plan.device,
            commands_see: own.map(String::as_str),
        }
    }
}

/// Calls `work` with everything that the loop needs, showing its events, until it is done or the
/// user interrupts. With an engine of the trusted project, compiled code is compared before anything
/// is measured.
///
/// # Errors
/// Whatever `work` says.
pub(super) fn with_options<T>(
    device: &Measured<'_>,
    format: Format,
    watched: Option<&Store>,
    compiled: Option<&Engine>,
    work: impl FnOnce(&Options<'_>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let cancel = CancelToken::new();
    let done = Arc::new(AtomicBool::new(false));
    let _interrupts = Interrupts::watch(cancel.clone(), Arc::clone(&done), watched.cloned());
    let probe: Box<dyn Probe> = device::probe(device.on, device.commands_see);
    let shown = Shown::new(format);
    // The first error of showing; a reader that has gone does not end the experiment.
    let broken = Cell::new(false);
    let observer = |entry: &Entry| {
        if !broken.get() && shown.show(entry).is_err() {
            broken.set(true);
        }
    };
    let compared = cancel.clone();
    let identity = |tried: &Tried| match (compiled, watched) {
        (Some(engine), Some(store)) => identity::of(engine, store, &*probe, tried, &compared),
        _ => Identity::Unknown {
            reason: "compiled code is not compared".to_owned(),
        },
    };
    let options = Options {
        state: dirs::state()?,
        cache: dirs::cache()?,
        cancel,
        probe: &*probe,
        observer: &observer,
        identity: &identity,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    work(&options)
}

/// Takes up the session that is meant and calls `work` with it.
///
/// # Errors
/// Whatever stands in the way, or `work` says.
pub(super) fn with_session<T>(
    store: &Store,
    session: &Session,
    format: Format,
    compiled: Option<&Engine>,
    work: impl FnOnce(&mut Loop<'_>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    // The wish that ended the last run is not for this one.
    flow::forget_old_wish(store);
    with_options(
        &Measured::of(&session.plan),
        format,
        Some(store),
        compiled,
        |options| {
            let mut looped = Loop::open(store.root(), &session.name, options)?;
            work(&mut looped)
        },
    )
}

/// Turns Ctrl-C, SIGTERM and the wish file of `perf stop` into a cancellation.
struct Interrupts {
    done: Arc<AtomicBool>,
}

impl Interrupts {
    fn watch(cancel: CancelToken, done: Arc<AtomicBool>, store: Option<Store>) -> Self {
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            if let Err(error) = signal_hook::flag::register(signal, Arc::clone(&asked)) {
                tracing::warn!("signal {signal} cannot be caught: {error}");
            }
        }
        let watched = Arc::clone(&done);
        let watcher = std::thread::Builder::new().name("tileperf-interrupts".to_owned());
        let spawned = watcher.spawn(move || {
            while !watched.load(Ordering::Acquire) {
                let wished = store.as_ref().is_some_and(flow::stop_asked);
                if asked.load(Ordering::Acquire) || wished {
                    cancel.cancel();
                    return;
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        if let Err(error) = spawned {
            tracing::warn!("interruptions are not noticed: {error}");
        }
        Self { done }
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Release);
    }
}
