//! `tileperf compile`: what the compiler makes of kernels, on any architecture, without a GPU.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use tileperf_analysis::arch::Arch;
use tileperf_analysis::compiled::{CompiledFacts, Difference, Outcome, Placed, Refusal};
use tileperf_engine::{Compared, CompiledRow, DocId, Engine};
use tileperf_perf::revision;
use tileperf_proc::CancelToken;
use tileperf_syntax::Text;

use super::compile_text;
use super::paths::{self, Found};
use super::trust::require_trust;
use super::workspace::{self, SettingsArgs};
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

    /// Compare with the files of a git revision: what has changed in the machine code of the kernels
    /// that differ.
    #[arg(long, value_name = "REVISION")]
    against: Option<String>,

    /// Run the code that the kernels need, without asking.
    #[arg(long)]
    trust: bool,

    /// How to print what comes out.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    #[command(flatten)]
    settings: SettingsArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For reading.
    Text,
    /// One JSON object a line for each kernel and architecture, as it comes.
    Json,
}

/// Runs `tileperf compile`.
pub(crate) fn run(args: &CompileArgs) -> anyhow::Result<ExitCode> {
    let (given, missing) = paths::given(&args.paths);
    if let Some(missing) = missing.first() {
        anyhow::bail!("{missing}");
    }
    let files = paths::find(&given, &args.settings, &Engine::files_with_facts);
    for unread in &files.unread {
        tracing::error!("{unread}");
    }
    let wanted = |name: &str| {
        let bare = name.rsplit('.').next().unwrap_or(name);
        args.kernel.is_empty() || args.kernel.iter().any(|k| k == name || k == bare)
    };
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
        let (rows, refused) = file(args, found, &wanted)?;
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

fn nothing(args: &CompileArgs) -> String {
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
    let archs = match args.arch.as_slice() {
        [] => found.engine.compile_archs(),
        archs => archs.to_vec(),
    };
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
            Format::Json => writeln!(stdout, "{}", row_json(&found.shown, &text, &row)),
            Format::Text => compile_text::write(&mut stdout, &found.shown, &text, &row),
        };
        if let Err(error) = printed.and_then(|()| stdout.flush()) {
            cancel.cancel();
            *broken.borrow_mut() = Err(error);
        }
    };
    let compiled = (found.engine).compile_now(&found.doc, wanted, &archs, &cancel, &mut out);
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
    let archs = match args.arch.as_slice() {
        [] => first.engine.compile_archs(),
        archs => archs.to_vec(),
    };
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for path in found.iter().filter_map(|file| file.doc.path()) {
        before.push((path.clone(), revision::text_at(&path, revision)?));
        let now = first.engine.source_text(&DocId::file(&path));
        after.push((path, Some(now.as_str().to_owned())));
    }
    let compared = (first.engine).compare(&before, &after, &archs, &CancelToken::new());
    let compared = compared.map_err(|why| anyhow::anyhow!(why))?;
    let mut out = io::stdout().lock();
    for one in compared.iter().filter(|one| wanted(&one.kernel)) {
        match args.format {
            Format::Json => writeln!(out, "{}", compared_json(one))?,
            Format::Text => compile_text::compared(&mut out, one)?,
        }
    }
    if compared.is_empty() && args.format == Format::Text {
        writeln!(out, "no kernel differs from {revision}")?;
    }
    let broken = |one: &Compared| matches!(one.difference(), Difference::Broken(_));
    Ok(if compared.iter().any(broken) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn compared_json(one: &Compared) -> Value {
    let (change, words) = match one.difference() {
        Difference::Same => ("same", Vec::new()),
        Difference::Changed(words) => ("changed", words),
        Difference::Broken(words) => ("broken", vec![words]),
        Difference::Unknown => ("unknown", Vec::new()),
    };
    json!({
        "schema": "tileperf.compare/1",
        "kernel": one.kernel,
        "arch": one.after.arch,
        "signature": one.after.signature.shown(),
        "origin": one.after.signature.origin,
        "change": change,
        "words": words,
    })
}

fn row_json(shown: &Path, text: &Text, row: &CompiledRow) -> Value {
    let mut object = json!({
        "schema": "tileperf.compile/1",
        "path": shown.to_string_lossy(),
        "kernel": row.kernel,
        "line": row.line,
        "seconds": row.seconds,
        "error": null,
    });
    match &row.facts {
        Err(why) => object["error"] = json!({"message": why, "line": row.line}),
        Ok(facts) => add(&mut object, text, facts),
    }
    object
}

fn add(object: &mut Value, text: &Text, facts: &CompiledFacts) {
    object["arch"] = json!(facts.arch);
    object["signature"] = json!(facts.signature.shown());
    object["origin"] = json!(facts.signature.origin);
    match &facts.outcome {
        Outcome::Accepted => {}
        Outcome::Failed(why) => object["error"] = json!({"message": why}),
        Outcome::Refused(refusal) => object["error"] = refused(text, refusal),
        Outcome::Machine(machine) => {
            let resources = &machine.resources;
            object["registers"] = json!(resources.registers);
            object["stack"] = json!(resources.stack);
            object["shared"] = json!(resources.shared);
            object["threads"] = json!(resources.threads);
            object["cluster"] = json!(resources.cluster);
            object["code_hash"] = json!(machine.code_hash);
            object["remarks"] = match &machine.remarks {
                Some(remarks) => remarks.iter().map(|placed| remark(text, placed)).collect(),
                None => Value::Null,
            };
        }
    }
}

fn refused(text: &Text, refusal: &Refusal) -> Value {
    let mut error = json!({"message": refusal.message});
    if let Some(span) = refusal.span {
        let (line, column) = text.line_column(span.start as usize);
        error["line"] = json!(line);
        error["column"] = json!(column);
    }
    let chain = refusal.chain.iter().map(|called| {
        json!({
            "path": called.site.file,
            "line": called.site.line,
            "function": called.function,
        })
    });
    error["chain"] = chain.collect();
    error
}

/// A remark with what its kind has to say: `kind`, `shape`, `reasons` and so on.
fn remark(text: &Text, placed: &Placed) -> Value {
    let mut object = json!(placed.remark.kind);
    object["text"] = json!(placed.remark.text);
    object["count"] = json!(placed.remark.count);
    match (placed.span, &placed.remark.site) {
        (Some(span), _) => {
            let (line, column) = text.line_column(span.start as usize);
            object["line"] = json!(line);
            object["column"] = json!(column);
        }
        (None, Some(site)) => {
            object["path"] = json!(site.file);
            object["line"] = json!(site.line);
        }
        (None, None) => object["line"] = Value::Null,
    }
    object
}
