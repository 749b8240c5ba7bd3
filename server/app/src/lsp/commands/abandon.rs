//! `tileperf.perf.abandon`: gives the session up. Branch and files are as they were before it.

use tower_lsp::jsonrpc::Result;

use super::{Answer, Argument, Desk, blocking, child, subject};

pub(super) async fn run(desk: Desk, argument: Argument) -> Result<Answer> {
    desk.require_trust()?;
    let found = desk.clone();
    let subject = blocking(move || {
        let subject = subject::find(&found, &argument)?;
        // Files are about to be exchanged under the editor.
        subject.expect_saved(&found)?;
        Ok(subject)
    })
    .await?;
    child::wait(&desk, &subject, "abandon", Vec::new()).await?;
    Ok(Answer {
        session: subject.alive().map(|note| note.session.clone()),
        message: format!(
            "the session of {} is given up: the files are as they were before it",
            subject.kernel
        ),
        kernel: Some(subject.kernel),
        content: None,
    })
}
