//! The Neovim part: the plugin with the real server in real Neovims, 0.10 and a newer one.

use std::path::Path;

use super::checks::Checks;
use super::{Part, count, rust};
use crate::debian::Need;
use crate::python::TILE_COMPILER;
use crate::repo::Repo;
use crate::tool::Tool;

/// The Neovim part.
pub(super) const PART: Part = Part {
    name: "nvim",
    about: "the plugin and the server in real Neovims",
    // What tests/editors/nvim/host.sh asks for, so that it is asked for once, at the beginning.
    needs: &[
        Need::Program("cc", "build-essential"),
        Need::Package("debootstrap"),
        Need::Package("debian-archive-keyring"),
        Need::Program("tmux", "tmux"),
        Need::Program("unshare", "util-linux"),
        Need::Python,
        Need::Venv,
    ],
    run,
};

/// The releases of Debian whose Neovims are driven: 0.10, and 0.12 for what came with 0.11.
const SUITES: [&str; 2] = ["trixie", "forky"];

fn run(repo: &Repo, checks: &mut Checks) -> anyhow::Result<()> {
    if !rust::build(repo, checks)? {
        return Ok(());
    }
    for suite in SUITES {
        let host = repo.cache.join(format!("nvim-host-{suite}"));
        let install = repo
            .tool("bash")
            .arg(repo.at("tests/editors/nvim/host.sh"))
            .arg(&host)
            .arg(suite)
            .downloads();
        let name = format!("installing the Neovim of {suite}");
        if checks.set_up(&name, &install)?.is_none() {
            continue;
        }
        let driving = drive(repo, checks, &host);
        checks.counted(
            &format!("driving it ({suite})"),
            &driving,
            count::closing_line,
        )?;
        let compiling = drive(repo, checks, &host)
            .arg("--compiler")
            .arg(TILE_COMPILER.python(repo)?);
        checks.counted(
            &format!("with a compiler ({suite})"),
            &compiling,
            count::closing_line,
        )?;
    }
    Ok(())
}

/// The tests in the Neovim of a host.
fn drive(repo: &Repo, checks: &Checks, host: &Path) -> Tool {
    repo.tool("bash")
        .arg(repo.at("tests/editors/nvim/run.sh"))
        .arg("--host")
        .arg(host)
        .arg("--server")
        .arg(repo.debug_binary("tileperf"))
        .arg("--workspace")
        .arg(repo.at("tests/editors/fixtures"))
        .arg("--artifacts")
        .arg(checks.folder())
        .minutes(15)
}
