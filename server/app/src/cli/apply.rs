//! `tileperf apply`: makes a change of the playbook in a kernel's file, and in those that launch it.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use tileperf_analysis::playbook::Numerics;

use super::chosen;
use super::edited::{diff, save_all};
use super::paths;
use super::workspace::SettingsArgs;

/// Make a change of the playbook in a kernel's file, and in the one that launches it if that is another.
///
/// `tileperf actions PATH` lists what there is. Everything that the change does not name stays as it is,
/// byte for byte. Whether it is faster only a measurement tells: `tileperf perf iterate`.
#[derive(Debug, Args)]
pub(crate) struct ApplyArgs {
    /// The optimization: its letter or name, as in E or latency-hints.
    #[arg(value_name = "ID")]
    id: String,

    /// The kernel, PATH:KERNEL; PATH alone if the file has one kernel.
    #[arg(value_name = "PATH:KERNEL")]
    kernel: String,

    /// Which of the optimization's ways, as in latency=3. Needed where there are several.
    #[arg(long, value_name = "VARIANT")]
    variant: Option<String>,

    /// Print what would change instead.
    #[arg(long)]
    diff: bool,

    #[command(flatten)]
    settings: SettingsArgs,
}

/// Runs `tileperf apply`.
pub(crate) fn run(args: &ApplyArgs) -> anyhow::Result<ExitCode> {
    let optimization = chosen::optimization(&args.id)?;
    let (path, name) = chosen::split(&args.kernel);
    let files = paths::with_facts(std::slice::from_ref(&path), &args.settings)?;
    let found = match files.found.as_slice() {
        [found] => found,
        [] => bail!("no kernel found in {}", path.display()),
        several => bail!("{} files in {}: name one", several.len(), path.display()),
    };
    let kernels = found.engine.actions(&found.doc);
    let shown = found.shown.display().to_string();
    let kernel = chosen::kernel(kernels, &shown, name.as_deref())?;
    let action = chosen::action(&kernel, optimization, args.variant.as_deref())?;
    let changed = chosen::applied(&kernel, action, &|doc| found.shown_beside(doc))?;
    if args.diff {
        let mut out = io::stdout().lock();
        for file in &changed {
            diff(&mut out, &file.shown, &file.before, &file.after)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    save_all(&changed)?;
    let mut out = io::stdout().lock();
    writeln!(out, "{}: {}", found.shown.display(), action.title)?;
    let others = changed.iter().filter(|file| file.shown != found.shown);
    for file in others {
        writeln!(out, "{} is changed with it.", file.shown.display())?;
    }
    if action.numerics == Numerics::Different {
        writeln!(out, "Results differ in the last bits: run the tests.")?;
    }
    for premise in &action.premises {
        writeln!(out, "Right only if {premise}.")?;
    }
    if let Some(next) = action.next_in_words() {
        writeln!(out, "{next}")?;
    }
    Ok(ExitCode::SUCCESS)
}
