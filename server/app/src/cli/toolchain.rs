//! `tileperf toolchain install`: a cuTile with its compiler, kept apart from the project's Python.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use clap::{Args, Subcommand};
use tileperf_compiler::environment::{Managed, REQUIREMENTS};
use tileperf_proc::{CancelToken, python};

use super::workspace::{self, ProjectArgs, SettingsArgs};
use crate::dirs;

/// Keep a cuTile with its compiler for projects whose Python has none.
#[derive(Debug, Args)]
pub(crate) struct ToolchainArgs {
    #[command(subcommand)]
    command: ToolchainCommand,
}

#[derive(Debug, Subcommand)]
enum ToolchainCommand {
    Install(InstallArgs),
}

/// Install it in tileperf's cache folder; 2 GB are downloaded from the package index.
///
/// The project's Python makes a virtual environment there, in which pinned versions are installed.
/// Nothing of the project changes.
#[derive(Debug, Args)]
struct InstallArgs {
    #[command(flatten)]
    project: ProjectArgs,

    /// Install it again if it is there.
    #[arg(long)]
    again: bool,

    #[command(flatten)]
    settings: SettingsArgs,
}

/// Runs `tileperf toolchain`.
pub(crate) fn run(args: &ToolchainArgs) -> anyhow::Result<ExitCode> {
    match &args.command {
        ToolchainCommand::Install(args) => install(args),
    }
}

fn install(args: &InstallArgs) -> anyhow::Result<ExitCode> {
    let root = args.project.root()?;
    let (engine, _) = workspace::engine(vec![root.clone()], &args.settings, false);
    let variables = |name: &str| std::env::var_os(name);
    let managed = Managed::in_cache(&dirs::cache()?);
    let folder = managed.folder().display();
    if managed.environment(&variables).is_some() && !args.again {
        writeln!(io::stdout(), "it is installed in {folder}")?;
        return Ok(ExitCode::SUCCESS);
    }
    let setting = engine.settings().python_path.clone();
    let python =
        python::find(setting.as_deref(), &root, variables).map_err(|none| anyhow!(none))?;
    let progress = |line: &str| {
        let _ = writeln!(io::stderr(), "{line}");
    };
    managed
        .install(&python.path, &CancelToken::new(), progress)
        .context("the tool chain is not installed")?;
    writeln!(
        io::stdout(),
        "{} installed in {folder}",
        REQUIREMENTS.join(" and ")
    )?;
    Ok(ExitCode::SUCCESS)
}
