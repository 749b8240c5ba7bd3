//! `tileperf.perf.finish`: the result goes to the branch that the session started from.

use tower_lsp::jsonrpc::Result;

use super::{Answer, Argument, Desk, blocking, child, subject};

pub(super) async fn run(desk: Desk, argument: Argument) -> Result<Answer> {
    desk.require_trust()?;
    let options = match argument.commits {
        true => vec!["--commits".into()],
        false => Vec::new(),
    };
    let found = desk.clone();
    let subject = blocking(move || {
        let subject = subject::find(&found, &argument)?;
        // Files are about to be exchanged under the editor.
        subject.expect_saved(&found)?;
        Ok(subject)
    })
    .await?;
    child::wait(&desk, &subject, "finish", options).await?;
    Ok(Answer {
        session: subject.alive().map(|note| note.session.clone()),
        message: format!("the session of {} is finished", subject.kernel),
        kernel: Some(subject.kernel),
        content: None,
    })
}
