//! A package in which kernels were made faster before: sessions with their journals and records, from
//! which the playbook knows what was searched and what was measured.
//!
//! Each has a journal that the loop wrote on an H200, with the names of another kernel in it, and the
//! records of a benchmark's processes.

use std::path::Path;

use anyhow::Context;
use serde_json::json;

use super::files::Sample;
use crate::repo::Repo;

/// So many of them, all of kernels of one file.
pub(super) const SESSIONS: usize = 20;

/// A journal of six runs, and what it is about.
const JOURNAL: &str = "docs/evidence/perf-h200/softmax_journal.jsonl";
const KERNEL: &str = "\"_softmax_kernel\"";
const FILE: &str = "src/tilegym/ops/cutile/softmax.py";

/// Searches in a record, one for each shape, and configurations of each.
const SEARCHES: usize = 12;
const CONFIGURATIONS: u32 = 12;

/// Copies a package, and leaves sessions on the kernels of its file there, in turn.
///
/// # Errors
/// A file cannot be read or written, or the file has no kernels.
pub(super) fn prepare(repo: &Repo, package: &Sample) -> anyhow::Result<Sample> {
    let folder = repo.cache.join("bench/files/sessions");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    copy(&package.folder, &folder)?;
    let inside = package.path.strip_prefix(&package.folder)?;
    let journal =
        std::fs::read_to_string(repo.at(JOURNAL)).with_context(|| format!("reading {JOURNAL}"))?;
    anyhow::ensure!(
        journal.contains(KERNEL) && journal.contains(FILE),
        "{JOURNAL} is about another kernel"
    );
    let kernels = kernels(&package.text);
    anyhow::ensure!(!kernels.is_empty(), "no kernels in {}", inside.display());
    let file = inside.to_string_lossy();
    for (number, kernel) in (0..SESSIONS).zip(kernels.iter().cycle()) {
        let session = folder.join(format!("sandbox/tileperf/{kernel}-{number}"));
        let run = session.join("runs/000");
        std::fs::create_dir_all(&run)?;
        let own = journal.replace(KERNEL, &format!("\"{kernel}\""));
        std::fs::write(session.join("journal.jsonl"), own.replace(FILE, &file))?;
        for name in ["benchmark-base.jsonl", "benchmark-cand.jsonl"] {
            std::fs::write(run.join(name), record(kernel, &file))?;
        }
    }
    Ok(Sample {
        path: folder.join(inside),
        folder,
        text: package.text.clone(),
    })
}

/// The kernels of a text, by their decorators.
fn kernels(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let pairs = lines.windows(2);
    let names = pairs.filter(|pair| pair[0].starts_with("@ct.kernel"));
    names
        .filter_map(|pair| pair[1].strip_prefix("def ")?.split('(').next())
        .collect()
}

/// What a process of a benchmark records of a kernel that is searched.
fn record(kernel: &str, file: &str) -> String {
    let searches = (0..SEARCHES).map(|shape| {
        let candidates: Vec<_> = (0..CONFIGURATIONS)
            .map(|number| {
                json!({
                    "config": {"TILE_M": 64 << (number % 3), "occupancy": 1 << (number / 3)},
                    "mean_us": 100 + number, "error_us": 0.1,
                })
            })
            .collect();
        json!({
            "event": "search", "api": "exhaustive_search", "kernel": kernel, "qualname": kernel,
            "file": format!("/elsewhere/{file}"), "line": 1, "best": candidates[0],
            "args": [{"name": "Q", "shape": [1024 << shape], "dtype": "float16", "strides": [1]}],
            "candidates": candidates, "failures": 0, "pid": 7,
        })
    });
    searches.map(|search| format!("{search}\n")).collect()
}

/// The Python files of a folder, in another.
fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let path = entry?.path();
        let Some(name) = path.file_name() else {
            continue;
        };
        if path.is_dir() {
            copy(&path, &to.join(name))?;
        } else if path.extension().is_some_and(|end| end == "py") {
            std::fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_told_by_their_decorators() {
        let text = "@ct.kernel\ndef a(x):\n    pass\n\n\n@ct.kernel(occupancy=2)\ndef b(\n    x):\n    pass\n\n\ndef c():\n    pass\n";
        assert_eq!(kernels(text), ["a", "b"]);
    }
}
