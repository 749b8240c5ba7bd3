//! Typing while the experiment loop runs. How long answers take is printed; `cargo xtask bench` reads
//! it, since a time that a test insists on says more about the machine than about the server.

use std::time::{Duration, Instant};

use serde_json::json;
use tileperf_tests::client::Client;
use tileperf_tests::gym::{Gym, Harness};

use crate::real::{RUN, ended, here, start, uri};
use crate::{command, until};

/// Edits each time, typed and taken back.
const EDITS: usize = 60;
/// Between two edits, as of somebody who types fast.
const PAUSE: Duration = Duration::from_millis(25);

/// Types a letter into a comment and takes it back; gives the time to the diagnostics of each.
fn typed(client: &mut Client, uri: &str, version: &mut i32) -> Vec<Duration> {
    let edit = |end: u32, text: &str| {
        let at = |character: u32| json!({"line": 0, "character": character});
        json!([{"range": {"start": at(3), "end": at(end)}, "text": text}])
    };
    [edit(3, "x"), edit(4, "")]
        .map(|changes| {
            std::thread::sleep(PAUSE);
            *version += 1;
            let began = Instant::now();
            client.change(uri, *version, changes);
            while client.notification("textDocument/publishDiagnostics")["version"] != *version {}
            began.elapsed()
        })
        .to_vec()
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e3
}

#[test]
fn every_edit_is_answered_while_a_run_goes_on() {
    let Some(gym) = Gym::new(Harness::Pytest) else {
        return;
    };
    let mut client = start(&gym, &json!({}));
    let uri = uri(&gym);
    client.open(&uri, &gym.kernel());
    while client.notification("tileperf/status")["state"] != "ready" {}
    let mut version = 1;
    let mut idle = Vec::new();
    while idle.len() < EDITS {
        idle.extend(typed(&mut client, &uri, &mut version));
    }
    command(&mut client, RUN, here(&gym));
    until(&mut client, |run| run["run"]["stage"] == "correctness");
    let mut during = Vec::new();
    while during.len() < EDITS {
        during.extend(typed(&mut client, &uri, &mut version));
    }
    // It must have been going on all the while.
    let run = ended(&mut client, "kept");
    assert_eq!(run["run"]["kind"], "baseline");
    while idle.len() < 2 * EDITS {
        idle.extend(typed(&mut client, &uri, &mut version));
    }
    let (idle, during) = (median(idle), median(during));
    println!("an edit is answered in {idle:.3} ms, during a run in {during:.3} ms");
    client.finish();
    gym.wait_until_quiet();
}
