//! The check of the whole workspace.

use serde_json::{Value, json};
use tileperf_tests::client::{Client, Options};
use tileperf_tests::project::Project;

use crate::{IN_KERNEL, KERNEL, PUBLISHED, codes, pulls, pushed, start, start_in};

const IN_SPACE: [&str; 3] = ["TP105", "TP104", "TP109"];

fn check(client: &mut Client) -> String {
    let command = json!({"command": "tileperf.checkWorkspace"});
    let answer = client.ask("workspace/executeCommand", command);
    answer["message"].as_str().expect("a message").to_owned()
}

#[test]
fn files_that_are_not_open_are_checked_when_asked_for() {
    let (project, mut client) = start(json!({}));
    let (kernel, space) = (project.uri("pkg/kernel.py"), project.uri("pkg/space.py"));
    let launch = project.uri("pkg/launch.py");
    assert!(!client.has_within(PUBLISHED, std::time::Duration::from_millis(500)));
    assert_eq!(
        check(&mut client),
        "2 errors, 4 warnings, 2 hints in 3 files"
    );
    // Each is a file of its own; none has a version. They come in any order.
    let mut waiting = vec![
        (kernel.clone(), &IN_KERNEL[..]),
        (space, &IN_SPACE),
        (launch, &["TP201"]),
    ];
    while !waiting.is_empty() {
        let published = client.notification(PUBLISHED);
        assert_eq!(published["version"], Value::Null);
        let found = published["diagnostics"].as_array().expect("a list");
        waiting.retain(|(uri, wanted)| published["uri"] != *uri || codes(found) != *wanted);
    }

    // One that is opened, mended and closed again is as it stands on disk.
    client.open(&kernel, KERNEL);
    pushed(&mut client, &kernel, 1, &IN_KERNEL);
    let mended = KERNEL.replace("i * BLOCK", "i");
    client.change(&kernel, 2, json!([{ "text": mended }]));
    pushed(&mut client, &kernel, 2, &["TP207", "TP101"]);
    client.close(&kernel);
    pushed(&mut client, &kernel, None, &IN_KERNEL);
    client.finish();
}

#[test]
fn a_workspace_that_is_still_being_read_is_checked_when_it_is_read() {
    let project = Project::empty();
    for number in 0..400 {
        let name = format!("pkg{}/kernel_{number}.py", number % 7);
        project.write(&name, KERNEL);
    }
    let (mut client, _) = Client::start(Options {
        folder: Some(project.folder().to_owned()),
        ..Options::default()
    });
    let said = check(&mut client);
    assert!(said.ends_with(" in 400 files"), "{said}");
    client.finish();
}

#[test]
fn a_workspace_in_order() {
    let project = Project::empty();
    project.write("kernel.py", "import cuda.tile as ct\n");
    let mut client = start_in(&project, json!({}));
    assert_eq!(check(&mut client), "nothing is wrong in the workspace");
    client.finish();
}

#[test]
fn a_client_that_asks_gets_them_with_the_workspace() {
    let (project, mut client) = start(pulls());
    let ask = |known: &Value| json!({ "previousResultIds": known });
    // Held back, as there is nothing to say; answered once there is.
    let id = client.request("workspace/diagnostic", ask(&json!([])));
    assert_eq!(
        check(&mut client),
        "2 errors, 4 warnings, 2 hints in 3 files"
    );
    let answer = client.response(id).expect("a report");
    let items = answer["items"].as_array().expect("a list");
    let mut known = Vec::new();
    for (name, wanted) in [
        ("pkg/kernel.py", &IN_KERNEL[..]),
        ("pkg/space.py", &IN_SPACE),
        ("pkg/launch.py", &["TP201"]),
    ] {
        let uri = project.uri(name);
        let item = items.iter().find(|item| item["uri"] == uri).expect(name);
        assert_eq!(
            (&item["kind"], &item["version"]),
            (&json!("full"), &Value::Null)
        );
        assert_eq!(codes(item["items"].as_array().expect("a list")), wanted);
        known.push(json!({"uri": uri, "value": item["resultId"]}));
    }

    // Only what has changed is sent again.
    let kernel = project.uri("pkg/kernel.py");
    client.open(&kernel, &KERNEL.replace("i * BLOCK", "i"));
    let answer = client.ask("workspace/diagnostic", ask(&json!(known)));
    for item in answer["items"].as_array().expect("a list") {
        let kind = if item["uri"] == kernel {
            "full"
        } else {
            "unchanged"
        };
        assert!(item["kind"] == kind || item["items"] == json!([]), "{item}");
    }
    assert!(!client.has(PUBLISHED));
    client.finish();
}

#[test]
fn files_that_change_on_disk_afterwards_are_told_of_again() {
    let (project, mut client) = start(json!({}));
    check(&mut client);
    let kernel = project.uri("pkg/kernel.py");
    pushed(&mut client, &kernel, None, &IN_KERNEL);
    project.write("pkg/kernel.py", KERNEL.replace("i * BLOCK", "i"));
    let changed = json!({"changes": [{"uri": kernel, "type": 2}]});
    client.notify("workspace/didChangeWatchedFiles", changed);
    pushed(&mut client, &kernel, None, &["TP207", "TP101"]);
    std::fs::remove_file(project.folder().join("pkg/kernel.py")).expect("it is there");
    let changed = json!({"changes": [{"uri": kernel, "type": 3}]});
    client.notify("workspace/didChangeWatchedFiles", changed);
    pushed(&mut client, &kernel, None, &[]);
    client.finish();
}
