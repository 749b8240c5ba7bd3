//! `cargo xtask demo`: what tileperf does, on sample kernels of its own, with or without a GPU.

use std::process::{Command, ExitCode};

use anyhow::{Context, bail};
use clap::Args;

use crate::debian::{self, Need};
use crate::python::TILE_COMPILER;
use crate::repo::Repo;

/// Build tileperf and show what it finds in its own sample kernels.
///
/// Sets up by itself what it needs, and asks before it installs a package.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Install missing packages without asking.
    #[arg(long)]
    yes: bool,
}

/// A C compiler for the parser's grammar, and a Python for an environment with cuTile's compiler.
const NEEDS: [Need; 3] = [
    Need::Program("cc", "build-essential"),
    Need::Python,
    Need::Venv,
];

/// Runs `cargo xtask demo`.
///
/// # Errors
/// Something needed is missing, or tileperf cannot be built.
pub(crate) fn run(repo: &Repo, args: &DemoArgs) -> anyhow::Result<ExitCode> {
    set_up(repo, args.yes)?;
    // Kept in the cache folder for the next time.
    let python = TILE_COMPILER.python(repo)?;
    // Cargo's own output and the demo's belong to the person at the terminal.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["run", "--quiet", "--package", "tileperf", "--", "demo"])
        .arg("--config")
        .arg(format!("python.path={}", python.display()))
        .current_dir(&repo.root)
        .status()
        .context("cannot start cargo")?;
    Ok(status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Makes sure that everything the demo takes is there.
fn set_up(repo: &Repo, yes: bool) -> anyhow::Result<()> {
    let packages = debian::packages(NEEDS);
    if !packages.is_empty() && debian::is_debian() && (yes || debian::ask(&packages)?) {
        debian::install(&packages, &repo.at("tests/artifacts/packages.log"))?;
    }
    if let Some(need) = NEEDS.iter().find(|need| !need.is_met()) {
        bail!("the demo needs {}", need.describe());
    }
    Ok(())
}
