//! `textDocument/diagnostic`: diagnostics for a client that asks for them.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{
    DocumentDiagnosticParams, DocumentDiagnosticReport, DocumentDiagnosticReportResult,
    FullDocumentDiagnosticReport, RelatedFullDocumentDiagnosticReport,
};

use crate::lsp::server::Server;
use crate::lsp::{convert, diagnostics, idle};

/// The full list of a document's diagnostics, for the analysis of the present text like a pushed one.
pub(in crate::lsp) async fn handle(
    server: &Server,
    params: DocumentDiagnosticParams,
) -> Result<DocumentDiagnosticReportResult> {
    let found = server
        .about(
            &params.text_document.uri,
            |_| true,
            |about| diagnostics::of(&about.engine, &about.convert, &about.id).diagnostics,
        )
        .await?;
    if let (Some(id), Some(refresh)) = (
        convert::document_id(&params.text_document.uri),
        server.refresh.get().cloned(),
    ) {
        idle::check_links(server.engine.clone(), id, move |_| refresh.diagnostics());
    }
    let report = RelatedFullDocumentDiagnosticReport {
        full_document_diagnostic_report: FullDocumentDiagnosticReport {
            items: found.unwrap_or_default(),
            ..FullDocumentDiagnosticReport::default()
        },
        ..RelatedFullDocumentDiagnosticReport::default()
    };
    Ok(DocumentDiagnosticReportResult::Report(
        DocumentDiagnosticReport::Full(report),
    ))
}
