//! `tileperf/run` and `tileperf/runs`.

use std::time::{Duration, Instant};

use serde_json::json;
use tileperf_tests::project::{KERNELS, Project};

use crate::journal::Journal;
use crate::{range, sample, start, until};

#[test]
fn a_run_of_another_process_is_told_step_by_step() {
    let (project, mut client, mut journal) = sample(json!({}));
    journal.hold();
    journal.begin("baseline");
    journal.stage("correctness");
    let run = until(&mut client, |run| run["run"]["stage"] == "correctness");
    assert_eq!(run["session"], "scale-20260102");
    assert_eq!(run["kernel"], "scale");
    assert_eq!(run["uri"], project.uri("pkg/kernels.py"));
    assert_eq!(run["range"], range(4, 4, 9));
    assert_eq!(
        (&run["running"], &run["stale"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(run["holder"], "process 7 on elsewhere");
    assert_eq!(run["run"]["kind"], "baseline");
    assert_eq!(run["run"]["state"], "running");
    assert_eq!(run["run"]["limit"], 600);
    journal.release();
    drop(journal);

    let mut journal = Journal::new(&project, "scale-20260103");
    journal.baseline();
    let run = until(&mut client, |run| run["phase"] == "ready");
    assert_eq!(run["latency"]["text"], "0.500000 ms");
    assert_eq!(run["results"][0]["verdict"], "BASELINE");
    assert!(run.get("verdict").is_none(), "{run}");

    journal.hold();
    journal.begin("iteration");
    journal.stage("measuring");
    journal.looked(60, 1);
    let run = until(&mut client, |run| run["run"]["pairs"] == 60);
    assert_eq!(run["run"]["optimization"], "occupancy=4");
    assert_eq!(
        (&run["run"]["decided"], &run["run"]["of"]),
        (&json!(1), &json!(2))
    );
    // What was measured last is still shown.
    assert_eq!(run["latency"]["current"], 0.5);

    journal.keep();
    journal.release();
    let run = until(&mut client, |run| {
        run["run"]["state"] == "kept" && run["running"] == false
    });
    assert_eq!(run["latency"]["text"], "0.400000 ms, 1.25x of 0.500000 ms");
    assert_eq!(run["verdict"], "kept: 20.00 % faster");
    assert_eq!(run["run"]["sentence"], "Kept: 20.00 % faster.");
    let result = &run["results"][1];
    assert_eq!(result["short"], "[64-cutile]");
    assert_eq!(
        (&result["verdict"], &result["unit"]),
        (&json!("FASTER"), &json!("ms"))
    );
    let change = result["change"].as_f64().unwrap();
    assert!((change + 0.2).abs() < 1e-9, "{change}");
    assert!(result["low"].as_f64() < Some(change) && result["high"].as_f64() > Some(change));
    assert!(
        run["table"].as_str().unwrap().contains("| 1         |"),
        "{run}"
    );
    client.finish();
}

#[test]
fn how_a_run_ends_is_told() {
    let (_project, mut client, mut journal) = sample(json!({}));
    journal.baseline();
    for (end, state) in [
        (json!({"ended": "cancelled"}), "cancelled"),
        (json!({"ended": "no_change"}), "noChange"),
        (json!({"ended": "crashed", "why": "it broke"}), "crashed"),
        (json!({"ended": "refused", "why": "no device"}), "refused"),
    ] {
        journal.hold();
        journal.begin("iteration");
        until(&mut client, |run| run["run"]["state"] == "running");
        journal.ends(end);
        journal.release();
        let run = until(&mut client, |run| run["run"]["state"] == state);
        assert!(!run["run"]["sentence"].as_str().unwrap().is_empty());
    }
    // The process vanishes: nothing is written, the lock is free.
    journal.hold();
    journal.begin("iteration");
    until(&mut client, |run| run["running"] == true);
    journal.release();
    let run = until(&mut client, |run| run["run"]["state"] == "interrupted");
    assert_eq!(run["running"], false);
    let stop = json!({"stop": {"stop": "no_improvement"}});
    journal.add("stopped", stop);
    let run = until(&mut client, |run| run["phase"] == "stopped");
    assert!(
        run["stopReason"].as_str().unwrap().contains("improvement"),
        "{run}"
    );
    client.finish();
}

#[test]
fn a_client_that_comes_later_asks_for_what_it_missed() {
    let project = Project::sample();
    let mut journal = Journal::new(&project, "scale-20260102");
    journal.baseline();
    journal.begin("iteration");
    journal.keep();
    let mut client = start(&project, json!({}), false);
    until(&mut client, |run| run["latency"]["current"] == 0.4);
    let of = |uri: Option<String>| json!({ "uri": uri });
    let runs = client.ask("tileperf/runs", of(None));
    assert_eq!(runs.as_array().map(Vec::len), Some(1));
    assert_eq!(runs[0]["verdict"], "kept: 20.00 % faster");
    assert_eq!(runs[0]["measuredOn"]["device"], "CPU");
    let runs = client.ask("tileperf/runs", of(Some(project.uri("pkg/kernels.py"))));
    assert_eq!(runs.as_array().map(Vec::len), Some(1));
    for other in [project.uri("pkg/launch.py"), "git:/a.py".to_owned()] {
        assert_eq!(client.ask("tileperf/runs", of(Some(other))), json!([]));
    }
    client.finish();
}

#[test]
fn the_session_that_goes_on_counts_and_one_whose_folder_is_gone_does_not() {
    let (project, mut client, mut old) = sample(json!({}));
    old.baseline();
    old.add("finished", json!({"commit": null, "squashed": true}));
    until(&mut client, |run| run["phase"] == "finished");
    let new = Journal::new(&project, "scale-20260101");
    until(&mut client, |run| run["session"] == "scale-20260101");
    let runs = client.ask("tileperf/runs", json!({}));
    assert_eq!(runs.as_array().map(Vec::len), Some(1), "{runs}");
    std::fs::remove_dir_all(new.folder()).unwrap();
    until(&mut client, |run| run["session"] == "scale-20260102");
    std::fs::remove_dir_all(old.folder()).unwrap();
    let run = until(&mut client, |run| run["phase"] == "abandoned");
    assert_eq!(run["results"], json!([]));
    assert_eq!(client.ask("tileperf/runs", json!({})), json!([]));
    client.finish();
}

#[test]
fn a_burst_of_events_is_told_at_most_ten_times_a_second() {
    let (_project, mut client, mut journal) = sample(json!({}));
    journal.hold();
    journal.begin("baseline");
    journal.stage("measuring");
    until(&mut client, |run| run["run"]["stage"] == "measuring");
    let began = Instant::now();
    for pairs in 1..=400 {
        journal.looked(pairs, 0);
        std::thread::sleep(Duration::from_millis(4));
    }
    let mut told = 1;
    while until(&mut client, |_| true)["run"]["pairs"] != 400 {
        told += 1;
    }
    let seconds = began.elapsed().as_secs_f64();
    assert!(
        f64::from(told) <= 10.0 * seconds + 1.0,
        "{told} in {seconds} s"
    );
    client.finish();
}

#[test]
fn a_damaged_journal_is_said_once_and_the_rest_goes_on() {
    let (project, mut client, mut journal) = sample(json!({}));
    let path = journal.folder().join("journal.jsonl");
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str("{\"schema\":1,\"seq\":1,\"at\":\"x\",\"event\":\"unheard of\"}\n");
    std::fs::write(&path, text).unwrap();
    let message = client.notification("window/showMessage");
    let text = message["message"].as_str().unwrap();
    assert!(
        text.contains("journal") && text.contains("damaged"),
        "{text}"
    );
    journal.baseline();
    let mut other = Journal::new(&project, "scale-20260105");
    other.baseline();
    until(&mut client, |run| run["session"] == "scale-20260105");
    client.open(&project.uri("pkg/launch.py"), crate::LAUNCH_TEXT);
    assert!(!client.has("window/showMessage"));
    client.finish();
}

#[test]
fn typing_moves_the_place_and_makes_numbers_stale() {
    let (project, mut client, mut journal) = sample(json!({}));
    let uri = project.uri("pkg/kernels.py");
    journal.baseline();
    let run = until(&mut client, |run| run["phase"] == "ready");
    assert_eq!(run["stale"], false);
    client.change(
        &uri,
        2,
        json!([{"text": format!("# one\n# two\n{KERNELS}")}]),
    );
    let run = until(&mut client, |run| run["stale"] == true);
    assert_eq!(run["range"], range(6, 4, 9));
    assert_eq!(run["staleReason"], "kernels.py is not what was measured");
    // Taken back without saving: what is shown is what was measured.
    client.change(&uri, 3, json!([{ "text": KERNELS }]));
    let run = until(&mut client, |run| run["stale"] == false);
    assert_eq!(run["range"], range(4, 4, 9));
    // The launch counts as well, on the disk.
    let text = format!("{}\n", crate::LAUNCH_TEXT);
    project.write("pkg/launch.py", text);
    let run = until(&mut client, |run| run["stale"] == true);
    assert_eq!(run["staleReason"], "launch.py is not what was measured");
    project.write("pkg/launch.py", crate::LAUNCH_TEXT);
    until(&mut client, |run| run["stale"] == false);
    // The kernel's name is gone.
    client.change(
        &uri,
        4,
        json!([{"text": KERNELS.replace("scale", "shift")}]),
    );
    let run = until(&mut client, |run| run["stale"] == true);
    assert_eq!(run["staleReason"], "scale is not there any more");
    assert_eq!(run["range"], range(4, 4, 9));
    client.finish();
}
