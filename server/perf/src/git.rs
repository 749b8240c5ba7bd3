//! The user's own git, for the few steps that libgit2 cannot do.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use tileperf_proc::{CancelToken, Guarded};
use tileperf_vcs::{GitOutput, GitProgram};

/// The longest that a filter may take: LFS may ask the network.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs git under a guard.
#[derive(Debug, Clone, Default)]
pub(crate) struct UsersGit {
    /// Ends it.
    pub(crate) cancel: CancelToken,
}

impl GitProgram for UsersGit {
    fn git(&self, dir: &Path, args: &[&OsStr], stdin: &[u8]) -> Result<GitOutput, String> {
        let report = Guarded::new("git")
            .args(args)
            .current_dir(dir)
            .env_remove("GIT_DIR")
            .env_remove("GIT_WORK_TREE")
            .env_remove("GIT_INDEX_FILE")
            .env_remove("GIT_OBJECT_DIRECTORY")
            .stdin(stdin)
            .keep_output(64 << 20, 1 << 20)
            .timeout(PATIENCE)
            .cancel_with(&self.cancel)
            .run()
            .map_err(|error| error.to_string())?;
        let stdout = report
            .stdout
            .complete()
            .ok_or_else(|| format!("git wrote {} bytes", report.stdout.total()))?;
        match &report.ended {
            ended if ended.success() => {}
            tileperf_proc::Ended::Exited { .. } => {}
            ended => return Err(format!("git {ended}")),
        }
        Ok(GitOutput {
            success: report.ended.success(),
            stdout,
            stderr: report.stderr.to_text().into_bytes(),
        })
    }
}
