//! The process ends when it should, with the code it should, and leaves nothing behind.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tileperf_tests::client::{Client, Options};
use tileperf_tests::process;

use crate::URI;

/// For an end that nothing delays.
const PROMPT: Duration = Duration::from_secs(5);
/// For an end that is found out by looking at the editor's process from time to time.
const SOON: Duration = Duration::from_secs(10);

#[test]
fn exit_after_shutdown_is_success_while_the_input_is_held_open() {
    let (mut client, _) = Client::start(Options::default());
    client.open(URI, "x = 1\n");
    assert_eq!(client.ask("shutdown", Value::Null), Value::Null);
    client.notify("exit", Value::Null);
    assert_eq!(client.exit_code(PROMPT), Some(0));
}

#[test]
fn exit_without_shutdown_is_a_failure() {
    let (mut client, _) = Client::start(Options::default());
    client.notify("exit", Value::Null);
    assert_eq!(client.exit_code(PROMPT), Some(1));

    let mut client = Client::spawn(Options::default());
    client.notify("exit", Value::Null);
    assert_eq!(client.exit_code(PROMPT), Some(1));
}

#[test]
fn exit_does_not_wait_for_requests_under_way() {
    let (mut client, _) = Client::start(Options {
        hooks: true,
        ..Options::default()
    });
    for busy in [true, true, true, false] {
        client.request(
            "tileperf/test/sleep",
            json!({"milliseconds": 600_000, "busy": busy}),
        );
    }
    client.ask("shutdown", Value::Null);
    client.notify("exit", Value::Null);
    assert_eq!(client.exit_code(PROMPT), Some(0));
}

#[test]
fn the_end_of_input_ends_the_server() {
    let mut client = Client::spawn(Options::default());
    client.close_input();
    assert_eq!(client.exit_code(PROMPT), Some(1));

    let (mut client, _) = Client::start(Options {
        hooks: true,
        ..Options::default()
    });
    client.request(
        "tileperf/test/sleep",
        json!({"milliseconds": 600_000, "busy": true}),
    );
    client.close_input();
    assert_eq!(client.exit_code(PROMPT), Some(1));

    let (mut client, _) = Client::start(Options::default());
    client.ask("shutdown", Value::Null);
    client.close_input();
    assert_eq!(client.exit_code(PROMPT), Some(0));
}

/// Starts an editor that starts the server; gives both and the process that holds the pipe, if any.
fn editor(leave_pipe: bool) -> (std::process::Child, u32, Option<u32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fake-editor"));
    command
        .arg(process::server_binary())
        .args(leave_pipe.then_some("--leave-pipe"));
    let mut editor = command
        .stdout(Stdio::piped())
        .spawn()
        .expect("the editor starts");
    let mut line = String::new();
    let output = editor.stdout.take().expect("a pipe");
    BufReader::new(output).read_line(&mut line).expect("a line");
    let said: Value = serde_json::from_str(&line).expect("JSON");
    let id = |name: &str| said[name].as_u64().and_then(|id| u32::try_from(id).ok());
    (editor, id("server").expect("the server's id"), id("holder"))
}

#[test]
fn a_killed_editor_takes_the_server_with_it() {
    let (mut editor, server, _) = editor(false);
    assert!(process::is_running(server));
    editor.kill().unwrap();
    editor.wait().unwrap();
    process::wait_until_gone(server, PROMPT);
}

#[test]
fn a_killed_editor_takes_the_server_with_it_while_another_process_holds_the_pipe() {
    let (mut editor, server, holder) = editor(true);
    editor.kill().unwrap();
    // Not waited for yet: the editor stays a zombie, as under a parent that is slow to notice.
    process::wait_until_gone(server, SOON);
    let holder = holder.unwrap();
    assert!(
        process::is_running(holder),
        "the pipe was not held open; the test proves nothing"
    );
    process::kill(holder);
    editor.wait().unwrap();
}

#[test]
fn an_editor_that_stops_reading_cannot_keep_the_server_alive() {
    let (mut client, _) = Client::start(Options::default());
    client.open(URI, &"x = 1\n".repeat(20_000));
    client.stop_reading(true);
    for _ in 0..100 {
        client.request("tileperf/documentText", json!({ "uri": URI }));
    }
    client.request("shutdown", Value::Null);
    client.notify("exit", Value::Null);
    assert_eq!(client.exit_code(PROMPT), Some(0));
}
