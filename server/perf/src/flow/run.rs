//! What baseline and iteration have in common: device, folder, deadline, places, and an end.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::event::{Event, RunEnd, RunKind, Stage, Stored, Tests, Tried};
use crate::helper;
use crate::lock::{Lock, device_lock, host};
use crate::plan::Place;
use crate::records::Row;
use crate::run::Bench;
use crate::stats::Variant;
use crate::store::make_folder;

use super::Loop;

/// A run that goes on.
pub(super) struct Running {
    /// Its number.
    pub(super) run: u32,
    /// The iteration that it becomes.
    pub(super) iteration: u32,
    /// Where it leaves its files.
    pub(super) folder: PathBuf,
    /// Where bytecode is kept.
    pub(super) bytecode: PathBuf,
    /// The injected Python.
    pub(super) helper: Option<PathBuf>,
    /// The UUID of the GPU that it runs on.
    pub(super) gpu: Option<String>,
    /// When it began.
    pub(super) began: Instant,
    /// When it must be over.
    pub(super) deadline: Instant,
    /// Where the variants are.
    pub(super) place: Place,
    /// The changeable files of the two variants.
    pub(super) base: Vec<Stored>,
    pub(super) candidate: Vec<Stored>,
    /// Variables that only the candidate's commands have.
    pub(super) environment: BTreeMap<String, String>,
    /// Variants whose tree was brought to its state in this run.
    brought: Vec<Variant>,
    /// What stands in the user's tree, when measuring in place.
    pub(super) standing: Vec<Stored>,
    /// No other tileperf measures on this device meanwhile.
    _device: Lock,
}

impl Loop<'_> {
    /// Begins a run: the device is looked at and locked, the folder made, the event written.
    pub(super) fn begin(
        &mut self,
        kind: RunKind,
        tried: Option<Tried>,
        standing: Vec<Stored>,
    ) -> Result<Running, Error> {
        let began = Instant::now();
        let device = self.options.probe.look().map_err(Error::Device)?;
        let lock = device_lock(&self.options.state, &device.id);
        let lock = Lock::take(&lock)?.map_err(|holder| Error::DeviceBusy {
            device: device.name.clone(),
            holder: holder.0,
        })?;
        let gpu = device.arch.is_some().then(|| device.id.clone());
        let (run, iteration) = match (self.session.next(), kind) {
            ((run, _), RunKind::Baseline | RunKind::Check | RunKind::Experiment) => (run, 0),
            (next, RunKind::Iteration) => next,
        };
        let folder = self.store.run_folder(run)?;
        let helper = match self.session.plan.record {
            true => Some(helper::install(&self.options.state.join("helper"))?),
            false => None,
        };
        // One folder for all sessions: torch alone takes many seconds to compile.
        let bytecode = self.options.cache.join("bytecode");
        make_folder(&bytecode)?;
        self.forget_bytecode(&bytecode);
        let limit = self.session.plan.limit;
        let base = self.session.base.clone();
        let environment = (tried.as_ref()).map_or_else(BTreeMap::new, |t| t.environment.clone());
        let candidate = tried.as_ref().map_or(base.clone(), |t| t.candidate.clone());
        stop_not_asked(&self.store);
        self.record(Event::RunStarted {
            run,
            kind,
            iteration,
            pid: std::process::id(),
            host: host(),
            tried,
            device: Box::new(device),
            limit,
            tileperf: self.options.version.clone(),
        })?;
        Ok(Running {
            run,
            iteration,
            folder,
            bytecode,
            helper,
            gpu,
            began,
            deadline: began + Duration::from_secs(limit),
            place: Place::InPlace,
            base,
            candidate,
            environment,
            brought: Vec::new(),
            standing,
            _device: lock,
        })
    }

    /// Removes the bytecode of the trees under test. Python takes bytecode for that of the source if
    /// size and second of the last change agree, which two quick edits of a knob do. What else is
    /// cached there (torch) stays: it would take seconds to compile anew.
    fn forget_bytecode(&self, bytecode: &std::path::Path) {
        let mut roots = vec![self.root().to_owned()];
        for variant in [Variant::Base, Variant::Candidate] {
            roots.extend(self.trees().map(|t| t.root(variant).to_owned()));
        }
        for variant in [Variant::Base, Variant::Candidate] {
            for root in &roots {
                // Python mirrors the absolute path below the prefix.
                if let Ok(inside) = root.strip_prefix("/") {
                    let folder = bytecode.join(variant.in_paths()).join(inside);
                    let _ = std::fs::remove_dir_all(folder);
                }
            }
        }
    }

    pub(super) fn stage(
        &mut self,
        running: &Running,
        stage: Stage,
        note: Option<&str>,
    ) -> Result<(), Error> {
        self.record(Event::Stage {
            run: running.run,
            stage,
            note: note.map(str::to_owned),
        })
    }

    pub(super) fn placed(
        &mut self,
        running: &mut Running,
        place: Place,
        why: Option<String>,
    ) -> Result<(), Error> {
        running.place = place;
        self.record(Event::Placed {
            run: running.run,
            place,
            why,
        })
    }

    /// Makes `variant` the code in its root and returns that.
    pub(super) fn place(
        &mut self,
        running: &mut Running,
        variant: Variant,
    ) -> Result<PathBuf, Error> {
        let files = match variant {
            Variant::Base => running.base.clone(),
            Variant::Candidate => running.candidate.clone(),
        };
        if running.place == Place::Trees
            && let (Some(trees), Some(repo), Some(commit)) =
                (self.trees(), &self.repo, self.base_commit())
        {
            if !running.brought.contains(&variant) {
                trees.bring(repo, &self.git, &self.store, variant, commit, &files)?;
                running.brought.push(variant);
            }
            return Ok(trees.root(variant).to_owned());
        }
        self.stand(running, files)?;
        Ok(self.root().to_owned())
    }

    /// Exchanges the files of the user's tree, announced first.
    pub(super) fn stand(&mut self, running: &mut Running, files: Vec<Stored>) -> Result<(), Error> {
        if running.standing == files {
            return Ok(());
        }
        let swaps = self.store.swaps(&running.standing, &files)?;
        self.record(Event::Placing {
            run: running.run,
            from: running.standing.clone(),
            to: files.clone(),
        })?;
        self.swap(running.run, &swaps)?;
        running.standing = files;
        Ok(())
    }

    /// The run's settings for its commands, handed to `work` with what a test of the session needs.
    pub(super) fn bench<'b>(&'b self, running: &'b Running) -> Bench<'b> {
        Bench {
            plan: &self.session.plan,
            root: self.store.root(),
            helper: running.helper.as_deref(),
            folder: &running.folder,
            bytecode: &running.bytecode,
            gpu: running.gpu.as_deref(),
            environment: &running.environment,
            deadline: running.deadline,
            cancel: &self.options.cancel,
        }
    }

    /// Runs the correctness tests on a variant and records what they said.
    pub(super) fn test(
        &mut self,
        running: &mut Running,
        variant: Variant,
        search_off: bool,
    ) -> Result<Tests, Error> {
        let root = self.place(running, variant)?;
        let note = match (variant, search_off) {
            (Variant::Base, _) => "base",
            (Variant::Candidate, false) => "candidate",
            (Variant::Candidate, true) => "candidate, search switched off",
        };
        self.stage(running, Stage::Correctness, Some(note))?;
        let tests = self.bench(running).tests(&root, variant, search_off)?;
        self.record(Event::Tested {
            run: running.run,
            tests: tests.clone(),
        })?;
        Ok(tests)
    }

    /// Ends a run.
    pub(super) fn end(
        &mut self,
        running: &Running,
        end: RunEnd,
        row: Option<Row>,
    ) -> Result<(), Error> {
        let has_row = row.is_some();
        self.record(Event::RunEnded {
            run: running.run,
            end,
            row,
            seconds: running.began.elapsed().as_secs_f64(),
        })?;
        if has_row {
            self.write_table()?;
        }
        Ok(())
    }

    /// Exchanges files of the user's tree. Where somebody has changed one meanwhile, both versions
    /// are kept and nothing is touched.
    pub(super) fn swap(&mut self, run: u32, swaps: &[tileperf_vcs::Swap]) -> Result<(), Error> {
        let swapped = match &self.repo {
            Some(repo) => repo.swap_files(swaps),
            None => tileperf_vcs::swap_files(self.store.root(), swaps),
        };
        let Err(tileperf_vcs::Error::Differs { files }) = swapped else {
            return Ok(swapped?);
        };
        let kept_at = self.store.run_folder(run)?.join("conflict");
        for file in &files {
            let name = kept_at.join(&file.path);
            for (content, ending) in [(&file.expected, "tried"), (&file.found, "found")] {
                if let Some(content) = content {
                    let mut path = name.clone().into_os_string();
                    path.push(format!(".{ending}"));
                    crate::store::write_durably(path.as_ref(), &content.bytes)?;
                }
            }
        }
        let files: Vec<PathBuf> = files.into_iter().map(|f| f.path).collect();
        self.record(Event::Conflict {
            run,
            files: files.clone(),
            kept_at: kept_at.clone(),
        })?;
        Err(Error::Conflict { files, kept_at })
    }
}

/// A wish to stop that came before this run is not for it.
fn stop_not_asked(store: &crate::store::Store) {
    let _ = std::fs::remove_file(store.folder().join(super::stop::WISH));
}
