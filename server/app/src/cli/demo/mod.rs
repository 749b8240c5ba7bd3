//! `tileperf demo`: what tileperf does, shown on sample kernels that are in the program itself.
//!
//! The samples are written to a folder and indexed as any project is: what the demo prints is what
//! `tileperf facts`, `check` and `compile` say of the same files.

mod compiled;
mod measured;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use tileperf_engine::{DocId, Engine};
use tileperf_proc::python;

use super::facts_text;
use super::workspace::{self, SettingsArgs};
use crate::dirs;

/// Show what tileperf finds in sample kernels of its own, and what the compiler makes of them.
///
/// No GPU is needed. Kernels are compiled if the Python found has cuda-tile with its compiler. Where
/// there is a GPU, and pytest, one change is measured, which takes two minutes.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Write the samples into FOLDER and leave them there, to be opened in an editor.
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,

    #[command(flatten)]
    settings: SettingsArgs,
}

/// A Python file of the demo and what to look at in it.
struct Sample {
    name: &'static str,
    text: &'static str,
    about: &'static str,
}

const SAMPLES: [Sample; 4] = [
    Sample {
        name: "softmax.py",
        text: include_str!("../../../samples/softmax.py"),
        about: "A kernel whose launch is tuned. Its search space is made by a function that asks which GPU \
                it runs on, so each architecture has its own number of configurations.",
    },
    Sample {
        name: "matmul.py",
        text: include_str!("../../../samples/matmul.py"),
        about: "Two kernels with hints that differ from one architecture to the other. Nothing in this file \
                launches them.",
    },
    Sample {
        name: "linear.py",
        text: include_str!("../../../samples/linear.py"),
        about: "Their launch. It goes through a variable and the kernels come from the other file: both are \
                found.",
    },
    Sample {
        name: "rope.py",
        text: include_str!("../../../samples/rope.py"),
        about: "A kernel that works in place, with a constant whose annotation has another name.",
    },
];

/// The folder of the samples; a temporary one goes away with this.
struct Folder {
    path: PathBuf,
    temporary: bool,
}

impl Folder {
    fn temporary() -> anyhow::Result<Self> {
        Ok(Self {
            path: temporary()?,
            temporary: true,
        })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.temporary {
            // At worst a few small files stay in the folder for such things.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

/// Runs `tileperf demo`.
pub(crate) fn run(args: &DemoArgs) -> anyhow::Result<ExitCode> {
    let folder = write_samples(args.keep.as_deref())?;
    let root = workspace::existing(&folder.path)?;
    // The samples are the program's own.
    let (engine, problems) = workspace::engine(vec![root.clone()], &args.settings, true);
    engine.keep_compiled_in(dirs::cache()?);
    for problem in problems {
        tracing::warn!("{problem}");
    }
    engine.index_now();

    let mut out = io::BufWriter::new(io::stdout().lock());
    writeln!(
        out,
        "tileperf on its own sample kernels. Line numbers are on the left.\n"
    )?;
    for sample in &SAMPLES {
        show(&mut out, &engine, &root, sample)?;
    }
    writeln!(out, "## What is wrong with them, or could be better\n")?;
    for sample in &SAMPLES {
        findings(&mut out, &engine, &root, sample)?;
    }
    writeln!(out)?;
    // Compiling takes a moment: what is known is to be seen.
    out.flush()?;
    compiled::show(&mut out, &engine, &root)?;
    out.flush()?;
    compiled::iterate(&mut out, &engine, &root)?;
    let setting = engine.settings().python_path.clone();
    let python = python::find(setting.as_deref(), &root, |name| std::env::var_os(name));
    let python = python.ok().map(|python| python.path);
    // The first idea changes nothing; the other is left.
    let left = &compiled::IDEAS[1];
    measured::iterate(&mut out, python.as_deref(), &args.settings, left)?;
    match &args.keep {
        Some(kept) => writeln!(out, "The samples are in {}.", kept.display())?,
        None => writeln!(
            out,
            "`tileperf demo --keep FOLDER` leaves the samples in a folder, to be opened in an editor."
        )?,
    }
    writeln!(
        out,
        "`tileperf facts`, `check` and `compile` say the same of your own files, `--format json` for \
         programs."
    )?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the facts of one sample below a word on what to look at.
fn show(out: &mut impl Write, engine: &Engine, root: &Path, sample: &Sample) -> anyhow::Result<()> {
    let facts = engine
        .facts(&DocId::file(&root.join(sample.name)), sample.name)
        .with_context(|| format!("nothing was found in the sample {}", sample.name))?;
    for line in wrapped(sample.about, 88) {
        writeln!(out, "# {line}")?;
    }
    facts_text::write(out, &facts)?;
    Ok(())
}

/// Writes what the rules find in a sample, a line each.
fn findings(out: &mut impl Write, engine: &Engine, root: &Path, sample: &Sample) -> io::Result<()> {
    let Some(checked) = engine.check(&DocId::file(&root.join(sample.name))) else {
        return Ok(());
    };
    for finding in &checked.findings {
        let line = checked.text.line_column(finding.span.start as usize).0;
        let (code, severity) = (finding.rule.code, finding.severity.name());
        writeln!(
            out,
            "{}:{line} {severity}[{code}] {}",
            sample.name, finding.message
        )?;
        if let Some(fix) = finding.fixes.first() {
            writeln!(out, "    fix: {}", fix.title)?;
        }
    }
    Ok(())
}

/// Writes the samples into a folder given, else into a new temporary one.
fn write_samples(keep: Option<&Path>) -> anyhow::Result<Folder> {
    let folder = match keep {
        Some(path) => {
            std::fs::create_dir_all(path)
                .with_context(|| format!("cannot create {}", path.display()))?;
            Folder {
                path: path.to_owned(),
                temporary: false,
            }
        }
        None => Folder::temporary()?,
    };
    write_all(
        &folder.path,
        SAMPLES.iter().map(|sample| (sample.name, sample.text)),
    )?;
    Ok(folder)
}

/// Writes new files.
fn write_all<'t>(
    folder: &Path,
    files: impl IntoIterator<Item = (&'t str, &'t str)>,
) -> anyhow::Result<()> {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::File::create_new(&path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// A new folder for things that go away again.
fn temporary() -> anyhow::Result<PathBuf> {
    let name = format!("tileperf-demo-{}", std::process::id());
    let mut taken = 0;
    loop {
        let path = std::env::temp_dir().join(format!("{name}-{taken}"));
        // What exists already is somebody else's.
        match std::fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && taken < 100 => taken += 1,
            Err(error) => {
                return Err(error).with_context(|| format!("cannot create {}", path.display()));
            }
        }
    }
}

/// Breaks a sentence into lines of at most `width` characters.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && lines[last].len() + 1 + word.len() > width {
            lines.push(word.to_owned());
        } else {
            let space = if lines[last].is_empty() { "" } else { " " };
            lines[last].push_str(&format!("{space}{word}"));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use tileperf_analysis::arch::Arch;

    /// What the demo promises in words is what the engine finds.
    #[test]
    fn the_samples_show_what_is_said_of_them() {
        let folder = write_samples(None).unwrap();
        let root = workspace::existing(&folder.path).unwrap();
        let engine = Engine::new();
        engine.configure(vec![root.clone()], serde_json::Value::Null, vec![], false);
        engine.index_now();
        let facts = |name: &str| engine.facts(&DocId::file(&root.join(name)), name).unwrap();

        let softmax = facts("softmax.py");
        let counts = &softmax.spaces[0].configs;
        assert_eq!(counts[&Arch::Sm80].to_string(), "6");
        assert_eq!(counts[&Arch::Sm90].to_string(), "8");
        assert_eq!(softmax.replace_hints.len(), 1);
        assert_eq!(facts("matmul.py").kernels.len(), 2);
        let launch = &facts("linear.py").launches[0];
        assert_eq!(launch.candidates.len(), 2, "{launch:?}");
        assert!(facts("rope.py").kernels[0].params[4].constant);
    }

    #[test]
    fn a_file_that_is_there_is_not_overwritten() {
        let folder = write_samples(None).unwrap();
        assert!(write_samples(Some(&folder.path)).is_err());
    }

    #[test]
    fn lines_are_as_wide_as_they_may_be() {
        assert_eq!(wrapped("a bb ccc dd", 6), ["a bb", "ccc dd"]);
    }
}
