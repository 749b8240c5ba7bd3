//! How runs of the experiment loop show in an editor, wherever they were started.
//!
//! Most tests write a journal event by event, as the process that runs a session does, and look at what
//! the server makes of it; `real` starts runs by command, with pytest and git.

mod commands;
mod failures;
mod journal;
mod progress;
mod real;
mod states;
mod surfaces;
mod typing;

use serde_json::{Value, json};
use tileperf_tests::client::{Client, Options};
use tileperf_tests::project::{KERNELS, LAUNCH, Project};

use journal::Journal;

/// A client in a project, with the capabilities given.
fn start(project: &Project, capabilities: Value, trusted: bool) -> Client {
    Client::start(Options {
        folder: Some(project.folder().to_owned()),
        capabilities,
        // Whether this machine has a compiler makes no difference.
        initialization_options: json!({
            "trusted": trusted,
            "settings": {"compile": {"enable": false}},
        }),
        ..Options::default()
    })
    .0
}

/// The sample project with its kernel's file open, and a session on it that nobody runs.
fn sample(capabilities: Value) -> (Project, Client, Journal) {
    let project = Project::sample();
    let journal = Journal::new(&project, "scale-20260102");
    let mut client = start(&project, capabilities, false);
    client.open(&project.uri("pkg/kernels.py"), KERNELS);
    until(&mut client, |run| run["phase"] == "setUp");
    (project, client, journal)
}

/// Waits for a state that is `wanted` and gives it.
fn until(client: &mut Client, wanted: impl Fn(&Value) -> bool) -> Value {
    loop {
        let run = client.notification("tileperf/run");
        if wanted(&run) {
            return run;
        }
    }
}

/// Runs a command with one argument.
fn command(client: &mut Client, name: &str, argument: Value) -> Value {
    client.ask(
        "workspace/executeCommand",
        json!({"command": name, "arguments": [argument]}),
    )
}

/// Runs a command that is refused; gives the reason.
fn refused(client: &mut Client, name: &str, argument: Value) -> String {
    let params = json!({"command": name, "arguments": [argument]});
    let error = client.ask_error("workspace/executeCommand", params);
    assert_eq!(error.code, -32803, "{error:?}");
    error.message
}

/// A range within a line.
fn range(line: u32, start: u32, end: u32) -> Value {
    json!({
        "start": {"line": line, "character": start},
        "end": {"line": line, "character": end},
    })
}

/// The text of the launch, for tests that open it, too.
const LAUNCH_TEXT: &str = LAUNCH;
