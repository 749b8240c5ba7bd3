//! Code actions of the playbook.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tileperf_tests::client::{Client, Options};
use tileperf_tests::project::Project;

use super::{KERNELS, project, python};

/// How long compiling all actions of a kernel may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);

pub(crate) fn editor(
    project: &Project,
    python: Option<&Path>,
    settings: Value,
    annotated: bool,
) -> Client {
    let mut all = json!({"compile": {"archs": ["sm_90"], "enable": python.is_some()}});
    if let Some(python) = python {
        all["python"] = json!({"path": python});
    }
    if let (Some(all), Some(given)) = (all.as_object_mut(), settings.as_object()) {
        all.extend(given.clone());
    }
    let mut edit = json!({"documentChanges": true});
    if annotated {
        edit["changeAnnotationSupport"] = json!({});
    }
    Client::start(Options {
        capabilities: json!({"workspace": {"workspaceEdit": edit}}),
        initialization_options: json!({"trusted": true, "settings": all}),
        folder: Some(project.folder().to_owned()),
        environment: vec![("TILEPERF_CACHE".to_owned(), project.folder().join(".cache"))],
        ..Options::default()
    })
    .0
}

/// The actions of some kinds at a line, from 0.
pub(crate) fn actions(client: &mut Client, uri: &str, line: u32, only: &[&str]) -> Vec<Value> {
    let place = json!({"line": line, "character": 4});
    let mut context = json!({"diagnostics": []});
    if !only.is_empty() {
        context["only"] = json!(only);
    }
    let params = json!({
        "textDocument": {"uri": uri},
        "range": {"start": place, "end": place},
        "context": context,
    });
    let answer = client.ask("textDocument/codeAction", params);
    answer.as_array().cloned().unwrap_or_default()
}

fn titles(actions: &[Value]) -> Vec<&str> {
    let titles = actions.iter().map(|a| a["title"].as_str());
    titles.map(|title| title.expect("a title")).collect()
}

#[test]
fn a_kernel_has_actions_everywhere_in_it_and_nothing_else_has() {
    let project = project();
    let mut client = editor(&project, None, json!({}), true);
    let uri = project.uri("pkg/kernels.py");
    client.open(&uri, KERNELS);
    const ALL: &[&str] = &["refactor.rewrite.cutile"];
    // The decorator, the name, the body.
    for line in [3, 4, 9] {
        let found = actions(&mut client, &uri, line, ALL);
        let titles = titles(&found);
        assert_eq!(titles.len(), 2, "{titles:?}");
        assert_eq!(
            titles[0],
            "D: Multiply float32 by tensor cores, as tfloat32 (not compiled yet)"
        );
        assert_eq!(
            found[0]["kind"],
            "refactor.rewrite.cutile.tfloat32-operands"
        );
        let edit = &found[0]["edit"];
        let changes = edit["documentChanges"][0]["edits"]
            .as_array()
            .expect("edits");
        let id = changes[0]["annotationId"].as_str().expect("annotated");
        let note = &edit["changeAnnotations"][id];
        assert_eq!(note["needsConfirmation"], false);
        assert!(
            note["description"]
                .as_str()
                .is_some_and(|d| d.contains("last bits"))
        );
        // One that keeps results needs no word.
        assert!(found[1]["edit"]["changeAnnotations"].is_null());
    }
    for line in [0, 1, 11] {
        assert_eq!(actions(&mut client, &uri, line, ALL), Vec::<Value>::new());
    }
    // Kinds above and below, and others.
    for (kind, count) in [
        ("refactor", 2),
        ("refactor.rewrite", 2),
        ("refactor.rewrite.cutile.tfloat32-operands", 1),
        ("refactor.rewrite.cutile.tfloat32", 0),
        ("refactor.extract", 0),
        ("source", 0),
    ] {
        let found = actions(&mut client, &uri, 4, &[kind]);
        assert_eq!(found.len(), count, "{kind}: {:?}", titles(&found));
    }
    client.finish();
}

#[test]
fn each_optimization_is_offered_once_as_an_iteration_where_code_may_run() {
    let project = project();
    let uri = project.uri("pkg/kernels.py");
    let mut client = editor(&project, None, json!({}), true);
    client.open(&uri, KERNELS);
    let found = actions(&mut client, &uri, 13, &["tileperf.perf"]);
    let titles = titles(&found);
    let letters: Vec<&str> = titles.iter().map(|t| &t[..2]).collect();
    assert_eq!(letters, ["F:", "E:"], "{titles:?}");
    let latency = found
        .iter()
        .find(|a| a["command"]["arguments"][0]["optimization"] == "E");
    let argument = &latency.expect("E")["command"]["arguments"][0];
    assert_eq!(
        *argument,
        json!({"uri": uri, "kernel": "share", "optimization": "E", "variant": "latency=1"})
    );
    // Beside the edits, and not among them.
    let edits = actions(&mut client, &uri, 13, &["refactor"]);
    assert!(edits.iter().all(|a| a["command"].is_null()));
    let all = actions(&mut client, &uri, 13, &[]);
    assert!(all.len() >= edits.len() + found.len());
    client.finish();
    let (mut client, _) = Client::start(Options {
        folder: Some(project.folder().to_owned()),
        initialization_options: json!({"trusted": false}),
        ..Options::default()
    });
    client.open(&uri, KERNELS);
    assert!(actions(&mut client, &uri, 13, &["tileperf.perf"]).is_empty());
    // A plan runs nothing.
    let plans = actions(&mut client, &uri, 13, &["tileperf.plan"]);
    let command = &plans[0]["command"];
    assert_eq!(
        (plans.len(), &command["title"]),
        (1, &json!("Write a plan for this kernel"))
    );
    let below = actions(&mut client, &uri, 15, &["tileperf.plan"]);
    assert!(below.is_empty(), "{below:?}");
    let params = json!({"command": command["command"], "arguments": command["arguments"]});
    let answer = client.ask("workspace/executeCommand", params);
    let path = "sandbox/tileperf/plan-share.md";
    let said = answer["message"].as_str().expect("a message");
    assert!(
        said.ends_with(&format!(" things to try are in {path}")),
        "{said}"
    );
    let plan = std::fs::read_to_string(project.folder().join(path)).expect("a plan");
    assert!(
        plan.starts_with("# Plan for `share` in `pkg/kernels.py`"),
        "{plan}"
    );
    assert!(!actions(&mut client, &uri, 13, &["refactor"]).is_empty());
    client.finish();
}

#[test]
fn the_playbook_can_be_switched_off_and_edits_be_plain() {
    let project = project();
    let uri = project.uri("pkg/kernels.py");
    let off = json!({"playbook": {"enable": false}});
    let mut client = editor(&project, None, off, true);
    client.open(&uri, KERNELS);
    assert_eq!(
        actions(&mut client, &uri, 4, &["refactor"]),
        Vec::<Value>::new()
    );
    client.finish();
    let mut client = editor(&project, None, json!({}), false);
    client.open(&uri, KERNELS);
    let found = actions(&mut client, &uri, 4, &["refactor"]);
    let edits = found[0]["edit"]["documentChanges"][0]["edits"].as_array();
    assert!(edits.is_some_and(|edits| edits.iter().all(|e| e["annotationId"].is_null())));
    client.finish();
}

#[test]
fn asking_has_actions_compiled_and_what_changes_nothing_is_gone() {
    let Some(python) = python() else { return };
    let project = project();
    let mut client = editor(&project, Some(&python), json!({}), true);
    let uri = project.uri("pkg/kernels.py");
    client.open(&uri, KERNELS);
    let started = Instant::now();
    let found = loop {
        let found = actions(&mut client, &uri, 13, &["refactor"]);
        let open = |title: &&str| title.ends_with("(not compiled yet)");
        if !titles(&found).iter().any(open) {
            break found;
        }
        assert!(started.elapsed() < PATIENCE, "{:?}", titles(&found));
        std::thread::sleep(Duration::from_millis(200));
    };
    let titles = titles(&found);
    assert!(
        titles.len() < 11,
        "some latency is the compiler's own: {titles:?}"
    );
    let stores = titles
        .iter()
        .find(|t| t.starts_with("F: "))
        .expect("F is of use");
    assert!(stores.contains("(sm_90: TMA store: 0, was 1"), "{stores}");
    client.finish();
}
