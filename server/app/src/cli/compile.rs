//! `tileperf compile`: what the compiler makes of kernels, on any architecture, without a GPU.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use tileperf_analysis::arch::Arch;
use tileperf_analysis::compiled::{Difference, Outcome};
use tileperf_engine::{Compared, CompiledRow, DocId, Engine, Order, Signatures};
use tileperf_perf::revision;
use tileperf_proc::CancelToken;

use super::paths::{self, Found};
use super::switches;
use super::trust::require_trust;
use super::workspace::{self, SettingsArgs};
use super::{compile_json, compile_space, compile_text};
use crate::dirs;

/// Compile kernels and show what became of each load, store and multiplication.
///
/// A kernel is compiled with as little of the code around it as it needs, and that code is run: so
/// the project must be trusted. No GPU is needed. What was compiled before is not compiled again.
/// Exits with 1 if a kernel does not compile.
#[derive(Debug, Args)]
pub(crate) struct CompileArgs {
    /// Python files, or folders to search for them.
    #[arg(required = true)]
    paths: Vec<PathBuf>,

    /// Only kernels of this name. May be repeated.
    #[arg(long, value_name = "NAME")]
    kernel: Vec<String>,

    /// The architectures, such as sm_90,sm_100; without it, those of the setting compile.archs.
    #[arg(long, value_name = "ARCHS", value_delimiter = ',')]
    arch: Vec<Arch>,

    /// For which of a kernel's known signatures, the best of which are those that ran: best, all, the
    /// place of one from 1, or a part of its line such as float16[2].
    #[arg(long, value_name = "WHICH", default_value = "best", value_parser = signatures)]
    pub(super) signature: Signatures,

    /// Compile each configuration of the searches that tune a kernel, and show what each takes and which
    /// are the same machine code.
    #[arg(long, conflicts_with = "against")]
    space: bool,

    /// With --space: how many configurations of a kernel to compile for an architecture.
    #[arg(long, value_name = "COUNT", default_value_t = 64, requires = "space")]
    pub(super) most: usize,

    /// Compare with the files of a git revision: what has changed in the machine code of the kernels
    /// that differ.
    #[arg(long, value_name = "REVISION", conflicts_with = "signature")]
    against: Option<String>,

    /// Run the code that the kernels need, without asking.
    #[arg(long)]
    trust: bool,

    /// How to print what comes out.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,

    #[command(flatten)]
    settings: SettingsArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For reading.
    Text,
    /// One JSON object a line for each kernel and architecture, as it comes.
    Json,
}

/// Runs `tileperf compile`.
pub(crate) fn run(args: &CompileArgs) -> anyhow::Result<ExitCode> {
    let files = paths::with_facts(&args.paths, &args.settings)?;
    let wanted = |name: &str| {
        let bare = name.rsplit('.').next().unwrap_or(name);
        args.kernel.is_empty() || args.kernel.iter().any(|k| k == name || k == bare)
    };
    switches::warn();
    let cache = dirs::cache()?;
    let (mut all, mut failed) = (0, 0);
    for found in &files.found {
        let Some(path) = found.doc.path() else {
            continue;
        };
        if args.trust {
            found.engine.set_trusted(true);
        } else {
            require_trust(&found.engine, &workspace::root_of(&path))?;
        }
        found.engine.keep_compiled_in(cache.clone());
        if args.against.is_some() {
            continue;
        }
        let (rows, refused) = match args.space {
            true => compile_space::file(args, found, &wanted)?,
            false => file(args, found, &wanted)?,
        };
        all += rows;
        failed += refused;
    }
    if let Some(revision) = &args.against {
        return against(args, &files.found, revision, &wanted);
    }
    if all == 0 {
        anyhow::bail!("{}", nothing(args));
    }
    Ok(if failed > 0 {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

impl CompileArgs {
    /// The architectures given, else those of the settings.
    pub(super) fn archs(&self, engine: &Engine) -> Vec<Arch> {
        match self.arch.as_slice() {
            [] => {
                engine.local_gpu();
                engine.compile_archs()
            }
            archs => archs.to_vec(),
        }
    }
}

/// What `--signature` stands for.
pub(super) fn signatures(which: &str) -> Result<Signatures, String> {
    Ok(match (which, which.parse()) {
        ("", _) | (_, Ok(0)) => return Err("best, all, a place from 1 or a part of it".to_owned()),
        ("best", _) => Signatures::Best,
        ("all", _) => Signatures::All,
        (_, Ok(number)) => Signatures::Number(number),
        (part, Err(_)) => Signatures::With(part.to_owned()),
    })
}

fn nothing(args: &CompileArgs) -> String {
    if args.space {
        return "no search tunes a kernel of the paths given".to_owned();
    }
    match args.kernel.as_slice() {
        [] => "no kernel found in the paths given".to_owned(),
        names => format!("no kernel called {} in the paths given", names.join(" or ")),
    }
}

/// Compiles a file's kernels; returns how many results there are, and how many of them failed.
fn file(
    args: &CompileArgs,
    found: &Found,
    wanted: &dyn Fn(&str) -> bool,
) -> anyhow::Result<(usize, usize)> {
    let archs = args.archs(&found.engine);
    let text = found.engine.source_text(&found.doc);
    let (mut all, mut failed) = (0, 0);
    // The first error of printing; what was compiled is kept on disk all the same.
    let broken: RefCell<io::Result<()>> = RefCell::new(Ok(()));
    let cancel = CancelToken::new();
    let mut out = |row: CompiledRow| {
        all += 1;
        let compiles =
            (row.facts.as_ref()).is_ok_and(|facts| matches!(facts.outcome, Outcome::Machine(_)));
        failed += usize::from(!compiles);
        let mut stdout = io::stdout().lock();
        let printed = match args.format {
            Format::Json => writeln!(stdout, "{}", compile_json::row(&found.shown, &text, &row)),
            Format::Text => compile_text::write(&mut stdout, &found.shown, &text, &row),
        };
        if let Err(error) = printed.and_then(|()| stdout.flush()) {
            cancel.cancel();
            *broken.borrow_mut() = Err(error);
        }
    };
    let order = Order {
        wanted,
        archs: &archs,
        signatures: &args.signature,
    };
    let compiled = (found.engine).compile_now(&found.doc, &order, &cancel, &mut out);
    broken.into_inner()?;
    compiled.map_err(|why| anyhow::anyhow!(why))?;
    Ok((all, failed))
}

/// Compares the kernels that differ from a revision. All files of a project are changed at once: a
/// kernel may call into another file.
fn against(
    args: &CompileArgs,
    found: &[Found],
    revision: &str,
    wanted: &dyn Fn(&str) -> bool,
) -> anyhow::Result<ExitCode> {
    let Some(first) = found.first() else {
        anyhow::bail!("{}", nothing(args));
    };
    let archs = args.archs(&first.engine);
    let given = |doc: &DocId| found.iter().any(|file| file.doc == *doc);
    let mut docs: Vec<DocId> = found.iter().map(|file| file.doc.clone()).collect();
    docs.extend(
        first
            .engine
            .files_with_facts()
            .into_iter()
            .filter(|doc| !given(doc)),
    );
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for doc in &docs {
        let Some(path) = doc.path() else { continue };
        let was = match revision::text_at(&path, revision) {
            Ok(was) => was,
            Err(error) if given(doc) => return Err(error.into()),
            // Of another repository, or of none: it has not changed that anybody knew of.
            Err(_) => continue,
        };
        let now = first.engine.source_text(doc).as_str().to_owned();
        if was.as_ref() != Some(&now) {
            before.push((path.clone(), was));
            after.push((path, Some(now)));
        }
    }
    let compared = (first.engine).compare(&before, &after, &archs, &CancelToken::new());
    let compared = compared.map_err(|why| anyhow::anyhow!(why))?;
    // Files of helpers stand for the kernels that call them.
    let has_kernels = |file: &Found| {
        (first.engine.facts(&file.doc, "")).is_some_and(|facts| !facts.kernels.is_empty())
    };
    let of_helpers = !found.iter().any(has_kernels);
    let mut shown = compared
        .iter()
        .filter(|one| wanted(&one.kernel) && (of_helpers || given(&one.doc)));
    let mut out = io::stdout().lock();
    let mut is_none = true;
    for one in &mut shown {
        is_none = false;
        match args.format {
            Format::Json => writeln!(out, "{}", compile_json::compared(one))?,
            Format::Text => compile_text::compared(&mut out, one)?,
        }
    }
    if is_none && args.format == Format::Text {
        writeln!(out, "no kernel differs from {revision}")?;
    }
    let broken = |one: &Compared| matches!(one.difference(), Difference::Broken(_));
    Ok(if compared.iter().any(broken) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}
