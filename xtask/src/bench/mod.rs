//! `cargo xtask bench`: how fast the language server is beside `ruff server` and `ty server`.
//!
//! A time in milliseconds says little without the machine and what else it did. So the three servers
//! are measured in one run and take turns at every single edit: whatever disturbs one disturbs all,
//! and the ratios hold where the times do not. What is measured is what an editor sees: from the
//! message that goes in to the message that comes out.

mod compiled;
mod edits;
mod files;
mod lightbulb;
mod machine;
mod measure;
mod report;
mod running;
mod samples;
mod servers;
mod session;
mod sessions;

use std::process::ExitCode;

use anyhow::Context;

use crate::repo::Repo;

// The profile of a release is taken of the same kind of typing.
pub(crate) use edits::script;
pub(crate) use servers::Server;
pub(crate) use session::Session;

/// Where the report of a full run is kept, from the root of the repository.
const EVIDENCE: &str = "docs/evidence/bench.md";

/// Measure the language server beside `ruff server` and `ty server`.
///
/// Builds the server as it is handed to users, installs the pinned versions of the other two into the cache
/// folder (TILEPERF_CACHE, else ~/.cache/tileperf) and fetches the public kernels that all three are
/// measured on. Prints a table; a full run also writes it to docs/evidence/bench.md.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchArgs {
    /// A fifth of the rounds, and no report is written: to see where one stands.
    #[arg(long)]
    quick: bool,
    /// The lightbulb only, and no report is written.
    #[arg(long)]
    lightbulb: bool,
}

/// Measures, prints the table and keeps it.
///
/// # Errors
/// Something cannot be built, fetched or started, or a server does not answer.
pub(crate) fn run(repo: &Repo, args: &BenchArgs) -> anyhow::Result<ExitCode> {
    let servers = servers::prepare(repo)?;
    let files = files::prepare(repo)?;
    let plan = if args.quick {
        measure::Plan::quick()
    } else {
        measure::Plan::full()
    };
    if args.lightbulb {
        let taken = lightbulb::measure(repo, &servers[0], &files.package, plan.sessions())?;
        print!("{}", report::lightbulb(&taken));
        return Ok(ExitCode::SUCCESS);
    }
    let before = machine::load();
    let results = measure::all(&servers, &files, &plan)?;
    let running = running::measure(repo, &servers[0])?;
    let compiled = compiled::measure(repo, &servers[0])?;
    let lightbulb = lightbulb::measure(repo, &servers[0], &files.package, plan.sessions())?;
    let report = report::Report {
        servers: &servers,
        files: &files,
        results: &results,
        running: &running,
        compiled: &compiled,
        lightbulb: &lightbulb,
        date: machine::today(repo),
        commit: servers::commit(repo),
        load: (before, machine::load()),
    };
    let text = report.markdown();
    print!("{text}");
    if !args.quick {
        let path = repo.at(EVIDENCE);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}
