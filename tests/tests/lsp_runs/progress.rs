//! Progress displays of runs.

use serde_json::{Value, json};
use tileperf_tests::client::Client;

use crate::{command, sample, until};

fn window() -> Value {
    json!({"window": {"workDoneProgress": true}})
}

/// Waits for the next progress of a token, and gives its value.
fn next(client: &mut Client, token: &Value) -> Value {
    let progress = client.notification("$/progress");
    assert_eq!(progress["token"], *token);
    progress["value"].clone()
}

#[test]
fn a_run_has_a_display_that_ends_with_it() {
    let (_project, mut client, mut journal) = sample(window());
    journal.baseline();
    until(&mut client, |run| run["phase"] == "ready");
    assert!(!client.has("$/progress"));
    journal.hold();
    journal.begin("iteration");
    journal.stage("correctness");
    let (_, params) = client.question("window/workDoneProgress/create");
    let token = params["token"].clone();
    let begin = next(&mut client, &token);
    assert_eq!(
        (&begin["kind"], &begin["cancellable"]),
        (&json!("begin"), &json!(true))
    );
    assert_eq!(begin["title"], "Perf iteration 1: scale");
    let message = begin["message"].as_str().unwrap();
    assert!(message.ends_with("at most 10 min left"), "{message}");

    journal.stage("measuring");
    journal.looked(120, 1);
    let report = loop {
        let report = next(&mut client, &token);
        if report["percentage"].is_number() {
            break report;
        }
    };
    assert_eq!(report["kind"], "report");
    let message = report["message"].as_str().unwrap();
    let said = "measuring (120 pairs), 1 of 2 configurations decided";
    assert!(message.starts_with(said), "{message}");
    assert_eq!(report["percentage"], 75);

    journal.keep();
    journal.release();
    let end = loop {
        let value = next(&mut client, &token);
        if value["kind"] == "end" {
            break value;
        }
    };
    assert_eq!(end["message"], "Kept: 20.00 % faster.");
    client.finish();
}

#[test]
fn cancelling_the_display_asks_the_run_to_stop_whoever_makes_it() {
    let (_project, mut client, mut journal) = sample(window());
    journal.hold();
    journal.begin("baseline");
    let (_, params) = client.question("window/workDoneProgress/create");
    let token = params["token"].clone();
    assert_eq!(next(&mut client, &token)["kind"], "begin");
    let wish = journal.folder().join("stop");
    client.notify("window/workDoneProgress/cancel", json!({"token": "other"}));
    client.notify("window/workDoneProgress/cancel", json!({ "token": token }));
    let began = std::time::Instant::now();
    while !wish.exists() {
        assert!(began.elapsed() < tileperf_tests::client::LIMIT);
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    // The process that runs it looks for that file, and ends the run.
    journal.ends(json!({"ended": "cancelled"}));
    journal.release();
    while next(&mut client, &token)["kind"] != "end" {}
    client.finish();
}

#[test]
fn a_display_that_the_client_refused_is_made_again_on_attach() {
    let (_project, mut client, mut journal) = sample(window());
    let client_says_no = |client: &mut Client, id: &Value| {
        let error = json!({"code": -32601, "message": "no"});
        client.send(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
    };
    client.answers(false);
    journal.hold();
    journal.begin("baseline");
    until(&mut client, |run| run["running"] == true);
    let (id, _) = client.question("window/workDoneProgress/create");
    client_says_no(&mut client, &id);
    client.log_line("shows no progress");
    client.answers(true);
    let answer = command(&mut client, "tileperf.perf.attach", json!({}));
    assert_eq!(answer["session"], "scale-20260102");
    let (_, params) = client.question("window/workDoneProgress/create");
    assert_eq!(next(&mut client, &params["token"])["kind"], "begin");
    client.finish();
}

#[test]
fn a_client_that_shows_no_progress_is_not_asked_to() {
    let (_project, mut client, mut journal) = sample(json!({}));
    journal.hold();
    journal.begin("baseline");
    journal.stage("measuring");
    until(&mut client, |run| run["run"]["stage"] == "measuring");
    journal.looked(30, 1);
    until(&mut client, |run| run["run"]["pairs"] == 30);
    assert!(!client.has("$/progress"));
    client.finish();
}
