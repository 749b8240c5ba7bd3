//! Diagnostics for clients that ask for them.

use std::time::Duration;

use serde_json::json;
use tileperf_tests::client::{Client, Options};

use crate::{
    IN_KERNEL, KERNEL, LAUNCH, PUBLISHED, SPACE, before_line, codes, project, pulled, pulled_until,
    pulls, start,
};

#[test]
fn a_client_gets_them_in_one_way_only() {
    for (capabilities, asks) in [(pulls(), true), (json!({}), false)] {
        let project = project();
        let (mut client, answer) = Client::start(Options {
            folder: Some(project.folder().to_owned()),
            capabilities,
            ..Options::default()
        });
        let offered = &answer["capabilities"]["diagnosticProvider"];
        assert_eq!(offered.is_object(), asks, "{offered}");
        while client.notification("tileperf/status")["state"] != "ready" {}
        let uri = project.uri("pkg/kernel.py");
        client.open(&uri, KERNEL);
        if asks {
            assert_eq!(codes(&pulled(&mut client, &uri)), IN_KERNEL);
            client.change(&uri, 2, before_line(0, "# a line\n"));
            assert_eq!(codes(&pulled(&mut client, &uri)), IN_KERNEL);
            client.ask(
                "workspace/executeCommand",
                json!({"command": "tileperf.checkWorkspace"}),
            );
            client.close(&uri);
            let pushed = client.has_within(PUBLISHED, Duration::from_secs(1));
            assert!(!pushed, "{:?}", client.published());
        } else {
            assert_eq!(codes(&client.diagnostics(&uri, Some(1))), IN_KERNEL);
        }
        client.finish();
    }
}

#[test]
fn the_answer_belongs_to_the_last_edit() {
    let (project, mut client) = start(pulls());
    let uri = project.uri("pkg/kernel.py");
    client.open(&uri, KERNEL);
    for version in 2..60 {
        client.change(&uri, version, before_line(0, "# a line\n"));
        let found = pulled(&mut client, &uri);
        assert_eq!(codes(&found), IN_KERNEL);
        assert_eq!(found[3]["range"]["start"]["line"], 11 + version - 1);
    }
    client.finish();
}

#[test]
fn a_client_is_told_to_ask_again_when_other_files_add_something() {
    let (project, mut client) = start(pulls());
    let (launch, space) = (project.uri("pkg/launch.py"), project.uri("pkg/space.py"));
    client.answers(false);
    for (uri, text, wanted) in [
        (&launch, LAUNCH, &["TP201"][..]),
        (&space, SPACE, &["TP105", "TP104", "TP109"]),
    ] {
        client.open(uri, text);
        pulled(&mut client, uri);
        let (id, _) = client.question("workspace/diagnostic/refresh");
        client.send(&json!({"jsonrpc": "2.0", "id": id, "result": null}));
        pulled_until(&mut client, uri, wanted);
    }
    // They stay with their lines.
    client.change(&space, 2, before_line(0, "# a line\n"));
    let found = pulled(&mut client, &space);
    assert_eq!(codes(&found), ["TP105", "TP104", "TP109"]);
    assert_eq!(found[0]["range"]["start"]["line"], 6);
    client.answers(true);
    client.finish();
}

#[test]
fn a_client_is_told_to_ask_again_when_something_is_typed_in_another_file() {
    let (project, mut client) = start(pulls());
    let (kernel, launch) = (project.uri("pkg/kernel.py"), project.uri("pkg/launch.py"));
    client.open(&launch, LAUNCH);
    pulled_until(&mut client, &launch, &["TP201"]);
    client.open(&kernel, KERNEL);
    assert_eq!(codes(&pulled(&mut client, &kernel)), IN_KERNEL);
    let constant = KERNEL.replace("double(x, n,", "double(x, n: ct.Constant[int],");
    for (version, text, wanted) in [(2, constant.as_str(), &[][..]), (3, KERNEL, &["TP201"])] {
        client.forget_questions(Duration::from_millis(800));
        client.change(&kernel, version, json!([{ "text": text }]));
        // The client asks about the document that is typed in, and about no other.
        pulled(&mut client, &kernel);
        client.question("workspace/diagnostic/refresh");
        assert_eq!(codes(&pulled(&mut client, &launch)), wanted);
    }
    client.finish();
}

#[test]
fn nothing_is_said_of_documents_that_are_not_open() {
    let (project, mut client) = start(pulls());
    let uri = project.uri("pkg/kernel.py");
    assert!(pulled(&mut client, &uri).is_empty());
    client.open(&uri, KERNEL);
    assert_eq!(codes(&pulled(&mut client, &uri)), IN_KERNEL);
    client.close(&uri);
    assert!(pulled(&mut client, &uri).is_empty());
    client.finish();
}
