//! `tileperf lock write`.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::anyhow;
use tileperf_analysis::compiled::{Footprint, Outcome};
use tileperf_engine::{CompiledRow, Order};
use tileperf_proc::CancelToken;

use super::WriteArgs;
use super::file::{Entry, Lock};
use crate::cli::switches;

/// Compiles and writes.
pub(super) fn run(args: &WriteArgs) -> anyhow::Result<ExitCode> {
    let project = args.common.project()?;
    switches::warn();
    let Some(first) = project.files.first() else {
        anyhow::bail!("no kernel found in the paths given");
    };
    let compiler = first
        .engine
        .compiler_versions()
        .map_err(|why| anyhow!(why))?;
    let mut lock = Lock::new(compiler);
    let mut err = io::stderr();
    for found in &project.files {
        let name = project.name(found);
        let archs = match args.arch.as_slice() {
            [] => {
                found.engine.local_gpu();
                found.engine.compile_archs()
            }
            archs => archs.to_vec(),
        };
        let order = Order {
            wanted: &|_| true,
            archs: &archs,
            signatures: &args.signature,
        };
        let mut rows = Vec::new();
        (found.engine)
            .compile_now(&found.doc, &order, &CancelToken::new(), &mut |row| {
                rows.push(row)
            })
            .map_err(|why| anyhow!(why))?;
        for row in rows {
            match entry(&name, &row) {
                Ok(entry) => lock.kernels.push(entry),
                Err(why) => writeln!(err, "tileperf: {name}: {} is not locked: {why}", row.kernel)?,
            }
        }
    }
    if lock.kernels.is_empty() {
        anyhow::bail!("none of the kernels compiles");
    }
    let written = lock.kernels.len();
    let before = Lock::read(&project.lock).unwrap_or_else(|why| {
        tracing::warn!("{why:#}");
        None
    });
    let given: Vec<String> = project
        .files
        .iter()
        .map(|found| project.name(found))
        .collect();
    let others = before.into_iter().flat_map(|lock| lock.kernels);
    let others = others.filter(|entry| !given.contains(&entry.file) && project.has(&entry.file));
    lock.kernels.extend(others);
    lock.write(&project.lock)?;
    writeln!(
        err,
        "tileperf: {written} compiled, {} in {}",
        lock.kernels.len(),
        project.lock.display()
    )?;
    Ok(ExitCode::SUCCESS)
}

/// What is written of a result; why nothing is.
pub(super) fn entry(file: &str, row: &CompiledRow) -> Result<Entry, String> {
    let facts = row.facts.as_ref().map_err(Clone::clone)?;
    let footprint = match &facts.outcome {
        Outcome::Refused(refusal) => Err(refusal.message.clone()),
        Outcome::Failed(why) => Err(why.clone()),
        Outcome::Accepted | Outcome::Machine(_) => {
            Footprint::of(facts).ok_or_else(|| "there is no machine code".to_owned())
        }
    };
    let origin = serde_json::to_value(facts.signature.origin).unwrap_or_default();
    Ok(Entry {
        file: file.to_owned(),
        name: row.kernel.clone(),
        ordinal: row.ordinal,
        arch: facts.arch,
        signature: facts.signature.shown(),
        origin: origin.as_str().unwrap_or_default().to_owned(),
        symbol: row.symbol.clone(),
        footprint: footprint?,
    })
}
