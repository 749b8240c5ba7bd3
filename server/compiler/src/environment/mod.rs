//! Which cuTile a project has: the one its user's Python would import, else one of our own.
//!
//! Everything is read from files: neither Python nor a tool is started, so that it can be asked on
//! every start of the server. A virtual environment says where its packages are, the packages say
//! which versions they are, and every program of NVIDIA's carries its release as text.

mod compiler;
mod managed;
mod packages;
mod release;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tileperf_analysis::target::Version;
use tileperf_proc::python::{self, Python};

pub use compiler::{Compiler, Origin, ROOT_VARIABLES};
pub(crate) use compiler::{libnvvm, of_one_release, ptxas};
pub use managed::{InstallError, Managed, REQUIREMENTS};
pub use packages::Package;
pub use release::{Release, of_file as release_of_file};

/// How the values of environment variables are asked for.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// A Python with the packages that count here, and the compiler that cuTile would use from it.
#[derive(Debug, Clone, Serialize)]
pub struct Environment {
    /// The interpreter. Not resolved: a virtual environment is found through its link.
    pub python: PathBuf,
    /// Why this one, for people.
    pub origin: String,
    /// `cuda-tile`, if it is installed.
    pub cuda_tile: Option<Package>,
    /// The packages from which cuTile takes its compiler, those that are installed.
    pub tools: Vec<Package>,
    /// The compiler, if there is one.
    pub compiler: Option<Compiler>,
    /// Whether virtual environments can be made with this Python; `None` if its library is not where
    /// it usually is.
    pub can_make_environments: Option<bool>,
}

impl Environment {
    /// Reads what is installed for an interpreter.
    #[must_use]
    pub fn of(python: &Python, variables: Variables<'_>) -> Self {
        let folders = packages::folders(&python.path, variables);
        let tools: Vec<Package> = (compiler::PACKAGES.iter())
            .filter_map(|name| packages::find(name, &folders))
            .collect();
        Self {
            python: python.path.clone(),
            origin: python.origin.to_owned(),
            cuda_tile: packages::find("cuda-tile", &folders),
            compiler: Compiler::find(&tools, &folders, variables),
            can_make_environments: packages::has_ensurepip(&python.path),
            tools,
        }
    }

    /// The version of cuda-tile, if it is installed and its version can be read.
    #[must_use]
    pub fn version(&self) -> Option<Version> {
        self.cuda_tile.as_ref()?.version.parse().ok()
    }

    /// Why kernels cannot be compiled with it; `None` if they can.
    #[must_use]
    pub fn lacks(&self) -> Option<String> {
        let python = self.python.display();
        if self.cuda_tile.is_none() {
            return Some(format!("{python} has no cuda-tile"));
        }
        if self.compiler.is_none() {
            return Some(format!(
                "{python} has cuda-tile, but its compiler tileiras is neither installed as a package, \
                 nor on PATH, nor in a CUDA toolkit"
            ));
        }
        None
    }
}

/// What there is for a project.
#[derive(Debug, Clone, Serialize)]
pub struct Found {
    /// The user's environment, or why there is none.
    pub user: Result<Environment, String>,
    /// The managed one, if it is installed.
    pub managed: Option<Environment>,
}

impl Found {
    /// Looks for both. `setting` is the user's `python.path`, `root` the project's folder.
    #[must_use]
    pub fn look(
        setting: Option<&str>,
        root: &Path,
        managed: &Managed,
        variables: Variables<'_>,
    ) -> Self {
        let python = python::find(setting, root, variables);
        Self {
            user: python.map(|python| Environment::of(&python, variables)),
            managed: managed.environment(variables),
        }
    }

    /// The one to compile with: the user's if it is complete, else the managed one.
    ///
    /// # Errors
    /// What the user's lacks, and what to do about it.
    pub fn chosen(&self) -> Result<&Environment, String> {
        let lack = match &self.user {
            Ok(user) => match user.lacks() {
                None => return Ok(user),
                Some(lack) => lack,
            },
            Err(none) => none.clone(),
        };
        self.managed.as_ref().ok_or_else(|| {
            format!(
                "{lack}; install cuda-tile[tileiras] there, or let `tileperf toolchain install` keep \
                 one apart"
            )
        })
    }

    /// The version whose language rules count: that of the user's environment, whether or not it can
    /// compile; the managed one says nothing about the project.
    #[must_use]
    pub fn project_version(&self) -> Option<Version> {
        self.user.as_ref().ok().and_then(Environment::version)
    }
}

#[cfg(test)]
pub(crate) mod tests;
