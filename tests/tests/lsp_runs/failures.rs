//! Failing tests as diagnostics.

use serde_json::{Value, json};
use tileperf_tests::client::{Client, Options};
use tileperf_tests::project::{KERNELS, Project};

use crate::journal::Journal;
use crate::{sample, until};

const TESTS: &str = "\
def test_op():
    result = 3
    assert result == 2
";

fn failing(test: &str) -> Value {
    json!({
        "test": format!("tests/test_scale.py::{test}"), "message": "assert 3 == 2",
        "file": "tests/test_scale.py", "line": 3, "cause": "a tile reaches over the bounds",
    })
}

fn fail(project: &Project, journal: &mut Journal) -> String {
    project.write("tests/test_scale.py", TESTS);
    // The tests end after their file was written.
    std::thread::sleep(std::time::Duration::from_millis(20));
    journal.begin("iteration");
    journal.fail(&json!([failing("test_op[2]"), failing("test_op[3]")]));
    project.uri("tests/test_scale.py")
}

/// Waits until as many diagnostics of a document are published.
fn published(client: &mut Client, uri: &str, version: Option<i32>, count: usize) -> Vec<Value> {
    loop {
        let found = client.diagnostics(uri, version);
        if found.len() == count {
            return found;
        }
    }
}

#[test]
fn failing_tests_stand_at_their_assertion_until_the_next_run() {
    let (project, mut client, mut journal) = sample(json!({}));
    journal.baseline();
    let uri = fail(&project, &mut journal);
    let found = published(&mut client, &uri, None, 1);
    assert_eq!(found[0]["range"], crate::range(2, 4, 22));
    assert_eq!(
        (&found[0]["severity"], &found[0]["code"]),
        (&json!(1), &json!("perf-failure"))
    );
    assert_eq!(found[0]["source"], "tileperf");
    assert_eq!(
        found[0]["message"],
        "test_op[2], test_op[3]: assert 3 == 2\nLikely cause: a tile reaches over the bounds"
    );
    let run = until(&mut client, |run| run["run"]["state"] == "reverted");
    assert_eq!(run["verdict"], "reverted: 2 tests fail");
    assert_eq!(run["failures"].as_array().map(Vec::len), Some(2));
    let failure = &run["failures"][0];
    assert_eq!(
        (&failure["uri"], &failure["line"]),
        (&json!(uri), &json!(2))
    );
    assert_eq!(failure["cause"], "a tile reaches over the bounds");

    journal.hold();
    journal.begin("iteration");
    published(&mut client, &uri, None, 0);
    client.finish();
}

#[test]
fn failing_tests_are_gone_when_their_file_is_edited_or_saved() {
    let (project, mut client, mut journal) = sample(json!({}));
    journal.baseline();
    let uri = fail(&project, &mut journal);
    published(&mut client, &uri, None, 1);
    client.open(&uri, TESTS);
    published(&mut client, &uri, Some(1), 1);
    client.change(&uri, 2, json!([{"text": TESTS.replace('3', "2")}]));
    published(&mut client, &uri, Some(2), 0);
    // Saved as it was: the lines are right again, the result is of another moment.
    client.change(&uri, 3, json!([{ "text": TESTS }]));
    published(&mut client, &uri, Some(3), 1);
    std::thread::sleep(std::time::Duration::from_millis(20));
    project.write("tests/test_scale.py", TESTS);
    client.notify(
        "textDocument/didSave",
        json!({"textDocument": {"uri": uri}}),
    );
    published(&mut client, &uri, Some(3), 0);
    client.finish();
}

#[test]
fn a_client_that_asks_for_diagnostics_is_told_to_ask_again() {
    let project = Project::sample();
    let mut journal = Journal::new(&project, "scale-20260102");
    journal.baseline();
    let mut client = Client::start(Options {
        folder: Some(project.folder().to_owned()),
        capabilities: json!({
            "textDocument": {"diagnostic": {}},
            "workspace": {"diagnostics": {"refreshSupport": true}},
        }),
        ..Options::default()
    })
    .0;
    client.open(&project.uri("pkg/kernels.py"), KERNELS);
    until(&mut client, |run| run["phase"] == "ready");
    let uri = fail(&project, &mut journal);
    client.open(&uri, TESTS);
    // Other news has clients ask again as well.
    for _ in 0..5 {
        client.question("workspace/diagnostic/refresh");
        let report = client.ask(
            "textDocument/diagnostic",
            json!({"textDocument": {"uri": uri}}),
        );
        if report["items"][0]["code"] == "perf-failure" {
            break;
        }
    }
    let report = client.ask(
        "textDocument/diagnostic",
        json!({"textDocument": {"uri": uri}}),
    );
    assert_eq!(report["items"][0]["code"], "perf-failure", "{report}");
    assert!(client.published().is_empty());
    client.finish();
}

#[test]
fn a_client_that_asks_is_told_of_files_that_are_not_open() {
    let project = Project::sample();
    let mut journal = Journal::new(&project, "scale-20260102");
    journal.baseline();
    let (mut client, answer) = Client::start(Options {
        folder: Some(project.folder().to_owned()),
        capabilities: json!({"textDocument": {"diagnostic": {}}}),
        ..Options::default()
    });
    let offered = &answer["capabilities"]["diagnosticProvider"]["workspaceDiagnostics"];
    assert_eq!(offered, true);
    until(&mut client, |run| run["phase"] == "ready");
    // Waits for news.
    let waiting = client.request("workspace/diagnostic", json!({"previousResultIds": []}));
    let uri = fail(&project, &mut journal);
    let report = client.response(waiting).unwrap();
    let item = &report["items"][0];
    assert_eq!(
        (&item["uri"], &item["version"]),
        (&json!(uri), &Value::Null)
    );
    assert_eq!(item["items"][0]["code"], "perf-failure");

    let known = json!({"previousResultIds": [{"uri": uri, "value": item["resultId"]}]});
    let waiting = client.request("workspace/diagnostic", known);
    journal.hold();
    journal.begin("iteration");
    let report = client.response(waiting).unwrap();
    assert_eq!(report["items"][0]["kind"], "full");
    assert_eq!(report["items"][0]["items"], json!([]));
    client.finish();
}
