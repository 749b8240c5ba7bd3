//! `tileperf/serverInfo`: what "Show Server Info" shows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tileperf_engine::State;
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::PositionEncodingKind;

use crate::lsp::convert;
use crate::lsp::server::Server;

/// The request has no parameters; what a client sends there is not looked at.
#[derive(Debug, Deserialize)]
pub(in crate::lsp) struct NoParams {}

/// The state of the server.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct ServerInfo {
    version: &'static str,
    pid: u32,
    encoding: Option<PositionEncodingKind>,
    /// Python files that mention cuTile.
    files: usize,
    kernels: usize,
    /// Of the last full index; null before the first.
    index_seconds: Option<f64>,
    /// What kernels are compiled with, or why they are not; null before the first.
    compiler: Option<String>,
    /// What is being compiled.
    compiling: Vec<String>,
    settings: BTreeMap<&'static str, Setting>,
    /// What is wrong in the settings, one sentence each.
    problems: Vec<String>,
}

/// A setting in force.
#[derive(Debug, Serialize)]
struct Setting {
    /// As TOML.
    value: String,
    /// Which layer it comes from.
    origin: String,
}

/// The state of this server. Answered without waiting for anything, an index under way included.
pub(in crate::lsp) async fn handle(server: &Server, _: NoParams) -> Result<ServerInfo> {
    let status = server.engine.status();
    let compile = server.engine.compile_state();
    let setting = |row: tileperf_engine::settings::Row| {
        (
            row.key,
            Setting {
                value: row.value,
                origin: row.origin.to_string(),
            },
        )
    };
    Ok(ServerInfo {
        version: env!("CARGO_PKG_VERSION"),
        pid: std::process::id(),
        encoding: server
            .session()
            .map(|session| convert::encoding_kind(session.encoding)),
        files: status.files,
        kernels: status.kernels,
        index_seconds: (status.state == State::Ready).then_some(status.index_seconds),
        compiler: compile
            .toolchain
            .map(|known| known.unwrap_or_else(|why| why)),
        compiling: compile.running,
        settings: server
            .engine
            .settings()
            .rows()
            .into_iter()
            .map(setting)
            .collect(),
        problems: server
            .engine
            .settings_problems()
            .into_iter()
            .map(|p| p.message)
            .collect(),
    })
}
