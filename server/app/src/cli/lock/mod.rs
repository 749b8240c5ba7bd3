//! `tileperf lock`: what the compiler makes of a project's kernels, kept in a file, so that a change
//! that loses TMA, tensor cores or occupancy is seen where it is made.

mod check;
mod file;
mod write;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use tileperf_analysis::arch::Arch;
use tileperf_engine::{Engine, Signatures};

use super::compile::signatures;
use super::paths::{self, Found};
use super::trust::require_trust;
use super::workspace::{self, SettingsArgs};
use crate::dirs;

/// What the lock file is called, in the project's folder.
const FILE: &str = "tileperf.lock";

/// Keep what the compiler makes of kernels in a file, and see whether it gets worse.
///
/// The file has registers, stack, shared memory, TMA and tensor cores of each kernel, for each signature
/// and architecture. It is meant to be committed, and checked in CI; no GPU is needed. Kernels are
/// compiled, so the project must be trusted.
#[derive(Debug, Args)]
pub(crate) struct LockArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Compile kernels and write down what came out.
    ///
    /// What the file has of other files stays.
    Write(WriteArgs),
    /// Compile the kernels of the file again and compare.
    ///
    /// Each is compiled for exactly what it was compiled for then, whatever this machine's caches have.
    /// Exits with 1 if something is worse: TMA or tensor cores lost, more stack, fewer blocks on an SM,
    /// or a kernel that does not compile any more.
    Check(CheckArgs),
}

#[derive(Debug, Args)]
struct WriteArgs {
    #[command(flatten)]
    common: CommonArgs,

    /// The architectures, such as sm_90,sm_100; without it, those of the setting compile.archs.
    #[arg(long, value_name = "ARCHS", value_delimiter = ',')]
    arch: Vec<Arch>,

    /// For which of a kernel's known signatures: best, all, the place of one from 1, or a part of its
    /// line.
    #[arg(long, value_name = "WHICH", default_value = "best", value_parser = signatures)]
    signature: Signatures,
}

#[derive(Debug, Args)]
struct CheckArgs {
    #[command(flatten)]
    common: CommonArgs,

    /// How to print what is found.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For reading: what is not as it was.
    Text,
    /// One JSON object a line for each entry of the file.
    Json,
}

#[derive(Debug, Args)]
struct CommonArgs {
    /// Python files, or folders to search for them.
    #[arg(default_value = ".")]
    paths: Vec<PathBuf>,

    /// The file, instead of tileperf.lock in the project's folder.
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,

    /// Run the code that the kernels need, without asking.
    #[arg(long)]
    trust: bool,

    #[command(flatten)]
    settings: SettingsArgs,
}

/// The files that were asked for, all of one project.
struct Project {
    /// Its folder; names in the lock file are relative to it.
    root: PathBuf,
    lock: PathBuf,
    files: Vec<Found>,
}

/// Runs `tileperf lock`.
pub(crate) fn run(args: &LockArgs) -> anyhow::Result<ExitCode> {
    match &args.verb {
        Verb::Write(args) => write::run(args),
        Verb::Check(args) => check::run(args),
    }
}

impl CommonArgs {
    /// Finds the files and allows compiling them.
    fn project(&self) -> anyhow::Result<Project> {
        let (given, missing) = paths::given(&self.paths);
        if let Some(missing) = missing.first() {
            anyhow::bail!("{missing}");
        }
        let roots: BTreeSet<PathBuf> = given
            .iter()
            .map(|one| workspace::root_of(&one.real))
            .collect();
        let mut roots = roots.into_iter();
        let (Some(root), None) = (roots.next(), roots.next()) else {
            anyhow::bail!("these paths belong to several projects: lock one at a time");
        };
        let files = paths::find(&given, &self.settings, &Engine::files_with_facts);
        for unread in &files.unread {
            tracing::error!("{unread}");
        }
        let cache = dirs::cache()?;
        for engine in &files.engines {
            if self.trust {
                engine.set_trusted(true);
            } else {
                require_trust(engine, &root)?;
            }
            engine.keep_compiled_in(cache.clone());
        }
        Ok(Project {
            lock: self.file.clone().unwrap_or_else(|| root.join(FILE)),
            root,
            files: files.found,
        })
    }
}

impl Project {
    /// A file's name in the lock file: from the project's folder, with forward slashes.
    fn name(&self, found: &Found) -> String {
        let path = found.doc.path().unwrap_or_default();
        let inside = path.strip_prefix(&self.root).unwrap_or(&path);
        inside.to_string_lossy().replace('\\', "/")
    }

    /// Whether the project has a file of that name in the lock file.
    fn has(&self, name: &str) -> bool {
        self.root.join(Path::new(name)).is_file()
    }
}
