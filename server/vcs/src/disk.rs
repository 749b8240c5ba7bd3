//! Files are changed atomically, and only if they still are what they were thought to be.
//!
//! A new content is written to another file of the same folder, flushed to the disk and renamed into
//! place, so that a reader or a crash finds the old bytes or the new ones and nothing between. Just
//! before the rename the present content is compared with what the caller expected: somebody may
//! have typed on. Permissions are kept, except for the executable bit that the caller names. Symbolic
//! links are never followed and never replaced.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, ErrorKind, Write};
use std::path::{Component, Path, PathBuf};

use crate::error::Error;
use crate::version::{Content, Difference, Swap};

const FOLDER: &str = "a folder";

/// Whether the executable bit on the disk means anything (`core.fileMode`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Modes {
    Trusted,
    Ignored,
}

impl Modes {
    /// Whether both are the same file, as far as this file system can tell.
    fn same(self, a: Option<&Content>, b: Option<&Content>) -> bool {
        match (a, b) {
            (None, None) => true,
            (Some(a), Some(b)) => {
                let mode = self == Self::Ignored || !cfg!(unix) || a.executable == b.executable;
                mode && a.bytes == b.bytes
            }
            _ => false,
        }
    }
}

/// The file `path` as it is; `None` if there is none.
///
/// # Errors
/// [`Error::NotAFile`] for a folder, a symbolic link or a device; [`Error::Io`].
pub fn read_file(path: &Path) -> Result<Option<Content>, Error> {
    let failed = |error| Error::io("cannot read", path, &error);
    let Some(metadata) = metadata_of(path).map_err(failed)? else {
        return Ok(None);
    };
    if let Some(what) = what_else(&metadata) {
        return Err(Error::NotAFile {
            path: path.to_owned(),
            what,
        });
    }
    match fs::read(path) {
        Ok(bytes) => Ok(Some(Content {
            bytes,
            executable: is_executable(&metadata),
        })),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

/// Changes files under `root`, with or without a repository there: all of them, or none.
///
/// First every file is compared: one that is `new` already counts as done (so that a call that was
/// interrupted can be repeated), one that is neither `new` nor `expected` fails the whole call before
/// anything is touched. If a write fails later on, those already made are taken back.
/// What a kill left beside one of these files is removed, also if there is nothing else to do.
/// Folders are made as needed, and removed when their last file goes, as git does it.
///
/// # Errors
/// [`Error::Differs`] with all files that are not as expected; [`Error::Outside`];
/// [`Error::NotAFile`] for links, folders and anything behind a symbolic link; [`Error::Io`].
pub fn swap_files(root: &Path, swaps: &[Swap]) -> Result<(), Error> {
    swap(root, swaps, Modes::Trusted).map(drop)
}

/// [`swap_files`]; returns the changes that were really made, in their order.
pub(crate) fn swap(root: &Path, swaps: &[Swap], modes: Modes) -> Result<Vec<Swap>, Error> {
    let open = check(root, swaps, modes)?;
    for swap in swaps {
        let _ = fs::remove_file(beside(&root.join(&swap.path)));
    }
    let mut done: Vec<Swap> = Vec::new();
    // A file may have to make room for a folder of its name.
    let (removals, writes): (Vec<_>, Vec<_>) = open.into_iter().partition(|s| s.new.is_none());
    for swap in removals.into_iter().chain(writes) {
        if let Err(error) = one(root, swap, modes) {
            take_back(root, &done, modes);
            return Err(error);
        }
        done.push(swap.clone());
    }
    Ok(done)
}

/// Undoes changes just made, as far as nobody has touched the files since.
pub(crate) fn take_back(root: &Path, done: &[Swap], modes: Modes) {
    for swap in done.iter().rev() {
        // The error that made this necessary is the one to report.
        let _ = one(root, &swap.reversed(), modes);
    }
}

/// The changes that are still to be made, if all can be.
pub(crate) fn check<'a>(
    root: &Path,
    swaps: &'a [Swap],
    modes: Modes,
) -> Result<Vec<&'a Swap>, Error> {
    let mut open = Vec::new();
    let mut files = Vec::new();
    let mut seen = BTreeSet::new();
    for swap in swaps {
        let path = inside(root, &swap.path)?;
        if !seen.insert(&swap.path) {
            return Err(Error::Outside {
                path: swap.path.clone(),
                root: root.to_owned(),
            });
        }
        let found = match read_file(&path) {
            // No file, at least; whether the folder can give way shows when it has to.
            Err(Error::NotAFile { what: FOLDER, .. })
                if swap.new.is_none() || swap.expected.is_none() =>
            {
                None
            }
            found => found?,
        };
        if modes.same(found.as_ref(), swap.new.as_ref()) {
            continue;
        }
        if modes.same(found.as_ref(), swap.expected.as_ref()) {
            open.push(swap);
        } else {
            files.push(Difference {
                path: swap.path.clone(),
                expected: swap.expected.clone(),
                found,
            });
        }
    }
    if files.is_empty() {
        Ok(open)
    } else {
        Err(Error::Differs { files })
    }
}

/// `path` under `root`, if no link leads elsewhere and it is none of git's own files.
pub(crate) fn inside(root: &Path, path: &Path) -> Result<PathBuf, Error> {
    let named = path.components().all(|part| match part {
        Component::Normal(name) => {
            !name.eq_ignore_ascii_case(".git") && !name.as_encoded_bytes().contains(&0)
        }
        _ => false,
    });
    if !named || path.as_os_str().is_empty() {
        return Err(Error::Outside {
            path: path.to_owned(),
            root: root.to_owned(),
        });
    }
    let folders: Vec<&Path> = path.ancestors().skip(1).collect();
    for folder in folders.into_iter().rev() {
        if folder.as_os_str().is_empty() {
            continue;
        }
        let full = root.join(folder);
        let metadata = metadata_of(&full).map_err(|error| Error::io("cannot read", &full, &error));
        let Some(metadata) = metadata? else {
            break;
        };
        let what = if metadata.file_type().is_symlink() {
            "behind a symbolic link"
        } else if full.join(".git").symlink_metadata().is_ok() {
            "in a repository of its own"
        } else {
            continue;
        };
        let path = path.to_owned();
        return Err(Error::NotAFile { path, what });
    }
    Ok(root.join(path))
}

fn one(root: &Path, swap: &Swap, modes: Modes) -> Result<(), Error> {
    let path = inside(root, &swap.path)?;
    let still_expected = || -> Result<(), Error> {
        let found = read_file(&path)?;
        if modes.same(found.as_ref(), swap.expected.as_ref()) {
            return Ok(());
        }
        let file = Difference {
            path: swap.path.clone(),
            expected: swap.expected.clone(),
            found,
        };
        Err(Error::Differs { files: vec![file] })
    };
    match &swap.new {
        Some(new) => put(&path, new, modes, still_expected),
        None => {
            still_expected()?;
            fs::remove_file(&path).map_err(|error| Error::io("cannot remove", &path, &error))?;
            remove_empty_folders(root, &swap.path);
            Ok(())
        }
    }
}

/// Writes `new` in place of the file `path`, if `allowed` says so at the last moment.
fn put(
    path: &Path,
    new: &Content,
    modes: Modes,
    allowed: impl FnOnce() -> Result<(), Error>,
) -> Result<(), Error> {
    let failed = |error| Error::io("cannot write", path, &error);
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    let executable = (modes == Modes::Trusted).then_some(new.executable);
    let temporary = beside(path);
    let written = write_flushed(&temporary, path, &new.bytes, executable)
        .map_err(failed)
        .and_then(|()| allowed())
        .and_then(|()| fs::rename(&temporary, path).map_err(failed));
    if written.is_err() {
        // Whatever is left of it has the same name next time and is overwritten then.
        let _ = fs::remove_file(&temporary);
    }
    written?;
    flush_folder(folder).map_err(failed)
}

/// Replaces the whole file `path` atomically, whatever it holds, keeping its permissions.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = beside(path);
    write_flushed(&temporary, path, bytes, None)?;
    fs::rename(&temporary, path)?;
    flush_folder(path.parent().unwrap_or(Path::new(".")))
}

/// The name under which `path` is written before it is renamed: always the same, so that what a kill
/// leaves is cleared by the next attempt, and short, because names have a greatest length.
pub(crate) fn beside(path: &Path) -> PathBuf {
    let mut hash = DefaultHasher::new();
    path.file_name().hash(&mut hash);
    path.with_file_name(format!(".tileperf-new-{:016x}", hash.finish()))
}

/// Writes the new file `temporary` to the disk, with the permissions of `like` if there is one.
fn write_flushed(
    temporary: &Path,
    like: &Path,
    bytes: &[u8],
    executable: Option<bool>,
) -> io::Result<()> {
    match fs::remove_file(temporary) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(temporary)?;
    let old = metadata_of(like)?.map(|metadata| metadata.permissions());
    let permissions = match old {
        Some(old) => old,
        None => file.metadata()?.permissions(),
    };
    // Before the bytes: nobody may read in the new file what the old one kept from them.
    file.set_permissions(with_bit(permissions, executable))?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(unix)]
fn with_bit(mut permissions: fs::Permissions, executable: Option<bool>) -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    let mode = permissions.mode();
    match executable {
        // Whoever may read it may run it, as git does it.
        Some(true) => permissions.set_mode(mode | ((mode & 0o444) >> 2)),
        Some(false) => permissions.set_mode(mode & !0o111),
        None => {}
    }
    permissions
}

#[cfg(not(unix))]
fn with_bit(permissions: fs::Permissions, _: Option<bool>) -> fs::Permissions {
    permissions
}

#[cfg(unix)]
fn is_executable(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &Metadata) -> bool {
    false
}

/// Makes a rename in `folder` survive a power failure, where the platform has a way to say it.
pub(crate) fn flush_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// The metadata of `path` itself, no link followed; `None` if there is nothing.
fn metadata_of(path: &Path) -> io::Result<Option<Metadata>> {
    match path.symlink_metadata() {
        Ok(metadata) => Ok(Some(metadata)),
        // The second: a file stands where a folder of the path should be.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn what_else(metadata: &Metadata) -> Option<&'static str> {
    let kind = metadata.file_type();
    if kind.is_file() {
        None
    } else if kind.is_symlink() {
        Some("a symbolic link")
    } else if kind.is_dir() {
        Some(FOLDER)
    } else {
        Some("a device or pipe")
    }
}

pub(crate) fn remove_empty_folders(root: &Path, path: &Path) {
    for folder in path.ancestors().skip(1) {
        // It fails at the first one that is not empty, which is where to stop.
        if folder.as_os_str().is_empty() || fs::remove_dir(root.join(folder)).is_err() {
            return;
        }
    }
}
