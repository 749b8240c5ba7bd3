//! Files as they are and as they were, and what has changed between.

use std::path::{Path, PathBuf};

use git2::{Delta, DiffOptions, FileMode, IndexEntryExtendedFlag, Status, StatusOptions};

use crate::commit::{Entry, entry_of, tree_of};
use crate::disk::{self, Modes};
use crate::error::Error;
use crate::files::steadily;
use crate::program::GitProgram;
use crate::repo::Repo;
use crate::version::{BlobId, CommitId, Content, FileVersion, Swap, bytes_path};

/// How deep [`Repo::changed_files`] looks into folders that git does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untracked {
    /// A folder without any tracked file is one entry: cheap, however much lies in it.
    Folders,
    /// Every file is an entry.
    Files,
}

/// A file that differs from the commit checked out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangedFile {
    /// Relative to the root; with [`Untracked::Folders`] it may be a folder.
    pub path: PathBuf,
    /// The index differs from the commit.
    pub staged: bool,
    /// The disk differs from the index. A file that is not tracked has only this.
    pub unstaged: bool,
    /// Git does not track it (and does not ignore it).
    pub untracked: bool,
    /// It has unresolved conflicts.
    pub conflicted: bool,
}

impl Repo {
    /// The file `path` as it is on the disk. Where the file system does not keep the executable bit
    /// (`core.fileMode` is off), the index says what it is.
    ///
    /// # Errors
    /// [`Error::NotAFile`] for links, folders and what lies behind a link or in another repository;
    /// [`Error::Outside`], [`Error::Bare`], [`Error::Io`], [`Error::Git`].
    pub fn read_file(&self, path: impl AsRef<Path>) -> Result<FileVersion, Error> {
        let path = self.file_path(path.as_ref())?;
        let root = self.root().ok_or(Error::Bare)?;
        let mut content = disk::read_file(&root.join(&path))?;
        if let Some(content) = &mut content
            && self.modes() == Modes::Ignored
        {
            let entry = self.index()?.get_path(&path, 0);
            let executable = u32::from(FileMode::BlobExecutable);
            content.executable = entry.is_some_and(|entry| entry.mode == executable);
        }
        Ok(FileVersion { path, content })
    }

    /// The files `paths` as a clean work tree at `commit` has them, line ends and filters applied.
    /// `git` is run only for files with a filter or with line ends that are converted on the way out,
    /// and for content that a partial clone has not fetched.
    ///
    /// # Errors
    /// [`Error::UnknownRevision`], [`Error::NotAFile`], [`Error::Outside`], [`Error::Bare`],
    /// [`Error::GitProgram`], [`Error::Git`].
    pub fn read_files_at<P: AsRef<Path>>(
        &self,
        git: &dyn GitProgram,
        commit: CommitId,
        paths: &[P],
    ) -> Result<Vec<FileVersion>, Error> {
        let tree = tree_of(&self.find_commit(commit)?)?;
        let mut versions = Vec::with_capacity(paths.len());
        for path in paths {
            let path = self.relative(path.as_ref())?;
            let content = self.content_of(git, &path, entry_of(&tree, &path)?)?;
            versions.push(FileVersion { path, content });
        }
        Ok(versions)
    }

    /// What the work tree has of a file of a tree.
    pub(crate) fn content_of(
        &self,
        git: &dyn GitProgram,
        path: &Path,
        entry: Entry,
    ) -> Result<Option<Content>, Error> {
        let Some((id, mode)) = entry else {
            return Ok(None);
        };
        Ok(Some(Content {
            bytes: self.load(git, path, id)?,
            executable: mode == FileMode::BlobExecutable,
        }))
    }

    /// The ids of the files `paths` in `commit`; `None` where it has no such file.
    ///
    /// # Errors
    /// As [`read_files_at`](Self::read_files_at), but no content is read.
    pub fn blob_ids<P: AsRef<Path>>(
        &self,
        commit: CommitId,
        paths: &[P],
    ) -> Result<Vec<Option<BlobId>>, Error> {
        let tree = tree_of(&self.find_commit(commit)?)?;
        let id = |path: &P| {
            let path = self.relative(path.as_ref())?;
            Ok(entry_of(&tree, &path)?.map(|(id, _)| BlobId(id)))
        };
        paths.iter().map(id).collect()
    }

    /// The paths in which two commits differ, in the order of their names. A renamed file is two.
    ///
    /// # Errors
    /// [`Error::UnknownRevision`], [`Error::Git`].
    pub fn files_between(&self, old: CommitId, new: CommitId) -> Result<Vec<PathBuf>, Error> {
        let old = tree_of(&self.find_commit(old)?)?;
        let new = tree_of(&self.find_commit(new)?)?;
        let mut options = DiffOptions::new();
        let diff = self
            .git
            .diff_tree_to_tree(
                Some(&old),
                Some(&new),
                Some(options.include_typechange(true)),
            )
            .map_err(Error::while_("cannot compare two commits"))?;
        let mut paths: Vec<PathBuf> = diff
            .deltas()
            .filter_map(|delta| {
                let file = match delta.status() {
                    Delta::Added => delta.new_file(),
                    _ => delta.old_file(),
                };
                file.path_bytes().map(bytes_path)
            })
            .collect();
        paths.sort();
        paths.dedup();
        Ok(paths)
    }

    /// Every file that differs from the commit checked out, staged or not, tracked or not, in the
    /// order of their names. Ignored files are left out, and so is what goes on in submodules.
    ///
    /// Only the stamps of files are read, and the content of those whose stamp is new. Where such a
    /// file has a filter, `git` says whether it has changed. Nothing is written, not even the index.
    ///
    /// # Errors
    /// [`Error::Bare`], [`Error::GitProgram`], [`Error::Git`].
    pub fn changed_files(
        &self,
        git: &dyn GitProgram,
        untracked: Untracked,
    ) -> Result<Vec<ChangedFile>, Error> {
        self.root().ok_or(Error::Bare)?;
        let mut options = StatusOptions::new();
        options
            .include_untracked(true)
            .recurse_untracked_dirs(untracked == Untracked::Files)
            .include_ignored(false)
            .exclude_submodules(true);
        let index = self.index()?;
        let statuses = steadily(|| self.git.statuses(Some(&mut options)))
            .map_err(Error::while_("cannot read the status of the work tree"))?;
        let mut changed = Vec::new();
        for entry in statuses.iter() {
            let path = bytes_path(entry.path_bytes());
            let status = entry.status();
            let mut file = ChangedFile {
                staged: status.intersects(
                    Status::INDEX_NEW
                        | Status::INDEX_MODIFIED
                        | Status::INDEX_DELETED
                        | Status::INDEX_TYPECHANGE
                        | Status::INDEX_RENAMED,
                ),
                untracked: status.contains(Status::WT_NEW),
                conflicted: status.contains(Status::CONFLICTED),
                unstaged: status.intersects(
                    Status::WT_NEW
                        | Status::WT_MODIFIED
                        | Status::WT_DELETED
                        | Status::WT_TYPECHANGE
                        | Status::WT_RENAMED
                        | Status::CONFLICTED,
                ),
                path,
            };
            if status.contains(Status::WT_MODIFIED) || status.contains(Status::WT_DELETED) {
                let present = index.get_path(&file.path, 0);
                let skipped = IndexEntryExtendedFlag::SKIP_WORKTREE.bits();
                if let Some(present) = present {
                    // A sparse check-out leaves it out on purpose.
                    if status.contains(Status::WT_DELETED) {
                        file.unstaged = present.flags_extended & skipped == 0;
                    } else if self.filter_of(&file.path)?.is_some() {
                        let entry = (present.id, present.mode);
                        file.unstaged = self.differs_filtered(git, &file.path, entry)?;
                    }
                }
            }
            if file.staged || file.unstaged {
                changed.push(file);
            }
        }
        changed.sort();
        Ok(changed)
    }

    /// Whether a file with a filter differs from the index's `(id, mode)` of it.
    fn differs_filtered(
        &self,
        git: &dyn GitProgram,
        path: &Path,
        (id, mode): (git2::Oid, u32),
    ) -> Result<bool, Error> {
        let Some(content) = self.read_file(path)?.content else {
            return Ok(true);
        };
        let same_mode = mode == u32::from(crate::commit::mode(content.executable));
        Ok(!same_mode || self.store(git, path, &content.bytes)? != id)
    }

    /// Changes files of the work tree: see [`swap_files`](crate::swap_files), which does the same
    /// without a repository. Where the file system keeps no executable bit, that bit is not compared.
    ///
    /// # Errors
    /// As [`swap_files`](crate::swap_files), and [`Error::Bare`].
    pub fn swap_files(&self, swaps: &[Swap]) -> Result<(), Error> {
        let root = self.root().ok_or(Error::Bare)?;
        disk::swap(root, swaps, self.modes()).map(drop)
    }
}
