//! `tileperf actions`, `apply` and `explain`.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tileperf_tests::process::server_binary;
use tileperf_tests::project::Project;

use super::{KERNELS, project, python};

pub(crate) fn tileperf(project: &Project, args: &[&str]) -> Output {
    let mut command = Command::new(server_binary());
    command.args(args).current_dir(project.folder());
    command.env("TILEPERF_CACHE", project.folder().join(".cache"));
    command.env("NO_COLOR", "1");
    command.output().expect("the program runs")
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

pub(crate) fn rows(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{output:?}");
    let text = text(&output.stdout);
    let rows = text.lines().map(serde_json::from_str);
    rows.collect::<Result<_, _>>().expect("JSON lines")
}

/// The rows of a path's actions, each tried on the compiler for sm_90.
pub(crate) fn compiled(project: &Project, python: &Path, path: &str) -> Vec<Value> {
    let setting = format!("python.path={}", python.display());
    let mut args = vec!["actions", path, "--compile", "--trust", "--arch", "sm_90"];
    args.extend(["--format", "json", "--config", &setting]);
    rows(&tileperf(project, &args))
}

/// Kernel, optimization and variant of each row.
fn names(rows: &[Value]) -> Vec<String> {
    let word = |row: &Value, key: &str| row[key].as_str().expect("a text").to_owned();
    let name = |row: &Value| {
        let parts = ["kernel", "id", "variant"].map(|key| word(row, key));
        parts.join(" ").trim_end().to_owned()
    };
    rows.iter().map(name).collect()
}

#[test]
fn what_there_is_to_try_is_listed_by_what_bounds_the_kernel() {
    let project = project();
    let listed = rows(&tileperf(&project, &["actions", "pkg", "--format", "json"]));
    assert_eq!(
        names(&listed),
        [
            "product D",
            "product F",
            "share F",
            "share E latency=1",
            "share E latency=2",
            "share E latency=3",
            "share E latency=6",
            "share E latency=10",
            "share E stores latency=1",
            "share E stores latency=2",
            "share E stores latency=3",
            "share E stores latency=6",
            "share E stores latency=10",
        ]
    );
    assert_eq!(listed[0]["schema"], "tileperf.actions/1");
    assert_eq!(listed[0]["numerics"], "different");
    assert_eq!(listed[0]["line"], 5);
    assert!(listed[0]["proof"].is_null());
    let output = tileperf(&project, &["actions", "pkg", "--kernel", "share"]);
    let shown = text(&output.stdout);
    assert!(
        shown.starts_with("pkg/kernels.py:14 share (reduction)\n"),
        "{shown}"
    );
    assert!(!shown.contains("product"), "{shown}");
}

#[test]
fn a_change_leaves_the_rest_of_the_file_alone() {
    for (args, wanted) in [
        (
            vec!["apply", "D", "pkg/kernels.py:product"],
            KERNELS.replace(
                "ct.mma(x, y, ",
                "ct.mma(ct.astype(x, ct.tfloat32), ct.astype(y, ct.tfloat32), ",
            ),
        ),
        (
            vec!["apply", "no-tma-stores", "pkg/kernels.py:share"],
            KERNELS.replace(
                "keepdims=True),\n",
                "keepdims=True),\n            allow_tma=False,\n",
            ),
        ),
        (
            vec![
                "apply",
                "e",
                "pkg/kernels.py:share",
                "--variant",
                "latency=6",
            ],
            KERNELS.replace("(16, TILE))", "(16, TILE), latency=6)"),
        ),
    ] {
        for (before, wanted) in [
            (KERNELS.to_owned(), wanted.clone()),
            (KERNELS.replace('\n', "\r\n"), wanted.replace('\n', "\r\n")),
        ] {
            let project = Project::empty();
            let path = project.write("pkg/kernels.py", &before);
            let mut diff = args.clone();
            diff.push("--diff");
            let output = tileperf(&project, &diff);
            assert!(output.status.success(), "{output:?}");
            assert!(text(&output.stdout).starts_with("--- pkg/kernels.py"));
            let read = || std::fs::read_to_string(&path).expect("the file is there");
            assert_eq!(read(), before, "--diff changes nothing");
            let output = tileperf(&project, &args);
            assert!(output.status.success(), "{output:?}");
            assert_eq!(read(), wanted);
            // Done is done.
            let again = tileperf(&project, &args);
            assert_eq!(again.status.code(), Some(2), "{again:?}");
            assert_eq!(read(), wanted);
        }
    }
}

#[test]
fn what_cannot_be_done_is_said_and_changes_nothing() {
    let project = project();
    for (args, said) in [
        (
            ["apply", "Z", "pkg/kernels.py:share"],
            "no optimization is called Z",
        ),
        (
            ["apply", "F", "pkg/kernels.py"],
            "has several kernels: product, share",
        ),
        (
            ["apply", "F", "pkg/kernels.py:none"],
            "has no kernel none; it has product, share",
        ),
        (
            ["apply", "D", "pkg/kernels.py:share"],
            "does not apply to share",
        ),
        (
            ["apply", "E", "pkg/kernels.py:share"],
            "give --variant, one of latency=1",
        ),
        (
            ["apply", "F", "pkg/gone.py:share"],
            "cannot read pkg/gone.py",
        ),
        (
            ["actions", "pkg", "--kernel=none"],
            "no kernel called none found",
        ),
        (["actions", "pkg", "--compile"], "say --trust"),
    ] {
        let output = tileperf(&project, &args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
        let error = text(&output.stderr);
        assert!(error.contains(said), "{args:?}: {error}");
    }
    let output = tileperf(
        &project,
        &[
            "apply",
            "E",
            "pkg/kernels.py:share",
            "--variant",
            "latency=4",
        ],
    );
    assert!(
        text(&output.stderr).contains("has no variant latency=4"),
        "{output:?}"
    );
    let now = std::fs::read_to_string(project.folder().join("pkg/kernels.py"));
    assert_eq!(now.expect("the file is there"), KERNELS);
}

#[test]
fn optimizations_are_explained() {
    let project = project();
    for name in ["D", "d", "tfloat32-operands"] {
        let output = tileperf(&project, &["explain", name]);
        let shown = text(&output.stdout);
        assert!(
            shown.starts_with("D tfloat32-operands (precision)"),
            "{shown}"
        );
        assert!(
            shown.contains("Results differ in the last bits."),
            "{shown}"
        );
    }
    let listed = text(&tileperf(&project, &["explain"]).stdout);
    assert!(listed.contains("E     latency-hints"), "{listed}");
}

#[test]
fn the_compiler_tells_what_an_action_changes() {
    let Some(python) = python() else { return };
    let project = project();
    let rows = compiled(&project, &python, "pkg");
    let proof = |name: &str| {
        let at = names(&rows).iter().position(|n| n == name);
        &rows[at.expect("it is listed")]["proof"]
    };
    let product = proof("product D");
    assert_eq!(product["state"], "proven", "{product}");
    assert_eq!(product["arch"], "sm_90");
    let words = product["words"].to_string();
    assert!(
        words.contains("FMA instead of tensor core: 0, was 1"),
        "{words}"
    );
    assert_eq!(proof("share F")["state"], "proven");
    let states: Vec<&str> = rows
        .iter()
        .filter_map(|r| r["proof"]["state"].as_str())
        .collect();
    // Among five latencies some are the compiler's own choice.
    assert!(states.contains(&"refuted"), "{states:?}");
    assert!(!states.contains(&"unknown"), "{states:?}");
}
