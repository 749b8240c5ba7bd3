//! `tileperf apply`: makes a change of the playbook in a kernel's file.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use tileperf_analysis::playbook::{Action, Numerics, Optimization};
use tileperf_analysis::rewrite;
use tileperf_engine::KernelActions;

use super::edited::{diff, save};
use super::paths::{self, Found};
use super::workspace::SettingsArgs;

/// Make a change of the playbook in a kernel's file.
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
    let optimization = Optimization::named(&args.id)
        .with_context(|| format!("no optimization is called {}", args.id))?;
    let (path, name) = split(&args.kernel);
    let files = paths::with_facts(std::slice::from_ref(&path), &args.settings)?;
    let found = match files.found.as_slice() {
        [found] => found,
        [] => bail!("no kernel found in {}", path.display()),
        several => bail!("{} files in {}: name one", several.len(), path.display()),
    };
    let kernel = kernel(found, name.as_deref())?;
    let action = choose(&kernel, optimization, args.variant.as_deref())?;
    let before = kernel.text.as_str();
    let after = rewrite::apply(before, &action.edits)?;
    // A text that would not parse is never written.
    let broken = !tileperf_syntax::parse(&after).is_clean();
    if broken && tileperf_syntax::parse(before).is_clean() {
        bail!("{} would leave a file that does not parse", action.name());
    }
    if args.diff {
        diff(&mut io::stdout().lock(), &found.shown, before, &after)?;
        return Ok(ExitCode::SUCCESS);
    }
    save(found, before, &after)?;
    let mut out = io::stdout().lock();
    writeln!(out, "{}: {}", found.shown.display(), action.title)?;
    if action.numerics == Numerics::Different {
        writeln!(out, "Results differ in the last bits: run the tests.")?;
    }
    for premise in &action.premises {
        writeln!(out, "Right only if {premise}.")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// `PATH:KERNEL` as its parts. A path may hold colons itself.
fn split(text: &str) -> (PathBuf, Option<String>) {
    match text.rsplit_once(':') {
        Some((path, kernel)) if !Path::new(text).exists() => {
            (PathBuf::from(path), Some(kernel.to_owned()))
        }
        _ => (PathBuf::from(text), None),
    }
}

fn kernel(found: &Found, name: Option<&str>) -> anyhow::Result<KernelActions> {
    let mut kernels = found.engine.actions(&found.doc);
    let all: Vec<String> = kernels.iter().map(|k| k.kernel.to_string()).collect();
    let all = all.join(", ");
    let shown = found.shown.display();
    if let Some(name) = name {
        let bare = |k: &KernelActions| k.kernel.rsplit('.').next() == Some(name);
        kernels.retain(|k| k.kernel == name || bare(k));
    }
    match (kernels.len(), name) {
        (1, _) => kernels.pop().context("one kernel"),
        (0, Some(name)) => bail!("{shown} has no kernel {name}; it has {all}"),
        (0, None) => bail!("no kernel found in {shown}"),
        (_, Some(name)) => bail!("{shown} has several kernels called {name}: {all}"),
        (_, None) => bail!("{shown} has several kernels: {all}; name one as {shown}:KERNEL"),
    }
}

fn choose<'k>(
    kernel: &'k KernelActions,
    optimization: &'static Optimization,
    variant: Option<&str>,
) -> anyhow::Result<&'k Action> {
    let actions = kernel.actions.iter().map(|offered| &offered.action);
    let actions: Vec<&Action> = actions.filter(|a| a.optimization == optimization).collect();
    let (name, id, slug) = (&kernel.kernel, optimization.id, optimization.slug);
    let variants = || {
        let all: Vec<&str> = actions.iter().map(|a| a.variant.as_str()).collect();
        all.join(", ")
    };
    match (actions.as_slice(), variant) {
        ([], _) => bail!(
            "{id} ({slug}) does not apply to {name}; `tileperf explain {id}` says when it does"
        ),
        ([only], None) => Ok(only),
        (_, None) => bail!(
            "{id} ({slug}) can be done in several ways: give --variant, one of {}",
            variants()
        ),
        (all, Some(wanted)) => {
            let found = all.iter().find(|a| a.variant == wanted);
            found.copied().with_context(|| {
                format!(
                    "{id} ({slug}) has no variant {wanted} for {name}; there is {}",
                    variants()
                )
            })
        }
    }
}
