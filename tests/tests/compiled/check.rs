//! `tileperf check --compile`.

use std::process::Output;

use serde_json::Value;
use tileperf_tests::project::Project;

use super::command::{rows, tileperf};
use super::python;

/// Rows are read with a padding that TMA cannot make, twice; and two shapes that do not go together
/// meet in a helper, which only the compiler sees.
const WRONG: &str = "\
import cuda.tile as ct


@ct.kernel
def k(x, y):
    row = ct.bid(0)
    top = ct.full((1, 64), -1.0, dtype=ct.float32)
    for i in range(ct.num_tiles(x, 1, (1, 64))):
        a = ct.load(x, (row, i), (1, 64), padding_mode=ct.PaddingMode.NEG_INF)
        top = ct.maximum(top, ct.astype(a, ct.float32))
    for i in range(ct.num_tiles(x, 1, (1, 64))):
        a = ct.load(x, (row, i), (1, 64), padding_mode=ct.PaddingMode.NEG_INF)
        ct.store(y, (row, i), ct.astype(ct.astype(a, ct.float32) - top, y.dtype))


def widened(tile):
    return tile + ct.zeros((1, 48 - 16), ct.float32)


@ct.kernel
def wide(x, out):
    row = ct.bid(0)
    tile = ct.load(x, index=(row, 0), shape=(1, 64))
    ct.store(out, index=(row, 0), tile=widened(ct.astype(tile, ct.float32)))
";

fn check(project: &Project, args: &[&str]) -> Output {
    let shown = ["check", "wrong.py", "--format", "json"];
    tileperf(project, &[&shown, args].concat())
}

fn of<'r>(rows: &'r [Value], code: &str) -> Vec<&'r str> {
    let of_code = rows.iter().filter(|row| row["code"] == code);
    of_code.filter_map(|row| row["message"].as_str()).collect()
}

#[test]
fn findings_are_held_against_compiled_code() {
    if python().is_none() {
        return;
    }
    let project = Project::empty();
    project.write("wrong.py", WRONG);
    let plain = rows(&check(&project, &[]));
    assert!(of(&plain, "TP501").is_empty());
    assert!(
        !of(&plain, "TP406")
            .iter()
            .any(|message| message.contains("compiled for"))
    );

    let output = check(&project, &["--compile", "--trust"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let judged = rows(&output);
    let confirmed = of(&judged, "TP406");
    assert!(
        confirmed
            .iter()
            .any(|message| message.contains("(compiled for sm_90")),
        "{judged:#?}"
    );
    let errors = of(&judged, "TP501");
    assert!(
        errors.len() == 1 && errors[0].contains("not broadcastable"),
        "{judged:#?}"
    );
    let error = judged.iter().find(|row| row["code"] == "TP501").unwrap();
    assert_eq!(error["line"], 17, "{error}");
    // For other architectures.
    let output = check(&project, &["--compile", "--trust", "--arch", "sm_100"]);
    let confirmed = rows(&output);
    let confirmed = of(&confirmed, "TP406");
    assert!(
        confirmed.iter().any(|m| m.contains("(compiled for sm_100")),
        "{confirmed:?}"
    );
}

#[test]
fn without_trust_nothing_is_judged() {
    let project = Project::empty();
    project.write("wrong.py", WRONG);
    let output = check(&project, &["--compile"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("--trust"), "{said}");
    // Trust is for compiling alone.
    assert_eq!(check(&project, &["--trust"]).status.code(), Some(2));
}
