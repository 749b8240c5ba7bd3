//! The VS Code part: the packed extension with the real server in a real VS Code.

use super::checks::Checks;
use super::{Part, count, extension, rust};
use crate::debian::Need;
use crate::python::{PYTEST, TILE_COMPILER};
use crate::repo::Repo;

/// The VS Code part.
pub(super) const PART: Part = Part {
    name: "vscode",
    about: "the extension and the server in a real VS Code",
    // What tests/editors/vscode/host.sh asks for, so that it is asked for once, at the beginning.
    needs: &[
        Need::Program("cc", "build-essential"),
        Need::Package("build-essential"),
        Need::Package("python3"),
        Need::Python,
        Need::Venv,
        Need::Program("git", "git"),
        Need::Package("pkg-config"),
        Need::Package("ca-certificates"),
        Need::Node,
        Need::Browser,
    ],
    run,
};

fn run(repo: &Repo, checks: &mut Checks) -> anyhow::Result<()> {
    if !rust::build(repo, checks)? {
        return Ok(());
    }
    if !extension::pack(repo, checks)? {
        return Ok(());
    }
    let host = repo.cache.join("vscode-host");
    let install = repo
        .tool("bash")
        .arg(repo.at("tests/editors/vscode/host.sh"))
        .arg(&host)
        .downloads();
    if checks.set_up("installing VS Code", &install)?.is_none() {
        return Ok(());
    }
    let drive = repo
        .tool(host.join("node"))
        .arg(repo.at("tests/editors/vscode/run.mjs"))
        .arg("--host")
        .arg(&host)
        .arg("--server")
        .arg(repo.debug_binary("tileperf"))
        .arg("--vsix")
        .arg(extension::vsix(repo))
        .arg("--workspace")
        .arg(repo.at("tests/editors/fixtures"))
        .arg("--artifacts")
        .arg(checks.folder())
        .env("TILEPERF_TEST_PYTEST", PYTEST.python(repo)?)
        .env("TILEPERF_TEST_TILEIRAS", TILE_COMPILER.python(repo)?)
        .minutes(20);
    checks.counted("driving it", &drive, count::closing_line)?;
    Ok(())
}
