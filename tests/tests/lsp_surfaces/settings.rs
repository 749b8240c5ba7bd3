//! Settings from files and from the editor, mistakes in them, and trust.

use serde_json::{Value, json};
use tileperf_tests::client::{Client, Options};
use tileperf_tests::project::{KERNELS, LAUNCH, Project};

use crate::{at, ready, sample};

fn set(client: &mut Client, settings: Value) {
    client.notify(
        "workspace/didChangeConfiguration",
        json!({ "settings": settings }),
    );
}

#[test]
fn every_surface_can_be_switched_off_and_on_again() {
    let (project, mut client) = sample(json!({}));
    let uri = project.uri("pkg/launch.py");
    let kernels = project.uri("pkg/kernels.py");
    let mut references = at(&uri, 6, 42);
    references["context"] = json!({"includeDeclaration": true});
    let everywhere =
        json!({"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}});
    let surfaces = [
        (
            "documentSymbols",
            "textDocument/documentSymbol",
            json!({"textDocument": {"uri": kernels}}),
        ),
        (
            "workspaceSymbols",
            "workspace/symbol",
            json!({"query": "scale"}),
        ),
        ("definition", "textDocument/definition", at(&uri, 6, 42)),
        ("references", "textDocument/references", references),
        (
            "documentHighlight",
            "textDocument/documentHighlight",
            at(&uri, 6, 42),
        ),
        ("hover", "textDocument/hover", at(&uri, 6, 42)),
        (
            "codeLens",
            "textDocument/codeLens",
            json!({"textDocument": {"uri": kernels}}),
        ),
        (
            "inlayHints",
            "textDocument/inlayHint",
            json!({"textDocument": {"uri": uri}, "range": everywhere}),
        ),
    ];
    for (name, method, params) in surfaces {
        assert_ne!(
            client.ask(method, params.clone()),
            Value::Null,
            "{name}, on"
        );
        set(&mut client, json!({ name: {"enable": false} }));
        assert_eq!(
            client.ask(method, params.clone()),
            Value::Null,
            "{name}, off"
        );
        set(&mut client, json!({"trusted": false, "settings": {}}));
        assert_ne!(client.ask(method, params), Value::Null, "{name}, on again");
    }
    client.finish();
}

#[test]
fn a_mistake_in_the_settings_is_said_once_and_costs_only_itself() {
    let project = Project::sample();
    project.write(
        "tileperf.toml",
        "[hover]\nenabel = false\n[code-lens]\nenable = false\n",
    );
    let mut client = Client::start(Options {
        folder: Some(project.folder().to_owned()),
        initialization_options: json!({"trusted": false, "settings": {"inlayHints": {"enabled": 1}}}),
        ..Options::default()
    })
    .0;
    for part in ["hover.enabel", "inlayHints.enabled"] {
        let message = client.notification("window/showMessage");
        assert_eq!(message["type"], 2);
        let text = message["message"].as_str().unwrap();
        assert!(
            text.contains(part) && text.contains("did you mean"),
            "{text}"
        );
    }
    client.open(&project.uri("pkg/launch.py"), LAUNCH);
    client.open(&project.uri("pkg/kernels.py"), KERNELS);
    ready(&mut client);
    // Read again when the server wakes, but not said again.
    let info = client.ask("tileperf/serverInfo", json!({}));
    assert_eq!(info["problems"].as_array().map(Vec::len), Some(2), "{info}");
    assert_eq!(info["settings"]["code-lens.enable"]["value"], "false");
    assert_eq!(
        info["settings"]["code-lens.enable"]["origin"],
        "tileperf.toml:4"
    );
    assert_ne!(
        client.ask(
            "textDocument/hover",
            at(&project.uri("pkg/launch.py"), 6, 42)
        ),
        Value::Null
    );
    client.finish();
}

#[test]
fn a_client_that_sends_no_settings_is_asked_for_them() {
    let project = Project::sample();
    let mut client = Client::start(Options {
        folder: Some(project.folder().to_owned()),
        capabilities: json!({"workspace": {"configuration": true}}),
        answers: false,
        ..Options::default()
    })
    .0;
    let uri = project.uri("pkg/launch.py");
    client.open(&uri, LAUNCH);
    ready(&mut client);
    assert_ne!(
        client.ask("textDocument/hover", at(&uri, 6, 42)),
        Value::Null
    );
    set(&mut client, Value::Null);
    let (id, params) = client.question("workspace/configuration");
    assert_eq!(params["items"], json!([{"section": "tileperf"}]));
    // Trust is not taken from there.
    let settings = json!({"hover": {"enable": false}, "trusted": true});
    client.send(&json!({"jsonrpc": "2.0", "id": id, "result": [settings]}));
    while client.ask("textDocument/hover", at(&uri, 6, 42)) != Value::Null {}
    client.finish();
}

#[test]
fn a_workspace_that_is_not_trusted_decides_nothing_about_what_is_run() {
    let project = Project::sample();
    let trap = project.write("trap.sh", "#!/bin/sh\ntouch sprung\n");
    let shown = trap.display();
    project.write(
        "tileperf.toml",
        format!("trust = [\"/\"]\n[python]\npath = \"{shown}\"\n[environment]\nLD_PRELOAD = \"{shown}\"\n[server]\npath = \"{shown}\"\n"),
    );
    let mut client = Client::start(Options {
        folder: Some(project.folder().to_owned()),
        ..Options::default()
    })
    .0;
    client.open(&project.uri("pkg/launch.py"), LAUNCH);
    ready(&mut client);
    let info = client.ask("tileperf/serverInfo", json!({}));
    for key in ["python.path", "environment", "server.path", "trust"] {
        assert_eq!(info["settings"][key]["origin"], "default", "{key}");
        let said = info["problems"].as_array().unwrap().iter().any(|p| {
            p.as_str()
                .is_some_and(|p| p.contains(key) && p.contains("ignored"))
        });
        assert!(said, "{key}: {info}");
        client.notification("window/showMessage");
    }
    let children = format!("/proc/{0}/task/{0}/children", client.pid());
    if let Ok(children) = std::fs::read_to_string(children) {
        assert_eq!(children.trim(), "", "the server started something");
    }
    assert!(!project.folder().join("sprung").exists());
    client.finish();
}
