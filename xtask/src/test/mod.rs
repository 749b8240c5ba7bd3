//! `cargo xtask test`: everything that is tested, from a fresh machine to real editors.
//!
//! The parts run in order, each whatever became of those before it, and the last line counts their
//! checks: `N passed, N failed`. Only what the machine lacks keeps a part from running: with a word
//! about what is missing on a user's machine, as an error in CI, where silence would be taken for
//! success.

pub(crate) mod accuracy;
mod checks;
mod count;
mod docs;
mod extension;
mod format;
mod nvim;
mod python;
mod rust;
mod vscode;

use std::fs;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;

use crate::debian::{self, Need};
use crate::repo::Repo;
use checks::Checks;

/// Run all tests: Rust, documents, Python, accuracy on public kernels, and both editors.
///
/// Sets up by itself what it needs on Debian and Ubuntu, and asks before it installs a package.
/// Downloads and test editors are kept in TILEPERF_CACHE, else ~/.cache/tileperf; logs and
/// screenshots go to tests/artifacts.
#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// Install missing packages without asking.
    #[arg(long)]
    yes: bool,

    /// Run only these parts.
    #[arg(long, value_name = "PART", value_delimiter = ',', value_parser = part_named)]
    only: Vec<&'static str>,
}

/// A part of the tests.
struct Part {
    name: &'static str,
    about: &'static str,
    needs: &'static [Need],
    run: fn(&Repo, &mut Checks) -> anyhow::Result<()>,
}

const PARTS: [Part; 7] = [
    rust::PART,
    docs::PART,
    python::PART,
    accuracy::PART,
    extension::PART,
    vscode::PART,
    nvim::PART,
];

/// What became of a part.
struct Outcome {
    name: &'static str,
    passed: u32,
    failed: u32,
    elapsed: Duration,
    /// Why it did not run.
    skipped: Option<String>,
}

/// Runs `cargo xtask test`.
///
/// # Errors
/// The terminal or the folder for logs cannot be used. A failing test is no error.
pub(crate) fn run(repo: &Repo, args: &TestArgs) -> anyhow::Result<ExitCode> {
    let in_ci = std::env::var_os("CI").is_some_and(|ci| !ci.is_empty() && ci != "false");
    let wanted = |part: &&Part| args.only.is_empty() || args.only.contains(&part.name);
    let parts: Vec<&Part> = PARTS.iter().filter(wanted).collect();
    let artifacts = repo.at("tests/artifacts");
    fs::create_dir_all(&artifacts)?;

    let needs = parts.iter().flat_map(|part| part.needs).copied();
    let packages = debian::packages(needs);
    if !packages.is_empty()
        && debian::is_debian()
        && (args.yes || in_ci || debian::ask(&packages)?)
        && let Err(error) = debian::install(&packages, &artifacts.join("packages.log"))
    {
        // The parts that need them say so below.
        println!("{error:#}");
    }

    let outcomes: Vec<Outcome> = parts
        .iter()
        .map(|part| outcome(repo, part, in_ci))
        .collect();
    Ok(summarize(&outcomes))
}

/// Runs one part, if the machine has what it needs.
fn outcome(repo: &Repo, part: &Part, in_ci: bool) -> Outcome {
    println!("\n== {}: {}", part.name, part.about);
    let started = Instant::now();
    let unmet = part.needs.iter().filter(|need| !need.is_met());
    let missing: Vec<String> = unmet.map(|need| need.describe()).collect();
    let mut checks = Checks::new(repo.at("tests/artifacts").join(part.name));
    let mut skipped = None;
    if missing.is_empty() {
        if let Err(error) = (part.run)(repo, &mut checks) {
            checks.fail(&format!("{error:#}"));
        }
    } else {
        let reason = format!("missing here: {}", missing.join(", "));
        if in_ci {
            checks.fail(&reason);
        } else {
            println!("  skipped, {reason}");
        }
        skipped = Some(reason);
    }
    Outcome {
        name: part.name,
        passed: checks.passed(),
        failed: checks.failed(),
        elapsed: started.elapsed(),
        skipped,
    }
}

/// Prints the table and the closing line.
fn summarize(outcomes: &[Outcome]) -> ExitCode {
    println!(
        "\n{:<12}{:>8}{:>8}{:>10}",
        "part", "passed", "failed", "time"
    );
    for outcome in outcomes {
        let seconds = outcome.elapsed.as_secs_f64();
        let note = match &outcome.skipped {
            Some(reason) => format!("  did not run, {reason}"),
            None => String::new(),
        };
        println!(
            "{:<12}{:>8}{:>8}{:>8.0} s{note}",
            outcome.name, outcome.passed, outcome.failed, seconds
        );
    }
    let passed: u32 = outcomes.iter().map(|o| o.passed).sum();
    let failed: u32 = outcomes.iter().map(|o| o.failed).sum();
    println!("\n{passed} passed, {failed} failed");
    // Nothing run is nothing proven.
    if failed == 0 && passed > 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn part_named(name: &str) -> Result<&'static str, String> {
    let names = PARTS.map(|part| part.name);
    let found = names.into_iter().find(|known| *known == name);
    found.ok_or_else(|| format!("the parts are {}", names.join(", ")))
}
