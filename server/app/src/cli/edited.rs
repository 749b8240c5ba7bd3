//! Putting an edited text in the place of a file, or showing what that would change.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use similar::TextDiff;

use super::paths::Found;

/// Prints what has changed as a unified diff; nothing if nothing has.
pub(super) fn diff(out: &mut dyn Write, path: &Path, before: &str, after: &str) -> io::Result<()> {
    if before == after {
        return Ok(());
    }
    let name = path.to_string_lossy();
    let diff = TextDiff::from_lines(before, after);
    let unified = diff.unified_diff().header(&name, &name).to_string();
    out.write_all(unified.as_bytes())
}

/// Puts an edited text in the file's place in one step, so that a full disk or a killed process
/// loses nothing; not if the file has changed since it was read.
pub(super) fn save(file: &Found, before: &str, after: &str) -> anyhow::Result<()> {
    let Some(path) = file.doc.path() else {
        return Ok(());
    };
    let shown = file.shown.display();
    let now = fs::read(&path).with_context(|| format!("cannot read {shown}"))?;
    anyhow::ensure!(
        now == before.as_bytes(),
        "{shown} is not UTF-8 or has changed meanwhile: it was left alone"
    );
    // Through a link: what it leads to is replaced.
    let target = path
        .canonicalize()
        .with_context(|| format!("cannot read {shown}"))?;
    let folder = target.parent().context("a file without a folder")?;
    let permissions = fs::metadata(&target)?.permissions();
    let mut new = tempfile::NamedTempFile::new_in(folder)
        .with_context(|| format!("cannot write beside {shown}"))?;
    new.write_all(after.as_bytes())
        .and_then(|()| new.as_file().set_permissions(permissions))
        .and_then(|()| new.as_file().sync_all())
        .with_context(|| format!("cannot write {shown}"))?;
    new.persist(&target)
        .with_context(|| format!("cannot write {shown}"))?;
    Ok(())
}
