//! `tileperf compile`.

use std::process::{Command, Output};

use serde_json::Value;
use tileperf_tests::process::server_binary;
use tileperf_tests::project::Project;

use super::{HELPERS, KERNELS, project, python};

pub(super) fn compile(project: &Project, args: &[&str]) -> Output {
    tileperf(project, &[&["compile"], args].concat())
}

/// Runs a command in a project, with caches of its own in the project's folder.
pub(super) fn tileperf(project: &Project, args: &[&str]) -> Output {
    let mut command = Command::new(server_binary());
    command.args(args);
    command.current_dir(project.folder());
    command.env("TILEPERF_CACHE", project.folder().join(".cache"));
    command.env("CUDA_TILE_CACHE_DIR", project.folder().join(".cutile"));
    if let Some(python) = python() {
        command.arg("--config");
        command.arg(format!("python.path={}", python.display()));
    }
    command.output().expect("the program starts")
}

pub(super) fn rows(output: &Output) -> Vec<Value> {
    let text = String::from_utf8_lossy(&output.stdout);
    let rows = text.lines().map(serde_json::from_str);
    rows.collect::<Result<_, _>>().expect("JSON lines")
}

#[test]
fn kernels_are_compiled_for_each_architecture() {
    if python().is_none() {
        return;
    }
    let project = project();
    let args = [
        "pkg",
        "--trust",
        "--arch",
        "sm_80,sm_90",
        "--format",
        "json",
    ];
    let output = compile(&project, &args);
    assert!(output.status.success(), "{output:?}");
    let rows = rows(&output);
    let what = rows
        .iter()
        .map(|r| (r["kernel"].as_str(), r["arch"].as_str(), r["line"].as_u64()));
    let (scale, gemm) = (Some("scale"), Some("gemm"));
    let (old, new) = (Some("sm_80"), Some("sm_90"));
    let expected = [
        (scale, old, Some(10)),
        (scale, new, Some(10)),
        (gemm, old, Some(17)),
        (gemm, new, Some(17)),
    ];
    assert!(what.eq(expected), "{rows:#?}");
    for row in &rows {
        assert_eq!(row["path"], "pkg/kernels.py");
        assert!(row["registers"].as_u64().unwrap() > 0 && row["error"].is_null());
        assert_eq!(row["code_hash"].as_str().unwrap().len(), 32);
    }
    // The launch has said which constant.
    assert_eq!(rows[3]["origin"], "literals");
    assert_eq!(
        rows[3]["signature"],
        "a: float16[2], b: float16[2], c: float16[2], T: 64"
    );
    let remarks = rows[3]["remarks"].as_array().unwrap();
    let mma = remarks
        .iter()
        .find(|remark| remark["kind"] == "tensor_core")
        .unwrap();
    assert_eq!(
        (mma["line"].as_u64(), mma["column"].as_u64()),
        (Some(21), Some(17))
    );
    // The load in the helper's file, and the one behind a letter of two bytes.
    let remarks = rows[1]["remarks"].as_array().unwrap();
    let there = remarks
        .iter()
        .find(|remark| remark["path"].is_string())
        .unwrap();
    assert!(there["path"].as_str().unwrap().ends_with("pkg/helpers.py"));
    assert_eq!(there["reasons"][0], "TMA only supports zero padding");
    assert!(
        remarks.iter().any(|r| r["line"] == 12 && r["column"] == 9),
        "{remarks:#?}"
    );
    // Nothing but the kernels was run.
    assert!(!project.folder().join("mark").exists());
    // Again, from what is kept.
    let again = self::rows(&compile(&project, &args));
    for (row, before) in again.iter().zip(&rows) {
        assert_eq!(row["code_hash"], before["code_hash"]);
        assert_eq!(row["remarks"], before["remarks"]);
    }
}

#[test]
fn what_does_not_compile_says_where() {
    if python().is_none() {
        return;
    }
    let project = project();
    project.write(
        "pkg/kernels.py",
        KERNELS.replace("ct.load(b, (k, j)", "ct.load(b, (k, j, 0)"),
    );
    let output = compile(
        &project,
        &["pkg", "--trust", "--kernel", "gemm", "--format", "json"],
    );
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let rows = rows(&output);
    assert_eq!(rows.len(), 1);
    let error = &rows[0]["error"];
    assert_eq!(error["line"], 21);
    assert!(
        error["message"].as_str().unwrap().contains("rank"),
        "{error}"
    );
    let output = compile(&project, &["pkg", "--trust", "--kernel", "gemm"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("gemm on sm_90: does not compile\n    21:"),
        "{text}"
    );
}

#[test]
fn an_error_in_a_helper_names_the_functions_that_lead_there() {
    if python().is_none() {
        return;
    }
    let project = project();
    project.write("pkg/helpers.py", HELPERS.replace("(16, n)", "(16, n, 1)"));
    let output = compile(&project, &["pkg", "--trust", "--kernel", "scale"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    let chain: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("      in "))
        .collect();
    let names: Vec<&str> = chain
        .iter()
        .filter_map(|line| line.split([' ', ',']).nth(7))
        .collect();
    assert_eq!(names, ["row", "scale"], "{text}");
}

#[test]
fn without_trust_nothing_is_compiled() {
    let project = project();
    let output = compile(&project, &["pkg"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("--trust"), "{said}");
    assert!(output.stdout.is_empty());
}

#[test]
fn without_a_compiler_it_is_said_what_to_do() {
    let project = project();
    let bin = project.write(".venv/bin/python", "#!/bin/sh\nexit 9\n");
    let mut command = Command::new(server_binary());
    command.args(["compile", "pkg", "--trust", "--config"]);
    command.arg(format!("python.path={}", bin.display()));
    command.env("TILEPERF_CACHE", project.folder().join(".cache"));
    let output = command
        .current_dir(project.folder())
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("tileperf toolchain install"), "{said}");
    let output = compile(&project, &["pkg", "--trust", "--kernel", "nobody"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_switch_of_cutile_makes_another_program_and_it_is_said() {
    let Some(python) = python() else { return };
    // Reads what it has written: the order between the two is all that there is to leave out.
    let kernel = "\
import cuda.tile as ct


@ct.kernel
def shift(x, n: int):
    for i in range(n):
        ct.store(x, (i + 1,), ct.load(x, (i,), (128,)) * 2)
";
    let project = Project::empty();
    project.write("shift.py", kernel);
    let hash = |switch: Option<&str>| {
        let mut command = Command::new(server_binary());
        command
            .args([
                "compile", "shift.py", "--trust", "--format", "json", "--arch", "sm_90",
            ])
            .args(["--config", &format!("python.path={}", python.display())])
            .current_dir(project.folder())
            .env("TILEPERF_CACHE", project.folder().join(".cache"))
            .env("CUDA_TILE_CACHE_DIR", project.folder().join(".cutile"))
            .envs(switch.map(|value| ("CUDA_TILE_TESTING_DISABLE_TOKEN_ORDER", value)));
        let output = command.output().expect("the program starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (rows(&output)[0]["code_hash"].clone(), said)
    };
    let (plain, said) = hash(None);
    assert!(plain.is_string() && !said.contains("TOKEN_ORDER"), "{said}");
    let (other, said) = hash(Some("1"));
    assert!(other.is_string() && other != plain, "{other}");
    assert!(
        said.contains("without the order between memory operations"),
        "{said}"
    );
    let (off, said) = hash(Some("0"));
    assert!(off == plain && !said.contains("TOKEN_ORDER"), "{said}");
}

#[test]
fn a_revision_is_compared_with_what_kernels_call_elsewhere() {
    if python().is_none() {
        return;
    }
    let project = project();
    let git = |args: &[&str]| {
        let author = ["-c", "user.name=a", "-c", "user.email=a@b"];
        let mut command = Command::new("git");
        command
            .args(author)
            .args(args)
            .current_dir(project.folder());
        let done = command.output().expect("git");
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "--quiet"]);
    git(&["add", "pkg"]);
    git(&["commit", "--quiet", "--message", "a"]);
    let against = |paths: &str| {
        let args = [paths, "--trust", "--arch", "sm_90", "--against", "HEAD"];
        let output = compile(&project, &args);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert_eq!(against("pkg"), "no kernel differs from HEAD\n");
    let other = HELPERS.replace("NEG_INF", "ZERO");
    for (helpers, said) in [
        (other.clone(), "scale on sm_90: "),
        (
            HELPERS.replace("    return", "    unused = n\n    return"),
            "scale on sm_90: the same machine code",
        ),
    ] {
        project.write("pkg/helpers.py", &helpers);
        // The kernel's file, which has not changed, its helper's, and both.
        for paths in ["pkg/kernels.py", "pkg/helpers.py", "pkg"] {
            let shown = against(paths);
            assert!(
                shown.starts_with(said) && shown.lines().count() == 1,
                "{paths}: {shown}"
            );
            assert_eq!(
                shown.contains("the same machine"),
                helpers != other,
                "{shown}"
            );
        }
    }
    // What changes elsewhere is no answer to a question about a file.
    project.write("pkg/other.py", "import cuda.tile as ct\n\n\n@ct.kernel\ndef k(x):\n    ct.store(x, (0,), ct.load(x, (0,), (16,)))\n");
    assert_eq!(against("pkg/other.py"), "no kernel differs from HEAD\n");
}
