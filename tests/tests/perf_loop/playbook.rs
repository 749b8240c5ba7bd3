//! `perf apply`: a change of the playbook as an iteration. It is made beside the user's files, which
//! hear of it when it is kept and not before, whatever happens meanwhile.

use std::time::Duration;

use tileperf_tests::gym::{Done, Gym, Harness, KERNEL};
use tileperf_tests::random::Random;

use crate::{FASTER, begin, ended, seed, trials};

/// The change that the playbook offers for the project's kernel.
const APPLY: [&str; 4] = ["apply", "F", "--kernel", "scale_kernel"];
const BEFORE: &str = "tile=tile)";
const AFTER: &str = "tile=tile, allow_tma=False)";
/// Kills of every day.
const TRIALS: u32 = 6;

/// A project in which that change makes the cost so many times what it was.
pub(crate) fn gym(factor: f64, settings: &str, git: bool) -> Option<Gym> {
    let gym = Gym::without_git(Harness::Model, settings)?;
    let bench = gym.read("bench/bench_scale.py");
    let cost = "return getattr(kernel, SIZES[size])";
    assert_eq!(bench.matches(cost).count(), 1, "{bench}");
    let changed = "open(kernel.__file__).read().count('allow_tma=False')";
    let own = format!("{cost} * ({factor} if {changed} else 1)");
    gym.write("bench/bench_scale.py", bench.replace(cost, &own));
    if git {
        gym.git(&["init", "--quiet"]);
        gym.commit("Begin");
    }
    Some(gym)
}

fn changed(kernel: &str) -> String {
    assert_eq!(kernel.matches(BEFORE).count(), 1, "{kernel}");
    kernel.replace(BEFORE, AFTER)
}

fn report_of(done: &Done) -> &str {
    let at = done.stdout.find("## Optimization Applied: ");
    at.map_or("", |at| &done.stdout[at..])
}

#[test]
fn a_gain_is_kept_and_reported() {
    let Some(gym) = gym(0.5, "", true) else {
        return;
    };
    let wanted = changed(&gym.kernel());
    // No session yet: one begins, with iteration 0.
    let done = gym.perf_ok(&APPLY);
    assert_eq!(gym.last_row(), "1 PASS keep");
    assert_eq!(gym.rows()[1][1], "F no-tma-stores");
    assert_eq!(gym.kernel(), wanted);
    assert_eq!(gym.git(&["show", "--format=", "--name-only"]), KERNEL);
    assert!(gym.status().is_empty(), "{:?}", gym.status());
    let tried = gym.last("run_started")["tried"].clone();
    let origin = serde_json::json!({"by": "playbook", "id": "F"});
    assert_eq!(tried["origin"], origin, "{tried}");
    for line in [
        "## Optimization Applied: F no-tma-stores",
        "- [x] Code compatibility verified: ",
        "- Specialist: playbook (F)",
        "| Latency | ",
    ] {
        assert!(report_of(&done).contains(line), "{line} in {done}");
    }
    let gain = report_of(&done).split_once("SUCCESS: Achieved ");
    let gain = gain.and_then(|(_, rest)| rest.split_once("% improvement"));
    let gain: f64 = gain
        .and_then(|(gain, _)| gain.parse().ok())
        .expect("a gain");
    assert!((45.0..55.0).contains(&gain), "{gain} in {done}");
    // It is done: there is nothing of it left to do.
    gym.perf(&APPLY)
        .says(2, "F (no-tma-stores) does not apply to scale_kernel");
    gym.perf_ok(&["undo"]);
    assert_eq!(changed(&gym.kernel()), wanted);
}

/// A plan knows what was tried, and what a session's repository may not see.
#[test]
fn a_plan_marks_what_was_tried() {
    let Some(gym) = gym(1.5, "", true) else {
        return;
    };
    let path = "sandbox/tileperf/plan-scale_kernel.md";
    let subject = format!("{KERNEL}:scale_kernel");
    let said = gym.run_ok(&["plan", &subject]);
    assert!(said.stdout.starts_with(&format!("{path}: ")), "{said}");
    let command = format!("`tileperf perf apply F {KERNEL} --kernel scale_kernel`");
    assert!(gym.read(path).contains(&command), "{}", gym.read(path));
    assert!(gym.status().is_empty(), "{:?}", gym.status());
    gym.perf(&APPLY).says(1, "Reverted: slower");
    gym.edit(&FASTER);
    gym.perf(&["iterate", "-m", "half"]);
    gym.run_ok(&["plan", &subject]);
    let plan = gym.read(path);
    assert!(!plan.contains(&command), "{plan}");
    for row in [
        "| F no-tma-stores | reverted: slower in 2 configurations (run 1 of ",
        "| half | kept: ",
    ] {
        assert!(plan.contains(row), "{row} in {plan}");
    }
    let said = gym.run(&["plan", &format!("{KERNEL}:other")]);
    said.says(2, "has no kernel other; it has scale_kernel");
}

#[test]
fn a_loss_never_touches_the_file() {
    for settings in ["", "perf.place = \"in-place\"\n"] {
        let Some(gym) = gym(1.5, settings, true) else {
            return;
        };
        begin(&gym);
        let start = gym.kernel();
        let done = gym.perf(&["apply", "no-tma-stores"]);
        done.says(1, "Reverted: slower");
        assert!(report_of(&done).contains("ROLLED BACK: slower"), "{done}");
        assert_eq!(gym.last_row(), "1 PASS revert");
        assert_eq!(gym.kernel(), start);
        assert!(gym.status().is_empty(), "{:?}", gym.status());
        // Once is enough.
        let again = gym.perf(&APPLY);
        again.says(1, "measured before");
        assert!(report_of(&again).contains("ROLLED BACK: slower"), "{again}");
        assert_eq!((gym.rows().len(), ended(&gym)), (2, "cited".to_owned()));
    }
}

#[test]
fn one_change_at_a_time() {
    let Some(gym) = gym(0.5, "", true) else {
        return;
    };
    gym.edit(&FASTER);
    let edited = gym.kernel();
    let refused = format!("{KERNEL} has a change that was not tried");
    gym.perf(&APPLY).says(2, &refused);
    // Found before anything has begun.
    assert!(gym.sessions().is_empty());
    assert_eq!(gym.git(&["symbolic-ref", "--short", "HEAD"]), "main");
    gym.perf_ok(&["setup", "--yes", KERNEL]);
    gym.perf(&APPLY).says(2, &refused);
    assert!(gym.events("run_started").is_empty(), "before the baseline");
    gym.perf_ok(&["iterate"]);
    assert_eq!(gym.kernel(), edited);
    gym.perf_ok(&APPLY);
    assert_eq!(gym.last_row(), "2 PASS keep");
    assert_eq!(gym.kernel(), changed(&edited));
}

#[test]
fn what_is_not_offered_is_said_with_what_is() {
    let Some(gym) = gym(0.5, "", true) else {
        return;
    };
    let offered = "Offered: C occupancy, F";
    for (args, why) in [
        (&["apply", "Z", KERNEL][..], "no optimization is called Z"),
        (&["apply", "Z", KERNEL], "F (no-tma-stores)"),
        (&["apply", "E", KERNEL], offered),
        (&["apply", "F", "--kernel", "scala"], "no kernel scala"),
        (
            &["apply", "F", "--variant", "x", KERNEL],
            "no variant x for scale_kernel",
        ),
    ] {
        gym.perf(args).says(2, why);
    }
    assert!(gym.sessions().is_empty());
}

#[test]
fn typing_on_meanwhile() {
    for (factor, code, row) in [(0.5, 2, "0 PASS keep"), (1.5, 1, "1 PASS revert")] {
        let Some(gym) = gym(factor, "", true) else {
            return;
        };
        begin(&gym);
        let started = gym.start(&APPLY);
        gym.wait_until("the measuring of an iteration", |event| {
            event["stage"] == "warming" && event["run"] == 1
        });
        let typed = format!("{}# typed\n", gym.kernel());
        gym.write(KERNEL, &typed);
        let done = started.wait();
        // What would be kept has no place to go; what is taken back never was there.
        assert_eq!(done.code, Some(code), "{done}");
        assert_eq!(gym.last_row(), row, "{done}");
        assert_eq!(gym.kernel(), typed);
        if code == 2 {
            done.says(2, "changed meanwhile and is left as it is");
            assert_eq!(ended(&gym), "refused");
        }
        gym.write(KERNEL, typed.replace("# typed\n", ""));
        let again = gym.perf(&APPLY);
        assert_eq!(again.code, Some(i32::from(factor > 1.0)), "{again}");
    }
}

#[test]
fn ctrl_c_leaves_the_files_as_they_were() {
    for (git, settings) in [
        (true, ""),
        (true, "perf.place = \"in-place\"\n"),
        (false, ""),
    ] {
        let Some(gym) = gym(0.5, settings, git) else {
            return;
        };
        begin_named(&gym);
        let start = gym.kernel();
        let started = gym.start(&APPLY);
        gym.wait_until("the measuring of an iteration", |event| {
            event["stage"] == "warming" && event["run"] == 1
        });
        started.interrupt();
        started.wait().says(2, "cancelled");
        assert_eq!((gym.kernel(), ended(&gym)), (start, "cancelled".to_owned()));
    }
}

/// As [`begin`], without an assumption about git.
fn begin_named(gym: &Gym) {
    gym.perf_ok(&["setup", "--yes", KERNEL]);
    gym.perf_ok(&["baseline"]);
}

#[test]
fn killed_between_any_two_steps() {
    let mut random = Random::new(seed());
    for trial in 0..trials(TRIALS) {
        let git = trial % 3 != 2;
        let settings = match trial % 3 {
            1 => "perf.place = \"in-place\"\n",
            _ => "",
        };
        let Some(gym) = gym(0.5, settings, git) else {
            return;
        };
        begin_named(&gym);
        let start = gym.kernel();
        let events = gym.journal().len() + random.below(18);
        let started = gym.start(&APPLY);
        while gym.journal().len() < events && started.is_running() {
            std::thread::sleep(Duration::from_micros(200));
        }
        std::thread::sleep(Duration::from_micros(random.below(4000) as u64));
        started.kill();
        let killed = started.wait();
        gym.wait_until_quiet();
        gym.perf_ok(&["resume"]);
        let context = format!("trial {trial}: {killed}\n{:#?}", gym.journal());
        let kernel = gym.kernel();
        let kept = gym.events("kept").len() == 1;
        let wanted = if kept { changed(&start) } else { start.clone() };
        assert_eq!(kernel, wanted, "{context}");
        if git {
            assert!(gym.status().is_empty(), "{:?} {context}", gym.status());
        }
        if !kept {
            let again = gym.perf(&APPLY);
            // A process that was killed may have looked like a change that broke.
            let crashed = again.stdout.contains("measured before");
            assert!(again.code == Some(0) || crashed, "{again}\n{context}");
        }
    }
}

/// What the kernel costs with the playbook's change: half for small inputs, more for large ones unless
/// the launch chooses.
const MIXED: &str = "\
import random

from gym.ops.cutile import scale as kernel

text = open(kernel.__file__).read()
factors = {16: 1, 128: 1}
if 'allow_tma=False' in text:
    factors = {16: 0.5, 128: 1 if ' if x.shape[0] <= 16 else ' in text else 1.5}
print('scale-performance-GBps:')
print('        N    CuTile')
for row, (size, passes) in enumerate({16: kernel.SMALL, 128: kernel.LARGE}.items()):
    cost = passes * factors[size] * random.gauss(1, 0.0003)
    print(f'{row}  {float(size):8.1f}  {1 / cost:12.6f}')
";

/// A change that wins here and loses there is offered for where it wins, and kept.
#[test]
fn a_mixed_result_becomes_a_gate() {
    let Some(gym) = Gym::without_git(Harness::Model, "") else {
        return;
    };
    gym.write("bench/bench_scale.py", MIXED);
    let kernel = gym.kernel();
    let shaped = kernel
        .replace(
            "def work(",
            "class Shaped(list):\n    @property\n    def shape(self):\n        return (len(self),)\n\n\ndef work(",
        )
        .replace("    ct.launch(None, (1,), scale_kernel, (values,", "    x = Shaped(values)\n    ct.launch(None, (1,), scale_kernel, (x,");
    assert_ne!(shaped.len(), kernel.len());
    gym.write(KERNEL, shaped.clone());
    gym.git(&["init", "--quiet"]);
    gym.commit("Begin");
    begin(&gym);
    let listed = || gym.run_ok(&["actions", KERNEL]).stdout;
    assert!(!listed().contains("  O "), "{}", listed());
    let done = gym.perf(&APPLY);
    done.says(1, "Reverted");
    assert_eq!(
        gym.last("decided")["decision"]["why"]["why"],
        "mixed",
        "{done}"
    );
    let said = "`tileperf perf apply O --variant \"F,x.shape[0]<=16\"`";
    assert!(done.stdout.contains(said), "{done}");
    assert_eq!(gym.kernel(), shaped);
    assert!(listed().contains("  O F,x.shape[0]<=16"), "{}", listed());
    gym.perf_ok(&["apply", "O", "--kernel", "scale_kernel"]);
    assert_eq!(gym.last_row(), "2 PASS keep");
    let gated = gym.kernel();
    for line in [
        "def scale_kernel(x,",
        "def scale_kernel_no_tma_stores(x,",
        "    # Faster with x.shape[0] <= 16 only (measured: run 1 of ",
        "    kernel = scale_kernel_no_tma_stores if x.shape[0] <= 16 else scale_kernel\n",
        "    ct.launch(None, (1,), kernel, (x,",
    ] {
        assert!(gated.contains(line), "{line} in {gated}");
    }
    assert!(!listed().contains("  O "), "{}", listed());
}

/// What the kernel costs by the hint at its decorator.
const HINTED: &str = "\
import random

from gym.ops.cutile import scale as kernel

factor = 0.5 if 'occupancy=8' in open(kernel.__file__).read() else 1
print('scale-performance-GBps:')
print('        N    CuTile')
for row, (size, passes) in enumerate({16: kernel.SMALL, 128: kernel.LARGE}.items()):
    print(f'{row}  {float(size):8.1f}  {1 / (passes * factor * random.gauss(1, 0.0003)):12.6f}')
";

/// A hint that one card liked is offered for that card's architecture alone. This machine has none, so
/// the journal is given one.
#[test]
fn a_hint_that_one_card_liked() {
    let Some(gym) = Gym::without_git(Harness::Model, "") else {
        return;
    };
    gym.write("bench/bench_scale.py", HINTED);
    let kernel = gym
        .kernel()
        .replace("@ct.kernel\n", "@ct.kernel(occupancy=2)\n");
    assert!(kernel.contains("(occupancy=2)"), "{kernel}");
    gym.write(KERNEL, kernel.clone());
    gym.git(&["init", "--quiet"]);
    gym.commit("Begin");
    begin(&gym);
    gym.edit(&[("occupancy=2", "occupancy=8")]);
    gym.perf_ok(&["iterate"]);
    assert_eq!(gym.last_row(), "1 PASS keep");
    let listed = || gym.run_ok(&["actions", KERNEL]).stdout;
    assert!(!listed().contains("  O "), "without a card: {}", listed());
    on_a_card(&gym, "sm_90");
    // Where only this architecture counts, there is nothing to tell apart.
    gym.write("tileperf.toml", "archs = [\"sm_90\"]\n");
    assert!(!listed().contains("  O "), "{}", listed());
    gym.write("tileperf.toml", "");
    assert!(listed().contains("  O occupancy=8,sm_90"), "{}", listed());
    gym.run_ok(&["apply", "O", &format!("{KERNEL}:scale_kernel")]);
    let wanted = kernel.replace("occupancy=2", "occupancy=ct.ByTarget(sm_90=8, default=2)");
    assert_eq!(gym.kernel(), wanted);
    assert!(!listed().contains("  O "), "{}", listed());
}

/// Has the runs of the journal made on a card of an architecture.
fn on_a_card(gym: &Gym, arch: &str) {
    let lines = gym.journal().into_iter().map(|mut event| {
        if let Some(device) = event.get_mut("device") {
            device["arch"] = arch.into();
        }
        format!("{event}\n")
    });
    let session = gym.sessions().pop().expect("a session");
    std::fs::write(session.join("journal.jsonl"), lines.collect::<String>()).expect("written");
}
