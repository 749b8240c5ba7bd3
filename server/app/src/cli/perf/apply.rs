//! `tileperf perf apply`: one change of the playbook, kept or reverted by rule.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use tileperf_analysis::playbook::{Action, Numerics};
use tileperf_engine::{DocId, Engine, KernelActions};
use tileperf_perf::event::Origin;
use tileperf_perf::flow::{self, Change, Loop, Options, Outcome, Proposal};
use tileperf_perf::plan::Plan;
use tileperf_perf::report;

use super::super::chosen;
use super::super::trust::require_trust;
use super::super::workspace::SettingsArgs;
use super::begun::with_begun;
use super::iterate::{conclude, detach};
use super::session::{Format, Named};
use super::setup::WishArgs;
use crate::dirs;

/// Test and time a change of the playbook, and keep or revert it by rule.
///
/// `tileperf actions PATH` lists what there is. The change is measured beside the user's files; it is
/// put into them when it is kept. Starts a session and measures the baseline first where that was not
/// done. Ends with a report of the optimization. Exit code 0: kept. 1: reverted, crashed, cancelled,
/// or no change. 2: it cannot be tried.
#[derive(Debug, Args)]
pub(crate) struct ApplyArgs {
    /// The optimization: its letter or name, as in E or latency-hints.
    #[arg(value_name = "ID")]
    id: String,

    /// The kernel's file, or FILE:KERNEL. Without it, wherever in the project the kernel is.
    #[arg(value_name = "PATH")]
    path: Option<String>,

    /// The kernel. Without it, that of the only session, or the only one in the file.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,

    /// Which of the optimization's ways, as in latency=3. Needed where there are several.
    #[arg(long, value_name = "VARIANT")]
    variant: Option<String>,

    #[command(flatten)]
    settings: SettingsArgs,

    /// Run this project's code without asking.
    #[arg(long)]
    trust: bool,

    /// How to say what happens.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    #[command(flatten)]
    wishes: WishArgs,

    /// Run on in the background, also when the terminal closes. `perf attach` follows it.
    #[arg(long)]
    detach: bool,
}

/// Runs `tileperf perf apply`.
pub(crate) fn run(args: &ApplyArgs) -> anyhow::Result<ExitCode> {
    let optimization = chosen::optimization(&args.id)?;
    let named = Named::parse(args.path.as_deref())?.called(args.kernel.as_deref());
    let named = named.or_of_session();
    let engine = named.engine(&args.settings, args.trust);
    let kernel = kernel(&named, &engine)?;
    let action = chosen::action(&kernel, optimization, args.variant.as_deref())?;
    let change = change(&named, &kernel, action)?;
    require_trust(&engine, &named.root)?;
    if args.detach {
        return detach();
    }
    if args.format == Format::Text {
        announce(action)?;
    }
    let next = action.next_in_words();
    let work = |looped: &mut Loop<'_>| {
        looped.expect_tried()?;
        if !looped.session().has_baseline() {
            looped.baseline()?;
        }
        let outcome = looped.iterate(change)?;
        if args.format == Format::Text {
            write_report(looped, &outcome)?;
            for said in next.iter().cloned().chain(gates(&engine, &kernel)) {
                writeln!(io::stdout(), "\n{said}")?;
            }
        }
        conclude(looped, &outcome, true, args.format)
    };
    let before =
        |plan: &Plan, options: &Options<'_>| flow::expect_committed(&named.root, plan, options);
    let wishes = args.wishes.wishes();
    with_begun(&named, &engine, args.format, &wishes, before, work)
}

/// What there is for the kernel that is meant, which is in `named` from now on.
fn kernel(named: &Named, engine: &Engine) -> anyhow::Result<KernelActions> {
    let target = named.target(engine)?;
    engine.keep_compiled_in(dirs::cache()?);
    let kernels = engine.actions(&DocId::file(&target.file));
    let shown = inside(named, &target.file).display().to_string();
    chosen::kernel(kernels, &shown, Some(&target.kernel))
}

fn inside<'p>(named: &Named, file: &'p Path) -> &'p Path {
    file.strip_prefix(&named.root).unwrap_or(file)
}

fn change(named: &Named, kernel: &KernelActions, action: &Action) -> anyhow::Result<Change> {
    let shown = |doc: &DocId| inside(named, &doc.path().unwrap_or_default()).to_owned();
    let changed = chosen::applied(kernel, action, &shown)?;
    let (optimization, variant) = (action.optimization, action.variant.clone());
    let name = format!("{} {} {variant}", optimization.id, optimization.slug);
    let proposals = changed.into_iter().map(|file| Proposal {
        path: file.shown,
        before: file.before,
        after: file.after,
    });
    Ok(Change {
        optimization: Some(name.trim_end().to_owned()),
        origin: Origin::Playbook {
            id: optimization.id.to_owned(),
            variant,
        },
        proposals: proposals.collect(),
    })
}

/// How a change that made some configurations faster and others slower can be kept where it wins.
fn gates(engine: &Engine, of: &KernelActions) -> Option<String> {
    let now = engine.actions_of_kernel(&of.doc, &of.kernel)?;
    let mut gates = (now.actions.iter()).filter(|o| o.action.optimization.id == "O");
    let first = gates.next()?;
    let others = match gates.count() {
        0 => String::new(),
        1 => ", or the other way that `tileperf actions` lists".to_owned(),
        n => format!(", or one of {n} other ways that `tileperf actions` lists"),
    };
    Some(format!(
        "A gate by shape can keep a gain: `tileperf perf apply O --variant \"{}\"`{others}.",
        first.action.variant
    ))
}

/// What is to be known before: what is done, and what its correctness rests on.
fn announce(action: &Action) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}: {}", action.name(), action.title)?;
    if action.numerics == Numerics::Different {
        writeln!(
            out,
            "  results differ in the last bits: the tests' tolerance decides"
        )?;
    }
    for premise in &action.premises {
        writeln!(out, "  right only if {premise}")?;
    }
    Ok(())
}

fn write_report(looped: &Loop<'_>, outcome: &Outcome) -> io::Result<()> {
    let (Outcome::Ran(run) | Outcome::Cited(run)) = *outcome else {
        return Ok(());
    };
    match report::applied_in(looped.session(), run) {
        Some(text) => write!(io::stdout(), "\n{text}"),
        None => Ok(()),
    }
}
