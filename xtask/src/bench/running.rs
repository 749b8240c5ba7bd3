//! What the experiment loop costs beside the processes that it runs, and typing beside the loop.
//!
//! The tests that run the loop take these times anyway and print them. Here they are run with the
//! server that was built for speed, and what they print is read.

use anyhow::Context;

use super::servers::Server;
use crate::python::PYTEST;
use crate::repo::Repo;

/// How often; the medians count.
const TIMES: usize = 3;

/// What was measured.
#[derive(Debug)]
pub(super) struct Running {
    /// Of one iteration, beside its test and benchmark processes, in seconds.
    pub(super) overhead: f64,
    /// Edit to diagnostics with nothing else to do, in milliseconds.
    pub(super) idle: f64,
    /// The same while an iteration runs.
    pub(super) during: f64,
}

/// Measures with the first of the servers.
///
/// # Errors
/// The tests cannot be built, fail, or print something else.
pub(super) fn measure(repo: &Repo, server: &Server) -> anyhow::Result<Running> {
    let python = PYTEST.python(repo)?;
    let test = |file: &str, name: &str| -> anyhow::Result<String> {
        (repo.cargo(&["test", "--quiet", "--package", "tileperf-tests", "--test"]))
            .args([file, "--", "--exact", "--nocapture", name])
            .env("TILEPERF_BIN", &server.program)
            .env("TILEPERF_TEST_PYTEST", &python)
            .minutes(15)
            .read()
    };
    let mut rows = [const { Vec::new() }; 3];
    for _ in 0..TIMES {
        let said = test("perf_loop", "outcomes::every_outcome_in_one_session")?;
        rows[0].push(number(&said, "the loop itself took ")?);
        let said = test(
            "lsp_runs",
            "typing::every_edit_is_answered_while_a_run_goes_on",
        )?;
        rows[1].push(number(&said, "an edit is answered in ")?);
        rows[2].push(number(&said, "during a run in ")?);
    }
    let [overhead, idle, during] = rows.map(|mut row| {
        row.sort_by(f64::total_cmp);
        row[TIMES / 2]
    });
    Ok(Running {
        overhead,
        idle,
        during,
    })
}

/// The number behind some words.
///
/// # Errors
/// There is none.
pub(super) fn number(said: &str, words: &str) -> anyhow::Result<f64> {
    let rest = said.split(words).nth(1);
    let number = rest.and_then(|rest| rest.split_whitespace().next());
    (number.and_then(|number| number.parse().ok()))
        .with_context(|| format!("no test says \"{words}\" and a number"))
}
