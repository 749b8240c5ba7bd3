//! What is wrong in kernels, as an editor is told, and how it is put right there.

mod actions;
mod chosen;
mod pulled;
mod pushed;
mod whole;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tileperf_tests::client::{Client, LIMIT, Options};
use tileperf_tests::project::Project;

/// A kernel with an unread parameter (TP207) and two wrong indices (TP205), remade at every call
/// (TP101).
const KERNEL: &str = "\
import cuda.tile as ct


@ct.kernel
def double(x, n, BLOCK: ct.Constant[int]):
    i = ct.bid(0)
    y = ct.load(x, (i * BLOCK,), (BLOCK,))
    ct.store(x, (i * BLOCK,), y * 2)


def run(x, stream):
    ct.launch(stream[\"😀\"], (64,), double.replace_hints(occupancy=4), (x, 8, 128))
";

/// What is found in [`KERNEL`].
const IN_KERNEL: [&str; 4] = ["TP207", "TP205", "TP205", "TP101"];

/// A launch of that kernel from another file, which passes `None` (TP201).
const LAUNCH: &str = "\
import cuda.tile as ct

from .kernel import double


def launch(x, stream):
    ct.launch(stream, (64,), double, (x, None, 128))
";

/// A space with 48 configurations (TP105), searched as a generator (TP104) and always (TP109).
const SPACE: &str = "\
from types import SimpleNamespace

from cuda.tile.tune import exhaustive_search


def configs():
    for m in (32, 64, 128, 256):
        for n in (32, 64, 128, 256):
            for occupancy in (1, 2, 4):
                yield SimpleNamespace(m=m, n=n, occupancy=occupancy)


def tune(stream, grid, kernel, args):
    return exhaustive_search(configs(), stream, grid, kernel, args)
";

/// A project with these three files.
fn project() -> Project {
    let project = Project::empty();
    project.write("pkg/__init__.py", "");
    project.write("pkg/kernel.py", KERNEL);
    project.write("pkg/launch.py", LAUNCH);
    project.write("pkg/space.py", SPACE);
    project
}

/// A client with these capabilities in that project, which is read.
fn start(capabilities: Value) -> (Project, Client) {
    let project = project();
    let client = start_in(&project, capabilities);
    (project, client)
}

/// The same, in a project of the test's own.
fn start_in(project: &Project, capabilities: Value) -> Client {
    let (mut client, _) = Client::start(Options {
        folder: Some(project.folder().to_owned()),
        capabilities,
        ..Options::default()
    });
    while client.notification("tileperf/status")["state"] != "ready" {}
    client
}

/// The codes of diagnostics, in their order.
fn codes(diagnostics: &[Value]) -> Vec<&str> {
    (diagnostics.iter())
        .map(|d| d["code"].as_str().expect("a code"))
        .collect()
}

/// The first of the diagnostics with a code.
fn one<'d>(diagnostics: &'d [Value], code: &str) -> &'d Value {
    let found = diagnostics.iter().find(|d| d["code"] == code);
    found.unwrap_or_else(|| panic!("{code} in {diagnostics:?}"))
}

/// Waits until exactly these are pushed for a version.
fn pushed(
    client: &mut Client,
    uri: &str,
    version: impl Into<Option<i32>>,
    wanted: &[&str],
) -> Vec<Value> {
    let version = version.into();
    loop {
        let found = client.diagnostics(uri, version);
        if codes(&found) == wanted {
            return found;
        }
    }
}

/// What is pushed last for a version: nothing more comes for some time.
fn settled(client: &mut Client, uri: &str, version: i32) -> Vec<Value> {
    let mut last = client.diagnostics(uri, Some(version));
    while client.has_within(PUBLISHED, Duration::from_millis(800)) {
        let published = client.notification(PUBLISHED);
        if published["uri"] == uri {
            assert_eq!(published["version"], version);
            last = published["diagnostics"].as_array().expect("a list").clone();
        }
    }
    last
}

/// What a client is told that asks about a document.
fn pulled(client: &mut Client, uri: &str) -> Vec<Value> {
    let answer = client.ask("textDocument/diagnostic", document(uri));
    assert_eq!(answer["kind"], "full", "{answer}");
    answer["items"].as_array().expect("a list").clone()
}

/// Asks until it is told exactly these.
fn pulled_until(client: &mut Client, uri: &str, wanted: &[&str]) -> Vec<Value> {
    let begin = Instant::now();
    loop {
        let found = pulled(client, uri);
        if codes(&found) == wanted {
            return found;
        }
        assert!(begin.elapsed() < LIMIT, "no {wanted:?}, but {found:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The name of a pushed list.
const PUBLISHED: &str = "textDocument/publishDiagnostics";

/// The parameters of a request about a document.
fn document(uri: &str) -> Value {
    json!({"textDocument": {"uri": uri}})
}

/// An edit that puts `text` before a line.
fn before_line(line: u32, text: &str) -> Value {
    let start = json!({"line": line, "character": 0});
    json!([{"range": {"start": start, "end": start}, "text": text}])
}

/// The capabilities of a client that asks for diagnostics and can be told to ask again.
fn pulls() -> Value {
    json!({
        "textDocument": {"diagnostic": {}},
        "workspace": {"diagnostics": {"refreshSupport": true}},
    })
}
