//! `tileperf.perf.status`: where the sessions are. Starts nothing.

use std::sync::Arc;

use tileperf_engine::runs::RunNote;
use tileperf_perf::session::Phase;
use tower_lsp::jsonrpc::Result;

use super::{Answer, Argument, Desk, blocking, subject};

/// Of the session that is meant, or of all where nothing is said.
pub(super) async fn run(desk: Desk, argument: Argument) -> Result<Answer> {
    blocking(move || {
        let named =
            argument.session.is_some() || argument.kernel.is_some() || argument.uri.is_some();
        let notes = match named {
            true => vec![subject::session(&desk, &argument)?],
            false => desk.engine.runs(None),
        };
        let message = match notes.as_slice() {
            [] => "there is no session".to_owned(),
            notes => {
                let sentences: Vec<String> = notes.iter().map(|note| sentence(note)).collect();
                sentences.join("\n")
            }
        };
        let one = match notes.as_slice() {
            [one] => Some(Arc::clone(one)),
            _ => None,
        };
        Ok(Answer {
            session: one.as_ref().map(|note| note.session.clone()),
            kernel: one.as_ref().map(|note| note.kernel.to_string()),
            message,
            content: Some(notes.iter().map(|note| section(note)).collect()),
        })
    })
    .await
}

fn sentence(note: &RunNote) -> String {
    let running = note.run.as_ref().filter(|_| note.running);
    let state = match (running, note.phase) {
        (Some(run), _) => run.sentence.clone(),
        (None, Phase::SetUp) => "set up; iteration 0 is still to be measured".to_owned(),
        (None, Phase::Ready) => match note.iterations {
            1 => "1 iteration so far".to_owned(),
            n => format!("{n} iterations so far"),
        },
        (None, Phase::Stopped { stop }) => stop.sentence(),
        (None, Phase::Finished) => "finished".to_owned(),
        (None, Phase::Abandoned) => "abandoned".to_owned(),
    };
    let latency = note
        .latency
        .map_or(String::new(), |l| format!("; {}", l.text()));
    format!("{}: {state}{latency}", note.kernel)
}

fn section(note: &RunNote) -> String {
    format!(
        "## {}\n\n{}\n\n{}\n",
        note.session,
        sentence(note),
        note.table
    )
}
