//! The experiment loop under `kill -9`, and its verdicts on candidates whose worth is known.
//!
//! The tests of every day make a twentieth of the cases; see `tests/tests/perf_loop`.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::{Evidence, EvidenceArgs};
use crate::python::PYTEST;
use crate::repo::Repo;
use crate::tool::{Done, Tool};

/// How often a process is killed.
const KILLS: u32 = 200;
/// Candidates that change nothing.
const NULLS: u32 = 200;
/// Candidates that are 5 % faster.
const GAINS: u32 = 100;
/// No proof takes longer.
const MINUTES: u64 = 8 * 60;

/// Kills tileperf and its children at random instants.
pub(super) fn prove_kill(repo: &Repo, args: &EvidenceArgs) -> anyhow::Result<Evidence> {
    let test = "kills::killed_at_random_instants";
    let done = run(repo, args, test, KILLS, "perf-kill")?;
    let holds = done.iter().all(Done::success);
    let mut result = String::new();
    for done in &done {
        let said = line_with(done, " killed of ").unwrap_or("It did not get to the end.");
        result.push_str(&format!("{said}\n\n"));
    }
    result.push_str(match holds {
        true => "After every one of them all of this held.",
        false => "NOT all of it held:",
    });
    for done in done.iter().filter(|d| !d.success()) {
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
        holds,
    })
}

/// Tries candidates that change nothing, and others that are 5 % faster.
pub(super) fn prove_verdicts(repo: &Repo, args: &EvidenceArgs) -> anyhow::Result<Evidence> {
    let mut result = String::new();
    let mut holds = true;
    for (test, what, number, within) in [
        (
            "verdicts::what_changes_nothing_is_not_kept",
            "candidates that change nothing",
            NULLS,
            0..=1,
        ),
        (
            "verdicts::what_is_5_percent_faster_is_found",
            "candidates that are 5 % faster",
            GAINS,
            GAINS * 95 / 100..=GAINS,
        ),
    ] {
        let done = run(repo, args, test, number, "perf-verdicts")?;
        // The daily test forgives what a loud machine hides; here every candidate counts.
        let kept = total(&done, " candidates that ");
        let reached = kept.is_some_and(|kept| within.contains(&kept));
        holds &= reached;
        let word = if reached { "" } else { " MISSED." };
        let kept = kept.map_or("an unknown number".to_owned(), |kept| kept.to_string());
        result.push_str(&format!("- {kept} of {number} {what} were kept.{word}\n"));
        let details: Vec<&str> = (done.iter().flat_map(|d| d.stdout.lines()))
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

/// The programs of a proof.
struct Programs {
    tileperf: PathBuf,
    tests: PathBuf,
    python: PathBuf,
}

/// Runs one test, several times at once if asked to; each takes its share of the trials.
fn run(
    repo: &Repo,
    args: &EvidenceArgs,
    test: &str,
    trials: u32,
    log: &str,
) -> anyhow::Result<Vec<Done>> {
    let logs = repo.at("tests/artifacts/evidence");
    let programs = programs(repo, args, &logs.join(format!("{log}.log")))?;
    let shards = args.parallel.clamp(1, trials);
    let done: Vec<anyhow::Result<Done>> = std::thread::scope(|threads| {
        let running: Vec<_> = (0..shards)
            .map(|shard| {
                let share = trials / shards + u32::from(shard < trials % shards);
                let log = logs.join(format!("{log}-{shard}.log"));
                let tool = Tool::new(&programs.tests)
                    .args(["--exact", "--nocapture", test])
                    .env("TILEPERF_BIN", &programs.tileperf)
                    .env("TILEPERF_TEST_PYTEST", &programs.python)
                    .env("TILEPERF_TEST_TRIALS", share.to_string())
                    .env("TILEPERF_TEST_SEED", (shard + 1).to_string())
                    .minutes(MINUTES);
                threads.spawn(move || tool.log_to(&log))
            })
            .collect();
        (running.into_iter())
            .map(|thread| thread.join().unwrap_or_else(|_| bail!("a thread panicked")))
            .collect()
    });
    let done = done.into_iter().collect::<anyhow::Result<Vec<Done>>>()?;
    let ran = |d: &Done| d.stdout.lines().any(|line| line == "running 1 test");
    if !done.iter().all(ran) {
        bail!("{test} did not run, see {}", logs.display());
    }
    Ok(done)
}

/// What was built elsewhere, or is built now.
fn programs(repo: &Repo, args: &EvidenceArgs, log: &Path) -> anyhow::Result<Programs> {
    if let Some(folder) = &args.built {
        let folder = folder.canonicalize().context("--built names no folder")?;
        let python = std::env::var_os("TILEPERF_TEST_PYTEST")
            .context("TILEPERF_TEST_PYTEST must name a Python that has pytest")?;
        return Ok(Programs {
            tileperf: folder.join("tileperf"),
            tests: folder.join("perf_loop"),
            python: python.into(),
        });
    }
    let build = repo.cargo(&["build", "--workspace", "--all-targets"]);
    if !build.log_to(log)?.success() {
        bail!("tileperf cannot be built, see {}", log.display());
    }
    let messages = (repo.cargo(&["test", "--workspace", "--no-run", "--message-format=json"]))
        .arg("--test=perf_loop")
        .read()?;
    let executable = |line: &str| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let is_it = message["target"]["name"] == "perf_loop";
        message["executable"]
            .as_str()
            .filter(|_| is_it)
            .map(PathBuf::from)
    };
    Ok(Programs {
        tileperf: repo.debug_binary("tileperf"),
        tests: (messages.lines().find_map(executable)).context("cargo names no test program")?,
        python: PYTEST.python(repo)?,
    })
}

/// The last line that says so, from where the test's own words begin.
fn line_with<'a>(done: &'a Done, words: &str) -> Option<&'a str> {
    let lines = done.stdout.lines().rev();
    let said = |line: &&str| line.contains(words) && !line.contains("test result");
    // The first of them stands behind the test's name.
    let own = |line: &'a str| line.split_once(" ... ").map_or(line, |(_, own)| own);
    lines
        .filter(said)
        .map(own)
        .find(|line| line.starts_with(|c: char| c.is_ascii_digit()))
}

/// The number that the last such line of each program begins with, added up.
fn total(done: &[Done], words: &str) -> Option<u32> {
    let number = |d: &Done| line_with(d, words)?.split(' ').next()?.parse::<u32>().ok();
    done.iter().map(number).sum()
}
