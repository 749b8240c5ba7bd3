//! One commit of exactly the files it is told, whatever else is going on in the work tree.

use std::path::{Path, PathBuf};

use git2::build::TreeUpdateBuilder;
use git2::{
    Commit, ErrorCode, FileMode, Index, IndexEntry, IndexEntryExtendedFlag, IndexTime, Oid,
    Signature, Tree,
};

use crate::disk::{self, Modes};
use crate::error::Error;
use crate::program::GitProgram;
use crate::repo::{Head, Repo};
use crate::version::{CommitId, Content, FileVersion, path_bytes};

/// Who makes a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// As in `user.name`.
    pub name: String,
    /// As in `user.email`.
    pub email: String,
}

/// What [`Repo::commit_files`] is to do.
#[derive(Clone, Copy, Debug)]
pub struct NewCommit<'a> {
    /// What has to be checked out: the commit goes on top of it.
    pub on: &'a Head,
    /// The files to change, each to what it will be; all others stay as `on` has them.
    pub files: &'a [FileVersion],
    /// The message; a first line, an empty one, the rest.
    pub message: &'a str,
    /// `None`: whom git's environment variables and configuration name.
    pub author: Option<&'a Identity>,
}

/// A file of a tree.
pub(crate) type Entry = Option<(Oid, FileMode)>;

/// A file that is to change in a commit or in the index.
pub(crate) struct Change {
    pub(crate) path: PathBuf,
    /// As it is in the commit checked out.
    pub(crate) old: Entry,
    pub(crate) new: Entry,
    /// What `new` is on the disk. A file that is something else there shows as changed afterwards.
    pub(crate) on_disk: Option<Content>,
}

impl Repo {
    /// Whom a commit made here names as its author: `GIT_AUTHOR_NAME` and the like, else the
    /// configuration.
    ///
    /// # Errors
    /// [`Error::NoIdentity`] if the name or the address is missing; [`Error::Git`].
    pub fn identity(&self) -> Result<Identity, Error> {
        let signature = no_identity(self.git.author_from_env())?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(Identity {
            name: text(signature.name_bytes()),
            email: text(signature.email_bytes()),
        })
    }

    /// Commits `files` on top of what is checked out: the new commit differs from its parent in
    /// exactly these files, which have exactly these bytes. It does not read them from the disk and
    /// does not write them there.
    ///
    /// Whatever else is staged stays staged, and whatever else is changed stays changed. In the index
    /// only these files are brought to the new commit, so that git shows them as clean where the disk
    /// has the same bytes. A file with a filter is stored as that filter makes it; for it, and only
    /// for it, `git` is run. No hook is run and the commit is not signed, whatever is configured.
    ///
    /// The branch moves only if it still is where `on` says, and the index is locked meanwhile as git
    /// itself does it.
    ///
    /// # Errors
    /// [`Error::HeadMoved`], [`Error::Busy`], [`Error::Locked`], [`Error::Unchanged`],
    /// [`Error::Staged`] (the index has a third version of a file, which would be lost),
    /// [`Error::Conflicted`], [`Error::NoIdentity`], [`Error::NotAFile`], [`Error::Outside`],
    /// [`Error::Unborn`], [`Error::Bare`], [`Error::GitProgram`], [`Error::Io`], [`Error::Git`].
    /// After any of them, branch and index are as they were. After a kill the index may be ahead of
    /// the branch: the same call finishes it, [`settle_index`](Self::settle_index) takes it back.
    pub fn commit_files(
        &self,
        git: &dyn GitProgram,
        commit: &NewCommit<'_>,
    ) -> Result<CommitId, Error> {
        self.ready()?;
        self.expect_head(commit.on)?;
        let parent = self.commit_of(commit.on)?;
        let tree = tree_of(&parent)?;
        let mut changes = Vec::new();
        for file in commit.files {
            let path = self.file_path(&file.path)?;
            let new = match &file.content {
                Some(content) => {
                    let id = self.store(git, &path, &content.bytes)?;
                    Some((id, mode(content.executable)))
                }
                None => None,
            };
            changes.push(Change {
                old: entry_of(&tree, &path)?,
                new,
                on_disk: file.content.clone(),
                path,
            });
        }
        self.commit_changes(commit.on, changes, commit.message, commit.author)
    }

    /// The second half of [`commit_files`](Self::commit_files), with everything stored.
    pub(crate) fn commit_changes(
        &self,
        on: &Head,
        changes: Vec<Change>,
        message: &str,
        author: Option<&Identity>,
    ) -> Result<CommitId, Error> {
        let lock = self.lock_index()?;
        // From here on no git that takes the lock can switch or commit.
        self.ready()?;
        self.expect_head(on)?;
        let parent = self.commit_of(on)?;
        let tree = self.changed_tree(&tree_of(&parent)?, &changes)?;
        if tree == parent.tree_id() {
            return Err(Error::Unchanged);
        }
        let new = self.new_commit(tree, &parent, message, author)?;

        let mut index = lock.copy()?;
        nothing_lost(&index, &changes)?;
        for change in &changes {
            self.put(&mut index, change)?;
        }
        lock.prepare(&mut index)?;
        lock.publish()?;
        let subject = message.trim_start().lines().next().unwrap_or_default();
        self.advance(&lock, on, new, &format!("commit: {subject}"))
            .inspect_err(|_| lock.restore())?;
        Ok(new)
    }

    /// The tree with these changes made.
    fn changed_tree(&self, tree: &Tree<'_>, changes: &[Change]) -> Result<Oid, Error> {
        let mut update = TreeUpdateBuilder::new();
        for change in changes {
            match change.new {
                Some((id, mode)) => {
                    update.upsert(&change.path, id, mode);
                }
                None if change.old.is_some() => {
                    update.remove(&change.path);
                }
                None => {}
            }
        }
        update
            .create_updated(&self.git, tree)
            .map_err(Error::while_("cannot write the tree of the commit"))
    }

    /// A commit that no branch has yet.
    pub(crate) fn new_commit(
        &self,
        tree: Oid,
        parent: &Commit<'_>,
        message: &str,
        author: Option<&Identity>,
    ) -> Result<CommitId, Error> {
        let failed = Error::while_("cannot write the commit");
        let (author, committer) = match author {
            Some(who) => {
                let who = Signature::now(&who.name, &who.email).map_err(|_| Error::NoIdentity)?;
                (who.clone(), who)
            }
            None => (
                no_identity(self.git.author_from_env())?,
                no_identity(self.git.committer_from_env())?,
            ),
        };
        let message = git2::message_prettify(message, None).map_err(&failed)?;
        let tree = self.git.find_tree(tree).map_err(&failed)?;
        let id = self
            .git
            .commit(None, &author, &committer, &message, &tree, &[parent]);
        id.map(CommitId).map_err(failed)
    }

    /// Brings the index's entry of a file to its new version.
    pub(crate) fn put(&self, index: &mut Index, change: &Change) -> Result<(), Error> {
        let failed = Error::while_("cannot change the index");
        let Some((id, mode)) = change.new else {
            return match index.remove(&change.path, 0) {
                Err(error) if error.code() != ErrorCode::NotFound => Err(failed(error)),
                _ => Ok(()),
            };
        };
        const ASSUME_VALID: u16 = 0x8000;
        let present = index.get_path(&change.path, 0);
        let kept = IndexEntryExtendedFlag::SKIP_WORKTREE.bits();
        let mut entry = IndexEntry {
            ctime: IndexTime::new(0, 0),
            mtime: IndexTime::new(0, 0),
            dev: 0,
            ino: 0,
            mode: mode.into(),
            uid: 0,
            gid: 0,
            file_size: 0,
            id,
            flags: present.as_ref().map_or(0, |e| e.flags & ASSUME_VALID),
            flags_extended: present.as_ref().map_or(0, |e| e.flags_extended & kept),
            path: path_bytes(&change.path).into_owned(),
        };
        if let (Some(expected), Some(root)) = (&change.on_disk, self.root()) {
            let path = root.join(&change.path);
            // The stamp before the bytes: a later change makes it stale, never the other way round.
            let stamp = path.symlink_metadata();
            let found = disk::read_file(&path).ok().flatten();
            if let (Ok(stamp), Some(found)) = (stamp, found)
                && found.bytes == expected.bytes
            {
                set_stamp(&mut entry, &stamp);
            }
        }
        index.add(&entry).map_err(failed)
    }

    /// Whether the disk tells executable files apart.
    pub(crate) fn modes(&self) -> Modes {
        let trusted = self
            .git
            .config()
            .and_then(|config| config.get_bool("core.fileMode"));
        if cfg!(unix) && trusted.unwrap_or(true) {
            Modes::Trusted
        } else {
            Modes::Ignored
        }
    }

    pub(crate) fn commit_of(&self, head: &Head) -> Result<Commit<'_>, Error> {
        let Some(id) = head.commit() else {
            return Err(Error::Unborn {
                branch: head.branch().unwrap_or_default().to_owned(),
            });
        };
        self.find_commit(id)
    }

    pub(crate) fn find_commit(&self, id: CommitId) -> Result<Commit<'_>, Error> {
        self.git.find_commit(id.0).map_err(|error| {
            if error.code() == ErrorCode::NotFound {
                return Error::UnknownRevision {
                    revision: id.to_string(),
                    why: error.message().to_owned(),
                };
            }
            Error::while_("cannot read a commit")(error)
        })
    }

    /// `path` relative to the root, of a file that this repository could hold.
    pub(crate) fn file_path(&self, path: &Path) -> Result<PathBuf, Error> {
        let path = self.relative(path)?;
        disk::inside(self.root().ok_or(Error::Bare)?, &path)?;
        Ok(path)
    }
}

pub(crate) fn tree_of<'repo>(commit: &Commit<'repo>) -> Result<Tree<'repo>, Error> {
    commit
        .tree()
        .map_err(Error::while_("cannot read the tree of a commit"))
}

pub(crate) fn mode(executable: bool) -> FileMode {
    if executable {
        FileMode::BlobExecutable
    } else {
        FileMode::Blob
    }
}

/// The file `path` of `tree`.
pub(crate) fn entry_of(tree: &Tree<'_>, path: &Path) -> Result<Entry, Error> {
    let entry = match tree.get_path(path) {
        Ok(entry) => entry,
        Err(error) if error.code() == ErrorCode::NotFound => return Ok(None),
        Err(error) => return Err(Error::while_("cannot read the tree of a commit")(error)),
    };
    let raw = u32::try_from(entry.filemode()).unwrap_or_default();
    let what = match raw {
        0o100_755 => return Ok(Some((entry.id(), FileMode::BlobExecutable))),
        // Old repositories have group-writable ones as well.
        0o100_644 | 0o100_664 => return Ok(Some((entry.id(), FileMode::Blob))),
        0o120_000 => "a symbolic link",
        0o160_000 => "a submodule",
        _ => "a folder",
    };
    let path = path.to_owned();
    Err(Error::NotAFile { path, what })
}

/// Refuses if the index has of one of these files what is neither its old nor its new version.
pub(crate) fn nothing_lost(index: &Index, changes: &[Change]) -> Result<(), Error> {
    let (mut staged, mut conflicted) = (Vec::new(), Vec::new());
    for change in changes {
        if (1..=3).any(|stage| index.get_path(&change.path, stage).is_some()) {
            conflicted.push(change.path.clone());
            continue;
        }
        let intent = IndexEntryExtendedFlag::INTENT_TO_ADD.bits();
        let present = index
            .get_path(&change.path, 0)
            // `git add --intent-to-add` has staged no version.
            .filter(|entry| entry.flags_extended & intent == 0)
            .map(|entry| (entry.id, entry.mode));
        let raw = |entry: Entry| entry.map(|(id, mode)| (id, u32::from(mode)));
        if present != raw(change.old) && present != raw(change.new) {
            staged.push(change.path.clone());
        }
    }
    if !conflicted.is_empty() {
        return Err(Error::Conflicted { paths: conflicted });
    }
    if !staged.is_empty() {
        return Err(Error::Staged { paths: staged });
    }
    Ok(())
}

fn no_identity(
    signature: Result<Signature<'static>, git2::Error>,
) -> Result<Signature<'static>, Error> {
    signature.map_err(|error| match error.code() {
        ErrorCode::NotFound | ErrorCode::Invalid | ErrorCode::InvalidSpec => Error::NoIdentity,
        _ => Error::while_("cannot read who you are")(error),
    })
}

/// What git compares to see without reading a file that it is unchanged.
#[cfg(unix)]
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the index keeps the low 32 bits of everything"
)]
fn set_stamp(entry: &mut IndexEntry, stamp: &std::fs::Metadata) {
    use std::os::unix::fs::MetadataExt;
    entry.ctime = IndexTime::new(stamp.ctime() as i32, stamp.ctime_nsec() as u32);
    entry.mtime = IndexTime::new(stamp.mtime() as i32, stamp.mtime_nsec() as u32);
    entry.dev = stamp.dev() as u32;
    entry.ino = stamp.ino() as u32;
    entry.uid = stamp.uid();
    entry.gid = stamp.gid();
    entry.file_size = stamp.size() as u32;
}

/// Git for Windows fills in what it can at its next `status`; until then it reads the file.
#[cfg(not(unix))]
fn set_stamp(_: &mut IndexEntry, _: &std::fs::Metadata) {}
