//! Which tileiras cuTile would start, and which ptxas and libnvvm that would use.
//!
//! The search is that of cuda-tile 1.7 (`_find_compiler_bin`). What tileiras then does was seen with
//! a system call trace of 13.4.92:
//! - its root is the first of `CUDA_ROOT`, `CUDA_HOME` and `CUDA_PATH` that is *set*, be it to a
//!   folder that does not exist or to nothing; else the folder above its own;
//! - libnvvm is `nvvm/lib64/libnvvm.so` of the root, else `lib/libnvvm.so.4`;
//! - ptxas is `bin/ptxas` of the root, else the first on PATH.
//!
//! If either is missing or does not fit, all that it says is `failed to compile Tile IR program`,
//! with exit code 5. cuTile takes `CUDA_HOME` and `CUDA_PATH` away from a tileiras that came as a
//! package, but not `CUDA_ROOT`. Here all three are replaced by the root that belongs to tileiras.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tileperf_proc::Guarded;

use super::Variables;
use super::packages::Package;
use super::release::{self, Release};

/// The variables from which tileiras takes its root, the strongest first.
pub const ROOT_VARIABLES: [&str; 3] = ["CUDA_ROOT", "CUDA_HOME", "CUDA_PATH"];

/// The packages that have to be there, all of one release, for cuTile to take its compiler from them.
pub(super) const PACKAGES: [&str; 3] = ["nvidia-cuda-tileiras", "nvidia-cuda-nvcc", "nvidia-nvvm"];

/// Where a CUDA toolkit is installed by default.
const SYSTEM: &str = "/usr/local";

/// Where tileiras was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Beside the user's Python packages.
    Packages,
    /// On PATH.
    Path,
    /// In the toolkit that `CUDA_HOME` names.
    CudaHome,
    /// In a toolkit under `/usr/local`.
    System,
}

impl Origin {
    /// For people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Packages => "Python packages",
            Self::Path => "PATH",
            Self::CudaHome => "CUDA_HOME",
            Self::System => "/usr/local",
        }
    }
}

/// tileiras and what it needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Compiler {
    /// The program.
    pub tileiras: PathBuf,
    /// Where it was found.
    pub origin: Origin,
    /// The folder that it belongs to, with its own ptxas and libnvvm.
    pub root: PathBuf,
}

impl Compiler {
    pub(super) fn find(
        packages: &[Package],
        folders: &[PathBuf],
        variables: Variables<'_>,
    ) -> Option<Self> {
        let path = variables("PATH").unwrap_or_default();
        let home = variables("CUDA_HOME").map(|home| PathBuf::from(home).join("bin"));
        from_packages(packages, folders)
            .map(|path| (path, Origin::Packages))
            .or_else(|| Some((program("tileiras", &path)?, Origin::Path)))
            .or_else(|| Some((program_in("tileiras", &home?)?, Origin::CudaHome)))
            .or_else(|| Some((from_system()?, Origin::System)))
            .map(|(tileiras, origin)| Self::at(tileiras, origin))
    }

    /// A compiler whose place is known.
    #[must_use]
    pub fn at(tileiras: PathBuf, origin: Origin) -> Self {
        let real = fs::canonicalize(&tileiras).unwrap_or_else(|_| tileiras.clone());
        let root = real.parent().and_then(Path::parent);
        Self {
            root: root.unwrap_or(Path::new("/")).to_owned(),
            tileiras,
            origin,
        }
    }

    /// The release of tileiras.
    #[must_use]
    pub fn release(&self) -> Option<Release> {
        release::of_file(&self.tileiras).ok().flatten()
    }

    /// The root that tileiras takes when cuTile starts it in this environment, and the variable that
    /// names it.
    #[must_use]
    pub fn root_in(&self, variables: Variables<'_>) -> (PathBuf, Option<&'static str>) {
        let removed = match self.origin {
            Origin::Packages | Origin::System => &["CUDA_HOME", "CUDA_PATH"][..],
            Origin::Path | Origin::CudaHome => &[],
        };
        let named = (ROOT_VARIABLES.into_iter())
            .filter(|name| !removed.contains(name))
            .find_map(|name| Some((PathBuf::from(variables(name)?), Some(name))));
        named.unwrap_or_else(|| (self.root.clone(), None))
    }

    /// Has a program that is, or starts, tileiras use the root that it belongs to.
    pub(crate) fn with_its_root(&self, program: Guarded) -> Guarded {
        if !self.is_complete() {
            return program;
        }
        let program = ROOT_VARIABLES.iter().fold(program, Guarded::env_remove);
        program.env("CUDA_HOME", &self.root)
    }

    /// Whether the folder above tileiras has what it needs. If not, tileiras is a link or a copy, and
    /// only the user's variables can tell.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        libnvvm(&self.root).is_some() && program_in("ptxas", &self.root.join("bin")).is_some()
    }
}

/// The libnvvm of a root.
#[must_use]
pub(crate) fn libnvvm(root: &Path) -> Option<PathBuf> {
    let candidates = ["nvvm/lib64/libnvvm.so", "lib/libnvvm.so.4"];
    (candidates.into_iter())
        .map(|path| root.join(path))
        .find(|path| path.is_file())
}

/// The ptxas that tileiras takes with a root.
pub(crate) fn ptxas(root: &Path, variables: Variables<'_>) -> Option<PathBuf> {
    let path = variables("PATH").unwrap_or_default();
    program_in("ptxas", &root.join("bin")).or_else(|| program("ptxas", &path))
}

/// The first program of this name on a PATH.
pub(crate) fn program(name: &str, path: &OsString) -> Option<PathBuf> {
    std::env::split_paths(path).find_map(|folder| program_in(name, &folder))
}

fn program_in(name: &str, folder: &Path) -> Option<PathBuf> {
    Some(folder.join(name)).filter(|path| path.is_file())
}

fn from_packages(packages: &[Package], folders: &[PathBuf]) -> Option<PathBuf> {
    if packages.len() != PACKAGES.len() || !of_one_release(packages) {
        return None;
    }
    let root = (folders.iter())
        .map(|folder| folder.join("nvidia/cu13"))
        .find(|root| root.is_dir())?;
    program_in("tileiras", &root.join("bin"))
}

/// Whether all packages are of one CUDA release.
pub(crate) fn of_one_release(packages: &[Package]) -> bool {
    let mut releases = packages.iter().map(|p| p.version.parse::<Release>());
    let Some(Ok(first)) = releases.next() else {
        return false;
    };
    releases.all(|release| release.is_ok_and(|release| release.fits(first)))
}

/// `/usr/local/cuda`, else the newest `/usr/local/cuda-X.Y`.
fn from_system() -> Option<PathBuf> {
    let entries = fs::read_dir(SYSTEM).into_iter().flatten().flatten();
    let mut toolkits: Vec<(u32, u32, PathBuf)> = entries
        .filter_map(|entry| {
            let name = entry.file_name();
            let name = name.to_str()?;
            if name == "cuda" {
                return Some((u32::MAX, u32::MAX, entry.path()));
            }
            let (major, minor) = name.strip_prefix("cuda-")?.split_once('.')?;
            Some((major.parse().ok()?, minor.parse().ok()?, entry.path()))
        })
        .collect();
    toolkits.sort();
    (toolkits.iter().rev()).find_map(|(.., path)| program_in("tileiras", &path.join("bin")))
}
