//! `cargo xtask package`: what is handed to users, for this kind of machine.
//!
//! dist/ then holds the release binary, the extension for VS Code and Cursor with that binary in
//! it, and the Neovim plugin.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;

use crate::release;
use crate::repo::Repo;
use crate::tool::Tool;

/// Build the release binary, the VS Code extension that holds it, and the Neovim plugin.
#[derive(Debug, Args)]
pub(crate) struct PackageArgs {}

/// Runs `cargo xtask package`.
///
/// # Errors
/// A tool is missing or fails, or dist/ cannot be written.
pub(crate) fn run(repo: &Repo, _args: &PackageArgs) -> anyhow::Result<ExitCode> {
    let dist = repo.at("dist");
    fs::create_dir_all(&dist).context("cannot create dist/")?;
    let binary = dist.join("tileperf");
    println!("release build ...");
    let built = release::build(repo)?;
    fs::copy(&built.binary, &binary).context("cannot copy the binary")?;
    println!("dist/tileperf, {}", built.how);

    succeed("npm ci", &npm_ci(repo), &dist)?;
    let vsix = format!("tileperf-{}.vsix", release::host(repo)?);
    with_server(repo, &binary, || {
        succeed("extension", &vsce(repo, &dist.join(&vsix)), &dist)
    })?;
    println!("dist/{vsix}");

    let archive = dist.join("tileperf.nvim.tar.gz");
    // What a plugin manager would take from the repository, in a folder of the plugin's name.
    let pack = Tool::new("tar")
        .arg("--create")
        .arg("--gzip")
        .arg("--file")
        .arg(&archive)
        .args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"])
        .args(["--transform", "s,^nvim,tileperf.nvim,", "--directory"])
        .arg(repo.at("editors"))
        .arg("nvim");
    succeed("Neovim plugin", &pack, &dist)?;
    println!("dist/tileperf.nvim.tar.gz");
    Ok(ExitCode::SUCCESS)
}

/// Puts the server where the extension looks for its own, and takes it away again: a later package
/// of the bare extension must not carry an old one.
fn with_server(
    repo: &Repo,
    binary: &Path,
    pack: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let folder = repo.at("editors/vscode/bin");
    fs::create_dir_all(&folder).context("cannot create editors/vscode/bin")?;
    fs::copy(binary, folder.join("tileperf")).context("cannot copy the server")?;
    let packed = pack();
    fs::remove_dir_all(&folder).context("cannot remove editors/vscode/bin")?;
    packed
}

/// Runs a tool; its log is kept only for as long as it may explain a failure.
fn succeed(name: &str, tool: &Tool, dist: &Path) -> anyhow::Result<()> {
    println!("{name} ...");
    let log = dist.join("package.log");
    let done = tool.log_to(&log)?;
    if !done.success() {
        let said = done.tail(30).join("\n");
        bail!("{name}: it {}, see {}\n{said}", done.ended, log.display());
    }
    fs::remove_file(&log).context("cannot remove the log")?;
    Ok(())
}

/// Installs the extension's packages; their install scripts are not needed.
pub(crate) fn npm_ci(repo: &Repo) -> Tool {
    let args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
    repo.tool("npm").args(args).downloads()
}

/// Packs the extension into a file.
pub(crate) fn vsce(repo: &Repo, vsix: &Path) -> Tool {
    let args = ["run", "package", "--", "--out"];
    repo.tool("npm").args(args).arg(vsix)
}
