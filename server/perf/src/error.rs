//! Why the loop cannot do something, each with what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use crate::readings::ReadingsError;

/// Why the loop cannot do something.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder cannot be used.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A journal holds a line that is no event.
    #[error(
        "{} is damaged at line {line} ({why}); move the session's folder away to start anew, \
         nothing else depends on it",
        path.display()
    )]
    Journal {
        /// The journal.
        path: PathBuf,
        /// The line, 1-based.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// There is no session.
    #[error("there is no session for {kernel}; `tileperf perf setup {kernel}` starts one")]
    NoSession {
        /// The kernel as it was named.
        kernel: String,
    },
    /// Several sessions could be meant.
    #[error("which session? {}", names.join(", "))]
    WhichSession {
        /// Their kernels.
        names: Vec<String>,
    },
    /// The kernel has a session already.
    #[error(
        "{kernel} has the session {session}; `perf finish` or `perf abandon` ends it, `perf iterate` \
         goes on with it"
    )]
    SessionExists {
        /// The kernel.
        kernel: String,
        /// The session.
        session: String,
    },
    /// Another session's branch is checked out.
    #[error("the session {session} is not finished, and its branch {branch} is checked out")]
    OnSessionBranch {
        /// The session.
        session: String,
        /// The branch.
        branch: String,
    },
    /// Another process runs this session.
    #[error("the session is being run by {holder}; `perf attach` follows it, `perf stop` ends it")]
    Running {
        /// Who, for people.
        holder: String,
    },
    /// Another process measures on the device.
    #[error("{device} is in use by {holder}: one run at a time on a device, or both measure noise")]
    DeviceBusy {
        /// The device's name.
        device: String,
        /// Who, for people.
        holder: String,
    },
    /// The session is in another state.
    #[error("{0}")]
    State(String),
    /// A change would be tried together with another one.
    #[error(
        "{} has a change that was not tried, and one at a time is: `perf iterate` tries it; or take it \
         back",
        crate::error::list(files)
    )]
    Untried {
        /// Where it is.
        files: Vec<PathBuf>,
    },
    /// A command is not usable.
    #[error("the {what} command {why}")]
    Command {
        /// `correctness` or `benchmark`.
        what: &'static str,
        /// What is wrong.
        why: String,
    },
    /// The run broke: the row says `crash`.
    #[error("{0}")]
    Crash(String),
    /// The time of the iteration ran out.
    #[error("the iteration was ended after {seconds} s; perf.iteration-limit allows more")]
    Time {
        /// The limit.
        seconds: u64,
    },
    /// The user cancelled.
    #[error("cancelled")]
    Cancelled,
    /// What was measured would not be what was changed.
    #[error("{0}")]
    WrongCode(String),
    /// Files are not as they should be; they are left as they are.
    #[error(
        "{} changed meanwhile and is left as it is; both versions are in {}",
        crate::error::list(files),
        kept_at.display()
    )]
    Conflict {
        /// Which.
        files: Vec<PathBuf>,
        /// Where both versions are.
        kept_at: PathBuf,
    },
    /// The device cannot be used.
    #[error("{0}")]
    Device(String),
    /// Output that cannot be read.
    #[error("the benchmark's output cannot be read: {0}")]
    Readings(#[from] ReadingsError),
    /// Git.
    #[error(transparent)]
    Git(#[from] tileperf_vcs::Error),
    /// The guard of child processes.
    #[error(transparent)]
    Process(#[from] tileperf_proc::Error),
}

impl Error {
    pub(crate) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io {
            doing,
            path: path.to_owned(),
            source,
        }
    }
}

pub(crate) fn list(files: &[PathBuf]) -> String {
    let names: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
    names.join(", ")
}
