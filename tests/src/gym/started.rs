//! A tileperf that was started, and what it came to.

use std::fs;
use std::time::{Duration, Instant};

use super::PATIENCE;
use crate::process::{is_running, kill};

/// A tileperf that runs.
#[derive(Debug)]
pub struct Started {
    pub(super) child: std::process::Child,
    pub(super) out: tempfile::NamedTempFile,
    pub(super) err: tempfile::NamedTempFile,
}

impl Started {
    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it runs.
    pub fn is_running(&self) -> bool {
        is_running(self.id())
    }

    /// Kills it at once.
    pub fn kill(&self) {
        kill(self.id());
    }

    /// Asks it to end, as Ctrl-C does.
    ///
    /// # Panics
    /// It is gone.
    pub fn interrupt(&self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// It does not end within two minutes.
    pub fn wait(mut self) -> Done {
        let began = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("it can be waited for") {
                break status;
            }
            if began.elapsed() > PATIENCE {
                let _ = self.child.kill();
                panic!("not done in two minutes: {}", self.said(None));
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        self.said(status.code())
    }

    fn said(&self, code: Option<i32>) -> Done {
        let read = |file: &tempfile::NamedTempFile| {
            let bytes = fs::read(file.path()).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        Done {
            code,
            stdout: read(&self.out),
            stderr: read(&self.err),
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // After a failed test nothing is left to disturb the next.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a command came to.
#[derive(Debug)]
pub struct Done {
    /// The exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it said on standard error.
    pub stderr: String,
}

impl Done {
    /// Checks the exit code and that something was said, on either stream.
    ///
    /// # Panics
    /// It is not so.
    #[track_caller]
    pub fn says(&self, code: i32, what: &str) {
        let said = self.stdout.contains(what) || self.stderr.contains(what);
        assert!(
            self.code == Some(code) && said,
            "not {code} and {what:?}: {self}"
        );
    }
}

impl std::fmt::Display for Done {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}\n{}\n{}", self.code, self.stdout, self.stderr)
    }
}
