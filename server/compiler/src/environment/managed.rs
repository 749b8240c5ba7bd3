//! A cuTile of our own, for projects whose Python has none: a virtual environment with pinned
//! versions in the user's cache folder. It is made only when somebody asks for it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tileperf_proc::python::Python;
use tileperf_proc::{CancelToken, Ended, Guarded, Report};

use super::{Environment, Variables};

/// What is installed, exactly.
pub const REQUIREMENTS: [&str; 2] = ["cuda-tile[tileiras]==1.7.0", "cuda-toolkit==13.4.3"];

/// The oldest Python that cuda-tile runs on.
const OLDEST: (u32, u32) = (3, 10);
/// Written last: an installation without it was interrupted.
const COMPLETE: &str = ".tileperf-complete";
/// A third of a gigabyte over a slow line.
const PATIENCE: Duration = Duration::from_secs(60 * 60);

/// The managed environment of a cache folder, installed or not.
#[derive(Debug, Clone)]
pub struct Managed {
    folder: PathBuf,
}

/// Why it could not be installed. The message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The interpreter is too old.
    #[error("{python} is Python {version}; cuda-tile needs 3.10 or newer")]
    OldPython {
        /// The interpreter.
        python: String,
        /// Its version.
        version: String,
    },
    /// Debian's Python without its package for virtual environments.
    #[error(
        "this Python cannot make virtual environments: install python3-venv (`sudo apt install \
         python3-venv`), or name another interpreter with the setting python.path"
    )]
    NoVenv,
    /// The package index cannot be reached.
    #[error(
        "the package index cannot be reached; check the network, or the proxy and index settings of \
         pip. It said: {0}"
    )]
    NoNetwork(String),
    /// The disk is full.
    #[error("the disk with {} is full; 2 GB are needed", .0.display())]
    DiskFull(PathBuf),
    /// The index does not have these versions for this Python or system.
    #[error("the package index offers no {0} for this Python and system")]
    NotOffered(String),
    /// Somebody else is installing it.
    #[error("another process is installing it at the moment")]
    Busy,
    /// The caller gave up.
    #[error("it was cancelled")]
    Cancelled,
    /// Something else.
    #[error("{what}: {said}")]
    Failed {
        /// The step.
        what: String,
        /// What was last said about it.
        said: String,
    },
}

impl Managed {
    /// The environment in this cache folder of tileperf's.
    #[must_use]
    pub fn in_cache(cache: &Path) -> Self {
        let version = REQUIREMENTS[0].rsplit('=').next().unwrap_or_default();
        Self {
            folder: cache.join("toolchain").join(version),
        }
    }

    /// Where it is, or would be.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn python(&self) -> PathBuf {
        self.folder.join("bin/python")
    }

    /// What is installed, if it is installed whole.
    #[must_use]
    pub fn environment(&self, variables: Variables<'_>) -> Option<Environment> {
        let stamp = fs::read_to_string(self.folder.join(COMPLETE)).ok()?;
        if stamp != stamp_text() {
            return None;
        }
        let python = Python {
            path: self.python(),
            origin: "kept by tileperf",
        };
        // What the user's Python is told to import must not get in here.
        let own = |name: &str| (name != "PYTHONPATH").then(|| variables(name)).flatten();
        let environment = Environment::of(&python, &own);
        environment.lacks().is_none().then_some(environment)
    }

    /// Installs it with an interpreter; `progress` gets what pip says, line by line. What was there is
    /// replaced, and what failed is removed.
    ///
    /// # Errors
    /// [`InstallError`].
    pub fn install(
        &self,
        python: &Path,
        cancel: &CancelToken,
        progress: impl FnMut(&str) + Send + 'static,
    ) -> Result<(), InstallError> {
        let parent = self.folder.parent().unwrap_or(&self.folder);
        fs::create_dir_all(parent).map_err(|error| io_error(parent, &error))?;
        let path = parent.join(".lock");
        let lock = File::create(&path).map_err(|error| io_error(&path, &error))?;
        lock.try_lock().map_err(|_| InstallError::Busy)?;
        check_version(python, cancel)?;
        let done = self.install_locked(python, cancel, progress);
        if done.is_err() {
            let _ = fs::remove_dir_all(&self.folder);
        }
        done
    }

    /// Removes what an installation left that was killed. Does nothing while one goes on.
    pub fn remove_unfinished(&self) {
        let lock = self.folder.parent().map(|parent| parent.join(".lock"));
        let Some(Ok(lock)) = lock.map(File::open) else {
            return;
        };
        if lock.try_lock().is_ok() && !self.folder.join(COMPLETE).exists() {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }

    fn install_locked(
        &self,
        python: &Path,
        cancel: &CancelToken,
        mut progress: impl FnMut(&str) + Send + 'static,
    ) -> Result<(), InstallError> {
        let stamp = self.folder.join(COMPLETE);
        let _ = fs::remove_file(&stamp);
        progress("making the virtual environment");
        let venv = guarded(python, cancel)
            .args(["-m", "venv", "--clear"])
            .arg(&self.folder);
        self.step("the virtual environment cannot be made", venv)?;
        // No setting of the user's for indexes and proxies is taken away; where to install is ours.
        let install = guarded(&self.python(), cancel)
            .args(["-m", "pip", "install", "--disable-pip-version-check"])
            .args(["--no-input", "--progress-bar", "off"])
            .args(REQUIREMENTS)
            .env_remove("PIP_TARGET")
            .env_remove("PIP_PREFIX")
            .env_remove("PIP_USER")
            .on_line(move |_, line| progress(line));
        self.step("the packages cannot be installed", install)?;
        fs::write(&stamp, stamp_text()).map_err(|error| io_error(&stamp, &error))
    }

    fn step(&self, what: &str, program: Guarded) -> Result<(), InstallError> {
        let report = run(what, program)?;
        match report.ended {
            Ended::Exited { code: 0 } => Ok(()),
            Ended::Cancelled => Err(InstallError::Cancelled),
            _ => Err(self.explain(what, &report)),
        }
    }

    /// What a failure means, from what Python or pip said.
    fn explain(&self, what: &str, report: &Report) -> InstallError {
        let said = format!("{}\n{}", report.stdout.to_text(), report.stderr.to_text());
        let line_with = |signs: &[&str]| {
            let line = said.lines().find(|l| signs.iter().any(|s| l.contains(s)));
            line.map(|line| line.trim().to_owned())
        };
        if line_with(&["No space left on device"]).is_some() {
            return InstallError::DiskFull(self.folder.clone());
        }
        if line_with(&[
            "ensurepip is not",
            "No module named venv",
            "No module named ensurepip",
        ])
        .is_some()
        {
            return InstallError::NoVenv;
        }
        // Before the next one: without an index, pip says both.
        let network = [
            "NewConnectionError",
            "Name or service not known",
            "Temporary failure in name resolution",
            "Network is unreachable",
            "Connection refused",
            "ConnectTimeoutError",
            "ReadTimeoutError",
            "ProxyError",
            "SSLError",
            // An index that was reached has some versions of these packages, if not the right ones.
            "(from versions: none)",
        ];
        if let Some(line) = line_with(&network) {
            return InstallError::NoNetwork(line);
        }
        if line_with(&["No matching distribution found"]).is_some() {
            return InstallError::NotOffered(REQUIREMENTS.join(" and "));
        }
        let last = said.lines().rev().find(|line| !line.trim().is_empty());
        InstallError::Failed {
            what: format!("{what}, Python {}", report.ended),
            said: last.unwrap_or("nothing was said").trim().to_owned(),
        }
    }
}

fn stamp_text() -> String {
    REQUIREMENTS.join("\n")
}

/// A Python that imports nothing from the user's variables or the working folder.
fn guarded(python: &Path, cancel: &CancelToken) -> Guarded {
    Guarded::new(python)
        .env_remove("PYTHONPATH")
        .env_remove("PYTHONHOME")
        .cancel_with(cancel)
        .timeout(PATIENCE)
}

fn run(what: &str, program: Guarded) -> Result<Report, InstallError> {
    program.run().map_err(|error| InstallError::Failed {
        what: what.to_owned(),
        said: error.to_string(),
    })
}

fn check_version(python: &Path, cancel: &CancelToken) -> Result<(), InstallError> {
    let script = "import sys; print('%d.%d' % sys.version_info[:2])";
    let what = "Python does not start";
    let report = run(what, guarded(python, cancel).args(["-c", script]))?;
    let text = report.stdout.to_text();
    let numbers = text.trim().split_once('.');
    let numbers = numbers.and_then(|(a, b)| Some((a.parse::<u32>().ok()?, b.parse().ok()?)));
    match numbers {
        _ if report.ended == Ended::Cancelled => Err(InstallError::Cancelled),
        Some(version) if version >= OLDEST => Ok(()),
        Some((major, minor)) => Err(InstallError::OldPython {
            python: python.display().to_string(),
            version: format!("{major}.{minor}"),
        }),
        None => Err(InstallError::Failed {
            what: format!("{} {}", python.display(), report.ended),
            said: report.stderr.to_text().trim().to_owned(),
        }),
    }
}

fn io_error(path: &Path, error: &io::Error) -> InstallError {
    if error.kind() == io::ErrorKind::StorageFull {
        return InstallError::DiskFull(path.to_owned());
    }
    InstallError::Failed {
        what: format!("cannot write {}", path.display()),
        said: error.to_string(),
    }
}
