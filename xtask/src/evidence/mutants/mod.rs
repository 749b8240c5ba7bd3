//! Detectors broken on purpose: each break must fail a test of its rule.
//!
//! All mutants are built at once into a copy of the analysis crate, and a process is told which one
//! to be: a build for every mutant would take days.

mod build;
mod equivalent;
mod mutate;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::bail;
use tileperf_proc::Ended;

use super::Evidence;
use crate::repo::Repo;
use build::Built;
use equivalent::Equivalent;
use mutate::{AT_ONCE, Mutant, NEGATED, NO_FIX};

/// The tests of a rule take a second or two; what takes longer hangs, which a test would show.
const LIMIT_SECONDS: u64 = 30;

/// In a test run, beside a detector of each rule, every so many of the other functions and fixes.
const EVERY: usize = 4;

/// A mutant and the file that it is in.
#[derive(Debug, Clone)]
struct InFile {
    /// In the folder of the rules.
    file: String,
    mutant: Mutant,
}

impl InFile {
    /// A break that every rule's tests must notice. Of the others, which only drop one of several
    /// guards or move a bound by one, the share is told.
    fn must_fail(&self) -> bool {
        [AT_ONCE, NEGATED, NO_FIX].contains(&self.mutant.change)
    }

    fn is_of(&self, code: &str) -> bool {
        code_of(&self.file).eq_ignore_ascii_case(code)
    }
}

impl std::fmt::Display for InFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Mutant {
            line,
            original,
            change,
            ..
        } = &self.mutant;
        let short: String = original.chars().take(100).collect();
        write!(f, "{}:{line}: `{short}`: {change}", self.file)
    }
}

/// Runs every mutant of every rule, or of those with these codes if any is given.
pub(super) fn prove(repo: &Repo, codes: &[String]) -> anyhow::Result<Evidence> {
    let built = build::build(repo)?;
    let equivalent = Equivalent::read(repo, &built.mutants)?;
    let asked = |m: &InFile| codes.is_empty() || codes.iter().any(|c| m.is_of(c));
    let all: Vec<&InFile> = (built.mutants.iter())
        .filter(|m| asked(m) && !equivalent.has(m))
        .collect();
    if all.is_empty() {
        bail!("no rule has a code of {}", codes.join(", "));
    }
    let tried = survivors(repo, &built, &all)?;
    let holds = !tried.survivors.iter().any(|m| m.must_fail());
    Ok(Evidence {
        title: "Breaking a rule fails a test",
        about: "Every decision of a detector is broken, one at a time: the whole detector, or another of its functions,\n\
                does nothing; a condition is negated; a fix is not attached. Each of these must be killed: a test of its own\n\
                rule fails, an example of its documentation or a test in its file. Further a condition always or never holds\n\
                (which drops one side of `&&` or `||`), a comparison is off by one, a function gives nothing: of these the\n\
                survivors are listed below. The helpers that rules share are not broken. Mutants that change nothing are in\n\
                tests/mutants/equivalent.json, with the reason."
            .to_owned(),
        result: table(&all, &tried, equivalent.len()),
        holds,
    })
}

/// Breaks a part of what must fail a test: of each rule a detector does nothing, and of the other
/// functions and fixes every fourth is left out. Gives how many were broken, and which survive.
///
/// # Errors
/// The mutants cannot be built or run, or one is listed as equivalent and is no more.
pub(crate) fn sample(repo: &Repo) -> anyhow::Result<(usize, Vec<String>)> {
    let built = build::build(repo)?;
    let equivalent = Equivalent::read(repo, &built.mutants)?;
    let whole = (built.mutants.iter())
        .filter(|m| [AT_ONCE, NO_FIX].contains(&m.mutant.change) && !equivalent.has(m));
    let mut files = BTreeSet::new();
    let chosen: Vec<&InFile> = whole
        .enumerate()
        .filter(|(number, m)| files.insert(&m.file) || number % EVERY == 0)
        .map(|(_, m)| m)
        .collect();
    let tried = survivors(repo, &built, &chosen)?;
    let left = tried.survivors.iter().map(ToString::to_string).collect();
    Ok((chosen.len(), left))
}

/// What became of mutants.
#[derive(Default)]
struct Tried<'m> {
    /// Those that fail no test of their rule.
    survivors: Vec<&'m InFile>,
    /// Those whose tests did not end, which counts as killed.
    hung: usize,
}

fn survivors<'m>(repo: &Repo, built: &Built, mutants: &[&'m InFile]) -> anyhow::Result<Tried<'m>> {
    // Tests that fail anyway would kill everything.
    let files: BTreeSet<&str> = mutants.iter().map(|m| m.file.as_str()).collect();
    for file in files {
        if fate(repo, built, file, 0)? != Fate::Survives {
            bail!("the tests of {file} fail with nothing broken");
        }
    }
    let next = AtomicUsize::new(0);
    let tried = Mutex::new(Tried::default());
    let work = || -> anyhow::Result<()> {
        while let Some(m) = mutants.get(next.fetch_add(1, Ordering::Relaxed)) {
            let fate = fate(repo, built, &m.file, m.mutant.number)?;
            let mut tried = tried.lock().unwrap_or_else(PoisonError::into_inner);
            match fate {
                Fate::Survives => tried.survivors.push(*m),
                Fate::Hangs => tried.hung += 1,
                Fate::Killed => {}
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            match worker.join() {
                Ok(done) => done?,
                Err(_) => bail!("a worker panicked"),
            }
        }
        Ok(())
    })?;
    let mut tried = tried.into_inner().unwrap_or_else(PoisonError::into_inner);
    tried.survivors.sort_by_key(|m| m.mutant.number);
    Ok(tried)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Killed,
    Hangs,
    Survives,
}

/// The code of the rule in a file, in lower case.
fn code_of(file: &str) -> &str {
    file.split('_').next().unwrap_or(file)
}

/// What the tests of a rule say of a mutant; 0 is none.
fn fate(repo: &Repo, built: &Built, file: &str, number: u32) -> anyhow::Result<Fate> {
    let module = file.trim_end_matches(".rs");
    let done = repo
        .tool(&built.binary)
        .args([&format!("rules::{module}::"), build::DOCUMENTED])
        .args(["--test-threads=1", "-q"])
        .env(build::RULE, code_of(file))
        .env(build::MUTANT, number.to_string())
        .seconds(LIMIT_SECONDS)
        .run()?;
    Ok(match done.ended {
        Ended::TimedOut { .. } => Fate::Hangs,
        _ if done.success() => Fate::Survives,
        _ => Fate::Killed,
    })
}

fn table(all: &[&InFile], tried: &Tried<'_>, equivalent: usize) -> String {
    let killed = |of: &[&InFile], file: Option<&str>| {
        let counts = |m: &&&InFile| file.is_none_or(|file| m.file == file);
        let left = (tried.survivors.iter()).filter(|s| {
            file.is_none_or(|file| s.file == file)
                && of.iter().any(|m| m.mutant.number == s.mutant.number)
        });
        let of = of.iter().filter(counts).count();
        (of, of - left.count())
    };
    let must: Vec<&InFile> = all.iter().copied().filter(|m| m.must_fail()).collect();
    let rest: Vec<&InFile> = all.iter().copied().filter(|m| !m.must_fail()).collect();
    let (first, second) = (killed(&must, None), killed(&rest, None));
    let mut out = format!(
        "Of {} functions that do nothing, negated conditions and missing fixes {} are killed ({:.1} %), of {} other\n\
         mutants {} ({:.1} %); {} of the killed did not end. {equivalent} more are listed as equivalent.\n\n\
         | rule | must be killed | killed | others | killed |\n|---|--:|--:|--:|--:|\n",
        first.0,
        first.1,
        percent(first),
        second.0,
        second.1,
        percent(second),
        tried.hung,
    );
    let files: BTreeMap<&str, ()> = all.iter().map(|m| (m.file.as_str(), ())).collect();
    for file in files.into_keys() {
        let (first, second) = (killed(&must, Some(file)), killed(&rest, Some(file)));
        let name = file.trim_end_matches(".rs");
        out.push_str(&format!(
            "| {name} | {} | {} | {} | {} |\n",
            first.0, first.1, second.0, second.1
        ));
    }
    out.push_str("\n## Survivors\n\n");
    let lines = tried.survivors.iter().map(|m| format!("- {m}\n"));
    out.extend(lines);
    out.trim_end().to_owned()
}

fn percent((of, killed): (usize, usize)) -> f64 {
    100.0 * killed as f64 / of.max(1) as f64
}
