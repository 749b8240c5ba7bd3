//! Changing the index the way git does: under `index.lock`, and all at once.
//!
//! libgit2 takes that lock only while it writes. Here it is held from before the first look at the
//! repository until after the reference has moved, so that no other git can slip in between.
//!
//! A process that is killed leaves its lock behind. Ours holds an operating-system lock on the file
//! for as long as it lives and has a text of its own in it, so that the next of us can tell that a
//! lock is abandoned, and only then removes it. Another program's lock is never touched.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use git2::Index;

use crate::disk::flush_folder;
use crate::error::Error;

const MARK: &[u8] = b"tileperf holds the index\n";

/// The held lock. Dropped, the index is as it was.
pub(crate) struct IndexLock {
    /// Keeps the operating-system lock.
    file: Option<File>,
    lock: PathBuf,
    index: PathBuf,
    /// Where the new index is prepared.
    new: PathBuf,
    /// Of the present index, if there is one.
    stamp: Option<(SystemTime, fs::Permissions)>,
}

impl IndexLock {
    /// Takes the lock of the work tree whose git folder is `git_dir`.
    pub(crate) fn take(git_dir: &Path) -> Result<Self, Error> {
        let lock = git_dir.join("index.lock");
        let failed = |error| Error::io("cannot lock the index with", &lock, &error);
        let file = match create(&lock) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                if !remove_abandoned(&lock) {
                    return Err(Error::Locked { file: lock });
                }
                create(&lock).map_err(|_| Error::Locked { file: lock.clone() })?
            }
            other => other.map_err(failed)?,
        };
        let index = git_dir.join("index");
        let stamp = index
            .metadata()
            .ok()
            .and_then(|metadata| Some((metadata.modified().ok()?, metadata.permissions())));
        Ok(Self {
            file: Some(file),
            lock,
            index,
            new: git_dir.join("index.tileperf"),
            stamp,
        })
    }

    /// A copy of the index as it is now, to be changed and [`prepare`](Self::prepare)d.
    pub(crate) fn copy(&self) -> Result<Index, Error> {
        let failed = |error| Error::io("cannot copy the index to", &self.new, &error);
        match fs::copy(&self.index, &self.new) {
            Ok(_) => {}
            // No index yet: an empty one.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let _ = fs::remove_file(&self.new);
            }
            Err(error) => return Err(failed(error)),
        }
        let folder = self.index.parent().unwrap_or(&self.index);
        Index::open(&self.new)
            .map_err(|error| Error::from_index(folder, "cannot read the index", error))
    }

    /// Writes the new index beside the present one, which stays.
    pub(crate) fn prepare(&self, index: &mut Index) -> Result<(), Error> {
        index
            .write()
            .map_err(Error::while_("cannot write the index"))?;
        let finish = || {
            let file = File::options().write(true).open(&self.new)?;
            if let Some((modified, permissions)) = &self.stamp {
                // Git takes an entry with the size and time of its file for unchanged only if the
                // index is newer than the file. A newer index would hide edits made in the moment
                // the old one was written, so the new one keeps the time of the old one.
                file.set_modified(*modified)?;
                file.set_permissions(permissions.clone())?;
            }
            file.sync_all()
        };
        finish().map_err(|error| Error::io("cannot write the index", &self.new, &error))
    }

    /// Puts the prepared index in place.
    pub(crate) fn publish(self) -> Result<(), Error> {
        let failed = |error| Error::io("cannot replace the index", &self.index, &error);
        fs::rename(&self.new, &self.index).map_err(failed)?;
        self.index
            .parent()
            .map_or(Ok(()), flush_folder)
            .map_err(failed)
    }
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.new);
        // Windows removes no file that is open; elsewhere the lock goes before its owner is seen
        // to be gone.
        if cfg!(windows) {
            self.file = None;
        }
        let _ = fs::remove_file(&self.lock);
    }
}

/// Makes the lock, with its text in it and held, from the first moment it is seen.
fn create(lock: &Path) -> io::Result<File> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("index.tileperf-lock-{}-{count}", std::process::id());
    let own = lock.with_file_name(name);
    let file = marked(&own)?;
    let linked = fs::hard_link(&own, lock);
    let _ = fs::remove_file(&own);
    match linked {
        Ok(()) => Ok(file),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(error),
        // A file system without hard links: the text comes a moment later.
        Err(_) => marked(lock),
    }
}

fn marked(path: &Path) -> io::Result<File> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    // Where there are no such locks, one that a kill left has to be removed by hand, as git's own.
    let _ = file.try_lock();
    if let Err(error) = file.write_all(MARK) {
        let _ = fs::remove_file(path);
        return Err(error);
    }
    Ok(file)
}

/// Removes `lock` if one of us left it and is gone.
fn remove_abandoned(lock: &Path) -> bool {
    let Ok(file) = OpenOptions::new().read(true).write(true).open(lock) else {
        return false;
    };
    let mut text = Vec::new();
    let ours = (&file).take(100).read_to_end(&mut text).is_ok() && text == MARK;
    if !ours {
        return false;
    }
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => return false,
    }
    // Between opening and locking, another of us may have replaced the abandoned one by its own.
    is_same(&file, lock) && fs::remove_file(lock).is_ok()
}

#[cfg(unix)]
fn is_same(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(a), Ok(b)) = (file.metadata(), path.symlink_metadata()) else {
        return false;
    };
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
fn is_same(_: &File, _: &Path) -> bool {
    true
}
