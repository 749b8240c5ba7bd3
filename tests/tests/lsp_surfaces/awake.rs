//! Asleep where there is no cuTile, awake as soon as there is, and told of changes on disk.

use serde_json::{Value, json};
use tileperf_tests::client::{Client, Options};
use tileperf_tests::process;
use tileperf_tests::project::{KERNELS, LAUNCH, Project};

use crate::{at, ready, start};

#[test]
fn a_workspace_without_cutile_sees_nothing_of_the_server() {
    let project = Project::empty();
    project.write("plain.py", "import os\n");
    let mut client = start(&project, json!({}));
    let uri = project.uri("plain.py");
    client.open(&uri, &"import os\nprint(os.name)\n".repeat(500));
    assert!(client.diagnostics(&uri, Some(1)).is_empty());
    for method in [
        "textDocument/hover",
        "textDocument/definition",
        "textDocument/codeLens",
    ] {
        assert_eq!(client.ask(method, at(&uri, 0, 0)), Value::Null, "{method}");
    }
    assert_eq!(
        client.ask("workspace/symbol", json!({"query": ""})),
        Value::Null
    );
    // The whole, of a release build, is measured by `cargo xtask bench`. With huge pages (see
    // .cargo/config.toml) a few hundred KiB in use hold two or three pages of 2 MiB.
    if let Some(kib) = process::own_kib(client.pid()) {
        assert!(
            kib < 8 * 1024,
            "{kib} KiB of its own while there is nothing to do"
        );
    }
    assert!(!client.has("tileperf/status"));
    client.finish();
}

#[test]
fn a_workspace_with_a_kernel_is_read_before_anything_is_opened() {
    let project = Project::sample();
    let mut client = start(&project, json!({}));
    let status = ready(&mut client);
    assert_eq!(
        (&status["kernels"], &status["files"]),
        (&json!(1), &json!(2))
    );
    let info = client.ask("tileperf/serverInfo", json!({}));
    assert_eq!((&info["kernels"], &info["files"]), (&json!(1), &json!(2)));
    assert!(info["indexSeconds"].is_number());
    assert_eq!(info["problems"], json!([]));
    assert_eq!(info["settings"]["hover.enable"]["value"], "true");
    client.finish();
}

#[test]
fn typing_the_import_wakes_the_server() {
    let project = Project::empty();
    let mut client = start(&project, json!({}));
    client.open("untitled:Untitled-1", "");
    let letters = "import cuda.tile as ct".chars();
    for (column, letter) in (0..).zip(letters) {
        let place = json!({"line": 0, "character": column});
        let edit = json!([{"range": {"start": place, "end": place}, "text": letter.to_string()}]);
        client.change("untitled:Untitled-1", column + 2, edit);
    }
    ready(&mut client);
    client.finish();
}

#[test]
fn a_client_that_watches_files_is_asked_to() {
    let project = Project::sample();
    let capabilities =
        json!({"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": true}}});
    let mut client = start(&project, capabilities);
    ready(&mut client);
    let (_, params) = client.question("client/registerCapability");
    let registration = &params["registrations"][0];
    assert_eq!(registration["method"], "workspace/didChangeWatchedFiles");
    let watchers = registration["registerOptions"]["watchers"].to_string();
    for glob in ["**/*.py", "**/tileperf.toml", "**/pyproject.toml"] {
        assert!(watchers.contains(glob), "{watchers}");
    }

    project.write("pkg/more.py", KERNELS.replace("scale", "shift"));
    let report =
        |kind: u32| json!({"changes": [{"uri": project.uri("pkg/more.py"), "type": kind}]});
    client.notify("workspace/didChangeWatchedFiles", report(1));
    wait_for_kernels(&mut client, 2);
    std::fs::remove_file(project.folder().join("pkg/more.py")).unwrap();
    client.notify("workspace/didChangeWatchedFiles", report(3));
    wait_for_kernels(&mut client, 1);
    client.finish();
}

#[test]
fn files_are_watched_for_a_client_that_does_not() {
    let project = Project::sample();
    let mut client = start(&project, json!({}));
    ready(&mut client);
    // The watching starts some time after the index; a change may come before it.
    let mut round = 0;
    loop {
        round += 1;
        project.write(
            "pkg/more.py",
            KERNELS.replace("scale", &format!("shift{round}")),
        );
        if client.has_within("tileperf/status", std::time::Duration::from_secs(1)) {
            break;
        }
        assert!(round < 30, "changes on disk are not noticed");
    }
    wait_for_kernels(&mut client, 2);
    client.finish();
}

#[test]
fn a_client_that_can_is_told_to_ask_again() {
    let project = Project::sample();
    let capabilities = json!({"workspace": {
        "codeLens": {"refreshSupport": true},
        "inlayHint": {"refreshSupport": true},
    }});
    let mut client = start(&project, capabilities);
    ready(&mut client);
    client.question("workspace/codeLens/refresh");
    client.question("workspace/inlayHint/refresh");
    client.finish();
}

#[test]
fn folders_come_and_go() {
    let (project, other) = (Project::sample(), Project::empty());
    other.write("a.py", KERNELS);
    let mut client = start(&project, json!({}));
    ready(&mut client);
    let folder = |p: &Project| json!({"uri": p.uri(""), "name": "x"});
    let event = json!({"event": {"added": [folder(&other)], "removed": []}});
    client.notify("workspace/didChangeWorkspaceFolders", event);
    wait_for_kernels(&mut client, 2);
    let event = json!({"event": {"added": [], "removed": [folder(&project)]}});
    client.notify("workspace/didChangeWorkspaceFolders", event);
    wait_for_kernels(&mut client, 1);
    client.finish();
}

#[test]
fn documents_are_opened_and_closed_while_the_workspace_is_read() {
    let project = Project::sample();
    for n in 0..300 {
        project.write(
            &format!("pkg/many/k{n}.py"),
            KERNELS.replace("scale", &format!("k{n}")),
        );
    }
    let folder = Some(project.folder().to_owned());
    let mut client = Client::start(Options {
        folder,
        ..Options::default()
    })
    .0;
    let uri = project.uri("pkg/launch.py");
    for _ in 0..50 {
        client.open(&uri, LAUNCH);
        client.request("textDocument/hover", at(&uri, 6, 42));
        client.close(&uri);
    }
    wait_for_kernels(&mut client, 301);
    client.forget_responses();
    assert!(client.diagnostics(&uri, None).is_empty());
    client.finish();
}

/// Waits for a status with that many kernels.
fn wait_for_kernels(client: &mut Client, kernels: u64) {
    loop {
        let status = client.notification("tileperf/status");
        if status["state"] == "ready" && status["kernels"] == kernels {
            return;
        }
    }
}
