//! `tileperf perf VERB`, and other commands, as a child of the server.
//!
//! A child is this very program, so that a run behaves the same wherever it is started. It gets the
//! settings that are in force here, which may be the editor's. It ends with the server, unless
//! `perf.detach` lets it live on.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tileperf_engine::settings::Origin;
use tileperf_proc::{Ended, Guarded, Report};
use tokio::sync::oneshot;
use tower_lsp::Client;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types::MessageType;

use super::subject::Subject;
use super::{Desk, Refusal};

/// Settings that make no difference to a child: what editors show, and what only they read.
const NOT_PASSED: [&str; 4] = ["trust", "server.path", "trace.server", "perf.detach"];

/// The exit code of a command that could not do its work; its reason is on standard error.
const CANNOT: i32 = 2;
/// What the command line puts before its reason.
const PREFIX: &str = "tileperf: ";
/// A short verb that takes longer than this hangs.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);

/// The kernels whose runs were started here and have not ended, and an installation.
#[derive(Debug)]
pub(in crate::lsp) struct Children {
    running: Mutex<HashSet<OsString>>,
    client: Client,
}

impl Children {
    /// None yet. Ends that a person has to know of are shown by `client`.
    pub(in crate::lsp) fn new(client: Client) -> Self {
        Self {
            running: Mutex::default(),
            client,
        }
    }

    /// What was started here and has not ended.
    pub(super) fn running(&self) -> MutexGuard<'_, HashSet<OsString>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows why a run could not be made. What it found, if it could, is in the journal.
    fn tell(&self, kernel: &str, why: &str) {
        let text = format!("tileperf: {kernel}: {why}");
        tracing::warn!("{text}");
        let client = self.client.clone();
        // Called on a thread of its own, which has no runtime.
        futures::executor::block_on(client.show_message(MessageType::ERROR, text));
    }
}

/// Starts a verb that runs the project's code, and returns at once. The kernel comes after the verb and
/// what belongs to it.
///
/// # Errors
/// One was started for this kernel and has not ended; it cannot be started.
pub(super) fn start(
    desk: &Desk,
    subject: &Subject,
    verb: &[&str],
    options: Vec<OsString>,
) -> std::result::Result<(), Refusal> {
    let key = subject.argument();
    if !desk.children.running().insert(key.clone()) {
        return Err(Refusal::new(format!(
            "a run of {} was just started",
            subject.kernel
        )));
    }
    let mut arguments = vec!["--trust".into(), "--format".into(), "json".into()];
    arguments.extend(options);
    let command = command(desk, subject, verb, arguments);
    let started = match desk.engine.settings().perf.detach {
        true => start_detached(desk, subject, command),
        false => start_attached(desk, subject, command),
    };
    if started.is_err() {
        desk.children.running().remove(&key);
    }
    desk.engine.look_at_runs();
    started
}

fn start_attached(
    desk: &Desk,
    subject: &Subject,
    command: Guarded,
) -> std::result::Result<(), Refusal> {
    // The events are in the journal; of the output only its end is of interest.
    let command = command.keep_output(0, 64 << 10);
    let (children, subject) = (Arc::clone(&desk.children), subject.clone());
    let engine = desk.engine.clone();
    thread("perf-child", move || {
        let reason = match command.run() {
            Ok(report) => reason(&report),
            Err(error) => Some(error.to_string()),
        };
        children.running().remove(&subject.argument());
        engine.look_at_runs();
        if let Some(reason) = reason {
            children.tell(&subject.kernel, &reason);
        }
    })
}

/// A child that lives on: nobody is told how it ends, so its log is looked at when it is gone.
fn start_detached(
    desk: &Desk,
    subject: &Subject,
    command: Guarded,
) -> std::result::Result<(), Refusal> {
    let log = log_file().map_err(|error| Refusal::new(format!("no place for a log: {error:#}")))?;
    let before = std::fs::metadata(&log).map_or(0, |metadata| metadata.len());
    let detached = command
        .spawn_detached(Some(&log))
        .map_err(|error| Refusal::new(error.to_string()))?;
    let (children, subject) = (Arc::clone(&desk.children), subject.clone());
    let engine = desk.engine.clone();
    thread("perf-detached", move || {
        while is_running(detached.pid) {
            std::thread::sleep(Duration::from_millis(200));
        }
        children.running().remove(&subject.argument());
        engine.look_at_runs();
        let written = std::fs::read(&log).unwrap_or_default();
        let new = written
            .get(usize::try_from(before).unwrap_or(0)..)
            .unwrap_or_default();
        if let Some(reason) = said(&String::from_utf8_lossy(new)) {
            children.tell(&subject.kernel, &reason);
        }
    })
}

fn log_file() -> anyhow::Result<PathBuf> {
    let log = crate::dirs::state()?.join("detached.log");
    if let Some(folder) = log.parent() {
        std::fs::create_dir_all(folder)?;
    }
    Ok(log)
}

fn is_running(pid: u32) -> bool {
    let pid = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
}

/// Runs a short verb and gives what it said on standard output.
///
/// # Errors
/// `RequestFailed` with the command's own reason.
pub(super) async fn wait(
    desk: &Desk,
    subject: &Subject,
    verb: &str,
    arguments: Vec<OsString>,
) -> Result<String> {
    let command = command(desk, subject, &[verb], arguments).timeout(PATIENCE);
    let (done, ended) = oneshot::channel();
    thread("perf-verb", move || {
        let _ = done.send(command.run());
    })?;
    let report = ended
        .await
        .map_err(|_| Error::request_cancelled())?
        .map_err(|error| Refusal::new(error.to_string()))?;
    desk.engine.look_at_runs();
    match reason(&report) {
        Some(reason) => Err(Refusal::new(reason).into()),
        None => Ok(report.stdout.to_text().trim().to_owned()),
    }
}

fn command(desk: &Desk, subject: &Subject, verb: &[&str], arguments: Vec<OsString>) -> Guarded {
    let folder = subject.file.parent().unwrap_or(Path::new("/"));
    Guarded::new(program())
        .arg("perf")
        .args(verb)
        .arg(subject.argument())
        .args(arguments)
        .args(settings(desk))
        .current_dir(folder)
}

/// `tileperf COMMAND` for the workspace's first folder, with the settings in force.
pub(super) fn for_workspace(desk: &Desk, command: &[&str]) -> Guarded {
    let root = desk.root();
    Guarded::new(program())
        .args(command)
        .arg("--exactly")
        .arg(&root)
        .args(settings(desk))
        .current_dir(root)
}

/// This program. An update may have replaced its file; the link in /proc leads to what runs.
fn program() -> PathBuf {
    match std::env::current_exe() {
        Ok(path) if !cfg!(target_os = "linux") => path,
        _ => PathBuf::from("/proc/self/exe"),
    }
}

/// The settings in force, as arguments: a child reads the project's files itself, but knows neither the
/// editor's settings nor the folder that the editor takes for the workspace.
fn settings(desk: &Desk) -> Vec<OsString> {
    let passed = |key: &str| {
        let read = ["perf.", "tests.", "index."]
            .iter()
            .any(|p| key.starts_with(p))
            || matches!(key, "python.path" | "environment");
        read && !NOT_PASSED.contains(&key)
    };
    let rows = desk.engine.settings().rows().into_iter();
    rows.filter(|row| passed(row.key) && row.origin != Origin::Default && !row.value.is_empty())
        .flat_map(|row| {
            [
                OsString::from("--config"),
                format!("{}={}", row.key, row.value).into(),
            ]
        })
        .collect()
}

/// Why a command could not do its work; nothing if it could, whatever came of it, or if the user
/// cancelled.
pub(super) fn reason(report: &Report) -> Option<String> {
    match &report.ended {
        Ended::Exited { code: CANNOT } => said(&report.stderr.to_text()),
        Ended::Exited { .. } | Ended::Cancelled => None,
        other => Some(format!("the run {other}")),
    }
}

/// What the command line gave as its reason.
fn said(output: &str) -> Option<String> {
    let at = match output.rfind(&format!("\n{PREFIX}")) {
        Some(at) => at + 1,
        None if output.starts_with(PREFIX) => 0,
        None => return None,
    };
    let reason = output[at + PREFIX.len()..].trim();
    (reason != "cancelled" && !reason.is_empty()).then(|| reason.to_owned())
}

/// Starts a thread.
///
/// # Errors
/// The system refuses one.
pub(super) fn thread(
    name: &str,
    work: impl FnOnce() + Send + 'static,
) -> std::result::Result<(), Refusal> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map(drop)
        .map_err(|error| Refusal::new(format!("cannot start a thread: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_what_comes_last() {
        let output = " WARN something\ntileperf: the tests fail:\n  a: b\nsay --fix\n";
        assert_eq!(
            said(output).as_deref(),
            Some("the tests fail:\n  a: b\nsay --fix")
        );
        assert_eq!(said("tileperf: cancelled\n"), None);
        assert_eq!(said("killed\n"), None);
    }
}
