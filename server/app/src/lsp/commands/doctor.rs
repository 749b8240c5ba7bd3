//! `tileperf.doctor`: what compiling and measuring needs, as `tileperf doctor` sees it in this
//! workspace with the settings in force.
//!
//! A child looks, since that loads the driver of the GPU. Nothing of the workspace is run, so it needs
//! no trust.

use std::fmt::Write;
use std::fs;

use serde::{Deserialize, Serialize};
use tileperf_proc::Ended;
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::MessageType;

use super::{Desk, Refusal, blocking, child};
use crate::dirs;

/// The command line's exit code for "something does not work".
const FOUND_PROBLEMS: i32 = 1;

/// A line of `tileperf doctor --format json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Check {
    name: String,
    status: Status,
    found: String,
    cure: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Ok,
    Note,
    Warning,
    Problem,
}

/// What a client gets: the checks, how many are bad, and all of them as Markdown.
#[derive(Debug, Serialize)]
pub(super) struct Findings {
    message: String,
    content: String,
    checks: Vec<Check>,
}

/// Looks.
pub(super) async fn run(desk: Desk) -> Result<Findings> {
    blocking(move || look(&desk)).await
}

/// Has the client open the text. For who has pressed a button and waits for no answer.
pub(super) fn show(desk: &Desk) {
    let found = match look(desk) {
        Ok(found) => found,
        Err(Refusal(why)) => return desk.tell(MessageType::ERROR, why),
    };
    if let Err(why) = open(desk, &found.content) {
        tracing::warn!("the doctor's text cannot be opened: {why:#}");
        desk.tell(MessageType::INFO, found.message);
    }
}

fn open(desk: &Desk, text: &str) -> anyhow::Result<()> {
    let file = dirs::state()?.join("doctor.md");
    fs::create_dir_all(file.parent().unwrap_or(&file))?;
    fs::write(&file, text)?;
    desk.open(&file)
}

fn look(desk: &Desk) -> std::result::Result<Findings, Refusal> {
    let doctor = child::for_workspace(desk, &["doctor", "--format", "json"]);
    let report =
        (doctor.timeout(child::PATIENCE).run()).map_err(|error| Refusal::new(error.to_string()))?;
    if let Some(why) = child::reason(&report) {
        return Err(Refusal(why));
    }
    if !matches!(
        report.ended,
        Ended::Exited {
            code: 0 | FOUND_PROBLEMS
        }
    ) {
        return Err(Refusal::new(format!("the doctor {}", report.ended)));
    }
    let lines = report.stdout.to_text();
    let checks: Vec<Check> = lines
        .lines()
        .map(serde_json::from_str)
        .collect::<serde_json::Result<_>>()
        .map_err(|error| Refusal::new(format!("the doctor is not understood: {error}")))?;
    Ok(Findings {
        message: summary(&checks),
        content: markdown(&checks),
        checks,
    })
}

/// `1 problem, 2 warnings`.
fn summary(checks: &[Check]) -> String {
    let counted =
        [(Status::Problem, "problem"), (Status::Warning, "warning")].map(|(status, word)| {
            match checks.iter().filter(|check| check.status == status).count() {
                0 => None,
                1 => Some(format!("1 {word}")),
                n => Some(format!("{n} {word}s")),
            }
        });
    let found: Vec<String> = counted.into_iter().flatten().collect();
    match found.as_slice() {
        [] => "everything that compiling needs is there and fits together".to_owned(),
        found => found.join(", "),
    }
}

/// All checks in their order, to be read as it is or rendered.
fn markdown(checks: &[Check]) -> String {
    let mut text = format!("# tileperf doctor\n\n{}\n\n", capitalised(&summary(checks)));
    for check in checks {
        let mark = match check.status {
            Status::Ok => "✓",
            Status::Note => "•",
            Status::Warning => "⚠",
            Status::Problem => "✗",
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "- {mark} {}: {}", check.name, check.found);
        if let Some(cure) = &check.cure {
            let _ = writeln!(text, "  - → {cure}");
        }
    }
    text
}

fn capitalised(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next().map(char::to_uppercase);
    first
        .into_iter()
        .flatten()
        .chain(letters)
        .chain(['.'])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_read_counted_and_written_with_their_cures() {
        let lines = r#"{"schema":"tileperf.doctor/1","name":"Python","status":"ok","found":"/usr/bin/python3 (PATH)","cure":null}
{"schema":"tileperf.doctor/1","name":"cuda-tile","status":"problem","found":"not installed","cure":"pip install it"}
{"schema":"tileperf.doctor/1","name":"GPU","status":"note","found":"no driver","cure":null}"#;
        let checks: Vec<Check> = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(summary(&checks), "1 problem");
        assert_eq!(
            markdown(&checks),
            "# tileperf doctor\n\n1 problem.\n\n- ✓ Python: /usr/bin/python3 (PATH)\n\
             - ✗ cuda-tile: not installed\n  - → pip install it\n- • GPU: no driver\n"
        );
        assert!(summary(&checks[..1]).starts_with("everything"));
    }
}
