//! `tileperf config show`: every setting, its value, and which file or layer it came from.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use tileperf_engine::LocalGpu;
use tileperf_engine::settings::Row;

use super::workspace::{self, SettingsArgs};

/// Show the settings in force and where each comes from.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    Show(ShowArgs),
}

/// Print every setting with its value and where it was set.
///
/// Settings come, strongest first, from the command line, the editor, tileperf.toml, the
/// [tool.tileperf] table of pyproject.toml, your own tileperf.toml, and the defaults. Mistakes in
/// them are listed on standard error, and the exit code is then 1.
#[derive(Debug, Args)]
struct ShowArgs {
    /// A folder or file of the project to show the settings for.
    #[arg(default_value = ".")]
    path: PathBuf,

    /// How to print the settings.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    #[command(flatten)]
    settings: SettingsArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One line a setting, as it would stand in tileperf.toml.
    Text,
    /// One JSON object a line.
    Json,
}

/// Runs `tileperf config`.
pub(crate) fn run(args: &ConfigArgs) -> anyhow::Result<ExitCode> {
    match &args.command {
        ConfigCommand::Show(args) => show(args),
    }
}

/// A setting as it is shown.
struct Shown {
    key: &'static str,
    value: String,
    origin: String,
}

impl Shown {
    /// What is compiled for where nobody has set it comes from the machine.
    fn of(row: &Row, gpu: Option<&LocalGpu>) -> Self {
        let (value, origin) = match gpu.filter(|_| row.key == "compile.archs") {
            Some(gpu) => (
                format!("[\"{}\"]", gpu.arch),
                format!("this machine's GPU, {}", gpu.name),
            ),
            None => (row.value.clone(), row.origin.to_string()),
        };
        Self {
            key: row.key,
            value,
            origin,
        }
    }
}

fn show(args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let root = workspace::root_of(&workspace::existing(&args.path)?);
    let (engine, problems) = workspace::engine(vec![root], &args.settings, false);
    let gpu = engine.local_gpu();
    let rows: Vec<Shown> = (engine.settings().rows().iter())
        .map(|row| Shown::of(row, gpu.as_ref()))
        .collect();
    let mut out = io::BufWriter::new(io::stdout().lock());
    match args.format {
        Format::Json => {
            for row in &rows {
                let (value, origin) = (&row.value, &row.origin);
                let line = json!({
                    "schema": "tileperf.config/1", "key": row.key, "value": value, "origin": origin,
                });
                writeln!(out, "{line}")?;
            }
        }
        Format::Text => {
            let lines: Vec<_> = rows
                .iter()
                .map(|row| assignment(row.key, &row.value))
                .collect();
            // Long lists stand out to the right instead of pushing everything there.
            let width = lines
                .iter()
                .map(|l| l.chars().count())
                .filter(|w| *w <= 44)
                .max();
            for (line, row) in lines.iter().zip(&rows) {
                writeln!(
                    out,
                    "{line:width$}  # {}",
                    row.origin,
                    width = width.unwrap_or(0)
                )?;
            }
        }
    }
    out.flush()?;
    for problem in &problems {
        writeln!(io::stderr(), "tileperf: {problem}")?;
    }
    Ok(if problems.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

/// `key = value`, commented out where no value is set.
fn assignment(key: &str, value: &str) -> String {
    if value.is_empty() {
        format!("# {key} is not set")
    } else {
        format!("{key} = {value}")
    }
}
