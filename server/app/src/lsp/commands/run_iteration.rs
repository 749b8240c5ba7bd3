//! `tileperf.runPerfIteration`, "Run perf iteration": tests and times the change that is saved, and
//! keeps or reverts it by rule. Starts the session and measures iteration 0 first where that was not
//! done.

use tower_lsp::jsonrpc::Result;

use super::{Answer, Argument, Desk, Refusal, blocking, child, setup, subject};

pub(super) async fn run(desk: Desk, argument: Argument) -> Result<Answer> {
    blocking(move || start(&desk, &argument)).await
}

fn start(desk: &Desk, argument: &Argument) -> std::result::Result<Answer, Refusal> {
    desk.require_trust()?;
    let subject = subject::find(desk, argument)?;
    subject.expect_saved(desk)?;
    subject.expect_idle(desk, argument.device.as_deref())?;
    subject.expect_going()?;
    let kernel = subject.kernel.clone();
    let mut answer = Answer {
        session: subject.alive().map(|note| note.session.clone()),
        kernel: Some(kernel.clone()),
        ..Answer::default()
    };
    answer.message = match subject.alive() {
        Some(note) => {
            if desk.engine.is_as_kept(note) {
                answer.message = format!(
                    "nothing to try: {kernel} is as in the last kept iteration; change it, save, and \
                     run this again"
                );
                return Ok(answer);
            }
            match note.has_baseline {
                true => format!("iteration {} of {kernel} starts", note.iterations + 1),
                false => format!("iteration 0 of {kernel} starts, then the change"),
            }
        }
        None => format!("a session for {kernel} starts, with iteration 0 first"),
    };
    let mut options = setup::wishes(argument);
    if let Some(name) = &argument.name {
        options.extend(["--name".into(), name.into()]);
    }
    child::start(desk, &subject, &["iterate"], options)?;
    Ok(answer)
}
