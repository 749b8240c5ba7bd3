//! The experiment loop under `kill -9`, and its verdicts on candidates whose worth is known.
//!
//! The tests of every day make a twentieth of the cases; see `tests/tests/perf_loop`.

use anyhow::{Context, bail};

use super::Evidence;
use crate::python::PYTEST;
use crate::repo::Repo;
use crate::tool::Done;

/// How often a process is killed.
const KILLS: u32 = 200;
/// Candidates that change nothing.
const NULLS: u32 = 200;
/// Candidates that are 5 % faster.
const GAINS: u32 = 100;
/// No proof takes longer.
const MINUTES: u64 = 8 * 60;

/// Kills tileperf and its children at random instants.
pub(super) fn prove_kill(repo: &Repo) -> anyhow::Result<Evidence> {
    let done = run(repo, "kills::killed_at_random_instants", KILLS, "perf-kill")?;
    let said = line_with(&done, " killed of ").unwrap_or("It did not get to the end.");
    let mut result = format!("{said}\n\n");
    result.push_str(match done.success() {
        true => "After every one of them all of this held.",
        false => "NOT all of it held:",
    });
    if !done.success() {
        result.push_str(&format!("\n\n```\n{}\n```", done.tail(40).join("\n")));
    }
    Ok(Evidence {
        title: "The experiment loop under kill -9",
        about: format!(
            "A session is driven up to one command (setup, baseline, an iteration that will be kept, taken back for its\n\
             time or for its results, undo, finish either way, abandon), in work trees of its own, in place, without git\n\
             and with pytest. Then tileperf, one of its children or all of them are killed with SIGKILL at a random\n\
             instant, {KILLS} times. It must hold that\n\n\
             - no process is left;\n\
             - the kernel's file is one of its versions, whole, and the user's edit is there or in the session's store;\n\
             - other files of the user's, changed, staged, not added or ignored, are as they were;\n\
             - the journal reads well, in order;\n\
             - the next command finishes or undoes what was going on: no run is open, the index is as it was, no lock is\n\
               left, `git fsck` has nothing to say;\n\
             - the session goes on: the same command again, one more change that is kept, `finish`; then the branch that\n\
               it started from is checked out with exactly the wanted text in it."
        ),
        result,
        holds: done.success(),
    })
}

/// Tries candidates that change nothing, and others that are 5 % faster.
pub(super) fn prove_verdicts(repo: &Repo) -> anyhow::Result<Evidence> {
    let mut result = String::new();
    let mut holds = true;
    for (test, number, within) in [
        ("verdicts::what_changes_nothing_is_not_kept", NULLS, 0..=1),
        (
            "verdicts::what_is_5_percent_faster_is_found",
            GAINS,
            GAINS * 95 / 100..=GAINS,
        ),
    ] {
        let done = run(repo, test, number, "perf-verdicts")?;
        let said = line_with(&done, " candidates that ").unwrap_or("It did not get to the end");
        let kept: Option<u32> = said.split(' ').next().and_then(|word| word.parse().ok());
        // The daily test forgives what a loud machine hides; here every candidate counts.
        let reached = kept.is_some_and(|kept| within.contains(&kept));
        holds &= reached;
        let word = if reached { "" } else { " MISSED." };
        result.push_str(&format!("- {said}.{word}\n"));
        let details: Vec<&str> = (done.stdout.lines())
            .filter(|line| line.contains("detectable: ") || line.contains("kept after "))
            .collect();
        result.push_str(&format!(
            "\n<details><summary>Every candidate</summary>\n\n```\n{}\n```\n\n</details>\n\n",
            details.join("\n")
        ));
    }
    Ok(Evidence {
        title: "Verdicts of the experiment loop",
        about: format!(
            "The kernel of a project in TileGym's layout is work of the processor (SHA-256 over a buffer), tested and timed by\n\
             pytest, two configurations of about half a millisecond and one a call. {NULLS} candidates change a comment: at most\n\
             one may be kept. {GAINS} do 5 % less work: at least 95 % must be kept. Each is a whole iteration from the command\n\
             line, with processes of its own; every ten have a session with its own baseline and noise. The machine does\n\
             other things meanwhile, see the load.\n\n\
             A line for each candidate: pairs and time that the verdict took, the effect on each configuration, and the rule\n\
             that decided. `detectable` is what a session's baseline said could be told from noise."
        ),
        result: result.trim_end().to_owned(),
        holds,
    })
}

fn run(repo: &Repo, test: &str, trials: u32, log: &str) -> anyhow::Result<Done> {
    let log = repo
        .at("tests/artifacts/evidence")
        .join(format!("{log}.log"));
    let build = repo.cargo(&["build", "--workspace", "--all-targets"]);
    if !build.log_to(&log)?.success() {
        bail!("tileperf cannot be built, see {}", log.display());
    }
    let tests = [
        "test",
        "--workspace",
        "--test",
        "perf_loop",
        "--",
        "--exact",
        "--nocapture",
        test,
    ];
    let done = repo
        .cargo(&tests)
        .env("TILEPERF_BIN", repo.debug_binary("tileperf"))
        .env("TILEPERF_TEST_PYTEST", PYTEST.python(repo)?)
        .env("TILEPERF_TEST_TRIALS", trials.to_string())
        .minutes(MINUTES)
        .log_to(&log)?;
    let ran = done.stdout.lines().any(|line| line == "running 1 test");
    ran.then_some(done)
        .with_context(|| format!("{test} did not run, see {}", log.display()))
}

/// The last line that says so, from where the test's own words begin.
fn line_with<'a>(done: &'a Done, words: &str) -> Option<&'a str> {
    let lines = done.stdout.lines().rev();
    let said = |line: &&str| line.contains(words) && !line.contains("test result");
    lines
        .filter(said)
        .find(|line| line.starts_with(|c: char| c.is_ascii_digit()))
}
