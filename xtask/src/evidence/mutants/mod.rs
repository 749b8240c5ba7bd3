//! Detectors broken on purpose: each break must fail a test of its rule.
//!
//! All mutants are built at once into a copy of the analysis crate, and a process is told which one
//! to be: a build for every mutant would take days.

mod build;
mod mutate;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, bail};

use super::Evidence;
use crate::repo::Repo;
use build::Built;
pub(crate) use build::build;
use mutate::Mutant;

/// The tests of a rule take a second or two; what takes longer hangs, which a test would show.
const LIMIT_SECONDS: u64 = 30;

/// Of the mutants that change what a rule finds, this share must fail a test, in percent.
const WANTED: usize = 95;

/// A mutant and the file that it is in.
#[derive(Debug, Clone)]
pub(crate) struct InFile {
    /// In the folder of the rules.
    pub(crate) file: String,
    pub(crate) mutant: Mutant,
}

/// A mutant that changes nothing, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Equivalent {
    file: String,
    original: String,
    change: String,
    reason: String,
}

/// Runs every mutant of every rule.
pub(super) fn prove(repo: &Repo) -> anyhow::Result<Evidence> {
    let built = build(repo)?;
    let equivalent = equivalents(repo, &built)?;
    let all: Vec<&InFile> = built
        .mutants
        .iter()
        .filter(|m| !is_listed(m, &equivalent))
        .collect();
    let survivors = survivors(repo, &built, &all)?;
    let killed = all.len() - survivors.len();
    Ok(Evidence {
        title: "Breaking a rule fails a test",
        about: "Every decision of a detector is broken, one at a time: a condition that always or never holds, a side \
                of `&&` and `||`\ndropped, a comparison off by one, a function that returns at once, a fix not attached. \
                A mutant is killed if a test of\nits own rule fails: the examples of the documentation, and the tests in \
                the rule's file. The helpers that rules share\nare not broken. Mutants that change nothing are in \
                tests/mutants/equivalent.json, with the reason."
            .to_owned(),
        result: table(&all, &survivors, equivalent.len()),
        holds: killed * 100 >= WANTED * all.len(),
    })
}

/// Of each rule the detector that does nothing, and some others by a seed: those that survive.
///
/// # Errors
/// The mutants cannot be built or run, or a mutant listed as equivalent is no more.
pub(crate) fn sample(
    repo: &Repo,
    built: &Built,
    known: &[String],
    every: usize,
) -> anyhow::Result<(usize, Vec<String>)> {
    let equivalent = equivalents(repo, built)?;
    let chosen: Vec<&InFile> = (built.mutants.iter())
        .filter(|m| !is_listed(m, &equivalent))
        .filter(|m| m.mutant.change == "returns at once" || m.mutant.number as usize % every == 0)
        .filter(|m| !known.contains(&key(m)))
        .collect();
    let left = survivors(repo, built, &chosen)?;
    Ok((chosen.len(), left.into_iter().map(described).collect()))
}

/// A mutant by what it changes, which edits elsewhere in its file leave as it is.
fn key(m: &InFile) -> String {
    format!("{}: `{}` {}", m.file, m.mutant.original, m.mutant.change)
}

fn described(m: &InFile) -> String {
    let short: String = m.mutant.original.chars().take(100).collect();
    format!(
        "{}:{}: `{short}`: {}",
        m.file, m.mutant.line, m.mutant.change
    )
}

fn is_listed(m: &InFile, equivalent: &[Equivalent]) -> bool {
    (equivalent.iter())
        .any(|e| e.file == m.file && e.original == m.mutant.original && e.change == m.mutant.change)
}

fn equivalents(repo: &Repo, built: &Built) -> anyhow::Result<Vec<Equivalent>> {
    let path = repo.at("tests/mutants/equivalent.json");
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    let listed: Vec<BTreeMap<String, String>> =
        serde_json::from_str(&text).with_context(|| format!("{}", path.display()))?;
    let mut out = Vec::new();
    for mut entry in listed {
        let mut take = |name: &str| {
            entry
                .remove(name)
                .with_context(|| format!("an entry without `{name}`"))
        };
        let one = Equivalent {
            file: take("file")?,
            original: take("original")?,
            change: take("change")?,
            reason: take("reason")?,
        };
        if !built
            .mutants
            .iter()
            .any(|m| is_listed(m, std::slice::from_ref(&one)))
        {
            bail!("{} lists a mutant that is no more: {one:?}", path.display());
        }
        out.push(one);
    }
    Ok(out)
}

/// Those that fail no test of their rule.
fn survivors<'m>(
    repo: &Repo,
    built: &Built,
    mutants: &[&'m InFile],
) -> anyhow::Result<Vec<&'m InFile>> {
    // Tests that fail anyway would kill everything.
    for file in mutants
        .iter()
        .map(|m| &m.file)
        .collect::<std::collections::BTreeSet<_>>()
    {
        if is_killed(repo, built, file, 0)? {
            bail!("the tests of {file} fail with nothing broken");
        }
    }
    let next = AtomicUsize::new(0);
    let left = Mutex::new(Vec::new());
    let work = || -> anyhow::Result<()> {
        while let Some(m) = mutants.get(next.fetch_add(1, Ordering::Relaxed)) {
            if !is_killed(repo, built, &m.file, m.mutant.number)? {
                left.lock().unwrap_or_else(PoisonError::into_inner).push(*m);
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
    let mut left = left.into_inner().unwrap_or_else(PoisonError::into_inner);
    left.sort_by_key(|m| m.mutant.number);
    Ok(left)
}

fn is_killed(repo: &Repo, built: &Built, file: &str, number: u32) -> anyhow::Result<bool> {
    let module = file.trim_end_matches(".rs");
    let code = module.split('_').next().unwrap_or(module);
    let done = repo
        .tool(&built.binary)
        .args([&format!("rules::{module}::"), build::DOCUMENTED])
        .args(["--test-threads=1", "-q"])
        .env(build::RULE, code)
        .env(build::MUTANT, number.to_string())
        .seconds(LIMIT_SECONDS)
        .run()?;
    Ok(!done.success())
}

fn table(all: &[&InFile], survivors: &[&InFile], equivalent: usize) -> String {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for m in all {
        counts.entry(&m.file).or_default().0 += 1;
    }
    for m in survivors {
        counts.entry(&m.file).or_default().1 += 1;
    }
    let killed = all.len() - survivors.len();
    let mut out = format!(
        "{killed} of {} mutants killed ({:.1} %), {equivalent} listed as equivalent and left out.\n\n\
         | rule | mutants | killed |\n|---|--:|--:|\n",
        all.len(),
        100.0 * killed as f64 / all.len().max(1) as f64
    );
    for (file, (mutants, left)) in counts {
        let name = file.trim_end_matches(".rs");
        out.push_str(&format!("| {name} | {mutants} | {} |\n", mutants - left));
    }
    out.push_str("\n## Survivors\n\n");
    for m in survivors {
        out.push_str(&format!("- {}\n", described(m)));
    }
    out.trim_end().to_owned()
}
