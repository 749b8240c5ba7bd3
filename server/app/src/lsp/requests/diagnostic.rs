//! `textDocument/diagnostic`: diagnostics for a client that asks for them.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{
    DocumentDiagnosticParams, DocumentDiagnosticReport, DocumentDiagnosticReportResult,
    RelatedFullDocumentDiagnosticReport,
};

use crate::lsp::server::Server;

/// The full list of a document's diagnostics: as long as there are no rules, an empty one, for the
/// analysis of the present text like a pushed one.
pub(in crate::lsp) async fn handle(
    server: &Server,
    params: DocumentDiagnosticParams,
) -> Result<DocumentDiagnosticReportResult> {
    server
        .about(
            &params.text_document.uri,
            |_| true,
            |about| about.engine.analyzed(&about.id),
        )
        .await?;
    let report = RelatedFullDocumentDiagnosticReport::default();
    Ok(DocumentDiagnosticReportResult::Report(
        DocumentDiagnosticReport::Full(report),
    ))
}
