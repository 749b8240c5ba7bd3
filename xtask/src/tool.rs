//! Running other programs: their whole tree is guarded, their output goes to a log file, and what
//! downloads is tried again.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use tileperf_proc::{Ended, Guarded};

/// Nothing here takes longer; what does hangs.
const DEFAULT_LIMIT: Duration = Duration::from_secs(30 * 60);
/// Between two attempts at a download.
const PAUSE: Duration = Duration::from_secs(5);
/// Bytes kept of each output for its reader; the log has everything.
const KEPT: (usize, usize) = (64 << 10, 4 << 20);

/// A program with its arguments.
#[derive(Debug, Clone)]
pub(crate) struct Tool {
    program: OsString,
    args: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    directory: Option<PathBuf>,
    attempts: u32,
    limit: Duration,
}

/// What a program that ran said.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) ended: Ended,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Done {
    pub(crate) fn success(&self) -> bool {
        self.ended.success()
    }

    /// What explains a failure: what cargo's test programs say of the tests that failed, else the
    /// last lines of both outputs, errors last.
    pub(crate) fn tail(&self, lines: usize) -> Vec<&str> {
        let failures = self.test_failures();
        if !failures.is_empty() {
            return failures[..failures.len().min(2 * lines)].to_vec();
        }
        let all: Vec<&str> = self.stdout.lines().chain(self.stderr.lines()).collect();
        all[all.len().saturating_sub(lines)..].to_vec()
    }

    /// The sections between `failures:` and the result of a test program, without stack traces.
    fn test_failures(&self) -> Vec<&str> {
        let mut failures = Vec::new();
        let mut inside = false;
        let mut trace = false;
        for line in self.stdout.lines() {
            if line.starts_with("test result: ") {
                inside = false;
            } else if line == "failures:" {
                inside = true;
                trace = false;
            } else if line.starts_with("stack backtrace:") {
                trace = true;
            } else if trace && !line.starts_with(' ') {
                trace = false;
            }
            if inside && !trace {
                failures.push(line);
            }
        }
        failures
    }
}

impl Tool {
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            environment: Vec::new(),
            directory: None,
            attempts: 1,
            limit: DEFAULT_LIMIT,
        }
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    pub(crate) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.environment
            .push((name.into(), value.as_ref().to_owned()));
        self
    }

    pub(crate) fn current_dir(mut self, directory: &Path) -> Self {
        self.directory = Some(directory.to_owned());
        self
    }

    /// Three attempts: what downloads meets networks that fail now and then.
    pub(crate) fn downloads(mut self) -> Self {
        self.attempts = 3;
        self
    }

    /// Ends it after so many minutes.
    pub(crate) fn minutes(mut self, minutes: u64) -> Self {
        self.limit = Duration::from_secs(minutes * 60);
        self
    }

    /// Ends it after so many seconds.
    pub(crate) fn seconds(mut self, seconds: u64) -> Self {
        self.limit = Duration::from_secs(seconds);
        self
    }

    /// Runs it once, without a log. However it ended is in the answer.
    ///
    /// # Errors
    /// Nothing can be started here.
    pub(crate) fn run(&self) -> anyhow::Result<Done> {
        self.once(None)
    }

    /// Runs it with its outputs appended to a log. However it ended is in the answer.
    ///
    /// # Errors
    /// The log cannot be written, or nothing can be started here.
    pub(crate) fn log_to(&self, log: &Path) -> anyhow::Result<Done> {
        if let Some(folder) = log.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot create {}", folder.display()))?;
        }
        let mut attempt = 1;
        loop {
            let mut file = File::options()
                .append(true)
                .create(true)
                .open(log)
                .with_context(|| format!("cannot write {}", log.display()))?;
            writeln!(file, "$ {}", self.line())?;
            let done = self.once(Some(file))?;
            let hopeless = matches!(done.ended, Ended::NotFound { .. } | Ended::Cancelled);
            if done.success() || hopeless || attempt == self.attempts {
                return Ok(done);
            }
            attempt += 1;
            std::thread::sleep(PAUSE);
        }
    }

    /// Its standard output.
    ///
    /// # Errors
    /// It is not there or fails; the message holds the last lines of what it said.
    pub(crate) fn read(&self) -> anyhow::Result<String> {
        let done = self.once(None)?;
        if !done.success() {
            let said = done.tail(5).join("\n");
            bail!("{}: {}\n{said}", self.line(), done.ended);
        }
        Ok(done.stdout)
    }

    /// Whether it is there and succeeds.
    pub(crate) fn succeeds(&self) -> bool {
        self.once(None).is_ok_and(|done| done.success())
    }

    fn once(&self, log: Option<File>) -> anyhow::Result<Done> {
        let mut guarded = Guarded::new(&self.program)
            .args(&self.args)
            .keep_output(KEPT.0, KEPT.1)
            .timeout(self.limit);
        for (name, value) in &self.environment {
            guarded = guarded.env(name, value);
        }
        if let Some(directory) = &self.directory {
            guarded = guarded.current_dir(directory);
        }
        if let Some(mut log) = log {
            // A full disk shows in the program's own end; its output is no reason to stop it.
            guarded = guarded.on_line(move |_, line| drop(writeln!(log, "{line}")));
        }
        let report = guarded.run().with_context(|| self.line())?;
        Ok(Done {
            ended: report.ended,
            stdout: report.stdout.to_text(),
            stderr: report.stderr.to_text(),
        })
    }

    /// The command as one would type it, for logs and messages.
    fn line(&self) -> String {
        let program = Path::new(&self.program);
        let name = program.file_name().unwrap_or(&self.program);
        let words = std::iter::once(name).chain(self.args.iter().map(OsString::as_os_str));
        words
            .map(|word| word.to_string_lossy().into_owned())
            .collect::<Vec<_>>()
            .join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_test_is_shown_without_its_stack() {
        let done = Done {
            ended: Ended::Exited { code: 101 },
            stdout: "test a ... FAILED\nfailures:\n---- a stdout ----\npanicked: 1 != 2\n\
                     stack backtrace:\n   0: f\n\nfailures:\n    a\ntest result: FAILED. 0 passed; 1 failed;\n\
                     running 0 tests\n"
                .into(),
            stderr: "error: test failed\n".into(),
        };
        let shown = done.tail(9).join("\n");
        assert!(
            shown.contains("panicked: 1 != 2") && shown.contains("\n    a"),
            "{shown}"
        );
        assert!(
            !shown.contains("0: f") && !shown.contains("running"),
            "{shown}"
        );
    }

    #[test]
    fn a_tail_ends_with_the_errors() {
        let done = Done {
            ended: Ended::Exited { code: 1 },
            stdout: "a\nb\n".into(),
            stderr: "c\n".into(),
        };
        assert_eq!(done.tail(2), ["b", "c"]);
        assert_eq!(done.tail(9), ["a", "b", "c"]);
    }
}
