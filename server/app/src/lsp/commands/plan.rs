//! `tileperf.perf.plan`, "Write a plan for this kernel": what is worth trying on it, as a file that is
//! then opened. Starts nothing.

use tileperf_engine::DocId;
use tower_lsp::jsonrpc::Result;

use super::{Answer, Argument, Desk, Refusal, blocking, subject};

pub(super) async fn run(desk: Desk, argument: Argument) -> Result<Answer> {
    blocking(move || write(&desk, &argument)).await
}

fn write(desk: &Desk, argument: &Argument) -> std::result::Result<Answer, Refusal> {
    let subject = subject::find(desk, argument)?;
    let doc = DocId::file(&subject.file);
    let kernel = desk.engine.actions_of_kernel(&doc, &subject.kernel);
    let kernel = kernel
        .ok_or_else(|| Refusal::new(format!("there is no kernel {} any more", subject.kernel)))?;
    let written = desk.engine.write_plan(&kernel, None);
    let (path, plan) = written.map_err(|why| {
        Refusal::new(format!(
            "no plan of {} can be written: {why}",
            subject.kernel
        ))
    })?;
    if let Err(why) = desk.open(&path) {
        tracing::info!("the plan is written and not opened: {why:#}");
    }
    let inside = path.strip_prefix(&plan.root).unwrap_or(&path);
    Ok(Answer {
        kernel: Some(subject.kernel),
        message: format!("{} things to try are in {}", plan.items, inside.display()),
        content: None,
        session: None,
    })
}
