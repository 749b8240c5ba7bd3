//! What the doctor says, when it is asked and when its button is pressed.

use std::fs;
use std::time::Duration;

use serde_json::json;
use tileperf_tests::process;

use crate::world::{World, answer, command, file_of, finish, message, press};

#[test]
fn the_doctor_says_what_is_missing_also_where_nothing_is_trusted() {
    let world = World::new();
    for trusted in [true, false] {
        let mut client = world.start(trusted, true);
        let found = command(&mut client, "tileperf.doctor");
        assert!(
            found["message"].as_str().unwrap().contains("problem"),
            "{found}"
        );
        let checks = found["checks"].as_array().unwrap();
        let tile = checks.iter().find(|check| check["name"] == "cuda-tile");
        let tile = tile.unwrap_or_else(|| panic!("{found}"));
        assert_eq!(tile["status"], "problem");
        assert!(
            tile["cure"].as_str().unwrap().contains("toolchain install"),
            "{tile}"
        );
        let text = found["content"].as_str().unwrap();
        assert!(text.starts_with("# tileperf doctor\n"), "{text}");
        assert!(text.contains("✗ cuda-tile: not installed"), "{text}");
        assert_eq!(process::children(client.pid()), Vec::<u32>::new());
        finish(client);
    }
}

#[test]
fn without_a_compiler_help_is_offered_once() {
    let world = World::new();
    let mut client = world.start(true, true);
    world.open(&mut client);
    let (asked, buttons) = press(&mut client, Some("Doctor"));
    assert!(
        asked.contains("kernels are not compiled") && asked.contains("has no cuda-tile"),
        "{asked}"
    );
    assert_eq!(buttons, ["Install…", "Doctor"]);
    let (id, document) = client.question("window/showDocument");
    answer(&mut client, &id, json!({"success": true}));
    let text = fs::read_to_string(file_of(&document["uri"])).unwrap();
    assert!(text.contains("✗ cuda-tile"), "{text}");
    client.notify(
        "textDocument/didSave",
        json!({"textDocument": {"uri": world.project.uri("pkg/kernels.py")}}),
    );
    assert!(!client.has_within("window/showMessage", Duration::from_secs(2)));
    assert_eq!(world.installed(), Vec::<std::path::PathBuf>::new());
    finish(client);
}

#[test]
fn a_client_without_buttons_is_told_and_not_asked() {
    let world = World::new();
    let mut client = world.start(true, false);
    world.open(&mut client);
    let told = message(&mut client);
    assert!(
        told.contains("has no cuda-tile") && told.contains("tileperf toolchain install"),
        "{told}"
    );
    client.check_nothing_asked("window/showMessageRequest");
    finish(client);
}

#[test]
fn where_nothing_is_trusted_nobody_is_asked_anything() {
    let world = World::new();
    let mut client = world.start(false, true);
    world.open(&mut client);
    assert!(!client.has_within("window/showMessage", Duration::from_secs(2)));
    client.check_nothing_asked("window/showMessageRequest");
    finish(client);
}
