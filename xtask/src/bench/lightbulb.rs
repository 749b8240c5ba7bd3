//! How long an editor waits for the lightbulb: the code actions at the cursor, with everything on.
//!
//! The workspace is trusted and has a compiler, so that kernels are compiled and the playbook's
//! changes proven in the background while the questions come; no answer may wait for that.

use serde_json::json;

use super::edits::places;
use super::files::Sample;
use super::samples::Samples;
use super::servers::Server;
use super::session::Session;
use crate::python::TILE_COMPILER;
use crate::repo::Repo;

/// Questions in each session.
const QUESTIONS: usize = 200;

/// Asks at places all over a file of kernels in its package, in so many sessions. All answers but those
/// that offer nothing.
///
/// # Errors
/// The server cannot be started, ends, or never offers anything.
pub(super) fn measure(
    repo: &Repo,
    server: &Server,
    package: &Sample,
    sessions: usize,
) -> anyhow::Result<Samples> {
    let python = TILE_COMPILER.python(repo)?;
    let options = json!({"trusted": true, "settings": {"python": {"path": python}}});
    let mut taken = Samples::default();
    for seed in 0..sessions {
        let (mut session, _) = Session::start_with(server, &package.folder, &options)?;
        session.open(&package.uri(), &package.text)?;
        for position in places(&package.text, QUESTIONS, seed as u64) {
            let params = json!({
                "textDocument": {"uri": package.uri()},
                "range": {"start": position, "end": position},
                "context": {"diagnostics": []},
            });
            if let Some(time) = session.offered("textDocument/codeAction", &params)? {
                taken.push(time);
            }
        }
        session.finish()?;
    }
    anyhow::ensure!(taken.len() > 0, "the server offers no code action anywhere");
    Ok(taken)
}
