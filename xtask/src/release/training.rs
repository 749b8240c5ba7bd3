//! The work that the profile is taken of: typing in kernels of this repository, checking them, reading
//! them.
//!
//! They are the claims that rules are checked against and the demo's samples, some thirty files. What
//! `cargo xtask bench` measures on is not among them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use tileperf_proc::Ended;

use crate::bench::{Server, Session, script};
use crate::repo::Repo;

/// Folders of kernels, from the root of the repository.
const KERNELS: [&str; 2] = ["server/app/samples", "tests/compiler_claims"];
/// Bursts of typing in each file.
const BURSTS: usize = 24;
/// How often everything is checked and read.
const READINGS: usize = 3;

/// Has a server that counts what it does work on copies of the files.
///
/// # Errors
/// A file cannot be copied, or the server fails.
pub(super) fn run(repo: &Repo, counting: &Path, work: &Path) -> anyhow::Result<()> {
    let files = copied(repo, work)?;
    let server = Server::tileperf(repo, counting.to_owned())?;
    for (seed, file) in (0..).zip(&files) {
        let text = fs::read_to_string(file)?;
        let uri = format!("file://{}", file.display());
        let (mut session, _) = Session::start(&server, work)?;
        session.open(&uri, &text)?;
        for (version, edit) in (2..).zip(script(&text, BURSTS, seed)) {
            session.change(&uri, version, &edit.change)?;
        }
        session.finish()?;
    }
    for command in ["check", "facts"].repeat(READINGS) {
        let done = repo.tool(counting).arg(command).arg(work).run()?;
        // Findings are no failure.
        if !matches!(done.ended, Ended::Exited { code: 0 | 1 }) {
            let said = done.tail(5).join("\n");
            bail!("tileperf {command}: {}\n{said}", done.ended);
        }
    }
    Ok(())
}

/// Copies of all kernels in one folder.
fn copied(repo: &Repo, work: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if work.is_dir() {
        fs::remove_dir_all(work).context("cannot remove the files of the last training")?;
    }
    fs::create_dir_all(work).context("cannot create a folder for training")?;
    let mut files = Vec::new();
    for folder in KERNELS {
        let entries = fs::read_dir(repo.at(folder)).with_context(|| folder.to_owned())?;
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "py") {
                let copy = work.join(path.file_name().unwrap_or_default());
                fs::copy(&path, &copy).with_context(|| path.display().to_string())?;
                files.push(copy);
            }
        }
    }
    // The order of a folder is the file system's; that of the work is always the same.
    files.sort();
    Ok(files)
}
