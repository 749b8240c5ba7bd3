//! `tileperf lock`.

use std::process::Output;

use serde_json::Value;
use tileperf_tests::project::Project;

use super::command::{rows, tileperf};
use super::{KERNELS, project, python};

fn lock(project: &Project, args: &[&str]) -> Output {
    tileperf(project, &[&["lock"], args].concat())
}

fn verdicts(project: &Project) -> (Vec<(String, String, String)>, Output) {
    let output = lock(project, &["check", "--trust", "--format", "json"]);
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let found = rows(&output);
    let found = found.iter().map(|row| {
        let words = row["words"].to_string();
        (text(row, "kernel"), text(row, "verdict"), words)
    });
    (found.collect(), output)
}

#[test]
fn what_gets_worse_is_told_from_what_gets_better() {
    if python().is_none() {
        return;
    }
    let project = project();
    let output = lock(&project, &["check", "--trust"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("`tileperf lock write` makes one"), "{said}");

    let output = lock(&project, &["write", "--trust"]);
    assert!(output.status.success(), "{output:?}");
    let written = std::fs::read_to_string(project.folder().join("tileperf.lock")).unwrap();
    for line in [
        "file = \"pkg/kernels.py\"",
        "name = \"gemm\"",
        "arch = \"sm_90\"",
        "signature = \"a: float16[2], b: float16[2], c: float16[2], T: 64\"",
        "symbol = \"gemm_K",
        "stack = 0",
        "SM90 = 1",
    ] {
        assert!(written.contains(line), "{line} in\n{written}");
    }
    // Nothing of this machine is in it.
    let folder = project.folder().to_string_lossy().into_owned();
    assert!(!written.contains(&folder), "{written}");
    let (found, output) = verdicts(&project);
    let all: Vec<_> = found
        .iter()
        .map(|(k, v, _)| (k.as_str(), v.as_str()))
        .collect();
    assert_eq!(all, [("gemm", "same"), ("scale", "same")]);
    assert!(output.status.success());

    // Where the multiplication is written out, there is nothing for tensor cores. What the launch
    // passes by now does not count: it is compiled as it was.
    let slow = KERNELS
        .replace(
            "total = ct.mma(ct.load(a, (i, k), (T, T)), ct.load(b, (k, j), (T, T)), total)",
            "total = total + ct.load(a, (i, k), (T, T)) * ct.load(b, (k, j), (T, T))",
        )
        .replace("(a, b, c, 64)", "(a, b, c, 32)");
    assert_ne!(slow, KERNELS);
    project.write("pkg/kernels.py", &slow);
    let (found, output) = verdicts(&project);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let worse = found.iter().find(|(kernel, ..)| kernel == "gemm").unwrap();
    assert_eq!(worse.1, "worse");
    assert!(worse.2.contains("tensor cores for 0 of"), "{}", worse.2);
    let text = lock(&project, &["check", "--trust"]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(
        text.starts_with("worse: pkg/kernels.py gemm on sm_90: "),
        "{text}"
    );

    // The other way round it is a gain.
    let spilling = written.replace("stack = 0", "stack = 8");
    project.write("tileperf.lock", spilling);
    project.write("pkg/kernels.py", KERNELS);
    let (found, output) = verdicts(&project);
    assert!(output.status.success(), "{output:?}");
    for (_, verdict, words) in &found {
        assert_eq!(verdict, "better");
        assert!(words.contains("0 bytes of stack, was 8"), "{words}");
    }
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("`tileperf lock write` brings"), "{said}");
}

#[test]
fn what_cannot_be_compared_is_said() {
    if python().is_none() {
        return;
    }
    let project = project();
    assert!(lock(&project, &["write", "--trust"]).status.success());
    let other = KERNELS
        .replace(
            "def scale(x, y, N: ct.Constant[int]):",
            "def scale(x, y, n, N: ct.Constant[int]):",
        )
        .replace("gemm", "product");
    project.write("pkg/kernels.py", &other);
    let (found, output) = verdicts(&project);
    assert!(output.status.success(), "{output:?}");
    let all: Vec<_> = found
        .iter()
        .map(|(k, v, _)| (k.as_str(), v.as_str()))
        .collect();
    assert_eq!(all, [("gemm", "unknown"), ("scale", "unknown")]);
    assert!(found[0].2.contains("no such kernel"), "{}", found[0].2);
    assert!(found[1].2.contains("parameters"), "{}", found[1].2);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("product is not in the lock file"), "{said}");
    // What does not compile any more is worse.
    project.write(
        "pkg/kernels.py",
        KERNELS.replace("ct.load(b, (k, j)", "ct.load(b, (k, j, 0)"),
    );
    let (found, output) = verdicts(&project);
    assert_eq!(output.status.code(), Some(1));
    assert!(found[0].2.contains("no longer compiles"), "{}", found[0].2);
}

#[test]
fn without_trust_nothing_is_locked() {
    let project = project();
    for verb in ["write", "check"] {
        let output = lock(&project, &[verb]);
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("--trust"), "{said}");
    }
    assert!(!project.folder().join("tileperf.lock").exists());
}
