//! `tileperf.perf.stop`: stops the session. A run that goes on is ended; its change stays in the files,
//! unmeasured. Ending a run is allowed where nothing may be started.

use tileperf_perf::flow;
use tileperf_perf::store::Store;
use tower_lsp::jsonrpc::Result;

use super::{Answer, Argument, Desk, Refusal, blocking, child, subject};

pub(super) async fn run(desk: Desk, argument: Argument) -> Result<Answer> {
    let found = desk.clone();
    let (subject, note) = blocking(move || {
        let note = subject::session(&found, &argument)?;
        if note.running {
            let store = Store::new(&note.root, &note.session);
            flow::ask_to_stop(&store).map_err(|error| Refusal::new(error.to_string()))?;
        } else {
            found.require_trust()?;
        }
        Ok((subject::find(&found, &argument)?, note))
    })
    .await?;
    let mut answer = Answer {
        session: Some(note.session.clone()),
        kernel: Some(note.kernel.to_string()),
        message: format!("the run of {} is being ended", note.kernel),
        content: None,
    };
    if desk.engine.is_trusted() {
        child::wait(&desk, &subject, "stop", Vec::new()).await?;
        answer.message = format!("the session of {} is stopped", note.kernel);
    }
    Ok(answer)
}
