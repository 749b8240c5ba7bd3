//! `tileperf actions`: what may make the kernels of Python files faster.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use tileperf_analysis::arch::Arch;
use tileperf_analysis::playbook::{Action, Numerics, Proof};
use tileperf_engine::{Depth, KernelActions, Offered};
use tileperf_proc::CancelToken;

use super::paths::{self, Found};
use super::trust::require_trust;
use super::workspace::{self, SettingsArgs};
use crate::dirs;

/// List what may make kernels faster, the most promising first.
///
/// Each line is an optimization of the playbook and what it would change; `tileperf apply` makes the
/// change, `tileperf explain ID` says more. With --compile each is tried on the compiler: those that
/// change nothing are told from those that do. Exits with 2 if that could not be tried.
#[derive(Debug, Args)]
pub(crate) struct ActionsArgs {
    /// Python files, or folders to search for them.
    #[arg(required = true)]
    paths: Vec<PathBuf>,

    /// Only kernels of this name. May be repeated.
    #[arg(long, value_name = "NAME")]
    kernel: Vec<String>,

    /// Compile each kernel with and without each action: to machine code, or as far as the frontend,
    /// which takes a tenth of a second and tells only what no longer compiles. Runs the code that the
    /// kernels need, so the project must be trusted.
    #[arg(long, value_enum, value_name = "TIER", num_args = 0..=1, require_equals = true,
          default_missing_value = "machine")]
    compile: Option<Tier>,

    /// The architecture to compile for; without it, the first of the setting compile.archs.
    #[arg(long, value_name = "ARCH", requires = "compile")]
    arch: Option<Arch>,

    /// Run the code that the kernels need, without asking.
    #[arg(long, requires = "compile")]
    trust: bool,

    /// How to print what is found.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    #[command(flatten)]
    settings: SettingsArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For reading.
    Text,
    /// One JSON object a line for each action, as it comes.
    Json,
}

/// How far actions are compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Tier {
    /// By cuTile's frontend.
    Frontend,
    /// To machine code.
    Machine,
}

/// Runs `tileperf actions`.
pub(crate) fn run(args: &ActionsArgs) -> anyhow::Result<ExitCode> {
    let files = paths::with_facts(&args.paths, &args.settings)?;
    let (mut kernels, mut failed) = (0, false);
    for found in &files.found {
        if args.compile.is_some() {
            prepare(args, found)?;
        }
        for mut kernel in found.engine.actions(&found.doc) {
            if !is_wanted(args, &kernel.kernel) {
                continue;
            }
            kernels += 1;
            if let Some(tier) = args.compile {
                failed |= !prove(args, tier, found, &mut kernel);
            }
            let mut out = io::stdout().lock();
            match args.format {
                Format::Json => write_json(&mut out, found, &kernel)?,
                Format::Text => write_text(&mut out, found, &kernel)?,
            }
            out.flush()?;
        }
    }
    if kernels == 0 {
        let named = match args.kernel.as_slice() {
            [] => String::new(),
            names => format!(" called {}", names.join(" or ")),
        };
        anyhow::bail!("no kernel{named} found in the paths given");
    }
    Ok(match failed {
        true => ExitCode::from(2),
        false => ExitCode::SUCCESS,
    })
}

fn is_wanted(args: &ActionsArgs, name: &str) -> bool {
    let bare = name.rsplit('.').next().unwrap_or(name);
    args.kernel.is_empty() || args.kernel.iter().any(|k| k == name || k == bare)
}

fn prepare(args: &ActionsArgs, found: &Found) -> anyhow::Result<()> {
    let path = found.doc.path().unwrap_or_default();
    if args.trust {
        found.engine.set_trusted(true);
    } else {
        require_trust(&found.engine, &workspace::root_of(&path))?;
    }
    found.engine.keep_compiled_in(dirs::cache()?);
    Ok(())
}

/// Finds out what each action changes in machine code; says why if it cannot.
fn prove(args: &ActionsArgs, tier: Tier, found: &Found, kernel: &mut KernelActions) -> bool {
    let depth = match tier {
        Tier::Frontend => Depth::Frontend,
        Tier::Machine => Depth::Machine,
    };
    found.engine.local_gpu();
    let archs = found.engine.compile_archs();
    let Some(arch) = args.arch.or_else(|| archs.first().copied()) else {
        return false;
    };
    let proven = (found.engine).prove_now(&found.doc, kernel, arch, depth, &CancelToken::new());
    if let Err(why) = &proven {
        // The other kernels may be taken out of their files all the same.
        tracing::error!("{} is not compiled: {why}", kernel.kernel);
    }
    proven.is_ok()
}

fn write_text(out: &mut impl Write, found: &Found, kernel: &KernelActions) -> io::Result<()> {
    let line = kernel.text.line_column(kernel.name_span.start as usize).0;
    let path = found.shown.display();
    let kind = kernel
        .kind
        .map_or(String::new(), |kind| format!(" ({kind})"));
    writeln!(out, "{path}:{line} {}{kind}", kernel.kernel)?;
    if kernel.actions.is_empty() {
        writeln!(out, "  nothing of the playbook applies")?;
    }
    let width = kernel.actions.iter().map(|o| o.action.name().len()).max();
    for Offered { action, proof } in &kernel.actions {
        let width = width.unwrap_or(0);
        writeln!(out, "  {:width$}  {}", action.name(), action.title)?;
        let mut note = |text: &str| writeln!(out, "  {:width$}    {text}", "");
        match proof {
            Some((arch, Proof::Proven(words))) => note(&format!("{arch}: {}", words.join("; ")))?,
            Some((arch, Proof::Refuted(why))) => note(&format!("{arch}: no use: {why}"))?,
            Some((arch, Proof::Unknown)) => note(&format!("{arch}: not known"))?,
            None => {}
        }
        if action.numerics == Numerics::Different {
            note("results differ in the last bits")?;
        }
        for premise in &action.premises {
            note(&format!("only if {premise}"))?;
        }
        for other in elsewhere(found, kernel, action) {
            note(&format!("changes {} too", other.display()))?;
        }
        if let Some(next) = action.next_in_words() {
            note(&next)?;
        }
    }
    Ok(())
}

fn write_json(out: &mut impl Write, found: &Found, kernel: &KernelActions) -> io::Result<()> {
    let line = kernel.text.line_column(kernel.name_span.start as usize).0;
    for offered in &kernel.actions {
        writeln!(out, "{}", row(found, kernel, line, offered))?;
    }
    Ok(())
}

/// The other files that an action changes.
fn elsewhere(found: &Found, kernel: &KernelActions, action: &Action) -> Vec<PathBuf> {
    let files = action.elsewhere.iter();
    let files = files.filter_map(|change| kernel.elsewhere.get(change.file));
    files.map(|file| found.shown_beside(&file.doc)).collect()
}

fn row(found: &Found, kernel: &KernelActions, line: u32, offered: &Offered) -> Value {
    let action = &offered.action;
    let proof = offered.proof.as_ref().map(|(arch, proof)| {
        let (state, words) = match proof {
            Proof::Proven(words) => ("proven", words.clone()),
            Proof::Refuted(why) => ("refuted", vec![why.clone()]),
            Proof::Unknown => ("unknown", Vec::new()),
        };
        json!({"arch": arch.name(), "state": state, "words": words})
    });
    json!({
        "schema": "tileperf.actions/1",
        "path": found.shown.to_string_lossy(),
        "kernel": kernel.kernel,
        "line": line,
        "kind": kernel.kind,
        "id": action.optimization.id,
        "slug": action.optimization.slug,
        "variant": action.variant,
        "title": action.title,
        "principle": action.optimization.principle,
        "numerics": action.numerics,
        "effects": action.effects,
        "premises": action.premises,
        "elsewhere": elsewhere(found, kernel, action),
        "next": action.next.iter().map(|next| next.id).collect::<Vec<_>>(),
        "proof": proof,
    })
}
