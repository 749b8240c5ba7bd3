//! What becomes of public kernels when every optimization of the playbook is applied wherever it is
//! offered.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, bail};
use serde_json::Value;

use super::Evidence;
use crate::python::TILE_COMPILER;
use crate::repo::Repo;
use crate::test::accuracy::{fetch, folders};

/// Of the applied actions so many in a hundred have to pass the frontend.
const FEWEST_PERCENT: usize = 98;
/// Every so many-th kernel is compiled to machine code with each action.
const EVERY: usize = 12;

/// What became of one optimization.
#[derive(Default)]
struct Row {
    offered: usize,
    refused: usize,
    changed: usize,
    inert: usize,
    useless: usize,
    unknown: usize,
}

/// Applies all actions to every kernel of the packages.
pub(super) fn prove(repo: &Repo) -> anyhow::Result<Evidence> {
    let log = repo.at("tests/artifacts/evidence/playbook.log");
    let build = repo.cargo(&["build", "--package", "tileperf"]);
    if !build.log_to(&log)?.success() {
        bail!("tileperf cannot be built, see {}", log.display());
    }
    let fetched = fetch(repo)?.log_to(&log)?;
    let mut all: BTreeMap<String, Row> = BTreeMap::new();
    let mut broken = Vec::new();
    let mut kernels = Vec::new();
    for folder in folders(&fetched)? {
        let package = folder.file_name().unwrap_or_default().to_string_lossy();
        for action in actions(repo, &folder, &[".", "--compile=frontend"], &log)? {
            let row = all.entry(id(&action)).or_default();
            row.offered += 1;
            let state = action["proof"]["state"].as_str();
            if state == Some("refuted") {
                row.refused += 1;
                broken.push(format!("{package}: {}", described(&action)));
            }
            let kernel = (
                folder.clone(),
                word(&action, "path"),
                word(&action, "kernel"),
            );
            if kernels.last() != Some(&kernel) {
                kernels.push(kernel);
            }
        }
    }
    let sampled: Vec<_> = kernels.iter().step_by(EVERY).collect();
    for (folder, path, kernel) in &sampled {
        let args = [
            path.as_str(),
            "--kernel",
            kernel.as_str(),
            "--compile=machine",
        ];
        for action in actions(repo, folder, &args, &log)? {
            let row = all.entry(id(&action)).or_default();
            let words = action["proof"]["words"][0].as_str().unwrap_or_default();
            match action["proof"]["state"].as_str() {
                Some("proven") => row.changed += 1,
                Some("refuted") if words.contains("stays the same") => row.inert += 1,
                Some("refuted") => row.useless += 1,
                _ => row.unknown += 1,
            }
        }
    }
    let offered: usize = all.values().map(|row| row.offered).sum();
    let refused: usize = all.values().map(|row| row.refused).sum();
    if offered == 0 {
        bail!("nothing was offered, see {}", log.display());
    }
    Ok(Evidence {
        title: "The playbook on kernels of public packages",
        about: format!(
            "Every action that is offered for a kernel of four packages from PyPI is applied, in memory, and the \
             kernel compiled\nfor sm_90 by cuTile's frontend with it and without it. Of every {EVERY}th kernel \
             machine code is made as well: it is\nanother one, the same, or other than the action is for; or one \
             of the two could not be made."
        ),
        result: table(&all, kernels.len(), sampled.len(), &broken),
        holds: (offered - refused) * 100 >= offered * FEWEST_PERCENT,
    })
}

/// What is offered, a row an action.
fn actions(repo: &Repo, folder: &Path, args: &[&str], log: &Path) -> anyhow::Result<Vec<Value>> {
    let python = TILE_COMPILER.python(repo)?;
    let done = (repo.tool(repo.debug_binary("tileperf")))
        .current_dir(folder)
        .minutes(90)
        .arg("actions")
        .args(args)
        .args(["--trust", "--arch", "sm_90", "--format", "json"])
        .arg("--config")
        .arg(format!("python.path={}", python.display()))
        .log_to(log)?;
    let rows = done.stdout.lines().map(serde_json::from_str);
    rows.collect::<Result<_, _>>()
        .context("tileperf actions writes JSON")
}

fn word(action: &Value, key: &str) -> String {
    action[key].as_str().unwrap_or_default().to_owned()
}

fn id(action: &Value) -> String {
    format!("{} {}", word(action, "id"), word(action, "slug"))
}

fn described(action: &Value) -> String {
    format!(
        "`{} {}`: {} {}: {}",
        word(action, "path"),
        word(action, "kernel"),
        word(action, "id"),
        word(action, "variant"),
        action["proof"]["words"][0].as_str().unwrap_or_default(),
    )
}

fn table(all: &BTreeMap<String, Row>, kernels: usize, sampled: usize, broken: &[String]) -> String {
    let mut out = format!(
        "{kernels} kernels are offered something; {sampled} of them were compiled to machine code.\n\n\
         | optimization | applied | no longer pass the frontend | machine code: another | the same | not what it is for | not made |\n\
         |---|---:|---:|---:|---:|---:|---:|\n"
    );
    for (name, row) in all {
        let _ = writeln!(
            out,
            "| {name} | {} | {} | {} | {} | {} | {} |",
            row.offered, row.refused, row.changed, row.inert, row.useless, row.unknown
        );
    }
    if !broken.is_empty() {
        out.push_str("\nNo longer compile:\n\n");
        for one in broken {
            let _ = writeln!(out, "- {one}");
        }
    }
    out
}
