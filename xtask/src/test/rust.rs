//! The Rust part: formatting, clippy and all tests of the workspace.

use super::checks::Checks;
use super::{Part, count, format};
use crate::debian::Need;
use crate::evidence::mutants;
use crate::python::PYTEST;
use crate::repo::Repo;

/// The Rust part.
pub(super) const PART: Part = Part {
    name: "rust",
    about: "formatting, clippy and the tests of all crates",
    needs: &[
        Need::Program("cc", "build-essential"),
        Need::Program("git", "git"),
        Need::Python,
        Need::Venv,
    ],
    run,
};

fn run(repo: &Repo, checks: &mut Checks) -> anyhow::Result<()> {
    format::check(repo, checks)?;
    let clippy = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    checks.step("cargo clippy", &repo.cargo(&clippy))?;
    if !build(repo, checks)? {
        return Ok(());
    }
    // The tests that start the server take the one just built, not one that cargo builds for them
    // with other features.
    let tests = repo
        .cargo(&["test", "--workspace", "--no-fail-fast"])
        .env("TILEPERF_BIN", repo.debug_binary("tileperf"))
        // The experiment loop is tested on a project with real pytest runs.
        .env("TILEPERF_TEST_PYTEST", PYTEST.python(repo)?);
    checks.counted("cargo test", &tests, count::cargo_test)?;
    let (broken, survivors) = mutants::sample(repo)?;
    let name = format!("{broken} detectors and fixes broken on purpose fail a test");
    checks.check(
        &name,
        (!survivors.is_empty()).then(|| format!("not these: {}", survivors.join("; "))),
    );
    Ok(())
}

/// Builds everything the way `cargo test --workspace` does, the tileperf binary included, so that
/// one set of artefacts serves all parts. Returns whether it worked.
///
/// # Errors
/// Cargo cannot be started.
pub(super) fn build(repo: &Repo, checks: &mut Checks) -> anyhow::Result<bool> {
    let build = repo.cargo(&["build", "--workspace", "--all-targets"]);
    Ok(checks.set_up("cargo build", &build)?.is_some())
}
