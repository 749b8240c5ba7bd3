//! Sessions in which something happens.

use crate::event::{Event, Failure, RunEnd};
use crate::readings::Change;
use crate::session::Session;
use crate::verdict::{Goal, Identity, Stop};

use super::journal::{Journal, key, rates, times};

/// A failing assertion with its cause.
pub(super) fn failure() -> Failure {
    Failure {
        test: "tests/ops/test_scale.py::Test_Scale::test_op[1000-float16]".to_owned(),
        message: "AssertionError: Tensor-likes are not close!\nMismatched elements: 24".to_owned(),
        file: Some("/repo/tests/ops/test_scale.py".into()),
        line: Some(88),
        cause: Some("a mask or padding was removed".to_owned()),
    }
}

pub(super) const CRASH: &str =
    "the benchmark of the candidate ended with signal 11 (core dumped) before it gave a number";

/// Only iteration 0.
pub(super) fn baseline_only() -> Session {
    let mut journal = Journal::new(times(), |_| {});
    journal.baseline();
    journal.session()
}

/// One change, kept.
pub(super) fn kept() -> Session {
    let mut journal = Journal::new(times(), |plan| plan.goal = Some(Goal::Speedup(1.05)));
    journal.baseline();
    journal.timed(
        "occupancy 2 -> 4",
        &[(-0.081, 0.002), (-0.094, 0.003), (-0.102, 0.002)],
    );
    let goal = Goal::Speedup(1.05);
    journal.add(Event::Stopped {
        stop: Stop::GoalReached { goal },
    });
    journal.session()
}

/// One change, slower, taken back.
pub(super) fn slower() -> Session {
    let mut journal = Journal::new(times(), |_| {});
    journal.baseline();
    journal.timed(
        "num_ctas 1 -> 2",
        &[(0.041, 0.003), (0.05, 0.004), (0.032, 0.002)],
    );
    journal.session()
}

/// Wrong results.
pub(super) fn wrong() -> Session {
    let mut journal = Journal::new(times(), |_| {});
    journal.baseline();
    journal.wrong("drop the mask of the last tile", failure());
    journal.session()
}

/// A crash.
pub(super) fn crash() -> Session {
    let mut journal = Journal::new(times(), |_| {});
    journal.baseline();
    journal.crashed("tile 128 -> 512", CRASH);
    journal.session()
}

/// Cancelled, and another run that is not ended.
pub(super) fn cancelled() -> Session {
    let mut journal = Journal::new(times(), |_| {});
    journal.baseline();
    let run = journal.try_change("latency hint 4");
    journal.end(run, RunEnd::Cancelled, None);
    journal.try_change("latency hint 8");
    journal.session()
}

/// A change that compiles to the same code.
pub(super) fn same_code() -> Session {
    let mut journal = Journal::new(times(), |_| {});
    journal.baseline();
    let run = journal.try_change("E latency-hints latency=1");
    let proof = "the same cubin".to_owned();
    let identity = Identity::Same { proof };
    journal.add(Event::Compared { run, identity });
    journal.end(run, RunEnd::NoChange, None);
    journal.session()
}

/// An experiment of which the tests say that its results are wrong.
pub(super) fn experiment() -> Session {
    let mut journal = Journal::new(times(), |_| {});
    journal.baseline();
    journal.experiment("without token order", &[(-0.12, 0.003); 3], vec![failure()]);
    journal.session()
}

/// Faster in some, slower in others.
pub(super) fn mixed() -> Session {
    let mut journal = Journal::new(times(), |_| {});
    journal.baseline();
    journal.timed(
        "persistent launch",
        &[(0.063, 0.004), (-0.002, 0.003), (-0.121, 0.006)],
    );
    journal.session()
}

/// Two kept, the first of them undone: what stands was never timed.
pub(super) fn undone() -> Session {
    let mut journal = Journal::new(times(), |_| {});
    journal.baseline();
    journal.timed("occupancy 2 -> 4", &[(-0.08, 0.002); 3]);
    journal.timed("TMA for the store", &[(-0.03, 0.002); 3]);
    journal.undone(1, 77);
    journal.session()
}

/// Everything, finished.
pub(super) fn finished() -> Session {
    let mut journal = Journal::new(times(), |plan| plan.goal = Some(Goal::Latency(0.6)));
    journal.baseline();
    journal.timed(
        "occupancy 2 -> 4",
        &[(-0.081, 0.002), (-0.094, 0.003), (-0.102, 0.002)],
    );
    journal.wrong("drop the mask of the last tile", failure());
    let run = journal.try_change("latency hint 4");
    journal.end(run, RunEnd::Cancelled, None);
    journal.timed(
        "num_ctas 1 -> 2",
        &[(0.041, 0.003), (0.05, 0.004), (0.032, 0.002)],
    );
    journal.timed_with(
        "TMA for the store",
        &[(-0.031, 0.004), (-0.028, 0.005), (-0.044, 0.003)],
        vec![(
            key("tests/ops/test_scale.py::test_perf[new]"),
            Change::Appeared,
        )],
    );
    journal.crashed("tile 128 -> 512", CRASH);
    journal.timed(
        "persistent launch",
        &[(0.063, 0.004), (-0.002, 0.003), (-0.121, 0.006)],
    );
    let run = journal.timed(
        "approximate exp2",
        &[(-0.003, 0.012), (0.001, 0.003), (0.002, 0.015)],
    );
    journal.add(Event::Conflict {
        run,
        files: vec!["src/gym/ops/scale.py".into()],
        kept_at: "/repo/sandbox/tileperf/scale_kernel-20261129/8/conflict".into(),
    });
    journal.add(Event::Stopped {
        stop: Stop::NoImprovement,
    });
    journal.add(Event::Finished {
        commit: Some("feed".to_owned()),
        squashed: true,
    });
    journal.session()
}

/// Given up after a kept change.
pub(super) fn abandoned() -> Session {
    let mut journal = Journal::new(times(), |_| {});
    journal.baseline();
    journal.timed("occupancy 2 -> 4", &[(-0.08, 0.002); 3]);
    journal.add(Event::Abandoned);
    journal.session()
}

/// The benchmark gives nothing.
pub(super) fn no_configurations() -> Session {
    let mut journal = Journal::new(Vec::new(), |plan| plan.goal = Some(Goal::Latency(0.3)));
    journal.no_baseline("the benchmark gave no number");
    journal.session()
}

/// The benchmark breaks before it measures, with the last words of pytest.
pub(super) fn broken_baseline() -> Session {
    let mut journal = Journal::new(times(), |_| {});
    journal.no_baseline(
        "the benchmark hung up:\ntests/test_scale.py:3: in <module>\n    import torch\n\
         E   ModuleNotFoundError: No module named 'torch'\n\
         =========== short test summary info ===========\nERROR tests/test_scale.py\n\
         1 error in 0.05s",
    );
    journal.session()
}

/// Rates instead of times, and a goal that is a time.
pub(super) fn rates_only() -> Session {
    let mut journal = Journal::new(rates(), |plan| plan.goal = Some(Goal::Latency(0.3)));
    journal.baseline();
    journal.timed("vectorized loads", &[(-0.06, 0.002), (-0.055, 0.002)]);
    journal.session()
}

/// Times and rates in one benchmark.
pub(super) fn times_and_rates() -> Session {
    let mut configs = times();
    configs.extend(rates());
    let mut journal = Journal::new(configs, |_| {});
    journal.baseline();
    journal.timed("vectorized loads", &[(-0.06, 0.002); 5]);
    journal.session()
}

/// A correctness fix, and a faster code after it.
pub(super) fn fix() -> Session {
    let mut journal = Journal::new(times(), |plan| plan.fix = true);
    journal.baseline();
    journal.fixed("mask the last tile");
    journal.timed("occupancy 2 -> 4", &[(-0.08, 0.002); 3]);
    journal.session()
}

/// Set up, nothing run.
pub(super) fn set_up() -> Session {
    Journal::new(times(), |_| {}).session()
}

/// All of them by name.
pub(super) fn all() -> Vec<(&'static str, Session)> {
    vec![
        ("set_up", set_up()),
        ("baseline_only", baseline_only()),
        ("kept", kept()),
        ("slower", slower()),
        ("wrong", wrong()),
        ("crash", crash()),
        ("cancelled", cancelled()),
        ("mixed", mixed()),
        ("undone", undone()),
        ("finished", finished()),
        ("abandoned", abandoned()),
        ("no_configurations", no_configurations()),
        ("rates_only", rates_only()),
        ("times_and_rates", times_and_rates()),
        ("fix", fix()),
    ]
}
