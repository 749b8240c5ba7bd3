//! `tileperf/serverInfo`: what "Show Server Info" shows.

use serde::{Deserialize, Serialize};
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::PositionEncodingKind;

use crate::lsp::{Server, convert};

/// The request has no parameters; what a client sends there is not looked at.
#[derive(Debug, Deserialize)]
pub(in crate::lsp) struct NoParams {}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct ServerInfo {
    version: &'static str,
    pid: u32,
    encoding: Option<PositionEncodingKind>,
}

/// The state of this server.
pub(in crate::lsp) async fn handle(server: &Server, _: NoParams) -> Result<ServerInfo> {
    Ok(ServerInfo {
        version: env!("CARGO_PKG_VERSION"),
        pid: std::process::id(),
        encoding: server
            .session()
            .map(|session| convert::encoding_kind(session.encoding)),
    })
}
