//! `tileperf.signatures` and `tileperf.showSignature`: for which of its signatures a kernel's compiled
//! code is shown.
//!
//! The choice is the session's: it is not written anywhere. Nothing is started by asking; choosing has
//! the kernel compiled as an edit does.

use serde::Serialize;
use tileperf_engine::DocId;
use tower_lsp::jsonrpc::Result;

use super::{Answer, Argument, Desk, Refusal, blocking};
use crate::lsp::convert;

/// What a client gets to let its user choose.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Choices {
    kernel: String,
    ordinal: u32,
    signatures: Vec<Choice>,
}

/// A signature of the kernel, the best first.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Choice {
    number: usize,
    signature: String,
    /// Where it comes from, in words.
    origin: String,
    /// What is assumed of its arrays; tells signatures apart that look alike.
    assumed: String,
    shown: bool,
}

/// The signatures of the kernel at the position.
pub(super) async fn list(desk: Desk, argument: Argument) -> Result<Choices> {
    blocking(move || {
        let doc = document(&argument)?;
        let nothing = || Refusal::new("there is no kernel here that was compiled");
        let (Some(position), Some(convert), Some((_, text))) =
            (argument.position, &desk.convert, desk.engine.text(&doc))
        else {
            return Err(nothing());
        };
        let offset = convert.offset(&text, position);
        let known = desk.engine.signatures_at(&doc, offset);
        let known = known.ok_or_else(nothing)?;
        let choices = known.all.into_iter().map(|one| Choice {
            number: one.number,
            signature: one.signature,
            origin: one.origin,
            assumed: one.assumed,
            shown: one.shown,
        });
        Ok(Choices {
            kernel: known.kernel.to_string(),
            ordinal: known.ordinal,
            signatures: choices.collect(),
        })
    })
    .await
}

/// Shows another one.
pub(super) async fn show(desk: Desk, argument: Argument) -> Result<Answer> {
    blocking(move || {
        desk.require_trust()?;
        let doc = document(&argument)?;
        let (Some(kernel), Some(signature)) = (&argument.kernel, &argument.signature) else {
            return Err(Refusal::new("which signature of which kernel?"));
        };
        let which = (kernel.as_str(), argument.ordinal);
        let chosen = (desk.engine).choose_signature(&doc, which, argument.number, signature);
        chosen.map_err(Refusal::new)?;
        Ok(Answer {
            kernel: Some(kernel.clone()),
            message: format!("{kernel} is compiled for {signature}"),
            ..Answer::default()
        })
    })
    .await
}

fn document(argument: &Argument) -> std::result::Result<DocId, Refusal> {
    let doc = argument.uri.as_ref().and_then(convert::document_id);
    doc.ok_or_else(|| Refusal::new("in which file?"))
}
