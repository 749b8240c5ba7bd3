//! Putting an edited text in the place of a file, or showing what that would change.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use similar::TextDiff;
use tempfile::NamedTempFile;

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

/// A file with an edited text.
#[derive(Debug)]
pub(super) struct Edited {
    pub(super) path: PathBuf,
    /// Its name as the user sees it.
    pub(super) shown: PathBuf,
    /// What it was edited from.
    pub(super) before: String,
    pub(super) after: String,
}

/// Puts an edited text in the file's place, as [`save_all`] does.
pub(super) fn save(file: &Found, before: &str, after: &str) -> anyhow::Result<()> {
    let Some(path) = file.doc.path() else {
        return Ok(());
    };
    save_all(&[Edited {
        path,
        shown: file.shown.clone(),
        before: before.to_owned(),
        after: after.to_owned(),
    }])
}

/// Puts edited texts in the files' places, each in one step, so that a full disk or a killed process
/// loses nothing; not if one of the files has changed since it was read. Where one cannot be put there,
/// those before it get their old text back.
pub(super) fn save_all(files: &[Edited]) -> anyhow::Result<()> {
    put(ready(files)?)
}

/// A file's new text beside it.
struct Ready<'e> {
    file: &'e Edited,
    new: NamedTempFile,
    /// Its old text, where another file may still fail.
    old: Option<NamedTempFile>,
    target: PathBuf,
}

/// All that needs room on the disk comes before the first file is another.
fn ready(files: &[Edited]) -> anyhow::Result<Vec<Ready<'_>>> {
    let several = files.len() > 1;
    let one = |file| -> anyhow::Result<Ready<'_>> {
        let target = unchanged(file)?;
        let old = several.then(|| beside(&target, file, &file.before));
        Ok(Ready {
            file,
            new: beside(&target, file, &file.after)?,
            old: old.transpose()?,
            target,
        })
    };
    files.iter().map(one).collect()
}

/// Puts all in their places, or none.
fn put(ready: Vec<Ready<'_>>) -> anyhow::Result<()> {
    let mut done = Vec::new();
    for Ready {
        file,
        new,
        old,
        target,
    } in ready
    {
        let shown = file.shown.display();
        let Err(error) = new.persist(&target) else {
            done.push((shown, old, target));
            continue;
        };
        let mut why = format!("cannot write {shown}");
        for (shown, old, target) in done {
            if old.is_some_and(|old| old.persist(&target).is_err()) {
                why.push_str(&format!("; {shown} stays changed"));
            }
        }
        // With the error itself the new file would stay.
        return Err(anyhow::Error::from(error.error).context(why));
    }
    Ok(())
}

/// Where a file really is, if it still has the text that was edited.
fn unchanged(file: &Edited) -> anyhow::Result<PathBuf> {
    let shown = file.shown.display();
    let now = fs::read(&file.path).with_context(|| format!("cannot read {shown}"))?;
    anyhow::ensure!(
        now == file.before.as_bytes(),
        "{shown} is not UTF-8 or has changed meanwhile: it was left alone"
    );
    // Through a link: what it leads to is replaced.
    (file.path.canonicalize()).with_context(|| format!("cannot read {shown}"))
}

/// A text in a file that can take another's place.
fn beside(target: &Path, file: &Edited, text: &str) -> anyhow::Result<NamedTempFile> {
    let shown = file.shown.display();
    let folder = target.parent().context("a file without a folder")?;
    let permissions = fs::metadata(target)?.permissions();
    let mut new =
        NamedTempFile::new_in(folder).with_context(|| format!("cannot write beside {shown}"))?;
    new.write_all(text.as_bytes())
        .and_then(|()| new.as_file().set_permissions(permissions))
        .and_then(|()| new.as_file().sync_all())
        .with_context(|| format!("cannot write {shown}"))?;
    Ok(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(folder: &Path, name: &str, before: &str) -> Edited {
        Edited {
            path: folder.join(name),
            shown: name.into(),
            before: before.to_owned(),
            after: format!("{before}# more\n"),
        }
    }

    #[test]
    fn all_files_get_their_texts_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let read = |name: &str| fs::read_to_string(at(name)).unwrap();
        for name in ["a.py", "b.py"] {
            fs::write(at(name), "x = 1\n").unwrap();
        }
        let files = ["a.py", "b.py"].map(|name| edited(folder.path(), name, "x = 1\n"));
        save_all(&files).unwrap();
        assert_eq!(read("a.py"), "x = 1\n# more\n");
        assert_eq!(read("b.py"), "x = 1\n# more\n");
        // The second has another text by now.
        let files = ["x = 1\n# more\n", "x = 1\n"];
        let files = (["a.py", "b.py"].into_iter().zip(files))
            .map(|(name, before)| edited(folder.path(), name, before));
        let error = save_all(&files.collect::<Vec<_>>()).unwrap_err();
        assert!(error.to_string().starts_with("b.py"), "{error}");
        assert_eq!(read("a.py"), "x = 1\n# more\n");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_was_put_there_is_taken_back() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["a.py", "b.py", "c.py"] {
            fs::write(at(name), "x = 1\n").unwrap();
        }
        let files = ["a.py", "b.py", "c.py"].map(|name| edited(folder.path(), name, "x = 1\n"));
        let ready = ready(&files).unwrap();
        // A folder that is not empty cannot be replaced.
        fs::remove_file(at("c.py")).unwrap();
        fs::create_dir(at("c.py")).unwrap();
        fs::write(at("c.py").join("x"), "").unwrap();
        let error = put(ready).unwrap_err();
        assert_eq!(error.to_string(), "cannot write c.py");
        for name in ["a.py", "b.py"] {
            assert_eq!(fs::read_to_string(at(name)).unwrap(), "x = 1\n");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }
}
