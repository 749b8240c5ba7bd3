//! Failing tests of the last run, for as long as they are where they were.
//!
//! A line number is true only of the text that ran. Once the file is edited or saved, its failures are
//! gone: the next run says what is left of them.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tileperf_perf::Session;
use tileperf_perf::event::Failure;

use super::note::FailureNote;
use super::stale::{Disk, OnDisk};
use crate::DocId;
use crate::engine::Shared;

/// More are left to the log of the run.
const MOST: usize = 100;

/// The failures of the session's last run whose file is what it was when the tests ended.
pub(super) fn of_last_run(
    shared: &Shared,
    disk: &mut Disk,
    root: &Path,
    session: &Session,
    tested: Option<SystemTime>,
) -> Vec<FailureNote> {
    let Some(run) = session.runs.last() else {
        return Vec::new();
    };
    let mut out: Vec<FailureNote> = Vec::new();
    for failure in run.tests.iter().flat_map(|tests| &tests.failures) {
        if out.len() == MOST {
            break;
        }
        let Some(path) = file_of(root, failure) else {
            continue;
        };
        let Some(file) = disk.read(&path).filter(|f| is_unchanged(f, tested)) else {
            continue;
        };
        let open = shared.docs.get(&DocId::file(&path)).map(|doc| doc.text().1);
        if open.is_some_and(|text| !file.is(text.as_str())) {
            continue;
        }
        let note = FailureNote {
            line: line_of(failure, &file),
            file: path,
            test: failure.test.clone(),
            message: failure.message.clone(),
            cause: failure.cause.clone(),
        };
        // The tests with and without search, and those of base and candidate, fail alike.
        if !out
            .iter()
            .any(|o| (&o.test, &o.file, o.line) == (&note.test, &note.file, note.line))
        {
            out.push(note);
        }
    }
    out
}

fn is_unchanged(file: &OnDisk, tested: Option<SystemTime>) -> bool {
    tested.is_none_or(|tested| file.modified() <= tested)
}

/// The file of the failing assertion, else the test's own.
fn file_of(root: &Path, failure: &Failure) -> Option<PathBuf> {
    if let Some(file) = &failure.file {
        return Some(root.join(file));
    }
    let (file, _) = failure.test.split_once("::")?;
    Some(root.join(file))
}

/// The zero-based line of the failing assertion, else of the test function.
fn line_of(failure: &Failure, file: &OnDisk) -> u32 {
    if let (Some(_), Some(line)) = (&failure.file, failure.line) {
        return line.saturating_sub(1);
    }
    let id = failure.test.split('[').next().unwrap_or_default();
    let name = id.rsplit("::").next().unwrap_or_default();
    let text = String::from_utf8_lossy(&file.bytes);
    let defines = |line: &str| {
        let head = line.trim_start();
        let head = head.strip_prefix("async ").unwrap_or(head);
        let rest = head
            .strip_prefix("def ")
            .and_then(|rest| rest.strip_prefix(name));
        rest.is_some_and(|rest| rest.trim_start().starts_with('('))
    };
    let line = text.lines().position(defines).unwrap_or(0);
    u32::try_from(line).unwrap_or(0)
}
