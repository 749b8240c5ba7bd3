//! The experiment loop from its command line, on a project with real git, pytest and processes.
//!
//! `TILEPERF_TEST_PYTEST` names a Python with pytest; without it, the tests here say so and do
//! nothing. What rules decide is tested with a benchmark that says what the kernel is made to cost,
//! because a busy machine must not have a say in it; everything else with times that were taken.

mod apart;
mod benchmarks;
mod experiments;
mod interruptions;
mod kills;
mod outcomes;
mod playbook;
mod right_code;
mod rules;
mod users_tree;
mod verdicts;

use serde_json::Value;
use tileperf_tests::gym::{Gym, KERNEL};

/// Half the work in both sizes.
const FASTER: [(&str, &str); 2] = [("SMALL = 40", "SMALL = 20"), ("LARGE = 80", "LARGE = 40")];

/// Twice the work in both sizes.
const SLOWER: [(&str, &str); 2] = [("SMALL = 40", "SMALL = 81"), ("LARGE = 80", "LARGE = 161")];

/// Begins a session and measures its baseline.
fn begin(gym: &Gym) {
    // The file is named, for one may be ignored by git and so unknown to the index.
    gym.perf_ok(&["setup", "--yes", KERNEL]);
    gym.perf_ok(&["baseline"]);
    assert_eq!(gym.last_row(), "0 PASS keep");
}

/// The relative change of each configuration in the last measurement.
fn changes(gym: &Gym) -> Vec<f64> {
    let measured = gym.last("measured");
    let configurations = measured["configurations"].as_array().expect("a list");
    let change = |m: &Value| m["verdict"]["estimate"]["effect"].as_f64().map(f64::exp_m1);
    configurations
        .iter()
        .map(|m| change(m).expect("an effect"))
        .collect()
}

/// How the last run ended.
fn ended(gym: &Gym) -> String {
    gym.last("run_ended")["end"]["ended"]
        .as_str()
        .expect("a word")
        .to_owned()
}

/// How many cases a proof makes: `TILEPERF_TEST_TRIALS`, else so many.
fn trials(usual: u32) -> u32 {
    number("TILEPERF_TEST_TRIALS").map_or(usual, |n| u32::try_from(n).unwrap_or(usual))
}

/// Where chance begins: `TILEPERF_TEST_SEED`, else always the same.
fn seed() -> u64 {
    number("TILEPERF_TEST_SEED").unwrap_or(0)
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}
