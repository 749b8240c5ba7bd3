//! Where a test failed, from the traceback text that pytest puts into its report.

use serde::{Deserialize, Serialize};

/// A place in a traceback.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The file as pytest wrote it: relative to the directory it ran in where it lies below it.
    pub file: String,
    /// 1-based line.
    pub line: u32,
}

/// The frames of a traceback in pytest's `long`, `short` or `native` form, outermost first.
pub fn frames(trace: &str) -> Vec<Frame> {
    trace
        .lines()
        .filter_map(|line| native(line).or_else(|| pytest(line)))
        .collect()
}

/// The frame to show to the author of a test: the innermost one of the test's own file, else the
/// innermost one outside installed packages (an assertion inside `torch.testing` tells little),
/// else the innermost.
pub fn failing_frame<'a>(frames: &'a [Frame], test_file: Option<&str>) -> Option<&'a Frame> {
    let of_test = |frame: &&Frame| test_file.is_some_and(|file| ends_with_path(&frame.file, file));
    let own = |frame: &&Frame| {
        !["site-packages/", "dist-packages/", "/lib/python"]
            .iter()
            .any(|part| frame.file.contains(part))
    };
    let innermost = || frames.iter().rev();
    innermost()
        .find(of_test)
        .or_else(|| innermost().find(own))
        .or_else(|| frames.last())
}

/// Whether `path` is `tail` or ends in it at a directory boundary.
fn ends_with_path(path: &str, tail: &str) -> bool {
    path.strip_suffix(tail)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', '\\']))
}

/// `tests/ops/test_x.py:25: AssertionError`, `tests/ops/test_x.py:25: in test_op` or, in the long
/// form, `tests/ops/test_x.py:25: ` alone.
fn pytest(line: &str) -> Option<Frame> {
    let (file, rest) = line.split_once(".py:")?;
    let (number, rest) = rest.split_once(':')?;
    let after = rest.trim();
    let is_place =
        after.is_empty() || after.starts_with("in ") || !after.contains(char::is_whitespace);
    if file.starts_with(char::is_whitespace) || file.starts_with("E ") || !is_place {
        return None;
    }
    Some(Frame {
        file: format!("{file}.py"),
        line: number.parse().ok()?,
    })
}

/// `  File "tests/ops/test_x.py", line 25, in test_op`.
fn native(line: &str) -> Option<Frame> {
    let rest = line.trim_start().strip_prefix("File \"")?;
    let (file, rest) = rest.split_once("\", line ")?;
    let number = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    Some(Frame {
        file: file.to_owned(),
        line: number.parse().ok()?,
    })
}
