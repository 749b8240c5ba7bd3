//! The server's binary, and whether processes still live.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use serde_json::Value;

/// The server under test: `TILEPERF_BIN`, or built once by cargo.
///
/// # Panics
/// The build fails.
pub fn server_binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let given = std::env::var_os("TILEPERF_BIN").map(PathBuf::from);
        // Servers are started in other folders, where a relative path would lead elsewhere.
        given.map_or_else(build, |path| {
            path.canonicalize().expect("TILEPERF_BIN exists")
        })
    })
}

fn build() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "build",
            "--quiet",
            "--package",
            "tileperf",
            "--message-format=json-render-diagnostics",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "the server does not build");
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["target"]["name"] == "tileperf")
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .expect("cargo names the binary")
}

/// Whether process `id` runs; one that was killed and not yet waited for does not.
pub fn is_running(id: u32) -> bool {
    let Some(pid) = pid(id) else { return false };
    if rustix::process::test_kill_process(pid).is_err() {
        return false;
    }
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    !stat
        .rsplit_once(") ")
        .is_some_and(|(_, rest)| rest.starts_with(['Z', 'X']))
}

/// Waits until process `id` is gone.
///
/// # Panics
/// It still runs after `limit`.
pub fn wait_until_gone(id: u32, limit: Duration) {
    let start = Instant::now();
    while is_running(id) {
        assert!(
            start.elapsed() < limit,
            "process {id} still runs after {limit:?}"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Kills process `id` at once, if it still runs.
pub fn kill(id: u32) {
    if let Some(pid) = pid(id) {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
}

/// All processes that descend from process `id`, parents before their children.
pub fn children(id: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let parents: Vec<(u32, u32)> = entries
        .filter_map(|entry| {
            let child = entry.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            let (_, rest) = stat.rsplit_once(") ")?;
            Some((child, rest.split_whitespace().nth(1)?.parse().ok()?))
        })
        .collect();
    let mut found = vec![id];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        next += 1;
        found.extend(
            parents
                .iter()
                .filter(|(_, p)| *p == parent)
                .map(|(child, _)| *child),
        );
    }
    found.remove(0);
    found
}

/// The memory of process `id` that is resident, in KiB; `None` where the system does not say.
pub fn resident_kib(id: u32) -> Option<u64> {
    status_kib(id, "VmRSS:")
}

/// What of it is the process's own: not the program's pages, which depend on how it was built.
pub fn own_kib(id: u32) -> Option<u64> {
    status_kib(id, "RssAnon:")
}

fn status_kib(id: u32, key: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with(key))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn pid(id: u32) -> Option<Pid> {
    i32::try_from(id).ok().and_then(Pid::from_raw)
}
