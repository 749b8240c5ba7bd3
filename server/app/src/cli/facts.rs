//! `tileperf facts`: what tileperf knows of Python files, for people and for programs.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use tileperf_engine::FileFacts;

use super::workspace::SettingsArgs;
use super::{facts_text, paths};

/// List the kernels of Python files and what launches, registers and tunes them.
///
/// Looks at the whole project that a path belongs to, so that a kernel launched in another file is
/// linked, and prints the facts of the paths given. Nothing is run or imported.
#[derive(Debug, Args)]
pub(crate) struct FactsArgs {
    /// Python files, or folders to search for them.
    #[arg(required = true)]
    paths: Vec<PathBuf>,

    /// How to print the facts.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    #[command(flatten)]
    settings: SettingsArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For reading.
    Text,
    /// One JSON object a line for each file that has facts.
    Json,
}

/// Runs `tileperf facts`.
pub(crate) fn run(args: &FactsArgs) -> anyhow::Result<ExitCode> {
    let files = paths::with_facts(&args.paths, &args.settings)?;
    let found = files.found;
    let facts: Vec<FileFacts> = (found.iter())
        .filter_map(|f| f.engine.facts(&f.doc, &f.shown.to_string_lossy()))
        .collect();

    let mut out = io::BufWriter::new(io::stdout().lock());
    for file in &facts {
        match args.format {
            Format::Json => {
                serde_json::to_writer(&mut out, file).map_err(io::Error::from)?;
                writeln!(out)?;
            }
            Format::Text => facts_text::write(&mut out, file)?,
        }
    }
    out.flush()?;
    if facts.is_empty() && args.format == Format::Text {
        writeln!(
            io::stderr(),
            "tileperf: nothing of cuTile found in the paths given"
        )?;
    }
    Ok(ExitCode::SUCCESS)
}
