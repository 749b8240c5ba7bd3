//! Optimizations that change more than a kernel's body, in a workspace of several files.

use serde_json::Value;
use tileperf_tests::project::Project;

use super::command::{rows, text, tileperf};
use super::python;

/// A reduction with a launch, and copies in a loop.
const HOST: &str = "\
import cuda.tile as ct
import torch


@ct.kernel(occupancy=2)
def scale(x, y, TILE: ct.Constant[int]):
    row = ct.bid(0)
    tile = ct.astype(ct.load(x, (row, 0), (1, TILE)), ct.float32)
    ct.store(y, (row, 0), ct.astype(ct.exp(tile) / ct.sum(ct.exp(tile)), y.dtype))


def scaled(x):
    y = torch.empty_like(x)
    # Größer wird's nicht.
    ct.launch(torch.cuda.current_stream(), (x.shape[0],), scale, (x, y, 1024))
    return y


@ct.kernel
def copy(x, y, TILE: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(y, (i,), ct.load(x, (i,), (TILE,)))


def copied(xs, ys):
    for x, y in zip(xs, ys):
        ct.launch(torch.cuda.current_stream(), (ct.cdiv(y.numel(), 512),), copy, (x, y, 512))
    return ys


@ct.kernel
def double(x, y, TILE: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(y, (i,), ct.load(x, (i,), (TILE,)) * 2)


def doubled(x):
    y = torch.empty_like(x)
    TILE = 1024
    ct.launch(torch.cuda.current_stream(), (ct.cdiv(x.numel(), TILE),), double, (x, y, TILE))
    return y
";

fn of(rows: &[Value], kernel: &str, id: &str) -> Vec<Value> {
    let is_it = |row: &&Value| row["kernel"] == kernel && row["id"] == id;
    rows.iter().filter(is_it).cloned().collect()
}

/// A kernel that gets other arguments is one that nobody else knows.
#[test]
fn a_kernel_that_another_file_names_keeps_its_arguments() {
    for (other, free) in [
        ("", true),
        (
            "import cuda.tile as ct\n\n\ndef scale(x):\n    return x\n\n\ncopy = 1\n",
            true,
        ),
        (
            "import cuda.tile as ct\nfrom pkg.host import copy, scale\n\nKNOWN = [scale, copy]\n",
            false,
        ),
        (
            "import cuda.tile as ct\nimport pkg.host\n\nKNOWN = [pkg.host.scale, pkg.host.copy]\n",
            false,
        ),
    ] {
        let project = Project::empty();
        project.write("pkg/__init__.py", "");
        project.write("pkg/host.py", HOST);
        project.write("pkg/other.py", other);
        let listed = rows(&tileperf(
            &project,
            &["actions", "pkg/host.py", "--format", "json"],
        ));
        for (kernel, id) in [("scale", "B"), ("copy", "K")] {
            let offered = of(&listed, kernel, id);
            assert_eq!(!offered.is_empty(), free, "{kernel} {id} beside\n{other}");
            for action in offered {
                let said = action["premises"].to_string();
                assert!(!said.contains("nothing outside"), "{said}");
            }
        }
        // What leaves the arguments alone is there all the same.
        assert!(!of(&listed, "double", "G").is_empty());
        assert!(!of(&listed, "scale", "C").is_empty());
    }
}

/// After a search the rest is named, not done.
#[test]
fn a_search_names_what_else_can_be_tried() {
    let project = Project::empty();
    let path = project.write("host.py", HOST);
    let done = tileperf(&project, &["apply", "C", "host.py:scale"]);
    let said = text(&done.stdout);
    assert!(done.status.success(), "{done:?}");
    let next = said
        .lines()
        .find(|line| line.starts_with("Next, each on its own: "));
    let next = next.unwrap_or_else(|| panic!("nothing is next in {said}"));
    assert!(next.contains("H cheaper-math"), "{next}");
    let body = "ct.exp(tile) / ct.sum(ct.exp(tile))";
    let now = std::fs::read_to_string(path).expect("the file is there");
    assert_eq!(now.matches(body).count(), 1, "{now}");
    let listed = rows(&tileperf(
        &project,
        &["actions", "host.py", "--format", "json"],
    ));
    let ids: Vec<&str> = next["Next, each on its own: ".len()..]
        .split(", ")
        .filter_map(|name| name.split(' ').next())
        .collect();
    for id in ids {
        assert!(!of(&listed, "scale", id).is_empty(), "{id} is not offered");
    }
}

/// What they make compiles.
#[test]
fn copies_and_tiles_still_compile() {
    let Some(python) = python() else { return };
    for (id, kernel, variant) in [("K", "copy", None), ("G", "double", Some("TILE=4096"))] {
        let project = Project::empty();
        project.write("host.py", HOST);
        let subject = format!("host.py:{kernel}");
        let mut args = vec!["apply", id, &subject];
        args.extend(variant.iter().flat_map(|variant| ["--variant", variant]));
        let done = tileperf(&project, &args);
        assert!(done.status.success(), "{done:?}");
        let setting = format!("python.path={}", python.display());
        let mut args = vec!["compile", "host.py", "--kernel", kernel, "--trust"];
        args.extend(["--arch", "sm_90", "--format", "json", "--config", &setting]);
        let made = rows(&tileperf(&project, &args));
        assert_eq!(made.len(), 1, "{made:#?}");
        assert!(made[0]["error"].is_null(), "{made:#?}");
        assert!(made[0]["registers"].is_u64(), "{made:#?}");
    }
}
