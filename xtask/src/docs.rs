//! `cargo xtask docs`: the documents that are made from the code.

use std::collections::BTreeMap;
use std::fs;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;

use crate::repo::Repo;

/// Write the generated documents and the settings in package.json.
#[derive(Debug, Args)]
pub(crate) struct DocsArgs {
    /// Write nothing; fail if something would change.
    #[arg(long)]
    check: bool,
}

/// The files that are generated, or have generated parts.
pub(crate) const GENERATED: [&str; 6] = [
    "docs/knobs.md",
    "docs/playbook.md",
    "docs/rules.md",
    "docs/settings.md",
    "docs/troubleshooting.md",
    "package.json",
];

/// Runs `cargo xtask docs`.
///
/// # Errors
/// A file cannot be read or written.
pub(crate) fn run(repo: &Repo, args: &DocsArgs) -> anyhow::Result<ExitCode> {
    let build = ["build", "--quiet", "--package", "documents"];
    repo.cargo(&build).read()?;
    let stale = stale(repo)?;
    for (path, text) in &stale {
        if args.check {
            println!("{path} is not what the code says: run `cargo xtask docs`");
        } else {
            fs::write(repo.at(path), text).with_context(|| format!("cannot write {path}"))?;
            println!("{path} written");
        }
    }
    if stale.is_empty() {
        println!("everything is up to date");
    }
    Ok(if args.check && !stale.is_empty() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// The files that differ from what the code says, and what should be in them. The program
/// `documents` was built before.
///
/// # Errors
/// package.json cannot be read or does not have the parts to be replaced.
pub(crate) fn stale(repo: &Repo) -> anyhow::Result<Vec<(&'static str, String)>> {
    let said = repo.tool(repo.debug_binary("documents")).read()?;
    let mut texts: BTreeMap<String, String> =
        serde_json::from_str(&said).context("`documents` printed something else")?;
    let mut stale = Vec::new();
    for path in GENERATED {
        let text = texts.remove(path);
        let text = text.with_context(|| format!("`documents` says nothing of {path}"))?;
        if fs::read_to_string(repo.at(path)).map_or(true, |now| now != text) {
            stale.push((path, text));
        }
    }
    Ok(stale)
}
