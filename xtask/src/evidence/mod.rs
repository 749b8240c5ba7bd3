//! `cargo xtask evidence NAME`: proofs that take long, kept in docs/evidence with where and when.
//!
//! The tests prove the same on every run with fewer cases. Here the numbers are written down, so
//! that a claim in the documentation can be looked up and made again.

mod accuracy;
mod compile;
mod incremental;
mod machine;
pub(crate) mod mutants;
mod perf;
mod playbook;
mod resources;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, ValueEnum};

use crate::repo::Repo;

/// Make a proof again and write it to docs/evidence.
#[derive(Debug, Args)]
pub(crate) struct EvidenceArgs {
    /// Which proof.
    #[arg(value_enum)]
    name: Name,

    /// For a machine without Rust: the folder with `tileperf` and the test programs, built elsewhere.
    #[arg(long, value_name = "FOLDER")]
    built: Option<PathBuf>,

    /// How many sessions of the experiment loop go on at once; each keeps a core or two busy.
    #[arg(long, default_value_t = 1)]
    parallel: u32,

    /// Mutants of these rules only, such as TP102,TP111; nothing is written then.
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    rules: Vec<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Name {
    /// Facts of public kernels against the oracle on Python's own parser.
    Accuracy,
    /// Whether the kernels of public packages compile for sm_90.
    Compile,
    /// Facts after random edits of public kernels against facts from scratch.
    Incremental,
    /// Detectors broken on purpose against the tests of their rules.
    Mutants,
    /// The experiment loop, killed at random instants.
    PerfKill,
    /// The experiment loop's verdicts on candidates whose worth is known.
    PerfVerdicts,
    /// The playbook's actions on the kernels of public packages.
    Playbook,
    /// What is read from compiled kernels against cuobjdump and cuda.tile.
    Resources,
}

/// A proof as it is written down.
struct Evidence {
    title: &'static str,
    /// What is claimed, and how it was tried.
    about: String,
    /// What came out.
    result: String,
    /// Whether that is what was claimed.
    holds: bool,
}

/// Runs `cargo xtask evidence`.
///
/// # Errors
/// The proof cannot be tried, or its file cannot be written.
pub(crate) fn run(repo: &Repo, args: &EvidenceArgs) -> anyhow::Result<ExitCode> {
    let before = machine::load();
    let (file, evidence) = match args.name {
        Name::Accuracy => ("accuracy", accuracy::prove(repo)?),
        Name::Compile => ("compile", compile::prove(repo)?),
        Name::Incremental => ("incremental", incremental::prove(repo)?),
        Name::Mutants => ("mutants", mutants::prove(repo, &args.rules)?),
        Name::PerfKill => ("perf-kill", perf::prove_kill(repo, args)?),
        Name::PerfVerdicts => ("perf-verdicts", perf::prove_verdicts(repo, args)?),
        Name::Playbook => ("playbook", playbook::prove(repo)?),
        Name::Resources => ("resources", resources::prove(repo)?),
    };
    let conditions = machine::describe(repo, &before)?;
    let Evidence {
        title,
        about,
        result,
        holds,
    } = evidence;
    let text = format!(
        "# {title}\n\n<!-- Written by `cargo xtask evidence {file}`. -->\n\n{about}\n\n{conditions}\n## Result\n\n{result}\n"
    );
    // A part is no evidence for the whole.
    if args.rules.is_empty() {
        let path = repo.at("docs/evidence").join(format!("{file}.md"));
        fs::create_dir_all(repo.at("docs/evidence")).context("cannot create docs/evidence")?;
        fs::write(&path, &text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    println!("{text}");
    Ok(if holds {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
