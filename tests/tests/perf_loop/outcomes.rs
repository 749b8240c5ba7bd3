//! Every way an iteration can end, in one session with pytest.

use std::time::{Duration, Instant};

use serde_json::Value;
use tileperf_tests::gym::{Gym, Harness, KERNEL};

use crate::{FASTER, begin, changes, ended};

#[test]
fn every_outcome_in_one_session() {
    let Some(gym) = Gym::new(Harness::Pytest) else {
        return;
    };
    begin(&gym);
    let baseline = gym.last("placed");
    assert_eq!(baseline["place"], "trees", "{baseline}");

    gym.edit(&FASTER);
    let base = gym.kernel();
    let began = Instant::now();
    gym.perf_ok(&["iterate", "--name", "half"]);
    check_overhead(&gym, began.elapsed());
    assert_eq!(gym.last_row(), "1 PASS keep");
    assert_eq!(gym.git(&["show", "--format=", "--name-only"]), KERNEL);
    assert_eq!(gym.kernel(), base);
    assert!(gym.status().is_empty());
    let commit = gym.last("kept")["commit"].clone();
    assert_eq!(commit, gym.git(&["rev-parse", "HEAD"]));

    gym.edit(&[("SMALL = 20", "SMALL = 45"), ("LARGE = 40", "LARGE = 90")]);
    gym.perf(&["iterate"]).says(1, "Reverted: slower in");
    assert_eq!(gym.last_row(), "2 PASS revert");
    assert!(changes(&gym).iter().all(|change| *change > 0.5));
    assert_eq!(gym.kernel(), base);

    gym.edit(&[
        ("shape=(TILE,)", "shape=(TILE * 2,)"),
        ("offset = 0", "offset = 1"),
    ]);
    let wrong = gym.perf(&["iterate"]);
    wrong.says(1, "Reverted: wrong results in");
    wrong.says(1, "likely cause: a tile reaches over the bounds");
    assert_eq!(gym.last_row(), "3 FAIL revert");
    assert_eq!(gym.kernel(), base);
    let failure = &gym.last("tested")["tests"]["failures"][0];
    assert_eq!(failure["file"], "tests/ops/test_scale.py", "{failure}");
    let assertion = line_of(&gym.read("tests/ops/test_scale.py"), "assert scale(");
    assert_eq!(failure["line"], assertion, "{failure}");

    for (row, last_words) in [
        ("4 FAIL crash", "import os; os.kill(os.getpid(), 11)"),
        // Without a word, a report or a bad exit code.
        ("5 FAIL crash", "import os; os._exit(0)"),
    ] {
        gym.edit(&[(
            "    digest = b\"\"\n",
            &format!("    {last_words}\n    digest = b\"\"\n"),
        )]);
        gym.perf(&["iterate"]).says(1, "crash, taken back");
        assert_eq!(gym.last_row(), row);
        assert_eq!(gym.kernel(), base);
    }

    // A failure's row carries the last kept time.
    let rows = gym.rows();
    assert!(
        [3, 4, 5].iter().all(|row| rows[*row][2] == rows[1][2]),
        "{rows:?}"
    );
    assert_eq!(ended(&gym), "crashed");

    check_reports(&gym);
    gym.perf_ok(&["finish"]);
    assert_eq!(gym.git(&["symbolic-ref", "--short", "HEAD"]), "main");
    assert_eq!(gym.git(&["rev-list", "--count", "main"]), "2");
    assert_eq!(gym.git(&["show", "--format=", "--name-only"]), KERNEL);
    let message = gym.git(&["log", "-1", "--format=%B"]);
    assert!(message.contains("- half ("), "{message}");
    assert_eq!(gym.kernel(), base);
    assert!(gym.status().is_empty());
    assert_eq!(gym.git(&["worktree", "list"]).lines().count(), 1);
    gym.wait_until_quiet();
}

/// What the loop adds to the time of its test and benchmark processes.
fn check_overhead(gym: &Gym, wall: Duration) {
    let tests = gym.last("tested")["tests"]["seconds"].as_f64();
    let journal = gym.journal();
    let at = |is: &dyn Fn(&Value) -> bool| {
        // What is kept was measured with new processes again: from the first ones on.
        let event = journal.iter().find(|e| e["run"] == 1 && is(e));
        let text = event.and_then(|e| e["at"].as_str()).expect("a time");
        // The same day, but for a run over midnight.
        let clock = text.split(['T', 'Z']).nth(1).expect("a time of day");
        let parts: Vec<f64> = clock
            .split(':')
            .map(|p| p.parse().expect("a number"))
            .collect();
        parts[0] * 3600.0 + parts[1] * 60.0 + parts[2]
    };
    let started = at(&|e| e["stage"] == "warming" && e["note"] == "base");
    let ended = at(&|e| e["event"] == "measured");
    let benchmark = (ended - started).rem_euclid(86400.0);
    let overhead = wall.as_secs_f64() - tests.expect("seconds") - benchmark;
    println!("the loop itself took {overhead:.2} s of {wall:?}");
    // A machine that does other things as well is slow now and then; a loop that waits for something
    // is slow by more than this.
    assert!(overhead < 3.0, "{overhead} s of {wall:?}");
}

/// Every form of report tells of what was kept and of what was not.
fn check_reports(gym: &Gym) {
    let report = |args: &[&str]| {
        let all: Vec<&str> = ["report"].iter().chain(args).copied().collect();
        gym.perf_ok(&all).stdout
    };
    for (args, says) in [
        (&[][..], &["half", "keep", "revert", "crash"][..]),
        (&["--form", "summary"], &["Optimization Summary"]),
        (&["--iteration", "1"], &["Optimization Applied", "half"]),
        (&["--pull-request"], &["scale_kernel", "half"]),
    ] {
        let text = report(args);
        for part in says {
            assert!(text.contains(part), "{args:?}: no {part} in {text}");
        }
    }
    let page = gym.folder().join("report.html");
    report(&["--form", "html", "--output", &page.display().to_string()]);
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<svg"));
}

/// The 1-based number of the only line that holds a text.
fn line_of(text: &str, part: &str) -> usize {
    let mut lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| line.contains(part));
    let found = lines.next().expect("a line").0 + 1;
    assert!(lines.next().is_none());
    found
}
