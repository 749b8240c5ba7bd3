//! `tileperf gpu-probe`: what the driver says of this machine's GPUs, for another tileperf that must not
//! ask itself.

use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::json;

/// Runs `tileperf gpu-probe`: one JSON object a fit device, in CUDA's order.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    let gpus = match tileperf_gpu::devices() {
        Ok(gpus) => gpus,
        Err(none) => {
            tracing::debug!("{}", none.explained());
            return Ok(ExitCode::SUCCESS);
        }
    };
    let mut out = io::stdout().lock();
    for gpu in gpus.iter().filter(|gpu| gpu.unfit().is_none()) {
        let line = json!({"schema": "tileperf.gpu-probe/1", "name": gpu.name, "arch": gpu.arch});
        writeln!(out, "{line}")?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
