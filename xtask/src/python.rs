//! Python's part of the chores: the interpreter and virtual environments in the cache folder.
//!
//! Debian's Python refuses to install packages system-wide (PEP 668), so each tool gets an
//! environment of its own with pinned versions.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, bail};

use crate::repo::Repo;
use crate::tool::Tool;

/// An environment: its name in the cache, and what is installed in it.
#[derive(Debug)]
pub(crate) struct Venv {
    /// The folder's name.
    pub(crate) name: &'static str,
    /// Requirements as pip takes them, with exact versions.
    pub(crate) requirements: &'static [&'static str],
}

/// The linter of the Python files.
pub(crate) const RUFF: Venv = Venv {
    name: "ruff",
    requirements: &["ruff==0.17.6"],
};

/// What the experiment loop is tested with: a project's own pytest.
pub(crate) const PYTEST: Venv = Venv {
    name: "pytest",
    requirements: &["pytest==9.2.0"],
};

/// cuTile with its compiler, which needs no GPU, and what the demo measures with where there is one.
pub(crate) const TILE_COMPILER: Venv = Venv {
    name: "tile-compiler",
    requirements: &["cuda-tile[tileiras]==1.7.0", "pytest==9.2.0"],
};

/// NVIDIA's reader of compiled kernels.
pub(crate) const CUOBJDUMP: Venv = Venv {
    name: "cuobjdump",
    requirements: &["nvidia-cuda-cuobjdump==13.5.37"],
};

/// cuTile's Python package, to compare the tables of its names with. No GPU is needed.
pub(crate) const CUDA_TILE: Venv = Venv {
    name: "cuda-tile",
    requirements: &["cuda-tile==1.7.0"],
};

/// An environment with nothing but pip, to download with.
pub(crate) const PLAIN: Venv = Venv {
    name: "plain",
    requirements: &[],
};

/// The version of `python3`.
///
/// # Errors
/// There is none, or it is older than 3.10.
pub(crate) fn interpreter() -> anyhow::Result<String> {
    let script = "import sys; print('%d.%d.%d' % sys.version_info[:3])";
    let version = Tool::new("python3").args(["-c", script]).read()?;
    let version = version.trim();
    let mut numbers = version.split('.').map(|n| n.parse::<u32>().unwrap_or(0));
    match (numbers.next(), numbers.next()) {
        (Some(3), Some(minor)) if minor >= 10 => Ok(version.to_owned()),
        _ => bail!("python3 is {version}, and 3.10 or newer is needed"),
    }
}

impl Venv {
    /// Its interpreter, after the environment was made or found as it should be.
    ///
    /// # Errors
    /// Python or pip fails; the message says what it said last.
    pub(crate) fn python(&self, repo: &Repo) -> anyhow::Result<PathBuf> {
        let folder = repo.cache.join("venvs").join(self.name);
        let python = folder.join("bin/python");
        let stamp = folder.join(".tileperf-stamp");
        let wanted = format!("{} {:?}", interpreter()?, self.requirements);
        if fs::read_to_string(&stamp).is_ok_and(|stamp| stamp == wanted) {
            return Ok(python);
        }
        let log = repo.cache.join("venvs").join(format!("{}.log", self.name));
        let venv = Tool::new("python3")
            .args(["-m", "venv", "--clear"])
            .arg(&folder);
        // Not the whole environment: a user's own pip settings and mirrors count here too.
        let install = Tool::new(&python)
            .args(["-m", "pip", "install", "--disable-pip-version-check"])
            .args(self.requirements)
            .downloads();
        for step in [
            Some(venv),
            (!self.requirements.is_empty()).then_some(install),
        ] {
            let Some(step) = step else { continue };
            let done = step.log_to(&log)?;
            if !done.success() {
                let said = done.tail(5).join("\n");
                bail!(
                    "the Python environment {}: {}\n{said}",
                    self.name,
                    done.ended
                );
            }
        }
        fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))?;
        Ok(python)
    }

    /// A program of the environment.
    ///
    /// # Errors
    /// As [`python`](Self::python).
    pub(crate) fn program(&self, repo: &Repo, name: &str) -> anyhow::Result<PathBuf> {
        Ok(self.python(repo)?.with_file_name(name))
    }
}
