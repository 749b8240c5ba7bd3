//! The command line as a user meets it: output, exit codes, pipes.
#![allow(clippy::unwrap_used, reason = "a step that fails fails its test")]
#![allow(
    clippy::disallowed_methods,
    reason = "the tests are the user who starts the program"
)]

use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const KERNEL: &str = "\
import cuda.tile as ct


@ct.kernel(occupancy=2)
def scale(x, y, BLOCK: ct.Constant[int]):
    ct.store(y, index=(0,), tile=ct.load(x, index=(0,), shape=(BLOCK,)))
";
const LAUNCH: &str = "\
import cuda.tile as ct

from .kernels import scale


def run(x, y):
    ct.launch(None, (1,), scale, (x, y, 128))
";

/// A project with a kernel and its launch in two files.
fn project() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "pyproject.toml", "[project]\nname = \"sample\"\n");
    write(&folder, "pkg/__init__.py", "");
    write(&folder, "pkg/kernels.py", KERNEL);
    write(&folder, "pkg/launch.py", LAUNCH);
    folder
}

fn write(folder: &TempDir, name: &str, text: &str) {
    let path = folder.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tileperf"));
    command.args(args).current_dir(folder).stdin(Stdio::null());
    // The user's own settings are none of these tests' business.
    command
        .env("XDG_CONFIG_HOME", folder)
        .env_remove("TILEPERF_LOG");
    command
}

fn run(folder: &Path, args: &[&str]) -> Output {
    command(folder, args).output().unwrap()
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

fn json_lines(output: &Output) -> Vec<Value> {
    stdout(output)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn help_names_every_command_and_hides_what_is_for_programs() {
    let folder = tempfile::tempdir().unwrap();
    let help = run(folder.path(), &["--help"]);
    assert!(help.status.success());
    for command in ["lsp", "facts", "config", "completions"] {
        assert!(
            stdout(&help).contains(&format!("\n  {command} ")),
            "{command}"
        );
    }
    assert!(!stdout(&help).contains("guard"));
    let version = run(folder.path(), &["--version"]);
    assert_eq!(
        stdout(&version),
        format!("tileperf {}\n", env!("CARGO_PKG_VERSION"))
    );
    // Without arguments, help: on standard error, as it is not what was asked for.
    let nothing = run(folder.path(), &[]);
    assert_eq!(nothing.status.code(), Some(2));
    assert!(stderr(&nothing).contains("Usage: tileperf"));
}

#[test]
fn facts_are_linked_across_the_project_and_named_as_given() {
    let project = project();
    let output = run(
        project.path(),
        &["facts", "pkg/launch.py", "--format", "json"],
    );
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = json_lines(&output);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(lines[0]["schema"], "tileperf.facts/1");
    assert_eq!(lines[0]["path"], "pkg/launch.py");
    assert_eq!(lines[0]["launches"][0]["candidates"][0], "scale");

    let paths = |args: &[&str]| -> Vec<String> {
        let lines = json_lines(&run(project.path(), args));
        lines
            .iter()
            .map(|line| line["path"].as_str().unwrap().to_owned())
            .collect()
    };
    let both = ["pkg/kernels.py", "pkg/launch.py"];
    assert_eq!(paths(&["facts", ".", "--format", "json"]), both);
    assert_eq!(paths(&["facts", "pkg", "--format", "json"]), both);
    // A file named twice is printed once.
    assert_eq!(
        paths(&["facts", "pkg", "pkg/launch.py", "--format", "json"]),
        both
    );
}

#[test]
fn facts_for_people_are_in_the_order_of_lines() {
    let project = project();
    let output = run(project.path(), &["facts", "pkg"]);
    let expected = "\
pkg/kernels.py
     5  kernel scale
        parameters: x, y
        constants: BLOCK
        hints: occupancy=2

pkg/launch.py
     7  launch of scale

";
    assert_eq!(stdout(&output), expected);

    write(&project, "plain.py", "import os\n");
    let output = run(project.path(), &["facts", "plain.py"]);
    assert!(output.status.success() && output.stdout.is_empty());
    assert!(stderr(&output).contains("nothing of cuTile"));
}

#[test]
fn an_ignored_folder_that_is_asked_for_by_name_is_read() {
    let project = project();
    write(&project, ".gitignore", "vendor/\n");
    write(&project, "vendor/kernels.py", KERNEL);
    let all = json_lines(&run(project.path(), &["facts", ".", "--format", "json"]));
    assert_eq!(all.len(), 2);
    for path in ["vendor", "vendor/kernels.py"] {
        let lines = json_lines(&run(project.path(), &["facts", path, "--format", "json"]));
        assert_eq!(lines.len(), 1, "{path}");
        assert_eq!(lines[0]["path"], "vendor/kernels.py");
    }
}

#[test]
fn what_cannot_be_done_is_said_with_exit_code_two() {
    let project = project();
    for args in [
        &["facts", "no-such-file.py"][..],
        &["config", "show", "nowhere"],
    ] {
        let output = run(project.path(), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty());
        assert!(
            stderr(&output).contains("No such file"),
            "{}",
            stderr(&output)
        );
    }
    assert_eq!(
        run(project.path(), &["no-such-command"]).status.code(),
        Some(2)
    );
    let log = run(
        project.path(),
        &["--log-file", "no/such/folder/log", "facts", "."],
    );
    assert_eq!(log.status.code(), Some(2));
    assert!(stderr(&log).contains("log file"));
}

#[test]
fn settings_are_shown_with_their_origin_and_mistakes_are_named() {
    let project = project();
    write(&project, "tileperf.toml", "[hover]\nenable = false\n");
    let output = run(
        project.path(),
        &["config", "show", "--config", "archs=sm_90"],
    );
    assert!(output.status.success(), "{}", stderr(&output));
    let line = |key: &str| {
        stdout(&output)
            .lines()
            .find(|line| line.starts_with(key))
            .unwrap()
    };
    assert!(line("hover.enable = false").ends_with("# tileperf.toml:2"));
    assert!(line("archs = [\"sm_90\"]").ends_with("# command line"));
    assert!(line("code-lens.enable = true").ends_with("# default"));

    // From a file deep inside, the same project.
    let output = run(
        project.path(),
        &["config", "show", "pkg/launch.py", "--format", "json"],
    );
    let hover = json_lines(&output)
        .into_iter()
        .find(|row| row["key"] == "hover.enable")
        .unwrap();
    assert_eq!(
        (&hover["value"], &hover["origin"]),
        (&"false".into(), &"tileperf.toml:2".into())
    );

    let output = run(
        project.path(),
        &["config", "show", "--config", "hover.enabel=true"],
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("did you mean `hover.enable`?"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_reader_that_stops_early_ends_the_program_quietly() {
    let project = project();
    let mut large = String::new();
    for n in 0..2000 {
        large.push_str(&KERNEL.replace("scale", &format!("kernel_with_a_long_name_{n}")));
    }
    write(&project, "large.py", &large);
    for args in [
        &["facts", "large.py"][..],
        &["facts", "large.py", "--format", "json"],
    ] {
        let mut child = command(project.path(), args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 8];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        // The pipe is closed by now, with most of the output still to come.
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{:?}", output.status);
        assert_eq!(stderr(&output), "");
    }
}

#[test]
fn completions_exist_for_the_common_shells() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let output = run(folder.path(), &["completions", shell]);
        assert!(output.status.success());
        assert!(stdout(&output).contains("facts"), "{shell}");
    }
}

#[test]
fn the_guard_of_children_is_this_program() {
    let folder = tempfile::tempdir().unwrap();
    // Without orders it fails by its own code and words, not those of an unknown command.
    let output = run(folder.path(), &["guard"]);
    assert_eq!(output.status.code(), Some(125), "{}", stderr(&output));
    assert!(stderr(&output).contains("tileperf guard"));
}

#[test]
fn no_escape_sequences_reach_a_pipe() {
    let project = project();
    for args in [
        &["--help"][..],
        &["facts", "."],
        &["no-such-command"],
        &["config", "show"],
    ] {
        let output = run(project.path(), args);
        assert!(
            !output.stdout.contains(&0x1b) && !output.stderr.contains(&0x1b),
            "{args:?}"
        );
    }
}
