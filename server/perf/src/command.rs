//! Commands as argument lists with placeholders. No shell ever sees them.

use std::path::Path;

use crate::error::Error;
use crate::plan::Plan;

/// The placeholders and what they stand for, for documentation and messages.
pub const PLACEHOLDERS: [(&str, &str); 7] = [
    ("{python}", "the project's interpreter"),
    ("{root}", "the root of the tree under test"),
    ("{file}", "the kernel's file, relative to the root"),
    ("{kernel}", "the kernel's name"),
    (
        "{op}",
        "the op that the kernel implements; its name where it is registered for none",
    ),
    ("{test_file}", "the op's test file, relative to the root"),
    ("{junit}", "the JUnit file to write"),
];

/// TileGym's correctness tests: `test_op` alone would leave some out.
pub fn default_correctness() -> Vec<String> {
    [
        "{python}",
        "-m",
        "pytest",
        "{test_file}",
        "-k",
        "test_ and cutile and not test_perf",
        "-v",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// pytest on the test file; `select` chooses tests by name, all of them if it is empty.
pub fn pytest(select: &str) -> Vec<String> {
    let mut command: Vec<String> = ["{python}", "-m", "pytest", "{test_file}", "-v"]
        .map(str::to_owned)
        .to_vec();
    if !select.is_empty() {
        command.extend(["-k".to_owned(), select.to_owned()]);
    }
    command
}

/// A benchmark made of a correctness command of pytest: the injected `tileperf_bench` times the
/// launches of its tests.
pub fn timed_tests(correctness: &[String]) -> Vec<String> {
    let mut command = correctness.to_vec();
    command.extend(["-p".to_owned(), "tileperf_bench".to_owned()]);
    command
}

/// TileGym's benchmarks. `--print-record` is an option of its `conftest.py`.
pub fn default_benchmark(prints_record: bool) -> Vec<String> {
    let mut command: Vec<String> = [
        "{python}",
        "-m",
        "pytest",
        "{test_file}",
        "-k",
        "test_perf and cutile",
        "-v",
    ]
    .map(str::to_owned)
    .to_vec();
    if prints_record {
        command.push("--print-record".to_owned());
    }
    command
}

/// Fills in a command. `what` names it in messages; a pytest that is not told to write a JUnit file
/// is told so.
///
/// # Errors
/// [`Error::Command`] for an empty command, an unknown placeholder or one that stands for nothing
/// here.
pub fn fill(
    what: &'static str,
    command: &[String],
    plan: &Plan,
    root: &Path,
    junit: &Path,
) -> Result<Vec<String>, Error> {
    let wrong = |why: String| Error::Command { what, why };
    if command.first().is_none_or(String::is_empty) {
        return Err(wrong("is empty".to_owned()));
    }
    let mut out = Vec::with_capacity(command.len() + 4);
    for argument in command {
        let mut text = argument.clone();
        for (placeholder, _) in PLACEHOLDERS {
            if !text.contains(placeholder) {
                continue;
            }
            let value = match placeholder {
                "{python}" => plan.python.to_string_lossy().into_owned(),
                "{root}" => root.to_string_lossy().into_owned(),
                "{file}" => plan.file.to_string_lossy().into_owned(),
                "{kernel}" => plan.kernel.to_string(),
                "{op}" => plan.op.as_ref().unwrap_or(&plan.kernel).to_string(),
                "{junit}" => junit.to_string_lossy().into_owned(),
                _ => match &plan.test_file {
                    Some(file) => file.to_string_lossy().into_owned(),
                    None => {
                        return Err(wrong(format!(
                            "needs a test file and none was found for {}; name one in \
                             perf.kernels.{}.test-file, or another command in perf.{what}",
                            plan.kernel, plan.kernel
                        )));
                    }
                },
            };
            text = text.replace(placeholder, &value);
        }
        if let Some(unknown) = unknown_placeholder(argument) {
            let known: Vec<&str> = PLACEHOLDERS.iter().map(|(name, _)| *name).collect();
            return Err(wrong(format!(
                "has the unknown placeholder {unknown}; there are {}",
                known.join(", ")
            )));
        }
        out.push(text);
    }
    if is_pytest(&out) && !out.iter().any(|a| a.starts_with("--junit")) {
        out.push("-o".to_owned());
        out.push("junit_family=xunit1".to_owned());
        out.push(format!("--junitxml={}", junit.display()));
    }
    Ok(out)
}

/// A whole argument that looks like a placeholder and is none of ours: a typing mistake. Braces
/// within other text are left alone.
fn unknown_placeholder(argument: &str) -> Option<&str> {
    let word = argument.strip_prefix('{')?.strip_suffix('}')?;
    let is_word = !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    let known = PLACEHOLDERS.iter().any(|(name, _)| *name == argument);
    (is_word && !known).then_some(argument)
}

/// Whether a filled-in command runs pytest, so that its JUnit file is read and its items repeated.
pub fn is_pytest(command: &[String]) -> bool {
    let named = |program: &str| {
        let name = Path::new(program).file_name();
        name.is_some_and(|n| n == "pytest" || n == "py.test")
    };
    command.first().is_some_and(|program| named(program))
        || command
            .windows(2)
            .any(|pair| pair[0] == "-m" && pair[1] == "pytest")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::plan::tests::plan;

    fn filled(command: &[&str]) -> Result<Vec<String>, String> {
        let command: Vec<String> = command.iter().map(|s| (*s).to_owned()).collect();
        let (root, junit) = (PathBuf::from("/tree"), PathBuf::from("/out/j.xml"));
        fill("benchmark", &command, &plan(), &root, &junit).map_err(|e| e.to_string())
    }

    #[test]
    fn placeholders_are_filled_and_pytest_writes_a_report() {
        let out = filled(&[
            "{python}",
            "-m",
            "pytest",
            "{test_file}::{kernel}",
            "-k",
            "{op} and {x y}",
        ]);
        let want = [
            "/venv/bin/python",
            "-m",
            "pytest",
            "tests/ops/test_scale.py::scale_kernel",
            "-k",
            "scale and {x y}",
            "-o",
            "junit_family=xunit1",
            "--junitxml=/out/j.xml",
        ];
        assert_eq!(out.unwrap(), want);
        let own = filled(&["/bin/pytest", "--junitxml={junit}"]).unwrap();
        assert_eq!(own, ["/bin/pytest", "--junitxml=/out/j.xml"]);
        let other = filled(&["make", "bench", "ROOT={root}", "{'a': 1}"]).unwrap();
        assert_eq!(other, ["make", "bench", "ROOT=/tree", "{'a': 1}"]);
    }

    #[test]
    fn mistakes_are_said() {
        assert!(filled(&[]).unwrap_err().contains("is empty"));
        let error = filled(&["x", "{tset_file}"]).unwrap_err();
        assert!(
            error.contains("{tset_file}") && error.contains("{test_file}"),
            "{error}"
        );
        let mut plan = plan();
        plan.test_file = None;
        let error = fill(
            "correctness",
            &default_correctness(),
            &plan,
            Path::new("/"),
            Path::new("/j"),
        );
        assert!(error.unwrap_err().to_string().contains(".test-file"));
    }
}
