//! What does nothing: told by two compiles, with it and without it.

use std::time::Duration;

use serde_json::{Value, json};
use tileperf_tests::client::Client;
use tileperf_tests::project::Project;

use super::command::{rows, tileperf};
use super::editor::until;
use super::{editor, lenses, python};

/// A row is loaded outside of loops, so that its latency says nothing; clusters below sm_90 neither.
/// A range is made in each round of a loop, out of which the compiler takes it.
const KERNELS: &str = "\
import cuda.tile as ct


@ct.kernel(num_ctas=2)
def twice(x, y, N: ct.Constant[int]):
    i = ct.bid(0)
    row = ct.load(x, (i, 0), (1, N), latency=3)
    ct.store(y, (i, 0), row * 2)


@ct.kernel
def copy(x, y, n: int, TILE: ct.Constant[int]):
    for i in range(ct.cdiv(n, TILE)):
        offsets = i * TILE + ct.arange(TILE, dtype=ct.int32)
        ct.scatter(y, offsets, ct.gather(x, offsets))


def run(x, y, n, stream):
    ct.launch(stream, (64,), twice, (x, y, 1024))
    ct.launch(stream, (1,), copy, (x, y, n, 256))
";

fn messages<'r>(rows: &'r [Value], code: &str) -> Vec<&'r str> {
    let of_code = rows.iter().filter(|row| row["code"] == code);
    of_code.filter_map(|row| row["message"].as_str()).collect()
}

#[test]
fn two_compiles_say_what_does_nothing() {
    if python().is_none() {
        return;
    }
    let project = Project::empty();
    project.write("inert.py", KERNELS);
    let check = |args: &[&str]| {
        let always = ["check", "inert.py", "--format", "json"];
        rows(&tileperf(&project, &[&always, args].concat()))
    };
    let plain = check(&[]);
    assert_eq!(messages(&plain, "TP508"), [] as [&str; 0]);
    assert_eq!(messages(&plain, "TP409").len(), 1);
    assert!(!messages(&plain, "TP301")[0].contains("compiled for"));

    let judged = check(&["--compile", "--trust", "--arch", "sm_80"]);
    // Clusters are no part of an sm_80: another rule says it already.
    let clusters = messages(&judged, "TP301");
    assert!(
        clusters[0].ends_with("(compiled for sm_80: the same code without it)"),
        "{judged:#?}"
    );
    let inert = messages(&judged, "TP508");
    assert_eq!(
        inert,
        ["`latency=3` changes nothing on sm_80: the same code comes out without it"],
        "{judged:#?}"
    );
    // The same either way: there is nothing to say.
    assert_eq!(messages(&judged, "TP409"), [] as [&str; 0]);

    // There clusters make another program.
    let judged = check(&["--compile", "--trust", "--arch", "sm_90"]);
    let inert = messages(&judged, "TP508");
    assert!(!inert.iter().any(|m| m.contains("num_ctas")), "{judged:#?}");
    assert!(inert.iter().any(|m| m.contains("latency=3")), "{judged:#?}");
}

/// The messages of a rule, as the editor was told last; `last` is what it was told before.
fn told(client: &mut Client, uri: &str, code: &str, last: &mut Vec<Value>) -> Vec<String> {
    let method = "textDocument/publishDiagnostics";
    while client.has_within(method, Duration::from_millis(300)) {
        let told = client.notification(method);
        if told["uri"] == uri {
            *last = told["diagnostics"].as_array().cloned().unwrap_or_default();
        }
    }
    let of_code = last.iter().filter(|d| d["code"] == code);
    of_code
        .filter_map(|d| d["message"].as_str().map(str::to_owned))
        .collect()
}

#[test]
fn an_editor_finds_it_out_in_the_background() {
    let Some(python) = python() else { return };
    let project = Project::empty();
    project.write("inert.py", KERNELS);
    let uri = project.uri("inert.py");
    let mut client = editor(&project, &python, true);
    client.open(&uri, KERNELS);
    let is_said = |said: &Vec<String>| said.iter().any(|m| m.contains("latency=3"));
    let mut last = Vec::new();
    let mut ask = |client: &mut Client| told(client, &uri, "TP508", &mut last);
    until(|| ask(&mut client), is_said, "an inert hint");
    // In a loop it counts.
    let looped = KERNELS.replace(
        "    row = ct.load(x, (i, 0), (1, N), latency=3)\n    ct.store(y, (i, 0), row * 2)\n",
        "    for j in range(ct.num_tiles(x, 1, (1, N))):\n        row = ct.load(x, (i, j), (1, N), \
         latency=10)\n        ct.store(y, (i, j), row * 2)\n",
    );
    assert_ne!(looped, KERNELS);
    client.change(&uri, 2, json!([{"text": looped}]));
    let is_gone = |said: &Vec<String>| said.is_empty();
    until(|| ask(&mut client), is_gone, "nothing inert");
    let is_fresh = |titles: &Vec<String>| {
        let done = titles
            .iter()
            .filter(|t| t.contains(" regs") && !t.contains("stale"));
        done.count() == 2
    };
    until(|| lenses(&mut client, &uri), is_fresh, "machine code");
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(ask(&mut client), [] as [String; 0]);
    client.finish();
}
