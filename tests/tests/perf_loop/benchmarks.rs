//! Ways in which a benchmark says its numbers, and in which it fails to.

use tileperf_tests::gym::{Gym, Harness, KERNEL};

use crate::{FASTER, begin, changes, ended};

const BENCHMARK: &str = "bench/bench_scale.py";

#[test]
fn printed_records_and_tables_are_read() {
    for (harness, is_time) in [(Harness::Lines, true), (Harness::Table, false)] {
        let Some(gym) = Gym::new(harness) else {
            return;
        };
        begin(&gym);
        let measured = &gym.last("measured")["configurations"];
        assert_eq!(measured.as_array().map(Vec::len), Some(2), "{measured}");
        assert_eq!(measured[0]["is_time"], is_time, "{measured}");
        gym.edit(&FASTER);
        gym.perf(&["iterate"]).says(0, "Kept: ");
        assert_eq!(gym.last_row(), "1 PASS keep");
        // Both took half the time, whether they say so in milliseconds or as a rate.
        assert!(
            changes(&gym).iter().all(|change| *change < -0.25),
            "{:?}",
            changes(&gym)
        );
    }
}

#[test]
fn output_that_cannot_be_read_is_said_and_decides_nothing() {
    let Some(gym) = Gym::new(Harness::Model) else {
        return;
    };
    let good = gym.read(BENCHMARK);
    let bad = |print: &str| good.replace("    main(sys.argv[1])\n", &format!("    {print}\n"));
    for (print, why) in [
        (
            "print(\"Cutile: {'forward': {'median': \")",
            "cannot be read",
        ),
        ("print('0.3 or so')", "benchmark"),
        ("sys.exit('no GPU here')", "no GPU here"),
    ] {
        gym.write(BENCHMARK, bad(print));
        gym.commit("Break the benchmark");
        gym.perf_ok(&["setup", "--yes"]);
        gym.perf(&["baseline"]).says(2, why);
        assert_eq!(ended(&gym), "refused");
        assert!(gym.rows().is_empty());
        gym.perf_ok(&["abandon"]);
    }
}

#[test]
fn a_configuration_that_vanishes_is_a_loss() {
    let Some(gym) = Gym::new(Harness::Model) else {
        return;
    };
    begin(&gym);
    gym.edit(&[("SMALL = 40", "SMALL = 20"), ("LARGE = 80", "LARGE = 0")]);
    gym.perf(&["iterate"]).says(1, "is no longer run");
    assert_eq!(gym.last_row(), "1 PASS revert");
    assert!(gym.kernel().contains("LARGE = 80"));
}

#[test]
fn a_benchmark_that_passes_only_sometimes_is_a_crash() {
    let Some(gym) = Gym::new(Harness::Pytest) else {
        return;
    };
    begin(&gym);
    gym.edit(&[
        ("SMALL = 40\n", "SMALL = 40\nCALLS = []\n"),
        (
            "    digest = b\"\"\n",
            "    CALLS.append(1)\n    assert len(CALLS) < 9, \"too often\"\n    digest = b\"\"\n",
        ),
    ]);
    let done = gym.perf(&["iterate"]);
    done.says(1, "passed once and then did not");
    done.says(1, "too often");
    assert_eq!(gym.last_row(), "1 FAIL crash");
    assert!(!gym.kernel().contains("CALLS"));
}

#[test]
fn a_project_without_benchmark_times_the_launches_of_its_tests() {
    let Some(gym) = Gym::new(Harness::Pytest) else {
        return;
    };
    let tests = gym.read("tests/ops/test_scale.py");
    let at = tests
        .find("@pytest.mark.parametrize(\"size\"")
        .expect("the benchmark");
    let at = tests[..at].rfind("@pytest").expect("its first decorator");
    gym.write("tests/ops/test_scale.py", tests[..at].trim_end());
    gym.perf_ok(&["init", KERNEL]);
    let settings = gym.read("tileperf.toml");
    assert!(settings.contains("tileperf_bench"), "{settings}");
    gym.perf(&["init", KERNEL]).says(2, "is set already");
    gym.commit("Set up the benchmark");
    begin(&gym);
    gym.edit(&FASTER);
    gym.perf_ok(&["iterate"]);
    assert_eq!(gym.last_row(), "1 PASS keep");
}
