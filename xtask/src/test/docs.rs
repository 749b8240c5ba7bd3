//! The documents part: what is generated from the code is what the code says.

use super::checks::Checks;
use super::{Part, rust};
use crate::debian::Need;
use crate::docs;
use crate::repo::Repo;

/// The documents part.
pub(super) const PART: Part = Part {
    name: "docs",
    about: "generated documents and settings are current",
    needs: &[Need::Program("cc", "build-essential")],
    run,
};

fn run(repo: &Repo, checks: &mut Checks) -> anyhow::Result<()> {
    if !rust::build(repo, checks)? {
        return Ok(());
    }
    let stale = docs::stale(repo)?;
    for path in docs::GENERATED {
        let differs = stale.iter().any(|(stale, _)| *stale == path);
        checks.check(
            path,
            differs.then(|| "not what the code says: run `cargo xtask docs`".to_owned()),
        );
    }
    Ok(())
}
