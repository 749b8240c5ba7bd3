//! The user's own git, for the few steps that libgit2 cannot do.
//!
//! Filters (LFS, git-crypt), encodings and content that a partial clone has not fetched need the
//! real program. This crate starts nothing by itself: whoever calls it lends it a way to run git.

use std::ffi::OsStr;
use std::path::Path;

use crate::error::Error;

/// What a run of git left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitOutput {
    /// Whether it ended with status 0.
    pub success: bool,
    /// All that it printed.
    pub stdout: Vec<u8>,
    /// All that it complained about.
    pub stderr: Vec<u8>,
}

/// A way to run the user's git. A closure of the same shape is one.
///
/// The implementation runs `git` with `args` in the folder `dir`, gives it `stdin` and waits. It must
/// remove `GIT_DIR`, `GIT_WORK_TREE`, `GIT_INDEX_FILE` and `GIT_OBJECT_DIRECTORY` from the
/// environment, and should bound the time: a filter may ask the network.
/// Only `hash-object` and `cat-file` are asked for, which run filters and never hooks.
pub trait GitProgram {
    /// # Errors
    /// Why git could not be started or did not end, in words.
    fn git(&self, dir: &Path, args: &[&OsStr], stdin: &[u8]) -> Result<GitOutput, String>;
}

impl<F> GitProgram for F
where
    F: Fn(&Path, &[&OsStr], &[u8]) -> Result<GitOutput, String>,
{
    fn git(&self, dir: &Path, args: &[&OsStr], stdin: &[u8]) -> Result<GitOutput, String> {
        self(dir, args, stdin)
    }
}

/// No git at all: steps that need one fail with [`Error::GitProgram`].
#[derive(Clone, Copy, Debug, Default)]
pub struct NoGit;

impl GitProgram for NoGit {
    fn git(&self, _: &Path, _: &[&OsStr], _: &[u8]) -> Result<GitOutput, String> {
        Err("running git is not possible here".to_owned())
    }
}

/// Runs git and takes anything but success for an error.
pub(crate) fn run(
    git: &dyn GitProgram,
    dir: &Path,
    args: &[&OsStr],
    stdin: &[u8],
    doing: &'static str,
) -> Result<Vec<u8>, Error> {
    let failed = |message: String| Error::GitProgram { doing, message };
    let output = git.git(dir, args, stdin).map_err(failed)?;
    if output.success {
        return Ok(output.stdout);
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(failed(text.trim().to_owned()))
}
