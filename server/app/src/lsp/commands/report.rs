//! `tileperf.perf.report`: what a session did, for people and pull requests. Reads the journal, starts
//! nothing.

use tileperf_perf::store::Store;
use tileperf_perf::{Session, journal, report};
use tower_lsp::jsonrpc::Result;

use super::{Answer, Argument, Desk, Form, Refusal, blocking, subject};

pub(super) async fn run(desk: Desk, argument: Argument) -> Result<Answer> {
    blocking(move || {
        let note = subject::session(&desk, &argument)?;
        let store = Store::new(&note.root, &note.session);
        let entries =
            journal::read(&store.journal()).map_err(|error| Refusal::new(error.to_string()))?;
        let session = Session::fold(&entries).ok_or_else(|| {
            Refusal::new(format!("the session {} has no beginning", note.session))
        })?;
        let content = match argument.form {
            Form::Markdown => report::markdown(&session),
            Form::Html => report::html(&session),
            Form::PullRequest => {
                let (title, body) = report::pull_request(&session);
                format!("{title}\n\n{body}")
            }
        };
        Ok(Answer {
            session: Some(note.session.clone()),
            kernel: Some(note.kernel.to_string()),
            message: format!("report of the session {}", note.session),
            content: Some(content),
        })
    })
    .await
}
