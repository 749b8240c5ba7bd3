//! Searches that sessions recorded: what none of them found good may be dropped from the space, as long
//! as the code is what was searched.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tileperf_tests::project::Project;

use super::command::{rows, tileperf};

const FILE: &str = "pkg/scale.py";
const SCALE: &str = "\
from types import SimpleNamespace

import cuda.tile as ct
import torch
from cuda.tile.tune import exhaustive_search


@ct.kernel
def scale(x, y, BLOCK: ct.Constant[int]):
    ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (BLOCK,)) * 2)


def configs():
    if torch.cuda.get_device_capability()[0] == 9:
        for block, occupancy in (
            (1024, 2),
            (1024, 4),
            (2048, 2),  # for long rows
            (2048, 4),
        ):
            yield SimpleNamespace(block=block, occupancy=occupancy)
        return
    yield SimpleNamespace(block=1024, occupancy=1)


def tune(x, y, stream, grid_fn, args_fn, hints_fn):
    return exhaustive_search(list(configs()), stream, grid_fn, scale, args_fn, hints_fn)
";

/// A search of `scale`, with what each configuration took.
fn search(rows: u64, took: &[(u64, u64, f64)]) -> Value {
    let one = |(block, occupancy, us): &(u64, u64, f64)| json!({"config": {"block": block, "occupancy": occupancy}, "mean_us": us, "error_us": 0.01});
    let candidates: Vec<Value> = took.iter().map(one).collect();
    json!({
        "event": "search", "api": "exhaustive_search", "kernel": "scale", "qualname": "scale",
        // Where the base was measured, beside the tree.
        "file": "/elsewhere/base/pkg/scale.py", "line": 8,
        "args": [
            {"name": "x", "shape": [rows], "dtype": "float16", "strides": [1], "align": 16},
            {"name": "BLOCK", "constant": 1024},
        ],
        "best": candidates[0], "candidates": candidates, "failures": 0, "pid": 7,
    })
}

/// A session on `scale` whose baseline ran on a card, without its records.
fn session(project: &Project, name: &str, arch: &str) -> String {
    let hash: String = Sha256::digest(SCALE)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let files = json!([{"path": FILE, "hash": hash}]);
    let events = [
        json!({
            "schema": 1, "seq": 0, "at": "2026-11-30T10:00:00Z", "event": "set_up", "session": name,
            "root": project.folder(), "git": null, "found": files, "base": files,
            "plan": {
                "kernel": "scale", "file": FILE, "op": null, "files": [FILE], "test_file": null,
                "correctness": ["{python}"], "benchmark": ["{python}"], "python": "python3",
                "place": "auto", "repeat": true, "record": true, "limit": 600, "device": "gpu",
            },
        }),
        json!({
            "schema": 1, "seq": 1, "at": "2026-11-30T10:00:01Z", "event": "run_started", "run": 0,
            "kind": "baseline", "iteration": 0, "pid": 7, "host": "elsewhere", "tried": null,
            "device": {"id": "gpu", "name": "A card", "arch": arch}, "limit": 600, "tileperf": "0",
        }),
    ];
    let folder = format!("sandbox/tileperf/{name}");
    let lines: String = events.iter().map(|event| format!("{event}\n")).collect();
    project.write(&format!("{folder}/journal.jsonl"), lines);
    format!("{folder}/runs/000")
}

/// A record of these searches.
fn record(project: &Project, path: &str, searches: &[Value]) {
    let lines: String = searches
        .iter()
        .map(|search| format!("{search}\n"))
        .collect();
    project.write(path, format!("{lines}{{\"event\":\"sear"));
}

fn shrinks(project: &Project) -> Vec<String> {
    let listed = rows(&tileperf(project, &["actions", FILE, "--format", "json"]));
    let title = |row: &Value| row["title"].as_str().expect("a title").to_owned();
    let own = |row: &&Value| {
        row["variant"]
            .as_str()
            .is_some_and(|v| v.starts_with("shrink="))
    };
    listed.iter().filter(own).map(title).collect()
}

#[test]
fn what_no_recorded_search_found_good_is_dropped() {
    let project = Project::empty();
    project.write(FILE, SCALE);
    let runs = session(&project, "scale", "sm_90");
    assert_eq!(shrinks(&project), [""; 0]);
    let small = search(
        4096,
        &[
            (1024, 4, 10.0),
            (1024, 2, 11.2),
            (2048, 2, 14.0),
            (2048, 4, 12.0),
        ],
    );
    let large = search(
        65536,
        &[
            (2048, 2, 50.0),
            (1024, 2, 61.0),
            (1024, 4, 60.0),
            (2048, 4, 58.0),
        ],
    );
    let base = format!("{runs}/benchmark-base.jsonl");
    record(&project, &base, &[small.clone(), small]);
    assert_eq!(shrinks(&project), [""; 0], "of one shape only");
    // In the other process of the same code, which compared the baseline with itself.
    let candidate = format!("{runs}/benchmark-cand.jsonl");
    record(&project, &candidate, std::slice::from_ref(&large));
    let title = "Search on sm_90 without block=2048 occupancy=4, 1 of 4 configurations in `configs`: at least 15 % slower than the best in 3 recorded searches on 2 different arguments";
    assert_eq!(shrinks(&project), [title]);
    // Tests speak for a configuration, not against one.
    let tests = format!("{runs}/correctness-base.jsonl");
    record(&project, &tests, &[search(64, &[(2048, 4, 2.0)])]);
    assert_eq!(shrinks(&project), [""; 0]);
    record(&project, &tests, &[]);

    // Another file may search over the space, for which nothing was recorded.
    let other = project.write(
        "pkg/other.py",
        "import cuda.tile as ct\nfrom pkg.scale import configs\n",
    );
    assert_eq!(shrinks(&project), [""; 0]);
    std::fs::remove_file(other).expect("removed");

    // Other code may want other configurations.
    project.write(FILE, SCALE.replace("* 2)", "* 3)"));
    assert_eq!(shrinks(&project), [""; 0]);
    project.write(FILE, SCALE);
    let args = [
        "apply",
        "G",
        "pkg/scale.py:scale",
        "--variant",
        "shrink=sm_90",
    ];
    let done = tileperf(&project, &args);
    assert!(done.status.success(), "{done:?}");
    let wanted = SCALE.replace("            (2048, 4),\n", "");
    let now = std::fs::read_to_string(project.folder().join(FILE)).expect("the file");
    assert_eq!(now, wanted);
    assert_eq!(shrinks(&project), [""; 0]);
}

/// What was measured on one card says nothing of another, nor does a record of a change.
#[test]
fn what_was_searched_elsewhere_does_not_count() {
    let project = Project::empty();
    project.write(FILE, SCALE);
    let all = |rows| {
        search(
            rows,
            &[
                (1024, 4, 10.0),
                (1024, 2, 11.2),
                (2048, 2, 14.0),
                (2048, 4, 12.0),
            ],
        )
    };
    let runs = session(&project, "scale", "sm_100");
    record(
        &project,
        &format!("{runs}/benchmark-base.jsonl"),
        &[all(64), all(512)],
    );
    assert_eq!(shrinks(&project), [""; 0]);
    let runs = session(&project, "scale-2", "sm_90");
    record(
        &project,
        &format!("{runs}/benchmark-base.jsonl"),
        &[all(64)],
    );
    record(&project, &format!("{runs}/other-base.jsonl"), &[all(512)]);
    let other = all(512).to_string().replace("pkg/scale.py", "pkg/other.py");
    let other: Value = serde_json::from_str(&other).expect("JSON");
    record(&project, &format!("{runs}/benchmark-cand.jsonl"), &[other]);
    assert_eq!(shrinks(&project), [""; 0]);
    record(
        &project,
        &format!("{runs}/benchmark-cand.jsonl"),
        &[all(512)],
    );
    assert_eq!(shrinks(&project).len(), 1);
}
