//! Settings that choose rules.

use serde_json::{Value, json};
use tileperf_tests::client::Client;

use crate::{
    IN_KERNEL, KERNEL, SPACE, codes, one, project, pulled, pulled_until, pulls, pushed, start,
    start_in,
};

fn set(client: &mut Client, settings: Value) {
    client.notify(
        "workspace/didChangeConfiguration",
        json!({ "settings": settings }),
    );
}

#[test]
fn rules_are_chosen_while_a_file_is_open() {
    let (project, mut client) = start(json!({}));
    let uri = project.uri("pkg/kernel.py");
    client.open(&uri, KERNEL);
    pushed(&mut client, &uri, 1, &IN_KERNEL);
    for (settings, wanted) in [
        (
            json!({"rules": {"ignore": ["index-is-element-offset"]}}),
            &["TP207", "TP101"][..],
        ),
        (json!({"rules": {"ignore": ["TP2"]}}), &["TP101"]),
        (json!({"rules": {"select": ["TP207"]}}), &["TP207"]),
        (json!({"diagnostics": {"enable": false}}), &[]),
        (json!({}), &IN_KERNEL),
    ] {
        set(&mut client, settings);
        pushed(&mut client, &uri, 1, wanted);
    }
    client.finish();
}

#[test]
fn findings_are_as_severe_as_is_set() {
    let (project, mut client) = start(json!({}));
    let uri = project.uri("pkg/kernel.py");
    client.open(&uri, KERNEL);
    pushed(&mut client, &uri, 1, &IN_KERNEL);
    set(
        &mut client,
        json!({"rules": {"severity": {"TP2": "hint", "TP207": "error", "replace-hints-hot-path": "error"}}}),
    );
    loop {
        let found = pushed(&mut client, &uri, 1, &IN_KERNEL);
        let severity = |code| one(&found, code)["severity"].clone();
        if severity("TP207") == 1 {
            assert_eq!((severity("TP205"), severity("TP101")), (json!(4), json!(1)));
            break;
        }
    }
    client.finish();
}

#[test]
fn settings_of_the_project_count_from_the_start() {
    let project = project();
    project.write(
        "tileperf.toml",
        "rules.ignore = [\"TP205\", \"TP105\"]\n[rules.severity]\nTP101 = \"error\"\n",
    );
    let mut client = start_in(&project, json!({}));
    let (kernel, space) = (project.uri("pkg/kernel.py"), project.uri("pkg/space.py"));
    client.open(&kernel, KERNEL);
    let found = pushed(&mut client, &kernel, 1, &["TP207", "TP101"]);
    assert_eq!(found[1]["severity"], 1);
    client.open(&space, SPACE);
    pushed(&mut client, &space, 1, &["TP104", "TP109"]);
    client.finish();
}

#[test]
fn switched_off_there_is_neither_a_finding_nor_an_action() {
    let (project, mut client) = start(json!({}));
    let uri = project.uri("pkg/kernel.py");
    set(&mut client, json!({"diagnostics": {"enable": false}}));
    client.open(&uri, KERNEL);
    assert!(crate::settled(&mut client, &uri, 1).is_empty());
    let whole = json!({"start": {"line": 0, "character": 0}, "end": {"line": 13, "character": 0}});
    let params = json!({
        "textDocument": {"uri": uri}, "range": whole,
        "context": {"diagnostics": [], "only": ["quickfix", "source.fixAll"]},
    });
    assert_eq!(client.ask("textDocument/codeAction", params), Value::Null);
    client.finish();
}

#[test]
fn a_client_that_asks_is_told_to_ask_again() {
    let (project, mut client) = start(pulls());
    let uri = project.uri("pkg/kernel.py");
    client.open(&uri, KERNEL);
    assert_eq!(codes(&pulled(&mut client, &uri)), IN_KERNEL);
    client.answers(false);
    for (settings, wanted) in [
        (
            json!({"rules": {"ignore": ["TP205"]}}),
            &["TP207", "TP101"][..],
        ),
        (json!({"diagnostics": {"enable": false}}), &[]),
        (json!({}), &IN_KERNEL),
    ] {
        set(&mut client, settings);
        let (id, _) = client.question("workspace/diagnostic/refresh");
        client.send(&json!({"jsonrpc": "2.0", "id": id, "result": null}));
        pulled_until(&mut client, &uri, wanted);
    }
    client.answers(true);
    client.finish();
}
