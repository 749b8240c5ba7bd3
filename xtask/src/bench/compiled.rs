//! How long compiled code takes to be shown, beside the compiler alone.
//!
//! The test that has an editor show it takes these times and prints them. Here it is run with the
//! server that was built for speed, and what it prints is read.

use super::running::number;
use super::servers::Server;
use crate::python::TILE_COMPILER;
use crate::repo::Repo;

/// What was measured.
#[derive(Debug)]
pub(super) struct Compiled {
    /// From a save to remarks, seconds.
    pub(super) shown: f64,
    /// Frontend and tileiras by themselves, seconds.
    pub(super) alone: f64,
    /// A kernel that did not change, after an edit above it, milliseconds.
    pub(super) unchanged: f64,
    /// A program that was compiled before, milliseconds.
    pub(super) known: f64,
    /// From an edit to the end of a compile that it makes useless, milliseconds.
    pub(super) killed: f64,
    /// Edit to diagnostics with nothing else to do, milliseconds.
    pub(super) idle: f64,
    /// The same beside a compile.
    pub(super) beside: f64,
}

/// Measures with the first of the servers.
///
/// # Errors
/// The test cannot be built, fails, or prints something else.
pub(super) fn measure(repo: &Repo, server: &Server) -> anyhow::Result<Compiled> {
    let said = (repo.cargo(&["test", "--quiet", "--package", "tileperf-tests", "--test"]))
        .args(["compiled", "--", "--exact", "--nocapture"])
        .arg("timing::from_save_to_what_is_shown")
        .env("TILEPERF_BIN", &server.program)
        .env("TILEPERF_TEST_TILEIRAS", TILE_COMPILER.python(repo)?)
        .minutes(15)
        .read()?;
    let number = |words| number(&said, words);
    Ok(Compiled {
        shown: number("from save to remarks ")?,
        alone: number("frontend and tileiras alone ")?,
        unchanged: number("an unchanged kernel is shown in ")?,
        known: number("a known program is shown in ")?,
        killed: number("a stale compile is gone after ")?,
        idle: number("an edit is answered in ")?,
        beside: number("beside a compile in ")?,
    })
}
