//! `tileperf.checkWorkspace`: diagnostics for every file of the workspace, not only for open ones.

use tileperf_engine::CheckedWorkspace;
use tower_lsp::jsonrpc::Result;

use super::{Answer, Desk, blocking};

/// Checks every file and has what is wrong shown. From now on files that are not open have
/// diagnostics, too.
pub(super) async fn run(desk: Desk) -> Result<Answer> {
    blocking(move || {
        let checked = desk.engine.check_workspace();
        match (&desk.publisher, &desk.convert) {
            (Some(publisher), Some(convert)) => {
                for doc in &checked.files {
                    if let Some(uri) = convert.uri(doc) {
                        publisher.mark(doc.clone(), uri, convert.clone());
                    }
                }
            }
            _ => {
                desk.news.send_replace(());
            }
        }
        let message = words(&checked);
        Ok(Answer {
            message,
            ..Answer::default()
        })
    })
    .await
}

/// `1 error, 2 hints in 3 files`.
fn words(checked: &CheckedWorkspace) -> String {
    let counted = |count: usize, word: &str| match count {
        1 => format!("1 {word}"),
        n => format!("{n} {word}s"),
    };
    let counts = [
        (checked.errors, "error"),
        (checked.warnings, "warning"),
        (checked.hints, "hint"),
    ];
    let found: Vec<String> = (counts.into_iter())
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| counted(count, word))
        .collect();
    match found.as_slice() {
        [] => "nothing is wrong in the workspace".to_owned(),
        found => format!(
            "{} in {}",
            found.join(", "),
            counted(checked.files.len(), "file")
        ),
    }
}
