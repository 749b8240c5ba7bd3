//! Whether code of a project may be run, asked of the user where one can be asked.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anyhow::{Context, bail};
use tileperf_engine::Engine;

/// Refuses to run code of a project that the user does not trust, after asking where one can.
///
/// # Errors
/// Not trusted.
pub(in crate::cli) fn require_trust(engine: &Engine, root: &Path) -> anyhow::Result<()> {
    if engine.is_trusted() {
        return Ok(());
    }
    if io::stdin().is_terminal() && io::stderr().is_terminal() {
        let question = format!(
            "This runs code of {}. Do you trust it? [y/N] ",
            root.display()
        );
        if ask(&question)? {
            engine.set_trusted(true);
            return Ok(());
        }
    }
    bail!(
        "this runs code of {}; say --trust, or list the folder under `trust` in your own \
         tileperf.toml",
        root.display()
    )
}

/// A question that is answered with yes or not.
pub(in crate::cli) fn ask(question: &str) -> anyhow::Result<bool> {
    let mut err = io::stderr();
    err.write_all(question.as_bytes())?;
    err.flush()?;
    let mut answer = String::new();
    io::stdin()
        .read_line(&mut answer)
        .context("cannot read the answer")?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
