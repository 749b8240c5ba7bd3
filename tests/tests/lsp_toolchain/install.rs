//! Installing: asked first, shown while it goes on, cancelled, failed, done.

use std::path::PathBuf;

use serde_json::{Value, json};
use tileperf_tests::client::Client;
use tileperf_tests::process;

use crate::world::{World, answer, command, finish, message, press};

const INSTALL: &str = "tileperf.installToolchain";

/// Says yes to the question and gives the token of the display that begins.
fn begin(client: &mut Client) -> Value {
    command(client, INSTALL);
    let (asked, buttons) = press(client, Some("Install"));
    assert!(asked.contains("2 GB are downloaded"), "{asked}");
    assert_eq!(buttons, ["Install", "Not now"]);
    let (id, params) = client.question("window/workDoneProgress/create");
    answer(client, &id, Value::Null);
    let value = client.notification("$/progress");
    assert_eq!(value["token"], params["token"]);
    assert_eq!(value["value"]["kind"], "begin");
    assert_eq!(value["value"]["cancellable"], true);
    params["token"].clone()
}

/// Waits until the display has this.
fn until(client: &mut Client, wanted: impl Fn(&Value) -> bool) {
    while !wanted(&client.notification("$/progress")["value"]) {}
}

fn ends(client: &mut Client) {
    until(client, |value| value["kind"] == "end");
}

#[test]
fn nothing_is_installed_without_a_yes() {
    let world = World::new();
    let mut client = world.start(true, true);
    for no in [Some("Not now"), None] {
        command(&mut client, INSTALL);
        let (asked, _) = press(&mut client, no);
        let folder = world.at("cache/toolchain").display().to_string();
        assert!(asked.contains(&folder), "{asked} does not say where to");
    }
    // A command later, both answers were heard.
    command(&mut client, "tileperf.doctor");
    assert_eq!(world.installed(), Vec::<PathBuf>::new());
    finish(client);
}

#[test]
fn a_yes_installs_and_the_next_time_it_is_there() {
    let world = World::new();
    let mut client = world.start(true, true);
    begin(&mut client);
    assert_eq!(
        message(&mut client),
        "tileperf: cuTile and its compiler are installed"
    );
    ends(&mut client);
    assert_eq!(world.installed().len(), 1);
    let found = command(&mut client, "tileperf.doctor");
    let checks = found["checks"].as_array().unwrap();
    let managed = checks
        .iter()
        .find(|check| check["name"] == "managed tool chain");
    assert_eq!(managed.unwrap()["status"], "ok", "{found}");

    command(&mut client, INSTALL);
    let said = message(&mut client);
    assert!(said.contains("is installed in"), "{said}");
    finish(client);
}

#[test]
fn a_cancelled_installation_leaves_nothing() {
    let world = World::new();
    world.python_is("slow");
    let mut client = world.start(true, true);
    let token = begin(&mut client);
    // It may be said before the display begins.
    while world.installed().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let error = client.ask_error(
        "workspace/executeCommand",
        json!({"command": INSTALL, "arguments": []}),
    );
    assert_eq!(error.message, "it is being installed");
    client.notify("window/workDoneProgress/cancel", json!({ "token": token }));
    assert_eq!(
        message(&mut client),
        "tileperf: the installation was cancelled"
    );
    ends(&mut client);
    assert_eq!(world.installed(), Vec::<PathBuf>::new());
    assert_eq!(process::children(client.pid()), Vec::<u32>::new());
    finish(client);
}

#[test]
fn a_failed_installation_says_why() {
    let world = World::new();
    world.python_is("offline");
    let mut client = world.start(true, true);
    begin(&mut client);
    let said = message(&mut client);
    assert!(
        said.contains("the package index cannot be reached"),
        "{said}"
    );
    ends(&mut client);
    assert_eq!(world.installed(), Vec::<PathBuf>::new());
    finish(client);
}

#[test]
fn a_python_of_a_workspace_that_is_not_trusted_installs_nothing() {
    let world = World::new();
    let mut client = world.start(false, true);
    let error = client.ask_error(
        "workspace/executeCommand",
        json!({"command": INSTALL, "arguments": []}),
    );
    assert!(error.message.contains("not trusted"), "{error:?}");
    client.check_nothing_asked("window/showMessageRequest");
    assert_eq!(world.installed(), Vec::<PathBuf>::new());
    finish(client);
}
