//! What makes a session stop, and what makes it go on.

use tileperf_tests::gym::{Gym, Harness};

use crate::{FASTER, SLOWER, begin};

/// Why the session has stopped, as `perf status` says.
fn stop(gym: &Gym) -> String {
    let done = gym.perf_ok(&["status", "--format", "json"]);
    let status: serde_json::Value = serde_json::from_str(&done.stdout).expect("an object");
    let phase = &status["phase"];
    assert_eq!(phase["phase"], "stopped", "{status}");
    phase["stop"]["stop"].as_str().expect("a word").to_owned()
}

#[test]
fn two_in_a_row_without_improvement_stop_and_resume_goes_on() {
    let Some(gym) = Gym::new(Harness::Model) else {
        return;
    };
    begin(&gym);
    for number in 1..=2 {
        gym.edit(&[("offset = 0\n", &format!("offset = 0  # {number}\n"))]);
        gym.perf(&["iterate"]).says(1, "Reverted: no improvement");
        assert_eq!(gym.last_row(), format!("{number} PASS revert"));
    }
    assert_eq!(stop(&gym), "no_improvement");
    gym.edit(&FASTER);
    let refused = gym.perf(&["iterate"]);
    refused.says(2, "`perf resume` goes on");
    refused.says(2, "2 in a row without improvement");
    gym.perf_ok(&["resume"]);
    gym.perf_ok(&["iterate"]);
    assert_eq!(gym.last_row(), "3 PASS keep");
}

#[test]
fn a_small_gain_is_kept_and_stops_unless_the_user_goes_on() {
    let Some(gym) = Gym::new(Harness::Model) else {
        return;
    };
    begin(&gym);
    gym.edit(&[("LARGE = 80", "LARGE = 79")]);
    gym.perf(&["iterate"])
        .says(0, "too little to go on unasked");
    assert_eq!(gym.last_row(), "1 PASS keep");
    assert_eq!(stop(&gym), "small_gain");
    gym.edit(&[("LARGE = 79", "LARGE = 78")]);
    gym.perf(&["iterate"]).says(2, "`perf resume` goes on");
    gym.perf_ok(&["resume", "--go-on"]);
    gym.perf_ok(&["iterate"]);
    gym.edit(&[("LARGE = 78", "LARGE = 77")]);
    gym.perf_ok(&["iterate"]);
    assert_eq!(gym.last_row(), "3 PASS keep");
    // The session's own branch has each of them.
    assert_eq!(gym.git(&["rev-list", "--count", "main..HEAD"]), "3");
}

#[test]
fn the_goal_ends_a_session_as_done() {
    let Some(gym) = Gym::new(Harness::Model) else {
        return;
    };
    gym.perf_ok(&["setup", "--yes", "--goal", "1.8x"]);
    gym.perf_ok(&["baseline"]);
    gym.edit(&[("SMALL = 40", "SMALL = 30"), ("LARGE = 80", "LARGE = 60")]);
    gym.perf_ok(&["iterate"]);
    assert!(gym.events("stopped").is_empty());
    gym.edit(&[("SMALL = 30", "SMALL = 20"), ("LARGE = 60", "LARGE = 40")]);
    gym.perf(&["iterate"])
        .says(0, "Done: the goal 1.8x is reached.");
    assert_eq!(stop(&gym), "goal_reached");
    let row = gym.rows().pop().expect("a row");
    let latency: f64 = row[2].parse().expect("a number");
    assert!((latency - (20.0_f64 * 40.0).sqrt()).abs() < 0.5, "{row:?}");
}

#[test]
fn one_configuration_slower_takes_back_what_another_gained() {
    let Some(gym) = Gym::new(Harness::Model) else {
        return;
    };
    begin(&gym);
    gym.edit(&[("SMALL = 40", "SMALL = 10"), ("LARGE = 80", "LARGE = 90")]);
    let done = gym.perf(&["iterate"]);
    done.says(1, "a gate by shape could keep the gain");
    done.says(1, "FASTER (-7");
    done.says(1, "SLOWER (+1");
    assert_eq!(gym.last_row(), "1 PASS revert");
    assert!(gym.kernel().contains("SMALL = 40"));
}

#[test]
fn no_more_than_25_iterations() {
    let Some(gym) = Gym::new(Harness::Model) else {
        return;
    };
    begin(&gym);
    for number in 1..=25 {
        assert!(gym.events("stopped").is_empty());
        gym.edit(&[("offset = 0", &format!("offset = {number}"))]);
        gym.perf(&["iterate"]).says(1, "Reverted: wrong results");
    }
    assert_eq!(gym.last_row(), "25 FAIL revert");
    assert_eq!(stop(&gym), "iteration_limit");
    gym.edit(&FASTER);
    gym.perf(&["iterate"]).says(2, "25 iterations");
}

#[test]
fn what_is_known_is_not_measured_again() {
    let Some(gym) = Gym::new(Harness::Model) else {
        return;
    };
    begin(&gym);
    gym.perf(&["iterate"]).says(1, "nothing to try");
    gym.edit(&SLOWER);
    gym.perf(&["iterate"]).says(1, "Reverted: slower");
    let rows = gym.rows();
    gym.edit(&SLOWER);
    gym.perf(&["iterate"]).says(1, "measured before, in run 1");
    assert_eq!(gym.rows(), rows);
    // It was not carried out, so the edit is still there.
    assert!(gym.kernel().contains("SMALL = 81"));
}

#[test]
fn a_kept_iteration_can_be_undone_and_the_session_abandoned() {
    let Some(gym) = Gym::new(Harness::Model) else {
        return;
    };
    let start = (gym.kernel(), gym.git(&["rev-parse", "HEAD"]));
    begin(&gym);
    gym.edit(&[("SMALL = 40", "SMALL = 30")]);
    gym.perf_ok(&["iterate"]);
    gym.edit(&[("LARGE = 80", "LARGE = 40")]);
    gym.perf_ok(&["iterate"]);
    gym.perf(&["undo", "--iteration", "1"])
        .says(0, "iteration 1 is undone");
    assert!(gym.kernel().contains("SMALL = 40"));
    assert!(gym.kernel().contains("LARGE = 40"));
    assert!(gym.status().is_empty());
    gym.perf(&["undo", "--iteration", "1"])
        .says(2, "not one that is kept");
    gym.edit(&[("SMALL = 40", "SMALL = 20")]);
    gym.perf_ok(&["iterate"]);
    assert_eq!(gym.last_row(), "3 PASS keep");
    gym.perf(&["abandon"]).says(0, "abandoned");
    assert_eq!((gym.kernel(), gym.git(&["rev-parse", "HEAD"])), start);
    assert_eq!(gym.git(&["symbolic-ref", "--short", "HEAD"]), "main");
    assert!(gym.status().is_empty());
    gym.perf(&["iterate"]).says(0, "session scale_kernel-");
}
