//! The Python part: ruff over every Python file of ours, the oracle's tests, those of what the
//! experiment loop puts into a project's processes, and those of the process that compiles.

use super::checks::Checks;
use super::{Part, count};
use crate::debian::Need;
use crate::python::{PYTEST, RUFF, TILE_COMPILER};
use crate::repo::Repo;

/// The Python part.
pub(super) const PART: Part = Part {
    name: "python",
    about: "ruff, and the tests of the oracle, the injected helper and the compiling process",
    needs: &[Need::Python, Need::Venv],
    run,
};

/// The folders with Python that people maintain. Samples and fixtures in them are Python too.
const FOLDERS: [&str; 2] = ["tests", "server"];

fn run(repo: &Repo, checks: &mut Checks) -> anyhow::Result<()> {
    let ruff = repo.tool(RUFF.program(repo, "ruff")?);
    let check = ruff.clone().args(["check", "--no-cache"]).args(FOLDERS);
    checks.step("ruff check", &check)?;
    let format = ruff.args(["format", "--check", "--no-cache"]).args(FOLDERS);
    checks.step("ruff format", &format)?;

    let tests = repo.tool("python3").arg("tests/oracle/test_oracle.py");
    let tests = tests.env("PYTHONDONTWRITEBYTECODE", "1");
    checks.counted("the oracle's tests", &tests, count::unittest)?;

    let helper = repo.tool(PYTEST.python(repo)?);
    let helper = helper
        .args([
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "server/perf/python",
        ])
        .env("PYTHONDONTWRITEBYTECODE", "1");
    checks.counted("the injected helper's tests", &helper, count::pytest)?;

    let worker = repo.tool(TILE_COMPILER.python(repo)?);
    let worker = worker
        .args([
            "-m",
            "unittest",
            "discover",
            "-s",
            "server/compiler/python/tests",
        ])
        .env("PYTHONDONTWRITEBYTECODE", "1");
    checks.counted("the compiling process's tests", &worker, count::unittest)?;
    Ok(())
}
