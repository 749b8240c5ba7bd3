//! `perf experiment`: what is measured and never kept.

use tileperf_tests::gym::{Gym, Harness, KERNEL};

use crate::{FASTER, changes, ended};

const IN_PLACE: &str = "perf.place = \"in-place\"\n";

/// A project whose kernel costs half without token order.
fn gym(settings: &str) -> Option<Gym> {
    let gym = Gym::without_git(Harness::Model, settings)?;
    let bench = gym.read("bench/bench_scale.py");
    let cost = "return getattr(kernel, SIZES[size])";
    assert_eq!(bench.matches(cost).count(), 1, "{bench}");
    let off = "__import__('os').environ.get('CUDA_TILE_TESTING_DISABLE_TOKEN_ORDER') == '1'";
    let own = format!("{cost} * (0.5 if {off} else 1)");
    gym.write("bench/bench_scale.py", bench.replace(cost, &own));
    gym.git(&["init", "--quiet"]);
    gym.commit("Begin");
    Some(gym)
}

#[test]
fn token_order_is_measured_tested_and_never_kept() {
    for settings in ["", IN_PLACE] {
        let Some(gym) = gym(settings) else {
            return;
        };
        // Begins a session by itself; an edit that waits for its turn is no part of it.
        gym.edit(&FASTER);
        let edited = gym.kernel();
        let done = gym.perf_ok(&["experiment", "token-order", "--kernel", "scale_kernel"]);
        done.says(0, "experiment: without token order");
        done.says(0, "passed, 0 failed");
        assert!(
            changes(&gym).iter().all(|c| (c + 0.5).abs() < 0.01),
            "{done}"
        );
        assert_eq!(
            (gym.kernel(), ended(&gym)),
            (edited, "completed".to_owned())
        );
        assert_eq!(gym.last_row(), "0 PASS keep");
        assert_eq!(gym.git(&["rev-list", "--count", "HEAD"]), "1");
        let tried = &gym.last("run_started")["tried"];
        assert_eq!(
            tried["environment"]["CUDA_TILE_TESTING_DISABLE_TOKEN_ORDER"], "1",
            "{tried}"
        );
        // It is no iteration, and the next one is not measured by it.
        gym.perf_ok(&["iterate"]);
        assert_eq!(gym.last_row(), "1 PASS keep");
        let report = gym.perf_ok(&["report"]).stdout;
        let line = "% faster, all tests passed; never kept. Measured on CPU";
        assert!(
            report.contains("## Experiments") && report.contains(line),
            "{report}"
        );
        assert!(!report.contains("## Runs without a result"), "{report}");
    }
}

#[test]
fn what_is_saved_is_measured_whatever_its_results() {
    let Some(gym) = gym("") else {
        return;
    };
    gym.perf(&["experiment", "saved", KERNEL])
        .says(1, "there is no saved change to measure");
    gym.edit(&FASTER);
    gym.edit(&[("offset = 0", "offset = 1")]);
    let edited = gym.kernel();
    let done = gym.perf_ok(&["experiment", "saved"]);
    assert!(
        changes(&gym).iter().all(|c| (c + 0.5).abs() < 0.01),
        "{done}"
    );
    assert_eq!(gym.kernel(), edited);
    assert_eq!(
        (gym.rows().len(), gym.status()),
        (1, vec![format!(" M {KERNEL}")])
    );
    // Neither tested nor cited: as an iteration it is another matter.
    gym.perf(&["iterate"]).says(1, "Reverted: wrong results");
    gym.run_ok(&["plan", &format!("{KERNEL}:scale_kernel")]);
    let plan = gym.read("sandbox/tileperf/plan-scale_kernel.md");
    let row = "% faster, results not looked at; never kept (run ";
    assert!(
        plan.contains("| the saved change | ") && plan.contains(row),
        "{plan}"
    );
}

/// In place the base stands where the user's edit was; a kill does not lose that.
#[test]
fn killed_in_place() {
    for what in ["token-order", "saved"] {
        let Some(gym) = gym(IN_PLACE) else {
            return;
        };
        gym.perf_ok(&["setup", "--yes", KERNEL]);
        gym.perf_ok(&["baseline"]);
        gym.edit(&FASTER);
        let edited = gym.kernel();
        let started = gym.start(&["experiment", what]);
        gym.wait_until("the base in place", |event| {
            event["event"] == "placing" && event["run"] == 1
        });
        started.kill();
        started.wait();
        gym.wait_until_quiet();
        gym.perf_ok(&["resume"]);
        assert_eq!(
            (gym.kernel(), ended(&gym)),
            (edited, "interrupted".to_owned()),
            "{what}"
        );
    }
}
