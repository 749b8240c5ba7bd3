//! Runs that are started by command, with pytest and git: from the edit to the verdict.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tileperf_tests::client::{Client, LIMIT, Options};
use tileperf_tests::gym::{Gym, Harness, KERNEL};
use tileperf_tests::process;

use crate::{command, refused, until};

pub(crate) const RUN: &str = "tileperf.runPerfIteration";

pub(crate) fn start(gym: &Gym, settings: &Value) -> Client {
    let home = gym.folder().join("home");
    let state = gym.root().parent().expect("a folder above").join("state");
    let environment = [
        ("XDG_CONFIG_HOME", home.join("config")),
        ("HOME", home),
        ("GIT_CONFIG_NOSYSTEM", "1".into()),
        ("TILEPERF_STATE", state),
        ("TILEPERF_CACHE", gym.folder().join("cache")),
    ];
    // Whether this machine has a compiler makes no difference.
    let mut settings = settings.clone();
    settings["compile"] = json!({"enable": false});
    Client::start(Options {
        folder: Some(gym.root().to_owned()),
        environment: environment.map(|(n, v)| (n.to_owned(), v)).to_vec(),
        capabilities: json!({"window": {"workDoneProgress": true}}),
        initialization_options: json!({"trusted": true, "settings": settings}),
        ..Options::default()
    })
    .0
}

pub(crate) fn uri(gym: &Gym) -> String {
    format!("file://{}", gym.root().join(KERNEL).display())
}

pub(crate) fn here(gym: &Gym) -> Value {
    json!({"uri": uri(gym), "position": {"line": 20, "character": 4}})
}

/// Saves an edit of the kernel, as an editor does that has it open.
fn save(gym: &Gym, client: &mut Client, version: i32, changes: &[(&str, &str)]) {
    gym.edit(changes);
    let uri = uri(gym);
    client.change(&uri, version, json!([{"text": gym.kernel()}]));
    client.notify(
        "textDocument/didSave",
        json!({"textDocument": {"uri": uri}}),
    );
}

/// Waits for the state after a run, which may take a while: the client waits only so long for a
/// message, but there is always a next one.
pub(crate) fn ended(client: &mut Client, state: &str) -> Value {
    until(client, |run| {
        run["run"]["state"] == state && run["running"] == false
    })
}

/// Waits until the server has no child any more.
fn wait_for_children(client: &Client) {
    let began = Instant::now();
    while !process::children(client.pid()).is_empty() {
        assert!(began.elapsed() < LIMIT, "children are left");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn an_edit_is_run_by_command_and_its_verdict_shown() {
    let Some(gym) = Gym::new(Harness::Model) else {
        return;
    };
    let mut client = start(&gym, &json!({}));
    client.open(&uri(&gym), &gym.kernel());
    while client.notification("tileperf/status")["state"] != "ready" {}

    // The session is set up, and iteration 0 measured.
    let answer = command(&mut client, RUN, here(&gym));
    assert_eq!(answer["kernel"], "scale_kernel");
    let why = refused(&mut client, RUN, here(&gym));
    assert!(why.contains("scale_kernel"), "{why}");
    let run = ended(&mut client, "kept");
    assert_eq!(
        (&run["phase"], &run["run"]["kind"]),
        (&json!("ready"), &json!("baseline"))
    );
    let (_, params) = client.question("window/workDoneProgress/create");
    assert!(params["token"].is_string());

    save(
        &gym,
        &mut client,
        2,
        &[("SMALL = 40", "SMALL = 20"), ("LARGE = 80", "LARGE = 40")],
    );
    let mut named = here(&gym);
    named["name"] = json!("half the work");
    let answer = command(&mut client, RUN, named);
    assert_eq!(answer["message"], "iteration 1 of scale_kernel starts");
    // Typing on is answered while it runs.
    let began = Instant::now();
    client.ask(
        "textDocument/hover",
        json!({"textDocument": {"uri": uri(&gym)}, "position": {"line": 20, "character": 6}}),
    );
    assert!(began.elapsed() < Duration::from_secs(5));
    let run = ended(&mut client, "kept");
    let verdict = run["verdict"].as_str().unwrap();
    assert!(
        verdict.starts_with("kept: ") && verdict.ends_with("faster"),
        "{verdict}"
    );
    assert_eq!(run["stale"], false);
    assert_eq!(run["run"]["optimization"], "half the work");
    assert!(
        gym.git(&["log", "-1", "--format=%s"])
            .contains("half the work")
    );

    // A wrong result: reverted, and shown at the assertion that says so.
    save(&gym, &mut client, 3, &[("offset = 0", "offset = 1")]);
    command(&mut client, RUN, here(&gym));
    let run = ended(&mut client, "reverted");
    assert!(run["verdict"].as_str().unwrap().starts_with("reverted: "));
    assert_eq!(gym.kernel().matches("offset = 0").count(), 1);

    client.change(&uri(&gym), 4, json!([{"text": gym.kernel()}]));
    let answer = command(&mut client, "tileperf.perf.finish", here(&gym));
    assert!(answer["message"].as_str().unwrap().contains("finished"));
    until(&mut client, |run| run["phase"] == "finished");
    assert_eq!(gym.git(&["branch", "--show-current"]), "main");
    assert!(gym.kernel().contains("SMALL = 20"));
    client.finish();
    gym.wait_until_quiet();
}

/// The commands of the code actions that try a change of the playbook.
fn experiments(client: &mut Client, gym: &Gym) -> Vec<Value> {
    let text = gym.kernel();
    let line = text.lines().position(|l| l.starts_with("def scale_kernel"));
    let place = json!({"line": line.expect("the kernel"), "character": 4});
    let params = json!({
        "textDocument": {"uri": uri(gym)},
        "range": {"start": place, "end": place},
        "context": {"diagnostics": [], "only": ["tileperf.perf"]},
    });
    let answer = client.ask("textDocument/codeAction", params);
    let actions = answer.as_array().cloned().unwrap_or_default();
    let command = |action: &Value| {
        assert!(action["edit"].is_null(), "{action}");
        assert_eq!(action["title"], action["command"]["title"]);
        action["command"].clone()
    };
    actions.iter().map(command).collect()
}

#[test]
fn a_change_of_the_playbook_is_run_by_its_code_action() {
    let Some(gym) = Gym::new(Harness::Model) else {
        return;
    };
    let start_text = gym.kernel();
    let mut client = start(&gym, &json!({}));
    client.open(&uri(&gym), &start_text);
    while client.notification("tileperf/status")["state"] != "ready" {}
    let found = experiments(&mut client, &gym);
    let titles: Vec<&str> = found.iter().map(|c| c["title"].as_str().unwrap()).collect();
    assert_eq!(
        titles,
        [
            "C: Apply and run perf iteration (Tune the occupancy of `scale_kernel` (elementwise): \
             search 4 configurations once, cache, launch)",
            "F: Apply and run perf iteration (Store without TMA (allow_tma=False))",
        ]
    );
    let name = found[1]["command"].as_str().unwrap();
    let argument = &found[1]["arguments"][0];
    assert_eq!(argument["kernel"], "scale_kernel");

    // What is typed is not measured, so it is not left out either.
    let typed = format!("{start_text}# typed\n");
    client.change(&uri(&gym), 2, json!([{"text": typed}]));
    let why = refused(&mut client, name, argument.clone());
    assert!(why.starts_with("save scale.py first"), "{why}");
    client.change(&uri(&gym), 3, json!([{"text": start_text}]));

    let answer = command(&mut client, name, argument.clone());
    assert_eq!(
        answer["message"],
        "a session for scale_kernel starts, with iteration 0 first, then F"
    );
    let run = ended(&mut client, "reverted");
    assert_eq!(run["run"]["optimization"], "F no-tma-stores");
    assert_eq!(run["verdict"], "reverted: no improvement");
    assert!(!run["results"].as_array().unwrap().is_empty());
    // The file never changed, so nothing in the editor has to.
    assert_eq!(
        (gym.kernel(), run["stale"].clone()),
        (start_text, json!(false))
    );

    save(&gym, &mut client, 4, &[("SMALL = 40", "SMALL = 20")]);
    let why = refused(&mut client, name, argument.clone());
    assert!(why.contains("a change that was not tried"), "{why}");
    client.finish();
    gym.wait_until_quiet();
}

#[test]
fn settings_of_the_editor_reach_the_run_and_its_refusal_the_user() {
    let Some(gym) = Gym::new(Harness::Model) else {
        return;
    };
    let nothing =
        json!({"perf": {"correctness": ["{python}", "-c", "raise SystemExit('broken')"]}});
    let mut client = start(&gym, &nothing);
    client.open(&uri(&gym), &gym.kernel());
    while client.notification("tileperf/status")["state"] != "ready" {}
    let setup = command(&mut client, "tileperf.perf.setup", here(&gym));
    let session = setup["session"].as_str().unwrap();
    assert!(
        setup["message"].as_str().unwrap().contains(session),
        "{setup}"
    );
    let why = refused(&mut client, "tileperf.perf.setup", here(&gym));
    assert!(why.contains(session), "{why}");
    command(&mut client, "tileperf.perf.baseline", here(&gym));
    let message = client.notification("window/showMessage");
    assert_eq!(message["type"], 1, "{message}");
    let text = message["message"].as_str().unwrap();
    assert!(
        text.contains("scale_kernel") && text.contains("do not run the code under test"),
        "{text}"
    );
    let answer = command(
        &mut client,
        "tileperf.perf.abandon",
        json!({"session": session}),
    );
    assert_eq!(answer["kernel"], "scale_kernel");
    assert_eq!(gym.git(&["branch", "--show-current"]), "main");
    client.finish();
}

#[test]
fn a_run_ends_with_its_display_and_with_the_server() {
    let Some(gym) = Gym::new(Harness::Pytest) else {
        return;
    };
    let mut client = start(&gym, &json!({}));
    client.open(&uri(&gym), &gym.kernel());
    while client.notification("tileperf/status")["state"] != "ready" {}
    command(&mut client, RUN, here(&gym));
    let (_, params) = client.question("window/workDoneProgress/create");
    client.notify(
        "window/workDoneProgress/cancel",
        json!({"token": params["token"]}),
    );
    ended(&mut client, "cancelled");
    wait_for_children(&client);
    // A cancelled run is no error.
    assert!(!client.has("window/showMessage"));

    command(&mut client, RUN, here(&gym));
    until(&mut client, |run| {
        run["running"] == true && run["run"]["stage"] == "correctness"
    });
    process::kill(client.pid());
    client.exit_code(Duration::from_secs(10));
    gym.wait_until_quiet();
}

#[test]
fn a_detached_run_survives_the_window_and_is_taken_up_by_the_next() {
    let Some(gym) = Gym::new(Harness::Pytest) else {
        return;
    };
    let detach = json!({"perf": {"detach": true}});
    let mut client = start(&gym, &detach);
    client.open(&uri(&gym), &gym.kernel());
    while client.notification("tileperf/status")["state"] != "ready" {}
    command(&mut client, RUN, here(&gym));
    until(&mut client, |run| run["running"] == true);
    process::kill(client.pid());
    client.exit_code(Duration::from_secs(10));

    let mut client = start(&gym, &detach);
    client.open(&uri(&gym), &gym.kernel());
    until(&mut client, |run| run["running"] == true);
    let why = refused(&mut client, RUN, here(&gym));
    assert!(why.contains("goes on (process"), "{why}");
    let (_, params) = client.question("window/workDoneProgress/create");
    client.notify(
        "window/workDoneProgress/cancel",
        json!({"token": params["token"]}),
    );
    ended(&mut client, "cancelled");
    client.finish();
    gym.wait_until_quiet();
}
