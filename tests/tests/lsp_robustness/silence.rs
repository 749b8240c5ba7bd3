//! Clients that do not answer, do not read, or do not read the log.

use std::time::Duration;

use serde_json::{Value, json};
use tileperf_tests::client::{Client, Options};

use crate::URI;

#[test]
fn a_client_that_never_answers_questions() {
    let options = Options {
        hooks: true,
        answers: false,
        ..Options::default()
    };
    let (mut client, _) = Client::start(options);
    client.open(URI, "x = 1\n");
    let asked: u64 = (0..10)
        .filter_map(|_| {
            client
                .ask("tileperf/test/ask", json!({"count": 50}))
                .as_u64()
        })
        .sum();
    // A bounded number was asked; the server says that it gave up asking, and works on.
    assert_eq!(asked, 64);
    client.log_line("not asked");
    for _ in 0..64 {
        client.question("workspace/configuration");
    }
    for version in 2..200 {
        client.change(URI, version, json!([{"text": format!("x = {version}\n")}]));
    }
    assert_eq!(client.text(URI)["text"], "x = 199\n");
    assert!(client.diagnostics(URI, Some(199)).is_empty());
    client.finish();
}

#[test]
fn answers_that_nobody_asked_for() {
    let (mut client, _) = Client::start(Options::default());
    client.send(&json!({"jsonrpc": "2.0", "id": 4711, "result": null}));
    client.send(&json!({"jsonrpc": "2.0", "id": "x", "error": {"code": 1, "message": "no"}}));
    client.send(&json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "?"}}));
    client.ask("tileperf/serverInfo", json!({}));
    client.finish();
}

#[test]
fn questions_are_answered_late() {
    let options = Options {
        hooks: true,
        answers: false,
        ..Options::default()
    };
    let (mut client, _) = Client::start(options);
    client.ask("tileperf/test/ask", json!({"count": 64}));
    let asked: Vec<Value> = (0..64)
        .map(|_| client.question("workspace/configuration").0)
        .collect();
    for id in asked.iter().rev() {
        client.send(&json!({"jsonrpc": "2.0", "id": id, "result": []}));
    }
    client.ask("tileperf/serverInfo", json!({}));
    // Answered questions make room for new ones, as soon as the answers have been dealt with.
    let mut room = 64;
    while room > 0 {
        let asked = client.ask("tileperf/test/ask", json!({ "count": room }));
        for _ in 0..asked.as_u64().unwrap() {
            client.question("workspace/configuration");
            room -= 1;
        }
    }
    client.finish();
}

#[test]
fn a_client_that_reads_nothing_for_a_while_misses_nothing() {
    let (mut client, _) = Client::start(Options::default());
    let text = "x = 1\n".repeat(20_000);
    client.open(URI, &text);
    client.stop_reading(true);
    // Far more than the pipe holds.
    let ids: Vec<i64> = (0..50)
        .map(|_| client.request("tileperf/documentText", json!({ "uri": URI })))
        .collect();
    for version in 2..500 {
        client.change(URI, version, json!([{"text": format!("x = {version}\n")}]));
    }
    std::thread::sleep(Duration::from_millis(200));
    client.stop_reading(false);
    for id in ids {
        // As it was when the request was sent.
        assert_eq!(client.response(id).unwrap()["text"], text);
    }
    assert!(client.diagnostics(URI, Some(499)).is_empty());
    client.finish();
}

#[test]
fn a_log_that_nobody_reads_stops_nothing() {
    let options = Options {
        args: vec!["--log-level".into(), "trace".into()],
        reads_log: false,
        ..Options::default()
    };
    let (mut client, _) = Client::start(options);
    // Each of these is worth a line; together more than a pipe holds.
    for n in 0..3000 {
        client.open(
            &format!("git:/project/{n}/{}.py", "long-name".repeat(10)),
            "",
        );
    }
    client.ask("tileperf/serverInfo", json!({}));
    client.finish();
}

#[test]
fn a_log_file_gets_what_standard_error_would() {
    let project = tileperf_tests::project::Project::empty();
    let file = project.folder().join("log.txt");
    let options = Options {
        args: vec!["--log-file".into(), file.display().to_string()],
        ..Options::default()
    };
    let (mut client, _) = Client::start(options);
    client.open("git:/project/kernel.py", "");
    client.ask("tileperf/serverInfo", json!({}));
    assert_eq!(client.log_text(), "");
    client.finish();
    let log = std::fs::read_to_string(file).expect("the log file");
    assert!(
        log.contains("git:/project/kernel.py") && log.contains("shutdown"),
        "{log}"
    );
    assert!(!log.contains('\u{1b}'), "colours in a file: {log}");
}
