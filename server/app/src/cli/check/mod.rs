//! `tileperf check`: what is wrong, for people, programs and CI.

mod baseline;
mod compiled;
mod finding;
mod fix;
mod github;
mod json;
mod sarif;
mod text;
mod watch;

use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, anyhow, bail};
use clap::{Args, ValueEnum};
use tileperf_analysis::rules::Severity;
use tileperf_engine::{DocId, Engine};

use self::finding::Checked;
use super::paths::{self, Files, Found, Unread};
use super::switches;
use super::workspace::{self, SettingsArgs};

/// Find what is wrong in cuTile code.
///
/// Looks at the whole project that a path belongs to, so that a kernel tuned in another file is
/// known, and prints what it finds below the paths given. Nothing is run or imported, unless
/// --compile is given. Exits with 0 if there is nothing worse than hints, with 1 if there is, with 2 if
/// it could not look at everything.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Python files, folders to search for them, or - for standard input.
    #[arg(required = true)]
    paths: Vec<PathBuf>,

    /// How to print what is found.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// Correct what can be corrected without changing results.
    #[arg(long)]
    fix: bool,

    /// Print what --fix would change instead.
    #[arg(long)]
    diff: bool,

    /// With --fix or --diff: also the corrections that somebody should look at.
    #[arg(long)]
    review_fixes: bool,

    /// Ask these rules only: codes, beginnings of codes, names.
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    select: Vec<String>,

    /// Don't ask these rules.
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    ignore: Vec<String>,

    /// The architectures to judge for, as the setting archs: sm_90,sm_100.
    #[arg(long, value_name = "ARCH", value_delimiter = ',')]
    arch: Vec<String>,

    /// The version of cuda-tile to assume, as the setting cuda-tile.
    #[arg(long, value_name = "VERSION")]
    cuda_tile: Option<String>,

    /// Leave out what this file lists: findings that were there when it was written.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,

    /// Write the present findings to the baseline file.
    #[arg(long, requires = "baseline")]
    write_baseline: bool,

    /// Compile the kernels, withdraw what compiled code refutes and add what it shows. That runs code of
    /// the project, which must be trusted; no GPU is needed.
    #[arg(long, conflicts_with_all = ["fix", "diff"])]
    compile: bool,

    /// With --compile: run the code that the kernels need, without asking.
    #[arg(long, requires = "compile")]
    trust: bool,

    /// Look again whenever a file changes, until interrupted.
    #[arg(long, conflicts_with_all = ["fix", "diff", "write_baseline"])]
    watch: bool,

    /// What standard input is called.
    #[arg(long, value_name = "FILE", default_value = "stdin.py")]
    stdin_filename: PathBuf,

    #[command(flatten)]
    settings: SettingsArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For reading, with the lines of code.
    Text,
    /// One JSON object a line for each finding.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Annotations of GitHub Actions.
    Github,
}

/// Runs `tileperf check`.
pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let files = files(args)?;
    for problem in (files.found.first())
        .map(|f| f.engine.settings_problems())
        .unwrap_or_default()
    {
        tracing::warn!("{problem}");
    }
    if args.compile {
        switches::warn();
        compiled::prepare(args.trust, &files)?;
    }
    let code = look(args, &files)?;
    tell(&files.unread)?;
    Ok(match files.unread.as_slice() {
        [] => code,
        _ => ExitCode::from(2),
    })
}

/// Says what could not be read. Last, so that it is not lost above a long list; the list itself stays
/// what programs expect.
fn tell(unread: &[Unread]) -> io::Result<()> {
    for unread in unread {
        writeln!(io::stderr(), "tileperf: {unread}")?;
    }
    Ok(())
}

/// What the paths, or standard input, stand for.
fn files(args: &CheckArgs) -> anyhow::Result<Files> {
    let settings = args.all_settings();
    if args.is_stdin() {
        return Ok(Files {
            found: vec![from_stdin(args, &settings)?],
            ..Files::default()
        });
    }
    if args.paths.iter().any(|p| p == Path::new("-")) {
        bail!("standard input (-) cannot be checked together with other paths")
    }
    let (given, missing) = paths::given(&args.paths);
    let mut files = paths::find(&given, &settings, &Engine::files_to_check);
    files.unread.splice(..0, missing);
    Ok(files)
}

fn look(args: &CheckArgs, files: &Files) -> anyhow::Result<ExitCode> {
    let found = &files.found;
    if args.fix || args.diff {
        return fix::run(args, found, args.is_stdin());
    }
    if args.watch {
        return watch::run(args, files);
    }
    let checked = check(found, args.compile)?;
    if args.write_baseline {
        let path = args.baseline.as_deref().unwrap_or(Path::new(""));
        baseline::write(path, &checked)?;
        writeln!(
            io::stderr(),
            "tileperf: {} findings are in {}",
            checked.iter().map(|c| c.findings.len()).sum::<usize>(),
            path.display()
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    let checked = without_baseline(args, checked)?;
    print(args.format, &checked)?;
    Ok(code(&checked))
}

impl CheckArgs {
    fn is_stdin(&self) -> bool {
        self.paths == [PathBuf::from("-")]
    }

    /// The settings, those among the flags included.
    fn all_settings(&self) -> SettingsArgs {
        let mut settings = self.settings.clone();
        let mut add = |key: &str, values: &[String]| {
            if !values.is_empty() {
                settings.add(key, &values.join(","));
            }
        };
        add("rules.select", &self.select);
        add("rules.ignore", &self.ignore);
        add("archs", &self.arch);
        if self.compile {
            add("compile.archs", &self.arch);
        }
        add("cuda-tile", self.cuda_tile.as_slice());
        settings
    }
}

fn without_baseline(args: &CheckArgs, checked: Vec<Checked>) -> anyhow::Result<Vec<Checked>> {
    match &args.baseline {
        Some(path) => Ok(baseline::read(path)?.without(checked)),
        None => Ok(checked),
    }
}

/// The text on standard input, as a file of the project that the working folder belongs to.
fn from_stdin(args: &CheckArgs, settings: &SettingsArgs) -> anyhow::Result<Found> {
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .context("cannot read standard input")?;
    let text = String::from_utf8(bytes).context("standard input is not UTF-8")?;
    let folder = std::env::current_dir().context("cannot tell the working folder")?;
    let path = folder.join(&args.stdin_filename);
    let (engine, _) = workspace::engine(vec![workspace::root_of(&folder)], settings, false);
    engine.index_now();
    let doc = DocId::file(&path);
    engine.open(doc.clone(), 0, text);
    Ok(Found {
        engine,
        doc,
        shown: args.stdin_filename.clone(),
    })
}

/// Checks files on all cores, against compiled code if asked to; the result is in their order, those with findings only.
///
/// # Errors
/// A rule panicked, or nothing can be compiled: what was not looked at must not pass for clean.
fn check(found: &[Found], compile: bool) -> anyhow::Result<Vec<Checked>> {
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(16);
    let mut checked = std::thread::scope(|threads| {
        let work = || {
            let mut out = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(file) = found.get(number) else {
                    return anyhow::Ok(out);
                };
                let checked = match compile {
                    true => compiled::check(file)?,
                    false => Checked::of(file),
                };
                out.extend(checked.map(|checked| (number, checked)));
            }
        };
        let running: Vec<_> = (0..workers).map(|_| threads.spawn(work)).collect();
        let mut checked: Vec<(usize, Checked)> = Vec::new();
        for thread in running {
            let part = thread.join();
            checked.extend(part.map_err(|_| anyhow!("a rule failed, see above"))??);
        }
        Ok::<_, anyhow::Error>(checked)
    })?;
    checked.sort_by_key(|(number, _)| *number);
    Ok(checked.into_iter().map(|(_, checked)| checked).collect())
}

fn print(format: Format, checked: &[Checked]) -> anyhow::Result<()> {
    let stdout = io::stdout();
    let color = stdout.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    let mut out = io::BufWriter::new(stdout.lock());
    match format {
        Format::Text => text::write(&mut out, checked, color)?,
        Format::Json => json::write(&mut out, checked)?,
        Format::Sarif => sarif::write(&mut out, checked)?,
        Format::Github => github::write(&mut out, checked)?,
    }
    out.flush()?;
    Ok(())
}

/// 1 if there is a finding that is worse than a hint.
fn code(checked: &[Checked]) -> ExitCode {
    let worse = (checked.iter())
        .flat_map(|c| &c.findings)
        .any(|f| f.severity > Severity::Hint);
    ExitCode::from(u8::from(worse))
}
