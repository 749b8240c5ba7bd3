//! The extension part: types, lint and unit tests of the VS Code extension, and its package.

use std::path::PathBuf;

use super::checks::Checks;
use super::{Part, count};
use crate::debian::Need;
use crate::package;
use crate::repo::Repo;
use crate::tool::Tool;

/// The extension part.
pub(super) const PART: Part = Part {
    name: "extension",
    about: "types, lint, unit tests and package of the VS Code extension",
    needs: &[Need::Node],
    run,
};

fn run(repo: &Repo, checks: &mut Checks) -> anyhow::Result<()> {
    if checks.set_up("npm ci", &package::npm_ci(repo))?.is_none() {
        return Ok(());
    }
    checks.step("types, lint, formatting", &npm(repo, &["run", "check"]))?;
    let units = npm(repo, &["run", "test:unit"]);
    checks.counted("unit tests", &units, count::node_test)?;
    pack(repo, checks)?;
    Ok(())
}

/// Packs the extension as it is now, after installing what that takes. Returns whether it worked.
///
/// # Errors
/// npm cannot be started.
pub(super) fn pack(repo: &Repo, checks: &mut Checks) -> anyhow::Result<bool> {
    let there = repo.at("node_modules").is_dir();
    if !there && checks.set_up("npm ci", &package::npm_ci(repo))?.is_none() {
        return Ok(false);
    }
    Ok(checks
        .step("package", &package::vsce(repo, &vsix(repo)))?
        .is_some())
}

/// The extension packed for tests, without a server in it.
pub(super) fn vsix(repo: &Repo) -> PathBuf {
    repo.at("tests/artifacts/tileperf.vsix")
}

fn npm(repo: &Repo, args: &[&str]) -> Tool {
    repo.tool("npm").args(args)
}
