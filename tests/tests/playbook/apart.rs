//! Kernels that are launched from another file: both files change, or neither.

use serde_json::{Value, json};
use tileperf_tests::project::Project;

use super::command::{rows, text, tileperf};
use super::editor::{actions, editor};
use super::python;

const KERNEL: &str = "\
import cuda.tile as ct


@ct.kernel(occupancy=2)
def scale(x, y, TILE: ct.Constant[int]):
    row = ct.bid(0)
    # Größer wird's nicht.
    tile = ct.load(x, (row, 0), (1, TILE))
    ct.store(y, (row, 0), tile * 2)
";

const LAUNCH: &str = "\
import cuda.tile as ct
import torch

from .kernels import scale


def scaled(x):
    y = torch.empty_like(x)
    n_rows = x.shape[0]
    ct.launch(torch.cuda.current_stream(), (n_rows,), scale, (x, y, 1024))
    return y
";

fn apart() -> Project {
    let project = Project::empty();
    project.write("pkg/__init__.py", "");
    project.write("pkg/kernels.py", KERNEL);
    project.write("pkg/launch.py", LAUNCH);
    project
}

fn read(project: &Project, name: &str) -> String {
    let text = std::fs::read_to_string(project.folder().join(name));
    text.unwrap_or_else(|e| panic!("{name}: {e}"))
}

const BLOCKS: [&str; 3] = ["apply", "B", "pkg/kernels.py:scale"];

/// Both files as they are when blocks walk over the rows.
fn walking() -> (String, String) {
    let kernel = KERNEL
        .replace("TILE: ct.Constant[int])", "TILE: ct.Constant[int], n_rows)")
        .replace(
            "    row = ct.bid(0)\n",
            "    for row in range(ct.bid(0), n_rows, ct.num_blocks(0)):\n",
        )
        .replace("    # Gr", "        # Gr")
        .replace("    tile =", "        tile =")
        .replace("    ct.store", "        ct.store");
    let sms = "torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count";
    let launch = LAUNCH
        .replace(
            "    ct.launch",
            &format!("    num_sms = {sms}\n    ct.launch"),
        )
        .replace("(n_rows,)", "(min(num_sms * 2, n_rows),)")
        .replace("(x, y, 1024)", "(x, y, 1024, n_rows)");
    (kernel, launch)
}

#[test]
fn both_files_are_changed() {
    let project = apart();
    let listed = rows(&tileperf(&project, &["actions", "pkg", "--format", "json"]));
    let other = "pkg/launch.py";
    for row in listed {
        let is_of_both = matches!(row["id"].as_str(), Some("B" | "C"));
        assert_eq!(row["elsewhere"] == json!([other]), is_of_both, "{row}");
        assert!(is_of_both || row["elsewhere"] == json!([]), "{row}");
    }
    let shown = tileperf(&project, &[&BLOCKS[..], &["--diff"]].concat());
    let diff = text(&shown.stdout);
    for name in ["--- pkg/kernels.py\n", "--- pkg/launch.py\n"] {
        assert_eq!(diff.matches(name).count(), 1, "{diff}");
    }
    assert_eq!(read(&project, "pkg/launch.py"), LAUNCH);
    let done = tileperf(&project, &BLOCKS);
    assert!(done.status.success(), "{done:?}");
    let said = text(&done.stdout);
    assert!(
        said.contains("\npkg/launch.py is changed with it.\n"),
        "{said}"
    );
    // Everything is known of who names the kernel.
    assert!(!said.contains("Right only if"), "{said}");
    let (kernel, launch) = walking();
    assert_eq!(read(&project, "pkg/kernels.py"), kernel);
    assert_eq!(read(&project, "pkg/launch.py"), launch);
    let Some(python) = python() else { return };
    let setting = format!("python.path={}", python.display());
    let mut args = vec!["compile", "pkg/kernels.py", "--trust", "--arch", "sm_90"];
    args.extend(["--format", "json", "--config", &setting]);
    let made = rows(&tileperf(&project, &args));
    assert!(
        made[0]["error"].is_null() && made[0]["registers"].is_u64(),
        "{made:#?}"
    );
}

#[test]
fn neither_is_changed_where_one_cannot_be() {
    let project = apart();
    let mut bytes = LAUNCH.as_bytes().to_vec();
    // A character as it was written before UTF-8.
    bytes.extend(b"# gr\xf6\xdfer\n");
    std::fs::write(project.folder().join("pkg/launch.py"), &bytes).expect("it can be written");
    let done = tileperf(&project, &BLOCKS);
    assert_eq!(done.status.code(), Some(2), "{done:?}");
    assert!(
        text(&done.stderr).contains("pkg/launch.py is not UTF-8"),
        "{done:?}"
    );
    assert_eq!(read(&project, "pkg/kernels.py"), KERNEL);
    let now = std::fs::read(project.folder().join("pkg/launch.py")).expect("it is there");
    assert_eq!(now, bytes);
}

/// The changes of an edit by document: name, version, edits.
fn changes(edit: &Value) -> Vec<(String, Value, Vec<Value>)> {
    let all = edit["documentChanges"].as_array().expect("changes");
    let one = |change: &Value| {
        let document = &change["textDocument"];
        let name = document["uri"]
            .as_str()
            .and_then(|uri| uri.rsplit('/').next());
        let edits = change["edits"].as_array().expect("edits");
        let name = name.expect("a name").to_owned();
        (name, document["version"].clone(), edits.clone())
    };
    all.iter().map(one).collect()
}

#[test]
fn editors_get_both_documents() {
    let project = apart();
    let mut client = editor(&project, None, json!({}), true);
    let kernel = project.uri("pkg/kernels.py");
    client.open(&kernel, KERNEL);
    while client.notification("tileperf/status")["state"] != "ready" {}
    const KIND: &[&str] = &["refactor.rewrite.cutile.persistent-grid"];
    let names = |of: &[(String, Value, Vec<Value>)]| -> Vec<(String, Value)> {
        let pairs = of
            .iter()
            .map(|(name, version, _)| (name.clone(), version.clone()));
        pairs.collect()
    };
    let found = actions(&mut client, &kernel, 5, KIND);
    assert_eq!(found.len(), 1, "{found:#?}");
    let both = changes(&found[0]["edit"]);
    let own = ("kernels.py".to_owned(), json!(1));
    let closed = ("launch.py".to_owned(), Value::Null);
    assert_eq!(names(&both), [own.clone(), closed]);
    // What is typed there counts, and its version.
    let launch = project.uri("pkg/launch.py");
    let typed = LAUNCH.replace("n_rows", "count");
    client.open(&launch, &typed);
    let found = actions(&mut client, &kernel, 5, KIND);
    let both = changes(&found[0]["edit"]);
    assert_eq!(names(&both), [own, ("launch.py".to_owned(), json!(1))]);
    assert!(
        json!(both[1].2)
            .to_string()
            .contains("min(num_sms * 2, count)"),
        "{both:#?}"
    );
    // At the launch: what changes something there.
    let at_launch = actions(&mut client, &launch, 9, &["refactor.rewrite.cutile"]);
    let letters = |found: &[Value]| -> Vec<char> {
        let titles = found.iter().filter_map(|a| a["title"].as_str());
        titles.filter_map(|title| title.chars().next()).collect()
    };
    assert_eq!(letters(&at_launch), ['B', 'C'], "{at_launch:#?}");
    assert_eq!(names(&changes(&at_launch[0]["edit"])), names(&both));
    let in_kernel = actions(&mut client, &kernel, 5, &["refactor.rewrite.cutile"]);
    assert!(letters(&in_kernel).contains(&'F'), "{in_kernel:#?}");
    assert!(actions(&mut client, &launch, 8, &["refactor.rewrite.cutile"]).is_empty());
    // An iteration is one of the kernel's.
    let tries = actions(&mut client, &launch, 9, &["tileperf.perf"]);
    let argument = &tries[0]["command"]["arguments"][0];
    assert_eq!(
        (&argument["uri"], &argument["kernel"]),
        (&json!(kernel), &json!("scale"))
    );
    client.finish();
}
