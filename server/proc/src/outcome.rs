//! How a guarded program ended, in terms a message can be made of.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::output::Captured;

/// How a guarded program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It exited by itself.
    Exited {
        /// The code given to `exit`, 0 to 255.
        code: i32,
    },
    /// A signal ended it that neither its owner nor its deadline sent.
    Signaled {
        /// The signal's number.
        signal: i32,
    },
    /// It ran past its deadline and was ended with everything that it started.
    TimedOut {
        /// The time it was given.
        after: Duration,
    },
    /// Its owner cancelled it, dropped it or died, or somebody told its guard to stop.
    Cancelled,
    /// There is no such program.
    NotFound {
        /// The program as it was named.
        program: String,
    },
    /// The program is there but cannot be started.
    CannotStart {
        /// The program as it was named.
        program: String,
        /// What the system said.
        why: String,
    },
}

impl Ended {
    /// Whether the program exited with code 0.
    #[must_use]
    pub fn success(&self) -> bool {
        *self == Self::Exited { code: 0 }
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited { code: 0 } => write!(f, "exited normally"),
            Self::Exited { code } => write!(f, "exited with code {code}"),
            Self::Signaled { signal } => match signal_name(*signal) {
                Some((name, meaning)) => write!(f, "was ended by {name} ({meaning})"),
                None => write!(f, "was ended by signal {signal}"),
            },
            Self::TimedOut { after } => {
                write!(
                    f,
                    "was ended because it ran longer than {:.1} s",
                    after.as_secs_f64()
                )
            }
            Self::Cancelled => write!(f, "was cancelled"),
            Self::NotFound { program } if program.contains('/') => {
                write!(f, "there is no program {program}")
            }
            Self::NotFound { program } => write!(f, "there is no program {program} on PATH"),
            Self::CannotStart { program, why } => write!(f, "{program} cannot be started: {why}"),
        }
    }
}

/// Name and meaning of the signals that end programs in practice.
#[cfg(unix)]
fn signal_name(signal: i32) -> Option<(&'static str, &'static str)> {
    use rustix::process::Signal;
    let known = [
        (Signal::HUP, "SIGHUP", "terminal closed"),
        (Signal::INT, "SIGINT", "interrupted"),
        (Signal::QUIT, "SIGQUIT", "quit"),
        (Signal::ILL, "SIGILL", "illegal instruction"),
        (Signal::TRAP, "SIGTRAP", "trap"),
        (Signal::ABORT, "SIGABRT", "aborted"),
        (Signal::BUS, "SIGBUS", "bus error"),
        (Signal::FPE, "SIGFPE", "arithmetic error"),
        (
            Signal::KILL,
            "SIGKILL",
            "killed, perhaps for want of memory",
        ),
        (Signal::SEGV, "SIGSEGV", "invalid memory access"),
        (Signal::PIPE, "SIGPIPE", "wrote to a closed pipe"),
        (Signal::TERM, "SIGTERM", "told to end"),
        (Signal::XCPU, "SIGXCPU", "out of CPU time"),
        (Signal::XFSZ, "SIGXFSZ", "file too large"),
    ];
    known
        .into_iter()
        .find(|(known, ..)| known.as_raw() == signal)
        .map(|(_, name, meaning)| (name, meaning))
}

#[cfg(not(unix))]
fn signal_name(_signal: i32) -> Option<(&'static str, &'static str)> {
    None
}

/// What is known of a guarded program after its whole tree has ended.
#[derive(Clone, Debug)]
pub struct Report {
    /// How the program itself ended.
    pub ended: Ended,
    /// What the tree wrote to standard output, within the bound given.
    pub stdout: Captured,
    /// What the tree wrote to standard error, within the bound given.
    pub stderr: Captured,
    /// From the start of the guard until the tree was gone.
    pub elapsed: Duration,
    /// Processes that the program had left running when it ended and that were ended after it.
    pub leftovers: usize,
    /// Processes that could not be ended: another user's, or stuck inside a driver.
    pub survivors: usize,
}

/// Why nothing can be said about a program: the guard itself failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Neither [`guard_with`](crate::guard_with) nor [`Guarded::guard`](crate::Guarded::guard) named
    /// a guard.
    #[error("no guard program was named, so nothing can be started")]
    NoGuard,
    /// The guard program could not be started.
    #[error("the guard {} cannot be started: {source}", path.display())]
    StartGuard {
        /// The guard program.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The guard ended without a report: it was killed, or the program named is no guard.
    #[error("the guard ended without a report ({status}); what it guarded has been ended")]
    GuardLost {
        /// How the guard process ended, and what was last written to standard error.
        status: String,
    },
    /// A file or the connection with the guard failed.
    #[error("{what}: {source}")]
    Io {
        /// What was being done.
        what: String,
        /// What the system said.
        source: io::Error,
    },
    /// This platform has no guard.
    #[error("tileperf starts other programs on Linux and macOS only")]
    Unsupported,
}
