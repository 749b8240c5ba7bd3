//! `workspace/diagnostic`: diagnostics of files that are not open, for a client that asks for them.
//!
//! A test that fails in a run stands in a file that is seldom open, and should be in the list of problems
//! all the same. Clients ask again as soon as they are answered; so an answer without news waits for
//! some, for a while.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use tileperf_engine::{DocId, Engine};
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{
    FullDocumentDiagnosticReport, UnchangedDocumentDiagnosticReport, Uri,
    WorkspaceDiagnosticParams, WorkspaceDiagnosticReport, WorkspaceDiagnosticReportResult,
    WorkspaceDocumentDiagnosticReport, WorkspaceFullDocumentDiagnosticReport,
    WorkspaceUnchangedDocumentDiagnosticReport,
};

use crate::lsp::convert::Converter;
use crate::lsp::server::Server;
use crate::lsp::{diagnostics, pool};

/// How long an answer without news is held back.
const PATIENCE: Duration = Duration::from_secs(30);

/// What the client knows: result ids by document.
type Known = BTreeMap<String, (Uri, String)>;

/// What has changed in the documents that something is wrong in, once it has.
pub(in crate::lsp) async fn handle(
    server: &Server,
    params: WorkspaceDiagnosticParams,
) -> Result<WorkspaceDiagnosticReportResult> {
    let mut news = server.failing.subscribe();
    let Some(convert) = server.converter() else {
        return Ok(WorkspaceDiagnosticReport::default().into());
    };
    let engine = server.engine.clone();
    let known: Known = (params.previous_result_ids.into_iter())
        .map(|id| (id.uri.as_str().to_owned(), (id.uri, id.value)))
        .collect();
    let mut items = look(&engine, &convert, &known).await?;
    if items.iter().all(is_old) {
        let _ = tokio::time::timeout(PATIENCE, news.changed()).await;
        items = look(&engine, &convert, &known).await?;
    }
    Ok(WorkspaceDiagnosticReport { items }.into())
}

fn is_old(item: &WorkspaceDocumentDiagnosticReport) -> bool {
    matches!(item, WorkspaceDocumentDiagnosticReport::Unchanged(_))
}

async fn look(
    engine: &Engine,
    convert: &Converter,
    known: &Known,
) -> Result<Vec<WorkspaceDocumentDiagnosticReport>> {
    let (engine, convert, known) = (engine.clone(), convert.clone(), known.clone());
    pool::run(move || {
        let mut found = engine.failing_documents();
        if engine.is_workspace_checked() {
            found.extend(engine.files_to_check());
            found.sort();
            found.dedup();
        }
        let mut reports: Vec<_> = (found.into_iter())
            .filter_map(|doc| report(&engine, &convert, &known, &doc))
            .collect();
        let is_told = |uri: &Uri| reports.iter().any(|(told, _)| told == uri);
        let gone: Vec<_> = (known.values())
            .filter(|(uri, _)| !is_told(uri))
            .map(|(uri, _)| (uri.clone(), full(uri.clone(), None, None, Vec::new())))
            .collect();
        reports.extend(gone);
        reports.into_iter().map(|(_, report)| report).collect()
    })
    .await
}

fn report(
    engine: &Engine,
    convert: &Converter,
    known: &Known,
    doc: &DocId,
) -> Option<(Uri, WorkspaceDocumentDiagnosticReport)> {
    let uri = convert.uri(doc)?;
    let version = engine.text(doc).map(|(version, _)| i64::from(version));
    let items = diagnostics::of(engine, convert, doc).diagnostics;
    let mut hasher = DefaultHasher::new();
    (version, serde_json::to_string(&items).ok()?).hash(&mut hasher);
    let id = format!("{:016x}", hasher.finish());
    let report = match known.get(uri.as_str()) {
        Some((_, old)) if *old == id => WorkspaceUnchangedDocumentDiagnosticReport {
            uri: uri.clone(),
            version,
            unchanged_document_diagnostic_report: UnchangedDocumentDiagnosticReport {
                result_id: id,
            },
        }
        .into(),
        _ => full(uri.clone(), version, Some(id), items),
    };
    Some((uri, report))
}

fn full(
    uri: Uri,
    version: Option<i64>,
    result_id: Option<String>,
    items: Vec<tower_lsp::ls_types::Diagnostic>,
) -> WorkspaceDocumentDiagnosticReport {
    WorkspaceFullDocumentDiagnosticReport {
        uri,
        version,
        full_document_diagnostic_report: FullDocumentDiagnosticReport { result_id, items },
    }
    .into()
}
