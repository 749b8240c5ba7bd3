//! `tileperf.perf.attach`: shows a run again that another process makes, or whose progress the user
//! has put away. Runs are followed anyway; ending them is `tileperf.perf.stop`.

use tower_lsp::jsonrpc::Result;

use super::{Answer, Argument, Desk, Refusal, blocking, subject};

pub(super) async fn run(desk: Desk, argument: Argument) -> Result<Answer> {
    let found = desk.clone();
    let note = blocking(move || {
        let note = subject::session(&found, &argument)?;
        match note.running {
            true => Ok(note),
            false => Err(Refusal::new(format!("no run of {} goes on", note.kernel))),
        }
    })
    .await?;
    desk.progress.show_again(&note);
    Ok(Answer {
        session: Some(note.session.clone()),
        kernel: Some(note.kernel.to_string()),
        message: match &note.run {
            Some(run) => run.sentence.clone(),
            None => format!("a run of {} begins", note.kernel),
        },
        content: None,
    })
}
