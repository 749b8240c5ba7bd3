//! `tileperf doctor`: whether what compiling and measuring needs is there and fits together.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde_json::json;
use tileperf_compiler::doctor::{self, Check, Status};
use tileperf_compiler::environment::{Found, Managed};
use tileperf_engine::Engine;
use tileperf_engine::settings::Origin;

use super::workspace::{self, ProjectArgs, SettingsArgs};
use crate::dirs;

/// Look at Python, cuda-tile, its compiler, the driver and the cache, and say what to do.
///
/// Nothing of the project is run. Exits with 1 if something does not work.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    project: ProjectArgs,

    /// How to print what was found.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    #[command(flatten)]
    settings: SettingsArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One line a check, and its cure below it.
    Text,
    /// One JSON object a check.
    Json,
}

/// Runs `tileperf doctor`.
pub(crate) fn run(args: &DoctorArgs) -> anyhow::Result<ExitCode> {
    let root = args.project.root()?;
    let (engine, problems) = workspace::engine(vec![root.clone()], &args.settings, false);
    for problem in &problems {
        tracing::warn!("{problem}");
    }
    let variables = |name: &str| std::env::var_os(name);
    let managed = Managed::in_cache(&dirs::cache()?);
    let python = engine.settings().python_path.clone();
    let found = Found::look(python.as_deref(), &root, &managed, &variables);
    let devices = tileperf_gpu::devices()
        .map(|gpus| gpus.iter().map(tileperf_gpu::Gpu::label).collect())
        .map_err(|none| none.to_string());
    let mut checks = doctor::examine(&found, &managed, &devices, &variables);
    checks.push(doctor::architectures(&archs(&engine)));
    print(&checks, args.format)?;
    let works = checks.iter().all(|check| check.status < Status::Problem);
    Ok(if works {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// What kernels are compiled for, and who says so.
fn archs(engine: &Engine) -> String {
    let gpu = engine.local_gpu();
    let archs: Vec<&str> = (engine.compile_archs().iter())
        .map(|arch| arch.name())
        .collect();
    let settings = engine.settings();
    let origin = match (gpu, settings.origin("compile.archs")) {
        (Some(gpu), _) => format!("this machine's GPU, {}", gpu.name),
        (None, Some(Origin::Default) | None) => {
            "the setting compile.archs is not set, and no GPU is known here".to_owned()
        }
        (None, Some(origin)) => format!("compile.archs, {origin}"),
    };
    let by = super::switches::set().map_or_else(String::new, |words| format!("; by {words}"));
    format!("{} ({origin}){by}", archs.join(", "))
}

fn print(checks: &[Check], format: Format) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for check in checks {
        if format == Format::Json {
            let (name, status, found, cure) = (check.name, check.status, &check.found, &check.cure);
            let line = json!({
                "schema": "tileperf.doctor/1", "name": name, "status": status, "found": found,
                "cure": cure,
            });
            writeln!(out, "{line}")?;
            continue;
        }
        let word = match check.status {
            Status::Ok => "ok",
            Status::Note => "note",
            Status::Warning => "warning",
            Status::Problem => "PROBLEM",
        };
        writeln!(out, "{word:8} {:20} {}", check.name, check.found)?;
        if let Some(cure) = &check.cure {
            writeln!(out, "{:29} -> {cure}", "")?;
        }
    }
    out.flush()
}
