//! `tileperf.perf.setup`: starts a session, on a git branch of its own. Measures nothing yet.

use std::ffi::OsString;

use serde_json::Value;
use tower_lsp::jsonrpc::Result;

use super::{Answer, Argument, Desk, Refusal, blocking, child, subject};

pub(super) async fn run(desk: Desk, argument: Argument) -> Result<Answer> {
    desk.require_trust()?;
    let (found, wanted) = (desk.clone(), argument.clone());
    let subject = blocking(move || {
        let subject = subject::find(&found, &wanted)?;
        match subject.alive() {
            Some(note) => Err(Refusal::new(format!(
                "{} has the session {}; finish or abandon it to start another",
                subject.kernel, note.session
            ))),
            None => Ok(subject),
        }
    })
    .await?;
    let fixed = ["--trust", "--yes", "--format", "json"];
    let mut options: Vec<OsString> = fixed.iter().map(OsString::from).collect();
    options.extend(wishes(&argument));
    let said = child::wait(&desk, &subject, "setup", options).await?;
    let event: Value = (said.lines().find(|line| line.contains("\"set_up\"")))
        .and_then(|line| serde_json::from_str(line).ok())
        .unwrap_or_default();
    let session = event["session"].as_str().map(str::to_owned);
    let branch = event["git"]["session_branch"].as_str();
    Ok(Answer {
        message: match branch {
            Some(branch) => format!(
                "a session for {} is set up on the branch {branch}",
                subject.kernel
            ),
            None => format!("a session for {} is set up", subject.kernel),
        },
        session,
        kernel: Some(subject.kernel),
        content: None,
    })
}

/// What a session is for, as arguments.
pub(super) fn wishes(argument: &Argument) -> Vec<OsString> {
    let mut out = Vec::new();
    if let Some(goal) = &argument.goal {
        out.extend(["--goal".into(), goal.into()]);
    }
    if let Some(device) = &argument.device {
        out.extend(["--device".into(), device.into()]);
    }
    if argument.go_on {
        out.push("--go-on".into());
    }
    if argument.fix {
        out.push("--fix".into());
    }
    out
}
