//! The Python part: the oracle's own tests, and ruff over every Python file of ours.

use super::checks::Checks;
use super::{Part, count};
use crate::debian::Need;
use crate::python::RUFF;
use crate::repo::Repo;

/// The Python part.
pub(super) const PART: Part = Part {
    name: "python",
    about: "ruff, and the tests of the oracle",
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
    Ok(())
}
