//! The compiler of this workspace: found when it is first needed, looked for again when the settings
//! change or it was missing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use serde::{Deserialize, Serialize};
use tileperf_compiler::backend::Backend;
use tileperf_compiler::environment::{Environment, Found, Managed};
use tileperf_compiler::store::Store;
use tileperf_compiler::tileiras::{self, Tileiras};
use tileperf_compiler::worker::{self, Worker};

use crate::Engine;
use crate::engine::Shared;
use crate::stamped::{Stamp, Stamped};

/// A frontend and a backend that work.
pub(crate) struct Toolchain {
    pub(crate) environment: Environment,
    pub(super) worker: Worker,
    pub(super) backend: Backend,
}

/// Where it is looked for.
#[derive(Debug, Clone, PartialEq)]
struct Asked {
    python: Option<String>,
    root: PathBuf,
    cache: PathBuf,
}

/// What was found last.
#[derive(Default)]
pub(crate) struct Tools(Mutex<Option<(Asked, Arc<Toolchain>)>>);

impl Tools {
    /// Has it looked for again.
    pub(super) fn forget(&self) {
        *self.0.lock() = None;
    }

    /// Ends the frontend's process; the next request starts another.
    pub(super) fn rest(&self) {
        if let Some((_, toolchain)) = &*self.0.lock() {
            toolchain.worker.stop();
        }
    }

    /// What was found last, for people.
    pub(super) fn label(&self) -> Option<String> {
        let known = self.0.lock();
        known.as_ref().map(|(_, toolchain)| toolchain.label())
    }
}

impl Toolchain {
    /// Its Python, and what is installed there, for people.
    fn label(&self) -> String {
        let python = self.environment.python.display();
        let version = self.environment.cuda_tile.as_ref();
        let version = version.map_or("?", |package| &package.version);
        let tileiras = self.backend.compiler();
        format!("cuda-tile {version} of {python}, tileiras {tileiras}")
    }

    pub(super) fn versions(&self) -> CompilerVersions {
        CompilerVersions::of(&self.environment, self.backend.compiler())
    }
}

/// What would compile, as far as files say. Nothing is started.
#[derive(Default)]
pub(super) struct Installed {
    environment: RwLock<Option<Environment>>,
    /// What tells compilers apart stands in the program, which is large.
    compilers: Stamped<PathBuf, String>,
}

impl Installed {
    /// Notes what was found.
    pub(super) fn is(&self, environment: impl Into<Option<Environment>>) {
        *self.environment.write() = environment.into();
    }
}

/// What compiles, as the user knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompilerVersions {
    /// That of cuda-tile.
    pub cuda_tile: String,
    /// That of tileiras.
    pub tileiras: String,
}

impl CompilerVersions {
    fn of(environment: &Environment, tileiras: &str) -> Self {
        let package = environment.cuda_tile.as_ref();
        Self {
            cuda_tile: package.map_or("?", |package| &package.version).to_owned(),
            tileiras: tileiras.to_owned(),
        }
    }
}

impl Engine {
    /// What kernels are compiled with.
    ///
    /// # Errors
    /// Why nothing is compiled.
    pub fn compiler_versions(&self) -> Result<CompilerVersions, String> {
        Ok(self.shared.toolchain()?.versions())
    }
}

impl Shared {
    /// What to compile with.
    ///
    /// # Errors
    /// Why nothing is compiled, and what to do about it.
    pub(crate) fn toolchain(&self) -> Result<Arc<Toolchain>, String> {
        let (root, trusted) = {
            let workspace = self.workspace.read();
            let root = workspace.roots.first().cloned().unwrap_or_default();
            (root, workspace.trusted)
        };
        if !trusted {
            return Err("the workspace is not trusted, so nothing of it is compiled".to_owned());
        }
        let Some(cache) = self.compiled.cache.read().clone() else {
            return Err("there is no folder to keep compiled kernels in".to_owned());
        };
        let asked = Asked {
            python: self.settings.read().python_path.clone(),
            root,
            cache,
        };
        let mut known = self.compiled.tools.0.lock();
        if let Some((of, toolchain)) = &*known
            && *of == asked
        {
            return Ok(Arc::clone(toolchain));
        }
        // A frontend of before ends with its last user.
        *known = None;
        let toolchain = Arc::new(start(&asked)?);
        (self.compiled.installed).is(toolchain.environment.clone());
        *known = Some((asked, Arc::clone(&toolchain)));
        Ok(toolchain)
    }

    /// Notes which cuda-tile the project's Python has; starts nothing. Whether that is news.
    pub(crate) fn note_installed(&self) -> bool {
        let cache = self.compiled.cache.read().clone().unwrap_or_default();
        let root = self.roots().first().cloned().unwrap_or_default();
        let python = self.settings.read().python_path.clone();
        let found = look(python.as_deref(), &root, &cache);
        let version = found.project_version();
        (self.compiled.installed).is(found.chosen().ok().cloned());
        let mut known = self.compiled.version.write();
        let is_news = *known != version;
        *known = version;
        is_news
    }

    /// What kernels would be compiled with now; nothing if there is no compiler.
    pub(super) fn installed_versions(&self) -> Option<CompilerVersions> {
        let installed = &self.compiled.installed;
        let environment = installed.environment.read().clone()?;
        let compiler = environment.compiler.clone()?;
        let file = Stamp::of(&compiler.tileiras).ok()?;
        let tileiras = (installed.compilers).get(compiler.tileiras.clone(), vec![file], |_| {
            Tileiras::new(compiler).identity().to_owned()
        });
        Some(CompilerVersions::of(&environment, &tileiras))
    }
}

fn look(python: Option<&str>, root: &Path, cache: &Path) -> Found {
    let managed = Managed::in_cache(cache);
    Found::look(python, root, &managed, &|name| std::env::var_os(name))
}

fn start(asked: &Asked) -> Result<Toolchain, String> {
    let found = look(asked.python.as_deref(), &asked.root, &asked.cache);
    let environment = found.chosen()?.clone();
    let compiler = environment.compiler.clone();
    let compiler = compiler.ok_or("there is no tileiras")?;
    let worker = Worker::new(environment.clone(), &asked.cache, worker::Limits::default());
    let worker = worker.map_err(|error| {
        let cache = asked.cache.display();
        // Its own words can have the name of a temporary file, another each time: that would be news.
        let why = error.kind();
        format!("cuTile's frontend cannot be prepared in {cache}: {why}")
    })?;
    let store = Store::in_cache(&asked.cache);
    let tileiras = Tileiras::new(compiler);
    Ok(Toolchain {
        environment,
        worker,
        backend: Backend::new(tileiras, store, tileiras::Limits::default()),
    })
}
