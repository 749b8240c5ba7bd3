//! The three servers: ours built in release mode, the others in pinned versions from PyPI.

use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::release;
use crate::repo::Repo;

/// The versions compared with.
const RUFF: &str = "0.17.6";
const TY: &str = "0.0.108";

/// A language server that can be started.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    /// How the report calls it.
    pub(super) name: &'static str,
    /// As it tells itself.
    pub(super) version: String,
    pub(super) program: PathBuf,
    pub(super) args: &'static [&'static str],
}

/// The servers in the order of the report's columns: tileperf, ruff, ty.
pub(super) const COUNT: usize = 3;

/// Builds and installs what is missing. `TILEPERF_BIN` names a server that is built already.
///
/// # Errors
/// A build or an installation fails.
pub(super) fn prepare(repo: &Repo) -> anyhow::Result<[Server; COUNT]> {
    let tileperf = match std::env::var_os("TILEPERF_BIN") {
        Some(binary) => binary.into(),
        None => {
            let built = release::build(repo)?;
            println!("tileperf was built {}", built.how);
            built.binary
        }
    };
    let bin = install(repo)?;
    Ok([
        Server::tileperf(repo, tileperf)?,
        Server::new(repo, "ruff", bin.join("ruff"), &["server"])?,
        Server::new(repo, "ty", bin.join("ty"), &["server"])?,
    ])
}

impl Server {
    /// Ours, as a binary.
    ///
    /// # Errors
    /// It does not tell its version.
    pub(crate) fn tileperf(repo: &Repo, program: PathBuf) -> anyhow::Result<Self> {
        Self::new(repo, "tileperf", program, &["lsp"])
    }

    fn new(
        repo: &Repo,
        name: &'static str,
        program: PathBuf,
        args: &'static [&'static str],
    ) -> anyhow::Result<Self> {
        let told = repo.tool(&program).arg("--version").read()?;
        let version = told.split_whitespace().nth(1).unwrap_or("unknown");
        Ok(Self {
            name,
            version: version.to_owned(),
            program,
            args,
        })
    }
}

/// The commit that is measured; with a `+` when the server's files differ from it.
pub(super) fn commit(repo: &Repo) -> String {
    if std::env::var_os("TILEPERF_BIN").is_some() {
        return "the binary that TILEPERF_BIN names".to_owned();
    }
    let git = |args: &[&str]| repo.tool("git").args(args).read();
    let Ok(head) = git(&["rev-parse", "--short", "HEAD"]) else {
        return "unknown commit".to_owned();
    };
    let changed = git(&["status", "--porcelain", "--untracked-files=no", "server"])
        .is_ok_and(|status| !status.trim().is_empty());
    format!("{}{}", head.trim(), if changed { "+" } else { "" })
}

/// Installs the other servers into a virtual environment of their own; gives its folder of programs.
fn install(repo: &Repo) -> anyhow::Result<PathBuf> {
    let environment = repo.cache.join(format!("bench/ruff-{RUFF}-ty-{TY}"));
    let bin = environment.join("bin");
    let there = |name: &str| Path::is_file(&bin.join(name));
    if !(there("ruff") && there("ty")) {
        repo.tool("python3")
            .args(["-m", "venv"])
            .arg(&environment)
            .read()
            .context("on Debian and Ubuntu, virtual environments need python3-venv")?;
        repo.tool(bin.join("python"))
            .args(["-m", "pip", "install", "--quiet"])
            .arg("--disable-pip-version-check")
            .args([format!("ruff=={RUFF}"), format!("ty=={TY}")])
            .downloads()
            .read()?;
    }
    Ok(bin)
}
