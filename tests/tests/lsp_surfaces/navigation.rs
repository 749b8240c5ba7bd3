//! From a launch to its kernel and back, with exactly the identifiers as ranges.

use serde_json::{Value, json};
use tileperf_tests::project::{KERNELS, LAUNCH, Project};

use crate::{at, kernel_name, launched_name, range, ready, sample, start};

#[test]
fn from_a_launch_to_the_kernel_in_another_file() {
    let (project, mut client) = sample(json!({}));
    let launch = project.uri("pkg/launch.py");
    let expected = json!([{"uri": project.uri("pkg/kernels.py"), "range": kernel_name()}]);
    // At the first letter, inside, and behind the last letter.
    for character in [39, 41, 44] {
        let found = client.ask("textDocument/definition", at(&launch, 6, character));
        assert_eq!(found, expected, "at {character}");
    }
    for character in [0, 38, 46] {
        let found = client.ask("textDocument/definition", at(&launch, 6, character));
        assert_eq!(found, Value::Null, "at {character}");
    }
    client.finish();
}

#[test]
fn columns_are_counted_as_agreed() {
    let (project, mut client) = sample(json!({"general": {"positionEncodings": ["utf-8"]}}));
    let launch = project.uri("pkg/launch.py");
    let found = client.ask("textDocument/references", {
        let mut params = at(&launch, 6, 42);
        params["context"] = json!({"includeDeclaration": false});
        params
    });
    assert_eq!(found, json!([{"uri": launch, "range": range(6, 41, 46)}]));
    client.finish();
}

#[test]
fn from_the_kernel_to_everything_that_uses_it() {
    let (project, mut client) = sample(json!({}));
    let (kernels, launch) = (project.uri("pkg/kernels.py"), project.uri("pkg/launch.py"));
    let declared = json!({"uri": kernels, "range": kernel_name()});
    let used = json!({"uri": launch, "range": launched_name()});
    for (declaration, expected) in [(true, json!([declared, used])), (false, json!([used]))] {
        for place in [at(&kernels, 4, 5), at(&launch, 6, 42)] {
            let mut params = place;
            params["context"] = json!({"includeDeclaration": declaration});
            assert_eq!(client.ask("textDocument/references", params), expected);
        }
    }
    client.finish();
}

#[test]
fn the_same_kernel_is_highlighted_in_the_document() {
    let (project, mut client) = sample(json!({}));
    let launch = project.uri("pkg/launch.py");
    let found = client.ask("textDocument/documentHighlight", at(&launch, 6, 42));
    assert_eq!(found, json!([{"range": launched_name(), "kind": 1}]));
    assert_eq!(
        client.ask("textDocument/documentHighlight", at(&launch, 0, 0)),
        Value::Null
    );
    client.finish();
}

#[test]
fn unsaved_text_counts_and_what_is_on_disk_counts_again_after_closing() {
    let (project, mut client) = sample(json!({}));
    let (kernels, launch) = (project.uri("pkg/kernels.py"), project.uri("pkg/launch.py"));
    client.change(
        &kernels,
        2,
        json!([{"text": format!("# one line more\n{KERNELS}")}]),
    );
    let found = client.ask("textDocument/definition", at(&launch, 6, 42));
    assert_eq!(found[0]["range"], range(5, 4, 9));
    client.close(&kernels);
    let found = client.ask("textDocument/definition", at(&launch, 6, 42));
    assert_eq!(found[0]["range"], kernel_name());
    client.finish();
}

#[test]
fn an_open_document_is_named_as_the_client_names_it() {
    let project = Project::sample();
    let mut client = start(&project, json!({}));
    // Another spelling of the same path.
    let odd = project
        .uri("pkg/kernels.py")
        .replace("kernels", "%6Bernels");
    client.open(&odd, KERNELS);
    client.open(&project.uri("pkg/launch.py"), LAUNCH);
    ready(&mut client);
    let found = client.ask(
        "textDocument/definition",
        at(&project.uri("pkg/launch.py"), 6, 42),
    );
    assert_eq!(found[0]["uri"], odd);
    client.finish();
}

#[test]
fn the_workspace_is_searched() {
    let (project, mut client) = sample(json!({}));
    let found = client.ask("workspace/symbol", json!({"query": "scl"}));
    let hit = &found[0];
    assert_eq!(
        (&hit["name"], &hit["containerName"]),
        (&json!("scale"), &json!("kernels.py"))
    );
    let expected = json!({"uri": project.uri("pkg/kernels.py"), "range": kernel_name()});
    assert_eq!(hit["location"], expected);
    assert_eq!(
        client.ask("workspace/symbol", json!({"query": "nothing"})),
        json!([])
    );
    client.finish();
}
