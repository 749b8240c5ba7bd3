//! `tileperf.perf.apply`, "Apply and run perf iteration": tries a change of the playbook, and keeps or
//! reverts it by rule. The file is as it is until the change is kept.

use tileperf_analysis::playbook::Optimization;
use tower_lsp::jsonrpc::Result;

use super::{Answer, Argument, Desk, Refusal, blocking, child, setup, subject};

pub(super) async fn run(desk: Desk, argument: Argument) -> Result<Answer> {
    blocking(move || start(&desk, &argument)).await
}

fn start(desk: &Desk, argument: &Argument) -> std::result::Result<Answer, Refusal> {
    desk.require_trust()?;
    let named = argument.optimization.as_deref();
    let Some(optimization) = named.and_then(Optimization::named) else {
        return Err(Refusal::new(
            "which optimization? The code actions on a kernel list what there is for it",
        ));
    };
    let subject = subject::find(desk, argument)?;
    subject.expect_saved(desk)?;
    subject.expect_idle(desk, argument.device.as_deref())?;
    subject.expect_going()?;
    let kernel = subject.kernel.clone();
    let alive = subject.alive();
    if alive.is_some_and(|note| note.has_baseline && !desk.engine.is_as_kept(note)) {
        return Err(Refusal::new(format!(
            "{kernel} has a change that was not tried, and one at a time is: run it, or take it back"
        )));
    }
    let mut options = setup::wishes(argument);
    let mut what = optimization.id.to_owned();
    if let Some(variant) = &argument.variant {
        options.push(format!("--variant={variant}").into());
        what = format!("{what} {variant}");
    }
    let message = match alive {
        Some(note) if note.has_baseline => {
            let next = note.iterations + 1;
            format!("iteration {next} of {kernel} starts, with {what}")
        }
        Some(_) => format!("iteration 0 of {kernel} starts, then {what}"),
        None => format!("a session for {kernel} starts, with iteration 0 first, then {what}"),
    };
    child::start(desk, &subject, &["apply", optimization.id], options)?;
    Ok(Answer {
        session: alive.map(|note| note.session.clone()),
        message,
        kernel: Some(kernel),
        ..Answer::default()
    })
}
