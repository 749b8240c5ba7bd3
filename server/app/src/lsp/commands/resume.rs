//! `tileperf.perf.resume`: goes on with a stopped session, after finishing or undoing what a killed run
//! left.

use tower_lsp::jsonrpc::Result;

use super::{Answer, Argument, Desk, blocking, child, subject};

pub(super) async fn run(desk: Desk, argument: Argument) -> Result<Answer> {
    desk.require_trust()?;
    let options = match argument.go_on {
        true => vec!["--go-on".into()],
        false => Vec::new(),
    };
    let found = desk.clone();
    let subject = blocking(move || subject::find(&found, &argument)).await?;
    child::wait(&desk, &subject, "resume", options).await?;
    Ok(Answer {
        session: subject.alive().map(|note| note.session.clone()),
        message: format!("the session of {} goes on", subject.kernel),
        kernel: Some(subject.kernel),
        content: None,
    })
}
