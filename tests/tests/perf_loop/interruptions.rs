//! Runs that are ended early, refused, left alone and looked at from elsewhere.

use std::time::{Duration, Instant};

use tileperf_tests::gym::{Gym, Harness};

use crate::{FASTER, begin, ended};

/// A change that takes so long in its first test that there is time to do something.
const HANGS: [(&str, &str); 1] = [(
    "    digest = b\"\"\n",
    "    import subprocess, time\n    subprocess.Popen([\"sleep\", \"300\"], start_new_session=True)\n    \
     time.sleep(300)\n    digest = b\"\"\n",
)];

/// Waits until iteration 1 runs the project's tests.
fn wait_for_tests(gym: &Gym) {
    gym.wait_until("the tests of an iteration", |event| {
        event["stage"] == "correctness" && event["run"] == 1
    });
    // Python is to be in the middle of it.
    let began = Instant::now();
    while gym.processes().len() < 4 && began.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_time_of_an_iteration_is_limited() {
    let settings = "perf.iteration-limit = 15\n";
    let Some(gym) = Gym::with_settings(Harness::Model, settings) else {
        return;
    };
    begin(&gym);
    gym.edit(&HANGS);
    let began = Instant::now();
    gym.perf(&["iterate"])
        .says(1, "perf.iteration-limit allows more");
    assert!(
        began.elapsed() < Duration::from_secs(25),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(gym.last_row(), "1 FAIL crash");
    assert!(!gym.kernel().contains("sleep"));
    gym.wait_until_quiet();
}

#[test]
fn ctrl_c_ends_a_run_and_leaves_the_change() {
    let Some(gym) = Gym::new(Harness::Model) else {
        return;
    };
    begin(&gym);
    gym.edit(&HANGS);
    let change = gym.kernel();
    let started = gym.start(&["iterate"]);
    wait_for_tests(&gym);
    let began = Instant::now();
    started.interrupt();
    started.wait().says(2, "cancelled");
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(gym.kernel(), change);
    assert_eq!(ended(&gym), "cancelled");
    assert_eq!(gym.last_row(), "0 PASS keep");
    gym.wait_until_quiet();

    // From elsewhere, without stopping the session.
    let started = gym.start(&["iterate"]);
    gym.wait_until("the tests once more", |event| {
        event["stage"] == "correctness" && event["run"] == 2
    });
    gym.perf(&["stop", "--run-only"]).says(0, "is ended");
    started.wait().says(2, "cancelled");
    assert!(gym.events("stopped").is_empty());
    assert_eq!(gym.kernel(), change);
    gym.wait_until_quiet();

    // The same change may be tried again, and another one, too.
    gym.git(&["checkout", "--quiet", "--", "."]);
    gym.edit(&FASTER);
    gym.perf_ok(&["iterate"]);
    assert_eq!(gym.last_row(), "1 PASS keep");
}

#[test]
fn a_detached_run_is_followed_excludes_others_and_is_stopped() {
    let Some(gym) = Gym::new(Harness::Model) else {
        return;
    };
    let Some(other) = Gym::new(Harness::Model) else {
        return;
    };
    begin(&gym);
    gym.edit(&HANGS);
    let change = gym.kernel();
    gym.perf(&["iterate", "--detach"])
        .says(0, "runs on as process");
    wait_for_tests(&gym);

    gym.perf(&["iterate"]).says(2, "`perf attach` follows it");
    gym.perf(&["undo"])
        .says(2, "the session is being run by process");
    let status = gym.perf_ok(&["status"]);
    status.says(0, "run by process");
    let other = other.sharing(&gym);
    other.perf_ok(&["setup", "--yes"]);
    other
        .perf(&["baseline"])
        .says(2, "one run at a time on a device");

    let attached = gym.start(&["attach", "--format", "json"]);
    gym.perf(&["stop"]).says(0, "Stopped as asked.");
    let attached = attached.wait();
    attached.says(0, "\"event\":\"run_started\",\"run\":1");
    attached.says(0, "\"ended\":\"cancelled\"");
    assert_eq!(gym.kernel(), change);
    gym.wait_until_quiet();
    gym.perf(&["iterate"]).says(2, "Stopped as asked.");

    // The device is free again.
    other.perf_ok(&["baseline"]);
    assert_eq!(other.last_row(), "0 PASS keep");
}
