//! What an editor shows of a small project, asked for as editors ask.

mod awake;
mod navigation;
mod settings;
mod shown;

use serde_json::{Value, json};
use tileperf_tests::client::{Client, Options};
use tileperf_tests::project::Project;

/// A client in a project, with the capabilities given.
fn start(project: &Project, capabilities: Value) -> Client {
    let folder = Some(project.folder().to_owned());
    Client::start(Options {
        folder,
        capabilities,
        ..Options::default()
    })
    .0
}

/// Waits until the workspace is read; gives that status.
fn ready(client: &mut Client) -> Value {
    loop {
        let status = client.notification("tileperf/status");
        if status["state"] == "ready" {
            return status;
        }
    }
}

/// The sample project with both files open, read.
fn sample(capabilities: Value) -> (Project, Client) {
    let project = Project::sample();
    let mut client = start(&project, capabilities);
    client.open(
        &project.uri("pkg/kernels.py"),
        tileperf_tests::project::KERNELS,
    );
    client.open(
        &project.uri("pkg/launch.py"),
        tileperf_tests::project::LAUNCH,
    );
    ready(&mut client);
    (project, client)
}

/// The parameters of a request about a place.
fn at(uri: &str, line: u32, character: u32) -> Value {
    json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": character}})
}

/// A range within a line.
fn range(line: u32, start: u32, end: u32) -> Value {
    json!({
        "start": {"line": line, "character": start},
        "end": {"line": line, "character": end},
    })
}

/// The kernel's name where it is defined.
fn kernel_name() -> Value {
    range(4, 4, 9)
}

/// The kernel's name where it is launched, in UTF-16 units.
fn launched_name() -> Value {
    range(6, 39, 44)
}
