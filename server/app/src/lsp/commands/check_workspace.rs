//! `tileperf.checkWorkspace`: diagnostics for every file of the workspace, not only for open ones.

use tower_lsp::jsonrpc::Result;

use super::{Answer, Desk, blocking};

/// Checks every file and has what is wrong shown. From now on files that are not open have
/// diagnostics, too.
pub(super) async fn run(desk: Desk) -> Result<Answer> {
    blocking(move || {
        let files = desk.engine.check_workspace();
        match (&desk.publisher, &desk.convert) {
            (Some(publisher), Some(convert)) => {
                for doc in &files {
                    if let Some(uri) = convert.uri(doc) {
                        publisher.mark(doc.clone(), uri, convert.clone());
                    }
                }
            }
            _ => {
                desk.news.send_replace(());
            }
        }
        let message = match files.len() {
            0 => "nothing is wrong in the workspace".to_owned(),
            1 => "something was found in 1 file".to_owned(),
            n => format!("something was found in {n} files"),
        };
        Ok(Answer {
            message,
            ..Answer::default()
        })
    })
    .await
}
