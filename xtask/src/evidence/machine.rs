//! Where and when a proof was made.

use std::fmt::Write;
use std::fs;

use crate::python;
use crate::repo::Repo;
use crate::tool::Tool;

/// The load of the machine over one, five and fifteen minutes.
pub(super) fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split_whitespace()
        .take(3)
        .collect::<Vec<_>>()
        .join(" ")
}

/// The conditions as a section; `before` is the load when the proof began.
///
/// # Errors
/// Python does not answer.
pub(super) fn describe(repo: &Repo, before: &str) -> anyhow::Result<String> {
    let git = ["describe", "--always", "--dirty", "--tags"];
    let rows = [
        ("date", Tool::new("date").arg("--iso-8601=seconds").read()?),
        ("machine", machine()),
        ("load before and after", format!("{before}; {}", load())),
        (
            "tileperf",
            (repo.tool("git").args(git).read())
                .unwrap_or_else(|_| concat!(env!("CARGO_PKG_VERSION"), ", built elsewhere").into()),
        ),
        (
            "rustc",
            (repo.tool("rustc").arg("--version").read())
                .unwrap_or_else(|_| "none here: built elsewhere".to_owned()),
        ),
        ("Python", python::interpreter()?),
    ];
    let mut text = String::from("## Conditions\n\n| | |\n|---|---|\n");
    for (name, value) in rows {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "| {name} | {} |", value.trim());
    }
    Ok(text)
}

fn machine() -> String {
    let of = |file: &str, key: &str| {
        let text = fs::read_to_string(file).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(key));
        let value = line.and_then(|line| line.split_once(':'));
        value.map_or_else(|| "unknown".to_owned(), |(_, v)| v.trim().to_owned())
    };
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cores = (cpuinfo.lines().filter(|line| line.starts_with("processor"))).count();
    // A proof can be kept to one core (taskset), so that others may build on the rest.
    let allowed = std::thread::available_parallelism().map_or(0, usize::from);
    let only = match allowed < cores {
        true => format!(" ({allowed} for the proof)"),
        false => String::new(),
    };
    let kilobytes: u64 = of("/proc/meminfo", "MemTotal")
        .trim_end_matches(" kB")
        .parse()
        .unwrap_or(0);
    format!(
        "{}, {cores} cores{only}, {} GiB of memory",
        of("/proc/cpuinfo", "model name"),
        kilobytes >> 20
    )
}
