//! `tileperf check --compile`: findings held against compiled code, as in the editor.

use std::io::{self, Write};

use anyhow::{anyhow, bail};
use tileperf_proc::CancelToken;

use super::finding::Checked;
use super::{Files, Found};
use crate::cli::trust::require_trust;
use crate::cli::workspace;
use crate::dirs;

/// Allows compiling for all projects of the files.
///
/// # Errors
/// One of them is not trusted.
pub(super) fn prepare(trust: bool, files: &Files) -> anyhow::Result<()> {
    let cache = dirs::cache()?;
    for file in &files.found {
        let engine = &file.engine;
        if trust {
            engine.set_trusted(true);
        } else if !engine.is_trusted() {
            let Some(path) = file.doc.path() else {
                bail!("{} belongs to no project", file.shown.display());
            };
            require_trust(engine, &workspace::root_of(&path))?;
        }
        engine.keep_compiled_in(cache.clone());
    }
    Ok(())
}

/// What is wrong in a file; nothing if it is nothing. What could not be compiled is said.
///
/// # Errors
/// Nothing can be compiled.
pub(super) fn check(file: &Found) -> anyhow::Result<Option<Checked>> {
    let judged = (file.engine).check_compiled(&file.doc, &CancelToken::new());
    let Some(judged) = judged.map_err(|why| anyhow!(why))? else {
        tracing::error!("cannot read {}", file.shown.display());
        return Ok(None);
    };
    for (kernel, why) in &judged.unknown {
        let shown = file.shown.display();
        writeln!(
            io::stderr(),
            "tileperf: {shown}: {kernel} is not compiled: {why}"
        )?;
    }
    Ok(Checked::found(file, judged.checked))
}
