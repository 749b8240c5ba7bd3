//! How long an editor waits for the lightbulb: the code actions at the cursor, with everything on.
//!
//! The workspace is trusted and has a compiler, so that kernels are compiled and the playbook's
//! changes proven in the background while the questions come; no answer may wait for that. Once as the
//! package is, and once where sessions have left what the playbook builds on: the two take turns.

use serde_json::json;

use super::edits::places;
use super::files::Sample;
use super::samples::Samples;
use super::servers::Server;
use super::session::Session;
use super::sessions;
use crate::python::TILE_COMPILER;
use crate::repo::Repo;

/// Questions in each session.
const QUESTIONS: usize = 200;

/// The answers' times.
#[derive(Debug)]
pub(super) struct Lightbulb {
    /// In the package as it is.
    pub(super) plain: Samples,
    /// Where sessions were.
    pub(super) beside: Samples,
}

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
) -> anyhow::Result<Lightbulb> {
    let python = TILE_COMPILER.python(repo)?;
    let options = json!({"trusted": true, "settings": {"python": {"path": python}}});
    let beside = sessions::prepare(repo, package)?;
    let mut taken = Lightbulb {
        plain: Samples::default(),
        beside: Samples::default(),
    };
    for seed in 0..sessions {
        let mut both = [(package, &mut taken.plain), (&beside, &mut taken.beside)];
        if seed % 2 == 1 {
            both.reverse();
        }
        for (package, taken) in both {
            let (mut session, _) = Session::start_with(server, &package.folder, &options)?;
            asked(&mut session, package, seed as u64, taken)?;
            session.finish()?;
        }
    }
    let least = taken.plain.len().min(taken.beside.len());
    anyhow::ensure!(least > 0, "the server offers no code action anywhere");
    Ok(taken)
}

fn asked(
    session: &mut Session,
    package: &Sample,
    seed: u64,
    taken: &mut Samples,
) -> anyhow::Result<()> {
    session.open(&package.uri(), &package.text)?;
    for position in places(&package.text, QUESTIONS, seed) {
        let params = json!({
            "textDocument": {"uri": package.uri()},
            "range": {"start": position, "end": position},
            "context": {"diagnostics": []},
        });
        if let Some(time) = session.offered("textDocument/codeAction", &params)? {
            taken.push(time);
        }
    }
    Ok(())
}
