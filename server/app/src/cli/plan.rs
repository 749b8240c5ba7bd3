//! `tileperf plan`: what is worth trying on a kernel, as a file.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use tileperf_analysis::arch::Arch;
use tileperf_analysis::compiled::CompiledFacts;
use tileperf_engine::{Depth, KernelActions, Order, Signatures};
use tileperf_proc::CancelToken;

use super::chosen;
use super::paths::{self, Found};
use super::trust::require_trust;
use super::workspace::{self, SettingsArgs};
use crate::dirs;

/// Write a plan of experiments for a kernel.
///
/// What is offered for it, what rules and the compiler say of it, what its code shows and what its parts
/// may cost: numbered, each to be tried by itself, the most promising first, with what was tried already.
/// The file is sandbox/tileperf/plan-KERNEL.md; writing it again takes new results in.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// The kernel, PATH:KERNEL; PATH alone if the file has one kernel.
    #[arg(value_name = "PATH:KERNEL")]
    kernel: String,

    /// Compile the kernel first, with and without what the playbook offers. Runs the code that it needs,
    /// so the project must be trusted.
    #[arg(long)]
    compile: bool,

    /// The architecture to compile for; without it, the first of the setting compile.archs.
    #[arg(long, value_name = "ARCH", requires = "compile")]
    arch: Option<Arch>,

    /// Run the code that the kernel needs, without asking.
    #[arg(long, requires = "compile")]
    trust: bool,

    /// Print the plan and write no file.
    #[arg(long)]
    print: bool,

    #[command(flatten)]
    settings: SettingsArgs,
}

/// Runs `tileperf plan`.
pub(crate) fn run(args: &PlanArgs) -> anyhow::Result<ExitCode> {
    let (path, name) = chosen::split(&args.kernel);
    let files = paths::with_facts(std::slice::from_ref(&path), &args.settings)?;
    let found = match files.found.as_slice() {
        [found] => found,
        [] => bail!("no kernel found in {}", path.display()),
        several => bail!("{} files in {}: name one", several.len(), path.display()),
    };
    let shown = found.shown.display().to_string();
    let kernels = found.engine.actions(&found.doc);
    let mut kernel = chosen::kernel(kernels, &shown, name.as_deref())?;
    let compiled = match args.compile {
        true => Some(compile(args, found, &mut kernel)?),
        false => None,
    };
    let mut out = io::stdout().lock();
    if args.print {
        let plan = found.engine.custom_plan(&kernel, compiled.as_ref());
        out.write_all(plan.map_err(anyhow::Error::msg)?.text.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let written = found.engine.write_plan(&kernel, compiled.as_ref());
    let (path, plan) = written.map_err(anyhow::Error::msg)?;
    let things = match plan.items {
        1 => "1 thing".to_owned(),
        n => format!("{n} things"),
    };
    writeln!(
        out,
        "{}: {things} to try on {}",
        relative(&path).display(),
        kernel.kernel
    )?;
    Ok(ExitCode::SUCCESS)
}

fn relative(path: &Path) -> &Path {
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    here.ok()
        .and_then(|here| path.strip_prefix(here).ok())
        .unwrap_or(path)
}

/// Compiles the kernel, and it with each of its actions.
fn compile(
    args: &PlanArgs,
    found: &Found,
    kernel: &mut KernelActions,
) -> anyhow::Result<CompiledFacts> {
    let engine = &found.engine;
    match args.trust {
        true => drop(engine.set_trusted(true)),
        false => require_trust(
            engine,
            &workspace::root_of(&found.doc.path().unwrap_or_default()),
        )?,
    }
    engine.keep_compiled_in(dirs::cache()?);
    engine.local_gpu();
    let archs = engine.compile_archs();
    let Some(arch) = args.arch.or_else(|| archs.first().copied()) else {
        bail!("the setting compile.archs names no architecture");
    };
    let cancel = CancelToken::new();
    let wanted = |name: &str| name == kernel.kernel;
    let order = Order {
        archs: &[arch],
        signatures: &Signatures::Best,
        wanted: &wanted,
    };
    let mut facts = None;
    let of = kernel.ordinal;
    let compiled = engine.compile_now(&found.doc, &order, &cancel, &mut |row| {
        if row.ordinal == of {
            facts = Some(row.facts);
        }
    });
    compiled.map_err(anyhow::Error::msg)?;
    let facts = match facts {
        Some(facts) => facts.map_err(anyhow::Error::msg)?,
        None => bail!("{} was not compiled", kernel.kernel),
    };
    let proven = engine.prove_now(&found.doc, kernel, arch, Depth::Machine, &cancel);
    proven.map_err(anyhow::Error::msg)?;
    Ok(facts)
}
