//! What the times were taken on, for the report.

use crate::repo::Repo;

/// Processor, cores, memory and system in one line; parts that the system does not tell are left out.
pub(super) fn describe() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut parts = vec![format!("{cores} cores")];
    parts.extend(field("/proc/cpuinfo", "model name"));
    let memory = field("/proc/meminfo", "MemTotal").and_then(|kib| {
        let kib: u64 = kib.split_whitespace().next()?.parse().ok()?;
        Some(format!("{} GiB", kib.div_ceil(1 << 20)))
    });
    parts.extend(memory);
    parts.extend(field("/etc/os-release", "PRETTY_NAME"));
    parts.join(", ")
}

/// Processes that wanted to run, on average over the last minute.
pub(super) fn load() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// Today in UTC, as `2026-01-31`.
pub(super) fn today(repo: &Repo) -> String {
    let date = repo.tool("date").args(["-u", "+%F"]).read();
    date.map_or_else(|_| "an unknown date".into(), |date| date.trim().to_owned())
}

/// The first value of a `key: value` or `KEY="value"` line.
fn field(path: &str, key: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(key))?;
    let value = rest.trim_start().trim_start_matches([':', '=']);
    Some(value.trim().trim_matches('"').to_owned())
}
