//! One command on one variant: its environment, its time, its logs.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tileperf_proc::{CancelToken, Guarded, Report};

use crate::error::Error;
use crate::plan::Plan;
use crate::stats::Variant;

/// What the user's commands are run with; the same for both variants.
pub struct Bench<'a> {
    /// What the session works on.
    pub plan: &'a Plan,
    /// The root that the user works in.
    pub root: &'a Path,
    /// The injected Python, if it is to be injected.
    pub helper: Option<&'a Path>,
    /// Where the run leaves its files.
    pub folder: &'a Path,
    /// Where bytecode is kept, a folder for each variant.
    pub bytecode: &'a Path,
    /// The UUID of the one GPU that the commands see.
    pub gpu: Option<&'a str>,
    /// Variables that only the candidate's commands have.
    pub environment: &'a BTreeMap<String, String>,
    /// When the iteration must be over.
    pub deadline: Instant,
    /// The user's cancellation.
    pub cancel: &'a CancelToken,
}

/// The roots of the two variants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variants {
    /// The last kept code.
    pub base: PathBuf,
    /// The change.
    pub candidate: PathBuf,
}

impl Variants {
    /// The root of one of them.
    pub fn root(&self, variant: Variant) -> &Path {
        match variant {
            Variant::Base => &self.base,
            Variant::Candidate => &self.candidate,
        }
    }
}

/// A command that ended by itself.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code.
    pub code: i32,
    /// Everything it wrote to standard output, within bounds.
    pub stdout: String,
    /// The same for standard error.
    pub stderr: String,
    /// Wall time.
    pub elapsed: Duration,
}

impl Ended {
    /// The last lines of what it wrote, for a message.
    pub fn tail(&self) -> String {
        let all = format!("{}\n{}", self.stdout.trim_end(), self.stderr.trim_end());
        let lines: Vec<&str> = all.trim().lines().collect();
        lines[lines.len().saturating_sub(15)..].join("\n")
    }
}

/// What a candidate's command cannot do that the base's could is the candidate's doing: it broke.
pub(super) fn blame(variant: Variant, error: Error) -> Error {
    match error {
        error @ (Error::Command { .. } | Error::Readings(_)) if variant == Variant::Candidate => {
            Error::Crash(error.to_string())
        }
        error => error,
    }
}

/// The name of a variant in messages.
pub fn name(variant: Variant) -> &'static str {
    match variant {
        Variant::Base => "base",
        Variant::Candidate => "candidate",
    }
}

impl Bench<'_> {
    /// Fails once the run is cancelled or out of time.
    ///
    /// # Errors
    /// [`Error::Cancelled`], [`Error::Time`].
    pub fn check(&self) -> Result<(), Error> {
        if self.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        if Instant::now() >= self.deadline {
            return Err(Error::Time {
                seconds: self.plan.limit,
            });
        }
        Ok(())
    }

    /// How long there is still.
    pub fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// The command on the code in `root`, ready to be started. `record` is where the recorder writes.
    pub fn guarded(
        &self,
        command: &[String],
        root: &Path,
        variant: Variant,
        record: &Path,
        control: Option<&Path>,
    ) -> Guarded {
        let mut guarded = Guarded::new(&command[0])
            .args(&command[1..])
            .current_dir(root)
            .keep_output(4 << 20, 12 << 20)
            .timeout(self.left())
            .cancel_with(self.cancel);
        for (name, value) in &self.plan.environment {
            guarded = guarded.env(name, value);
        }
        if variant == Variant::Candidate {
            for (name, value) in self.environment {
                guarded = guarded.env(name, value);
            }
        }
        guarded = guarded
            .env("PYTHONPATH", self.python_path(root))
            // A same-size edit within a second runs the stale .pyc of the other variant.
            .env(
                "PYTHONPYCACHEPREFIX",
                self.bytecode.join(variant.in_paths()),
            )
            // There, nobody minds it; without, each process compiles every module anew.
            .env_remove("PYTHONDONTWRITEBYTECODE")
            .env("PYTHONUNBUFFERED", "1");
        // Two processes with other hash seeds are two programs; which is faster is chance.
        if std::env::var_os("PYTHONHASHSEED").is_none()
            && !self.plan.environment.contains_key("PYTHONHASHSEED")
        {
            guarded = guarded.env("PYTHONHASHSEED", "0");
        }
        // What another loop around this one may have set is not for these processes.
        for name in [
            "TILEPERF_RECORD",
            "TILEPERF_CONTROL",
            "TILEPERF_TREE",
            "TILEPERF_FILES",
        ] {
            guarded = guarded.env_remove(name);
        }
        if let Some(gpu) = self.gpu {
            guarded = guarded.env("CUDA_VISIBLE_DEVICES", gpu);
        }
        if self.helper.is_some() {
            let files = serde_json::to_string(&self.plan.files).unwrap_or_default();
            guarded = guarded
                .env("TILEPERF_BENCH_KERNEL", self.plan.kernel.as_str())
                .env("TILEPERF_RECORD", record)
                .env("TILEPERF_TREE", root)
                .env("TILEPERF_FILES", files);
            if let Some(control) = control {
                guarded = guarded
                    .env("TILEPERF_CONTROL", control)
                    .env("PYTEST_PLUGINS", self.plugins());
            }
        }
        guarded
    }

    /// Runs a command to its end. Its output is kept as `<what>-<variant>.log`.
    ///
    /// # Errors
    /// [`Error::Time`], [`Error::Cancelled`], [`Error::Command`] if there is no such program,
    /// [`Error::Crash`] if a signal ended it.
    pub fn run(&self, what: &'static str, guarded: Guarded, log: &Path) -> Result<Ended, Error> {
        self.check()?;
        let report = guarded.run()?;
        keep_log(log, &report);
        self.ended(what, report)
    }

    /// What a finished command came to.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn ended(&self, what: &'static str, report: Report) -> Result<Ended, Error> {
        use tileperf_proc::Ended as E;
        let code = match &report.ended {
            E::Exited { code } => *code,
            E::TimedOut { .. } => {
                return Err(Error::Time {
                    seconds: self.plan.limit,
                });
            }
            E::Cancelled => return Err(Error::Cancelled),
            ended @ E::Signaled { .. } => {
                let tail = report.stderr.to_text();
                let tail: Vec<&str> = tail.trim().lines().rev().take(5).collect();
                let tail: Vec<&str> = tail.into_iter().rev().collect();
                return Err(Error::Crash(format!(
                    "the {what} command {ended}\n{}",
                    tail.join("\n")
                )));
            }
            ended => {
                return Err(Error::Command {
                    what,
                    why: format!("cannot run: {ended}"),
                });
            }
        };
        Ok(Ended {
            code,
            stdout: report.stdout.to_text(),
            stderr: report.stderr.to_text(),
            elapsed: report.elapsed,
        })
    }

    /// The helper, the tree under test, then what was there, with the user's tree replaced.
    fn python_path(&self, root: &Path) -> OsString {
        let given = self.plan.environment.get("PYTHONPATH").map(OsString::from);
        let given = given
            .or_else(|| std::env::var_os("PYTHONPATH"))
            .unwrap_or_default();
        let mut paths: Vec<PathBuf> = self.helper.iter().map(|h| h.to_path_buf()).collect();
        let source = root.join("src");
        if source.is_dir() {
            paths.push(source);
        }
        paths.push(root.to_owned());
        for path in std::env::split_paths(&given).filter(|p| !p.as_os_str().is_empty()) {
            paths.push(match path.strip_prefix(self.root) {
                Ok(inside) => root.join(inside),
                Err(_) => path,
            });
        }
        // A path with a colon cannot be put on PYTHONPATH at all; then Python says what is missing.
        std::env::join_paths(&paths).unwrap_or_default()
    }

    fn plugins(&self) -> String {
        let ours = "tileperf_pytest".to_owned();
        let given = self.plan.environment.get("PYTEST_PLUGINS").cloned();
        match given.or_else(|| std::env::var("PYTEST_PLUGINS").ok()) {
            Some(given) if !given.is_empty() => format!("{given},{ours}"),
            _ => ours,
        }
    }
}

/// Keeps what a command wrote. Without it the run still stands.
pub fn keep_log(log: &Path, report: &Report) {
    let text = format!(
        "{}\n--- standard error\n{}\n--- {} after {:.1} s\n",
        report.stdout.to_text(),
        report.stderr.to_text(),
        report.ended,
        report.elapsed.as_secs_f64()
    );
    if let Err(error) = std::fs::write(log, text) {
        tracing::warn!("{}: {error}", log.display());
    }
}
