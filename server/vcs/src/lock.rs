//! Changing the index the way git does: under `index.lock`, and all at once.
//!
//! libgit2 takes that lock only while it writes. Here it is held from before the first look at the
//! repository until after the reference has moved, so that no other git can slip in between.
//!
//! A process that is killed leaves its lock behind. Ours holds an operating-system lock on the file
//! for as long as it lives and has a text of its own in it, so that the next of us can tell that a
//! lock is abandoned, and only then removes it. Another program's lock is never touched. The text also
//! names the references that were to be changed, and to what: libgit2 locks each for a moment, and a
//! lock with just that content next to an abandoned one of ours was left by the same kill.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use git2::Index;

use crate::disk::flush_folder;
use crate::error::Error;
use crate::repo::Repo;
use crate::version::bytes_path;

const MARK: &[u8] = b"tileperf holds the index\n";

/// How long a lock of another program is waited for. As git waits for `packed-refs`: its own
/// maintenance in the background, or an editor that refreshes the index, is done by then.
const PATIENCE: Duration = Duration::from_secs(1);

/// Does it again as long as another program holds the lock that it needs, for [`PATIENCE`].
pub(crate) fn patiently<T, E>(
    mut action: impl FnMut() -> Result<T, E>,
    is_locked: impl Fn(&E) -> bool,
) -> Result<T, E> {
    let end = Instant::now() + PATIENCE;
    loop {
        match action() {
            Err(error) if is_locked(&error) && Instant::now() < end => {
                thread::sleep(Duration::from_millis(10));
            }
            done => return done,
        }
    }
}

/// The held lock. Dropped, the index is as it was.
pub(crate) struct IndexLock {
    /// Keeps the operating-system lock.
    file: Option<File>,
    lock: PathBuf,
    index: PathBuf,
    /// Where the new index is prepared.
    new: PathBuf,
    /// Where the old one is kept until all is done.
    old: PathBuf,
    /// Of the present index, if there is one.
    stamp: Option<(SystemTime, fs::Permissions)>,
}

impl IndexLock {
    /// Takes the lock of the work tree whose git folder is `git_dir`.
    ///
    /// `common_dir`: where the branches are.
    pub(crate) fn take(git_dir: &Path, common_dir: &Path) -> Result<Self, Error> {
        let lock = git_dir.join("index.lock");
        let failed = |error| Error::io("cannot lock the index with", &lock, &error);
        let taken = |error: &io::Error| error.kind() == ErrorKind::AlreadyExists;
        let take = || match create(&lock) {
            Err(error) if taken(&error) && remove_abandoned(&lock, common_dir) => create(&lock),
            done => done,
        };
        let file = match patiently(take, taken) {
            Err(error) if taken(&error) => return Err(Error::Locked { file: lock }),
            done => done.map_err(failed)?,
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
            old: git_dir.join("index.tileperf-old"),
            stamp,
        })
    }

    /// Notes that the reference `name` is about to become `content`, before libgit2 locks it.
    pub(crate) fn announce(&self, name: &str, content: &str) -> Result<(), Error> {
        let line = format!("{name} {content}\n");
        let Some(mut file) = self.file.as_ref() else {
            return Ok(());
        };
        file.write_all(line.as_bytes())
            .map_err(|error| Error::io("cannot write", &self.lock, &error))
    }

    /// A copy of the index as it is now, to be changed and [`prepare`](Self::prepare)d.
    pub(crate) fn copy(&self) -> Result<Index, Error> {
        let failed = |error| Error::io("cannot copy the index to", &self.new, &error);
        // libgit2 locks what it writes; a kill may have left that too. It is ours under our lock.
        let _ = fs::remove_file(self.new.with_extension("tileperf.lock"));
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

    /// Puts the prepared index in place. Until the lock is dropped, [`restore`](Self::restore) takes
    /// that back.
    ///
    /// This goes before the branch is moved, not after it as git does: a commit of another program
    /// that has read the new branch and the old index would take the change back without a word. The
    /// other way round its commit fails, because the branch is not where it thought.
    pub(crate) fn publish(&self) -> Result<(), Error> {
        let failed = |error| Error::io("cannot replace the index", &self.index, &error);
        let _ = fs::remove_file(&self.old);
        if self.stamp.is_some() && fs::hard_link(&self.index, &self.old).is_err() {
            fs::copy(&self.index, &self.old).map_err(failed)?;
        }
        fs::rename(&self.new, &self.index).map_err(failed)?;
        self.index
            .parent()
            .map_or(Ok(()), flush_folder)
            .map_err(failed)
    }

    /// Puts the old index back.
    pub(crate) fn restore(&self) {
        // The error that made this necessary is the one to report.
        let _ = if self.stamp.is_some() {
            fs::rename(&self.old, &self.index)
        } else {
            fs::remove_file(&self.index)
        };
    }
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.new);
        let _ = fs::remove_file(&self.old);
        // Windows removes no file that is open; elsewhere the lock goes before its owner is seen
        // to be gone.
        if cfg!(windows) {
            self.file = None;
        }
        let _ = fs::remove_file(&self.lock);
    }
}

impl Repo {
    /// Keeps every git that changes index, HEAD or files out until it is dropped.
    pub(crate) fn lock_index(&self) -> Result<IndexLock, Error> {
        IndexLock::take(self.git_dir(), self.common_dir())
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
fn remove_abandoned(lock: &Path, common_dir: &Path) -> bool {
    let Ok(file) = OpenOptions::new().read(true).write(true).open(lock) else {
        return false;
    };
    let mut text = Vec::new();
    if (&file).take(64 << 10).read_to_end(&mut text).is_err() {
        return false;
    }
    let Some(references) = text.strip_prefix(MARK) else {
        return false;
    };
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => return false,
    }
    // Between opening and locking, another of us may have replaced the abandoned one by its own.
    if !is_same(&file, lock) {
        return false;
    }
    for line in references.split(|&byte| byte == b'\n') {
        let mut parts = line.splitn(2, |&byte| byte == b' ');
        if let (Some(name), Some(content)) = (parts.next(), parts.next()) {
            let folder = if name == b"HEAD" {
                lock.parent().unwrap_or(common_dir)
            } else {
                common_dir
            };
            let mut file = name.to_owned();
            file.extend_from_slice(b".lock");
            let file = folder.join(bytes_path(&file));
            // It may have been killed before or while it wrote.
            let left = fs::read(&file).is_ok_and(|left| content.starts_with(left.trim_ascii()));
            if left {
                let _ = fs::remove_file(file);
            }
        }
    }
    fs::remove_file(lock).is_ok()
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
