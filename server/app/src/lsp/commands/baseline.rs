//! `tileperf.perf.baseline`: tests and times the code as it is, and against itself.

use tower_lsp::jsonrpc::Result;

use super::{Answer, Argument, Desk, Refusal, blocking, child, subject};

pub(super) async fn run(desk: Desk, argument: Argument) -> Result<Answer> {
    blocking(move || start(&desk, &argument)).await
}

fn start(desk: &Desk, argument: &Argument) -> std::result::Result<Answer, Refusal> {
    desk.require_trust()?;
    let subject = subject::find(desk, argument)?;
    subject.expect_saved(desk)?;
    subject.expect_idle(desk, argument.device.as_deref())?;
    child::start(desk, &subject, &["baseline"], Vec::new())?;
    Ok(Answer {
        session: subject.alive().map(|note| note.session.clone()),
        message: format!("iteration 0 of {} starts", subject.kernel),
        kernel: Some(subject.kernel),
        content: None,
    })
}
