//! `tileperf compile --space`.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tileperf_tests::project::Project;

use super::command::{compile, rows, tileperf};
use super::python;

/// A search over tiles and over hints of which one does nothing on sm_90 for this kernel.
const TUNED: &str = "\
from types import SimpleNamespace

import cuda.tile as ct
from cuda.tile.tune import exhaustive_search


@ct.kernel
def double(x, out, TILE: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    tile = ct.load(x, index=(i, j), shape=(TILE, TILE))
    ct.store(out, index=(i, j), tile=tile * 2)


@ct.kernel
def plain(x):
    ct.store(x, (ct.bid(0), 0), ct.load(x, (ct.bid(0), 0), (16, 16)))


def configs():
    for tile in (32, 64, 48):
        for occupancy in (1, 2):
            yield SimpleNamespace(tile=tile, occupancy=occupancy)


def tuned(x, out, stream):
    def args(cfg):
        return (x, out, cfg.tile)

    return exhaustive_search(
        list(configs()),
        stream,
        lambda cfg: (x.shape[0] // cfg.tile, x.shape[1] // cfg.tile),
        double,
        args,
        lambda cfg: {'occupancy': cfg.occupancy},
    )
";

fn project() -> Project {
    let project = Project::empty();
    project.write("tuned.py", TUNED);
    project
}

#[test]
fn each_configuration_is_compiled() {
    if python().is_none() {
        return;
    }
    let project = project();
    let args = ["tuned.py", "--trust", "--space", "--format", "json"];
    let output = compile(&project, &args);
    assert!(output.status.success(), "{output:?}");
    let rows = rows(&output);
    let mut codes: BTreeMap<(i64, i64), &Value> = BTreeMap::new();
    for row in &rows {
        assert_eq!(row["kernel"], "double");
        let field = |name: &str| row["config"][name].as_i64().unwrap();
        codes.insert((field("tile"), field("occupancy")), row);
    }
    let configs: Vec<(i64, i64)> = codes.keys().copied().collect();
    assert_eq!(
        configs,
        [(32, 1), (32, 2), (48, 1), (48, 2), (64, 1), (64, 2)]
    );
    // No tile has 48 rows: the compiler's own words.
    let why = codes[&(48, 1)]["error"]["message"].as_str().unwrap();
    assert!(why.contains("power of two"), "{why}");
    for tile in [32, 64] {
        let signature = codes[&(tile, 1)]["signature"].as_str().unwrap();
        assert!(signature.ends_with(&format!("TILE: {tile}")), "{signature}");
        assert!(codes[&(tile, 1)]["registers"].as_u64().unwrap() > 0);
    }
    assert_ne!(codes[&(32, 1)]["code_hash"], codes[&(64, 1)]["code_hash"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("double on sm_90: 6 of 6 configurations compiled"),
        "{said}"
    );

    // In a table: which are alike, and what does nothing.
    let output = compile(&project, &args[..3]);
    let text = String::from_utf8_lossy(&output.stdout);
    let heads = [
        "tile",
        "occupancy",
        "registers",
        "CTAs/SM",
        "6 configurations",
    ];
    assert!(heads.iter().all(|head| text.contains(head)), "{text}");
    let same = |tile| codes[&(tile, 1)]["code_hash"] == codes[&(tile, 2)]["code_hash"];
    assert_eq!(text.contains("same code as 1"), same(32), "{text}");
    let inert = json!(same(32) && same(64));
    assert_eq!(
        json!(text.contains("occupancy does nothing")),
        inert,
        "{text}"
    );
}

#[test]
fn only_so_many_are_compiled() {
    if python().is_none() {
        return;
    }
    let project = project();
    let output = compile(&project, &["tuned.py", "--trust", "--space", "--most", "1"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("1 configuration, 5 more not compiled (--most)"),
        "{text}"
    );
    // A field that is None, as what was fixed before may be, has its column too.
    let fixed = TUNED.replace(
        "    for tile in (32",
        "    yield SimpleNamespace(tile=16, occupancy=None)\n    for tile in (32",
    );
    project.write("tuned.py", fixed);
    let output = compile(&project, &["tuned.py", "--trust", "--space", "--most", "2"]);
    let text = String::from_utf8_lossy(&output.stdout);
    let cells = |number: &str| -> Vec<&str> {
        let mut lines = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>());
        let line = lines.find(|cells| cells.first() == Some(&number));
        line.unwrap_or_else(|| panic!("no {number} in {text}"))
    };
    assert_eq!(
        cells("tile")[..3],
        ["tile", "occupancy", "registers"],
        "{text}"
    );
    assert_eq!(cells("1")[..3], ["1", "16", "-"], "{text}");
    assert_eq!(cells("2")[..3], ["2", "32", "1"], "{text}");
    // A kernel that no search tunes has none.
    let args = ["tuned.py", "--trust", "--space", "--kernel", "plain"];
    let output = compile(&project, &args);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("no search tunes"), "{said}");
}

/// What compiling the space showed to be of no use may be left out of it, as long as the code is what was
/// compiled.
#[test]
fn what_is_of_no_use_is_left_out() {
    if python().is_none() {
        return;
    }
    let project = Project::empty();
    let tuned = TUNED.replace("for occupancy in (1, 2)", "for occupancy in (1,)");
    assert_ne!(tuned, TUNED);
    project.write("tuned.py", &tuned);
    let offered = || {
        let output = tileperf(&project, &["actions", "tuned.py", "--format", "json"]);
        let rows = rows(&output).into_iter();
        let own = rows.filter(|row| row["variant"] == "compiled");
        own.map(|row| row["title"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(offered(), [""; 0]);
    let on = |archs: &str| {
        let output = compile(
            &project,
            &["tuned.py", "--trust", "--space", "--arch", archs],
        );
        assert!(output.status.success(), "{output:?}");
    };
    on("sm_80,sm_90");
    // The others may want it.
    assert_eq!(offered(), [""; 0]);
    on("sm_100,sm_120");
    let title = "Search on sm_80, sm_90, sm_100, sm_120 without tile=48, 1 of 3 configurations in `configs`: do not compile";
    assert_eq!(offered(), [title]);
    project.write("tuned.py", tuned.replace("tile * 2", "tile * 3"));
    assert_eq!(offered(), [""; 0]);
    project.write("tuned.py", &tuned);
    let done = tileperf(
        &project,
        &["apply", "G", "tuned.py:double", "--variant", "compiled"],
    );
    assert!(done.status.success(), "{done:?}");
    let now = std::fs::read_to_string(project.folder().join("tuned.py")).unwrap();
    assert_eq!(now, tuned.replace("(32, 64, 48)", "(32, 64)"));
    assert_eq!(offered(), [""; 0]);
}
