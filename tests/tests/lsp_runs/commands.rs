//! Commands: what they say, and what they refuse.

use serde_json::{Value, json};
use tileperf_tests::client::{Client, Options};
use tileperf_tests::process;
use tileperf_tests::project::{KERNELS, Project};

use crate::journal::Journal;
use crate::{command, refused, sample, start, until};

const RUN: &str = "tileperf.runPerfIteration";

/// The verbs that start something.
const STARTING: [&str; 9] = [
    RUN,
    "tileperf.perf.apply",
    "tileperf.perf.setup",
    "tileperf.perf.baseline",
    "tileperf.perf.stop",
    "tileperf.perf.resume",
    "tileperf.perf.finish",
    "tileperf.perf.undo",
    "tileperf.perf.abandon",
];

#[test]
fn the_commands_are_listed() {
    let project = Project::sample();
    let (client, answer) = Client::start(Options {
        folder: Some(project.folder().to_owned()),
        ..Options::default()
    });
    let provider = &answer["capabilities"]["executeCommandProvider"]["commands"];
    let listed: Vec<&str> = provider
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect();
    for name in STARTING {
        assert!(listed.contains(&name), "{listed:?}");
    }
    for verb in ["status", "attach", "report"] {
        assert!(listed.contains(&format!("tileperf.perf.{verb}").as_str()));
    }
    client.finish();
}

#[test]
fn nothing_is_started_in_a_workspace_that_is_not_trusted() {
    let (project, mut client, mut journal) = sample(json!({}));
    journal.baseline();
    until(&mut client, |run| run["phase"] == "ready");
    for name in STARTING {
        let why = refused(&mut client, name, json!({"kernel": "scale"}));
        assert!(why.contains("not trusted"), "{name}: {why}");
    }
    assert_eq!(process::children(client.pid()), Vec::<u32>::new());
    // What starts nothing works: looking, and ending what somebody else started.
    let status = command(&mut client, "tileperf.perf.status", json!({}));
    assert_eq!(status["message"], "scale: 0 iterations so far; 0.500000 ms");
    assert!(status["content"].as_str().unwrap().contains("| baseline"));
    for (form, part) in [
        ("markdown", "# Performance of `scale`"),
        ("html", "<html"),
        ("pull-request", "scale"),
    ] {
        let argument = json!({"uri": project.uri("pkg/kernels.py"), "form": form});
        let report = command(&mut client, "tileperf.perf.report", argument);
        let content = report["content"].as_str().unwrap();
        assert!(content.contains(part), "{form}: {content}");
    }
    journal.hold();
    journal.begin("iteration");
    until(&mut client, |run| run["running"] == true);
    command(&mut client, "tileperf.perf.stop", json!({}));
    assert!(journal.folder().join("stop").exists());
    assert_eq!(process::children(client.pid()), Vec::<u32>::new());
    client.finish();
}

#[test]
fn a_command_that_cannot_be_meant_says_why() {
    let project = Project::sample();
    project.write("pkg/more.py", KERNELS.replace("scale", "shift"));
    let mut client = start(&project, json!({}), true);
    client.open(&project.uri("pkg/kernels.py"), KERNELS);
    while client.notification("tileperf/status")["state"] != "ready" {}
    let says = |client: &mut Client, argument: Value, part: &str| {
        let why = refused(client, RUN, argument);
        assert!(why.contains(part), "{part} in {why}");
    };
    says(&mut client, json!({}), "no session");
    says(
        &mut client,
        json!({"kernel": "nothing"}),
        "no kernel nothing",
    );
    says(&mut client, json!({"session": "s"}), "no session s");
    for named in [
        json!({}),
        json!({"optimization": "Z"}),
        json!({"optimization": "--trust"}),
    ] {
        let why = refused(&mut client, "tileperf.perf.apply", named);
        assert!(why.starts_with("which optimization?"), "{why}");
    }
    let launch = json!({"uri": project.uri("pkg/launch.py")});
    says(&mut client, launch, "no kernel here");
    let why = refused(
        &mut client,
        "tileperf.perf.attach",
        json!({"kernel": "scale"}),
    );
    assert!(why.contains("no session for scale"), "{why}");
    let params = json!({"command": RUN, "arguments": [{"iteration": "three"}]});
    let error = client.ask_error("workspace/executeCommand", params);
    assert_eq!(error.code, -32602);
    let params = json!({"command": "tileperf.else", "arguments": []});
    let error = client.ask_error("workspace/executeCommand", params);
    assert_eq!(error.code, -32602);
    assert_eq!(process::children(client.pid()), Vec::<u32>::new());
    client.finish();
}

#[test]
fn a_run_waits_for_the_save_for_the_change_and_for_the_other_run() {
    let project = Project::sample();
    let mut journal = Journal::new(&project, "scale-20260102");
    journal.baseline();
    let mut client = start(&project, json!({}), true);
    let uri = project.uri("pkg/kernels.py");
    client.open(&uri, KERNELS);
    until(&mut client, |run| run["phase"] == "ready");
    let here = json!({"uri": uri, "position": {"line": 5, "character": 0}});

    let answer = command(&mut client, RUN, here.clone());
    let said = answer["message"].as_str().unwrap();
    assert!(said.starts_with("nothing to try"), "{said}");
    assert_eq!(answer["session"], "scale-20260102");

    let edited = KERNELS.replace("occupancy=2", "occupancy=4");
    client.change(&uri, 2, json!([{ "text": edited }]));
    let why = refused(&mut client, RUN, here.clone());
    assert_eq!(
        why,
        "save kernels.py first: what is on the disk is measured"
    );

    project.write("pkg/kernels.py", &edited);
    journal.hold();
    journal.begin("iteration");
    until(&mut client, |run| run["running"] == true);
    let why = refused(&mut client, RUN, here.clone());
    assert!(why.contains("a run of scale goes on (process 7"), "{why}");
    journal.ends(json!({"ended": "cancelled"}));
    journal.release();
    journal.add("stopped", json!({"stop": {"stop": "iteration_limit"}}));
    until(&mut client, |run| {
        run["phase"] == "stopped" && run["running"] == false
    });
    let why = refused(&mut client, RUN, here);
    assert!(why.contains("25") && why.contains("Resume"), "{why}");
    assert_eq!(process::children(client.pid()), Vec::<u32>::new());
    client.finish();
}
