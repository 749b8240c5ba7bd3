//! `tileperf facts`: what tileperf knows of Python files, for people and for programs.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use tileperf_engine::{DocId, Engine, FileFacts};

use super::facts_text;
use super::workspace::{self, SettingsArgs};

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

/// A path as the user wrote it and where it leads.
struct Given {
    written: PathBuf,
    real: PathBuf,
}

/// Runs `tileperf facts`.
pub(crate) fn run(args: &FactsArgs) -> anyhow::Result<ExitCode> {
    let mut given = Vec::new();
    for written in &args.paths {
        given.push(Given {
            written: written.clone(),
            real: workspace::existing(written)?,
        });
    }
    let facts = collect(&given, &args.settings);

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

/// The facts of all files below the paths, in the order of their real paths.
fn collect(given: &[Given], settings: &SettingsArgs) -> Vec<FileFacts> {
    let mut roots: Vec<PathBuf> = given.iter().map(|g| workspace::root_of(&g.real)).collect();
    roots.sort();
    // A project within a project is read with the outer one.
    roots.dedup_by(|inner, outer| inner.starts_with(outer));
    let engine = index(roots, settings, given);

    let docs = engine.files_with_facts();
    let mut facts = facts_of(&engine, &docs, given);
    // What the project's own rules leave out, such as an ignored folder, was asked for by name.
    for g in given.iter().filter(|g| g.real.is_dir()) {
        if !docs.iter().any(|doc| below(doc, g).is_some()) {
            let engine = index(vec![g.real.clone()], settings, &[]);
            let docs = engine.files_with_facts();
            facts.extend(facts_of(&engine, &docs, std::slice::from_ref(g)));
        }
    }
    facts
}

/// An engine that has read the folders, and the files that were named as well as if they were open
/// in an editor: whatever the index would leave out.
fn index(roots: Vec<PathBuf>, settings: &SettingsArgs, named: &[Given]) -> Engine {
    let (engine, problems) = workspace::engine(roots, settings, false);
    for problem in problems {
        tracing::warn!("{problem}");
    }
    engine.index_now();
    for g in named.iter().filter(|g| g.real.is_file()) {
        match std::fs::read(&g.real) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                engine.open(DocId::file(&g.real), 0, text);
            }
            Err(error) => tracing::error!("cannot read {}: {error}", g.written.display()),
        }
    }
    engine
}

fn facts_of(engine: &Engine, docs: &[DocId], given: &[Given]) -> Vec<FileFacts> {
    let shown = |doc| given.iter().find_map(|g| below(doc, g));
    let facts = |doc| engine.facts(doc, &shown(doc)?.to_string_lossy());
    docs.iter().filter_map(facts).collect()
}

/// The name of a document as seen from a path the user gave, if it lies there.
fn below(doc: &DocId, given: &Given) -> Option<PathBuf> {
    let path = doc.path()?;
    let rest = path.strip_prefix(&given.real).ok()?;
    if rest == Path::new("") {
        return Some(given.written.clone());
    }
    Some(if given.written == Path::new(".") {
        rest.to_owned()
    } else {
        given.written.join(rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_as_the_user_sees_them() {
        let given = |written: &str, real: &str| Given {
            written: written.into(),
            real: real.into(),
        };
        let doc = DocId::file(Path::new("/p/src/a.py"));
        let shown = |g| below(&doc, &g).map(|path| path.to_string_lossy().into_owned());
        assert_eq!(shown(given(".", "/p")).as_deref(), Some("src/a.py"));
        assert_eq!(
            shown(given("../p/src", "/p/src")).as_deref(),
            Some("../p/src/a.py")
        );
        assert_eq!(shown(given("a.py", "/p/src/a.py")).as_deref(), Some("a.py"));
        assert_eq!(shown(given("lib", "/p/lib")), None);
    }
}
