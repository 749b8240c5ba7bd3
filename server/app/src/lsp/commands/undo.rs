//! `tileperf.perf.undo`: takes one kept iteration back, by a commit on top.

use tower_lsp::jsonrpc::Result;

use super::{Answer, Argument, Desk, blocking, child, subject};

pub(super) async fn run(desk: Desk, argument: Argument) -> Result<Answer> {
    desk.require_trust()?;
    let options = match argument.iteration {
        Some(iteration) => vec!["--iteration".into(), iteration.to_string().into()],
        None => Vec::new(),
    };
    let which = match argument.iteration {
        Some(iteration) => format!("iteration {iteration}"),
        None => "the last kept iteration".to_owned(),
    };
    let found = desk.clone();
    let subject = blocking(move || {
        let subject = subject::find(&found, &argument)?;
        // Files are about to be exchanged under the editor.
        subject.expect_saved(&found)?;
        Ok(subject)
    })
    .await?;
    child::wait(&desk, &subject, "undo", options).await?;
    Ok(Answer {
        session: subject.alive().map(|note| note.session.clone()),
        message: format!("{which} of {} is undone", subject.kernel),
        kernel: Some(subject.kernel),
        content: None,
    })
}
