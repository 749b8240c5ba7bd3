//! `tileperf lock check`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::{anyhow, bail};
use serde_json::json;
use tileperf_analysis::arch::Arch;
use tileperf_analysis::compiled::{Footprint, Outcome};
use tileperf_engine::{CompiledRow, CompilerVersions, Order, Signatures};
use tileperf_proc::CancelToken;

use super::file::{Entry, Lock};
use super::{CheckArgs, Format, Project};
use crate::cli::paths::Found;

/// What has become of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Same,
    Worse,
    Better,
    /// Neither, as more registers are.
    Changed,
    /// It cannot be compared.
    Unknown,
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Verdict::Same => "same",
            Verdict::Worse => "worse",
            Verdict::Better => "better",
            Verdict::Changed => "changed",
            Verdict::Unknown => "unknown",
        }
    }
}

/// An entry with what has become of it, in words.
type Judged<'l> = (&'l Entry, Verdict, Vec<String>);

/// Compiles and compares.
pub(super) fn run(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let project = args.common.project()?;
    let Some(lock) = Lock::read(&project.lock)? else {
        bail!(
            "there is no {}: `tileperf lock write` makes one",
            project.lock.display()
        );
    };
    if let Some(first) = project.files.first() {
        let compiler = first
            .engine
            .compiler_versions()
            .map_err(|why| anyhow!(why))?;
        note_compiler(&lock, &compiler)?;
    }
    let mut judged: Vec<Judged<'_>> = Vec::new();
    for found in &project.files {
        let name = project.name(found);
        let entries: Vec<&Entry> = lock.kernels.iter().filter(|e| e.file == name).collect();
        for (entry, verdict, words) in file(found, &entries)? {
            print(args.format, entry, verdict, &words)?;
            judged.push((entry, verdict, words));
        }
        for kernel in unlocked(found, &entries) {
            writeln!(
                io::stderr(),
                "tileperf: {name}: {kernel} is not in the lock file"
            )?;
        }
    }
    for entry in lock
        .kernels
        .iter()
        .filter(|entry| !project.has(&entry.file))
    {
        let words = vec![format!("{} is gone", entry.file)];
        print(args.format, entry, Verdict::Unknown, &words)?;
        judged.push((entry, Verdict::Unknown, words));
    }
    if judged.is_empty() {
        bail!("the lock file has nothing of these paths");
    }
    summary(&project, &judged)
}

fn note_compiler(lock: &Lock, now: &CompilerVersions) -> io::Result<()> {
    let pairs = [
        ("cuda-tile", &lock.cuda_tile, &now.cuda_tile),
        ("tileiras", &lock.tileiras, &now.tileiras),
    ];
    for (what, was, is) in pairs.iter().filter(|(_, was, is)| was != is) {
        writeln!(
            io::stderr(),
            "tileperf: locked with {what} {was}, compiled with {is}"
        )?;
    }
    Ok(())
}

/// Compiles the entries of a file again.
fn file<'l>(found: &Found, entries: &[&'l Entry]) -> anyhow::Result<Vec<Judged<'l>>> {
    let archs: BTreeSet<Arch> = entries.iter().map(|entry| entry.arch).collect();
    let mut judged = Vec::new();
    for arch in archs {
        let of_arch = entries.iter().copied().filter(|entry| entry.arch == arch);
        let of_arch: Vec<&Entry> = of_arch.collect();
        let mut asked: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for entry in &of_arch {
            let known = asked.entry(entry.name.clone()).or_default();
            if !known.iter().any(|one| one == entry.asked()) {
                known.push(entry.asked().to_owned());
            }
        }
        let names: BTreeSet<String> = asked.keys().cloned().collect();
        let order = Order {
            wanted: &|name| names.contains(name),
            archs: &[arch],
            signatures: &Signatures::These(asked),
        };
        let mut rows = Vec::new();
        (found.engine)
            .compile_now(&found.doc, &order, &CancelToken::new(), &mut |row| {
                rows.push(row)
            })
            .map_err(|why| anyhow!(why))?;
        for entry in of_arch {
            let (verdict, words) = judge(entry, &rows);
            judged.push((entry, verdict, words));
        }
    }
    Ok(judged)
}

fn judge(entry: &Entry, rows: &[CompiledRow]) -> (Verdict, Vec<String>) {
    let is_it = |row: &&CompiledRow| {
        (row.kernel.as_str(), row.ordinal) == (entry.name.as_str(), entry.ordinal)
            && row
                .asked
                .as_deref()
                .is_none_or(|asked| asked == entry.asked())
    };
    let Some(row) = rows.iter().find(is_it) else {
        return (
            Verdict::Unknown,
            vec!["there is no such kernel any more".to_owned()],
        );
    };
    let facts = match &row.facts {
        Ok(facts) => facts,
        Err(why) => return (Verdict::Unknown, vec![why.clone()]),
    };
    match &facts.outcome {
        Outcome::Failed(why) => return (Verdict::Unknown, vec![why.clone()]),
        Outcome::Refused(refusal) => {
            let words = format!("no longer compiles: {}", refusal.message);
            return (Verdict::Worse, vec![words]);
        }
        Outcome::Accepted | Outcome::Machine(_) => {}
    }
    let Some(now) = Footprint::of(facts) else {
        return (
            Verdict::Unknown,
            vec!["there is no machine code".to_owned()],
        );
    };
    let drift = entry.footprint.drift(&now);
    let verdict = match () {
        () if !drift.lost.is_empty() => Verdict::Worse,
        () if !drift.gained.is_empty() => Verdict::Better,
        () if !drift.other.is_empty() => Verdict::Changed,
        () => Verdict::Same,
    };
    let words = drift
        .lost
        .into_iter()
        .chain(drift.gained)
        .chain(drift.other);
    (verdict, words.collect())
}

/// Kernels of a file of which nothing is locked.
fn unlocked(found: &Found, entries: &[&Entry]) -> Vec<String> {
    let kernels = found.engine.kernel_names(&found.doc).into_iter();
    kernels
        .filter(|kernel| !entries.iter().any(|entry| entry.name == *kernel))
        .collect()
}

fn print(format: Format, entry: &Entry, verdict: Verdict, words: &[String]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match format {
        Format::Json => {
            let line = json!({
                "schema": "tileperf.lock/1",
                "path": entry.file,
                "kernel": entry.name,
                "arch": entry.arch,
                "signature": entry.signature,
                "origin": entry.origin,
                "verdict": verdict.word(),
                "words": words,
            });
            writeln!(out, "{line}")
        }
        Format::Text if verdict == Verdict::Same => Ok(()),
        Format::Text => writeln!(
            out,
            "{}: {} {} on {}: {}\n    for {}",
            verdict.word(),
            entry.file,
            entry.name,
            entry.arch,
            words.join("; "),
            entry.signature
        ),
    }
}

fn summary(project: &Project, judged: &[Judged<'_>]) -> anyhow::Result<ExitCode> {
    let count = |wanted: Verdict| judged.iter().filter(|(_, v, _)| *v == wanted).count();
    let all = [
        Verdict::Same,
        Verdict::Worse,
        Verdict::Better,
        Verdict::Changed,
        Verdict::Unknown,
    ];
    let words = all.into_iter().map(|verdict| (count(verdict), verdict));
    let words = words.filter(|(n, _)| *n > 0);
    let words: Vec<String> = words
        .map(|(n, verdict)| format!("{n} {}", verdict.word()))
        .collect();
    let mut err = io::stderr();
    writeln!(err, "tileperf: {}", words.join(", "))?;
    if count(Verdict::Worse) > 0 {
        return Ok(ExitCode::FAILURE);
    }
    if judged
        .iter()
        .any(|(_, verdict, _)| *verdict != Verdict::Same)
    {
        writeln!(
            err,
            "tileperf: nothing is worse; `tileperf lock write` brings {} up to date",
            project.lock.display()
        )?;
    }
    Ok(ExitCode::SUCCESS)
}
