//! Why a run ended as it did, in one line where a program's own last words were kept: a report says what
//! they come to and where all of them are.

use std::path::Path;

use super::words;
use crate::session::{Run, Session};
use crate::store;

/// Why a run is no iteration, or how it broke.
pub(super) fn end(session: &Session, run: &Run) -> String {
    let all = words::end(run);
    let Some((first, rest)) = all.trim_end().split_once('\n') else {
        return all;
    };
    let first = first.trim_end().trim_end_matches(':');
    let folder = Path::new(store::FOLDER).join(&session.name);
    let folder = folder.join(format!("runs/{:03}", run.run));
    let said = telling(rest).map_or_else(String::new, |line| format!(": {line}"));
    format!("{first}{said} (all of it in {})", folder.display())
}

/// The line of a program's last words that says most.
fn telling(said: &str) -> Option<&str> {
    let lines = || said.lines().map(str::trim).filter(|line| !is_frame(line));
    // As pytest marks what an assertion or import came to.
    let mut error = lines().filter_map(|line| line.strip_prefix("E  "));
    let listed = |line: &&str| {
        let is_named = ["FAILED ", "ERROR ", "ERROR: "]
            .iter()
            .any(|s| line.starts_with(s));
        is_named && !line.starts_with("ERROR: usage:") || line.contains(": error: ")
    };
    (error.next_back().map(str::trim))
        .or_else(|| lines().find(listed))
        // A traceback ends with what was raised.
        .or_else(|| lines().next_back())
}

/// A line around others, or pytest's count of what it did.
fn is_frame(line: &str) -> bool {
    line.is_empty()
        || ["==", "--", "!!", "__"]
            .iter()
            .any(|edge| line.starts_with(edge))
}

#[cfg(test)]
mod tests {
    use super::telling;

    #[test]
    fn one_line_says_most() {
        for (said, line) in [
            (
                "tests/t.py:3: in <module>\n    import torch\nE   ModuleNotFoundError: No module named 'torch'\n\
                 =========== short test summary info ============\n\
                 ERROR tests/t.py\n!!!!!!! Interrupted: 1 error during collection !!!!!!!\n\
                 ===== 1 error in 0.05s =====",
                "ModuleNotFoundError: No module named 'torch'",
            ),
            (
                "====== short test summary info ======\nFAILED t.py::p[a] - AssertionError: far off\n\
                 FAILED t.py::p[b]\n2 failed in 3 s",
                "FAILED t.py::p[a] - AssertionError: far off",
            ),
            (
                "ERROR: usage: pytest [options]\npytest: error: unrecognized arguments: --quick\n\
                 \x20 inifile: None\n  rootdir: /x",
                "pytest: error: unrecognized arguments: --quick",
            ),
            (
                "Traceback (most recent call last):\n  File \"b.py\", line 1, in <module>\n    f()\n\
                 ValueError: no rows\n",
                "ValueError: no rows",
            ),
            ("  t.py::a: assert 1 == 2", "t.py::a: assert 1 == 2"),
        ] {
            assert_eq!(telling(said), Some(line));
        }
        assert_eq!(telling("=====\n\n"), None);
    }
}
