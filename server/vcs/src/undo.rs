//! Taking one kept commit back, with a commit that goes forward.

use std::path::Path;

use git2::{FileMode, MergeFileInput, MergeFileOptions, Tree, merge_file};

use crate::commit::{Change, Entry, Identity, entry_of, tree_of};
use crate::disk;
use crate::error::Error;
use crate::program::GitProgram;
use crate::repo::{Head, Repo};
use crate::version::{CommitId, Swap};

/// What [`Repo::undo`] is to do.
#[derive(Clone, Copy, Debug)]
pub struct Undo<'a> {
    /// What has to be checked out; it holds the commit `kept`.
    pub on: &'a Head,
    /// The commit to take back. It has one parent.
    pub kept: CommitId,
    /// The message of the new commit.
    pub message: &'a str,
    /// As in [`NewCommit`](crate::NewCommit::author).
    pub author: Option<&'a Identity>,
}

impl Repo {
    /// Makes a commit on top of `on` in which the files that `kept` changed are as they were before
    /// it, and brings the work tree along. Where a later commit changed such a file too, the change
    /// is taken out of it by a three-way merge, if that leaves no conflict.
    ///
    /// # Errors
    /// [`Error::ChangedLater`] with all files that cannot be taken back alone;
    /// [`Error::Differs`] if files on the disk are not as in the commit checked out (both versions of
    /// each); [`Error::Unchanged`] if later commits took it back already;
    /// [`Error::UnknownRevision`] if `kept` is not one of the commits of `on` or has not exactly one
    /// parent; and those of [`commit_files`](Self::commit_files). Then nothing has changed.
    pub fn undo(&self, git: &dyn GitProgram, undo: &Undo<'_>) -> Result<CommitId, Error> {
        self.ready()?;
        self.expect_head(undo.on)?;
        let root = self.root().ok_or(Error::Bare)?;
        let changes = self.taken_back(git, undo)?;
        if changes.iter().all(|change| change.old == change.new) {
            return Err(Error::Unchanged);
        }
        let mut swaps = Vec::new();
        for change in &changes {
            swaps.push(Swap {
                path: change.path.clone(),
                expected: self.content_of(git, &change.path, change.old)?,
                new: change.on_disk.clone(),
            });
        }
        let done = disk::swap(root, &swaps, self.modes())?;
        let commit = self.commit_changes(undo.on, changes, undo.message, undo.author);
        if commit.is_err() {
            disk::take_back(root, &done, self.modes());
        }
        commit
    }

    /// Each file that the commit changed, without its change.
    fn taken_back(&self, git: &dyn GitProgram, undo: &Undo<'_>) -> Result<Vec<Change>, Error> {
        let kept = self.find_commit(undo.kept)?;
        let refused = |why: &str| Error::UnknownRevision {
            revision: undo.kept.to_string(),
            why: why.to_owned(),
        };
        let last = CommitId(self.commit_of(undo.on)?.id());
        if !self.is_ancestor(undo.kept, last)? {
            return Err(refused("it is not among the commits checked out"));
        }
        if kept.parent_count() != 1 {
            return Err(refused("it has not exactly one parent"));
        }
        let failed = Error::while_("cannot read a commit");
        let parent = kept.parent(0).map_err(failed)?;
        let (before, after) = (tree_of(&parent)?, tree_of(&kept)?);
        let present = tree_of(&self.find_commit(last)?)?;

        let (mut changes, mut conflicts) = (Vec::new(), Vec::new());
        for path in self.files_between(CommitId(parent.id()), undo.kept)? {
            let path = self.file_path(&path)?;
            match self.without(&path, [&before, &after, &present])? {
                Some(new) => changes.push(Change {
                    old: entry_of(&present, &path)?,
                    new,
                    on_disk: self.content_of(git, &path, new)?,
                    path,
                }),
                None => conflicts.push(path),
            }
        }
        if conflicts.is_empty() {
            Ok(changes)
        } else {
            Err(Error::ChangedLater { paths: conflicts })
        }
    }

    /// The file of the last tree without what changed from the first tree to the second; `None` if
    /// the changes cannot be told apart.
    fn without(&self, path: &Path, trees: [&Tree<'_>; 3]) -> Result<Option<Entry>, Error> {
        let [before, after, present] = trees;
        let before = entry_of(before, path)?;
        let after = entry_of(after, path)?;
        let present = entry_of(present, path)?;
        if present == after || present == before {
            return Ok(Some(before));
        }
        let (Some(before), Some(after), Some(present)) = (before, after, present) else {
            return Ok(None);
        };
        // What the repository holds of a filtered file is not its text.
        if self.filter_of(path)?.is_some() {
            return Ok(None);
        }
        let mode = merged_mode(before.1, after.1, present.1);
        if present.0 == after.0 {
            return Ok(Some(Some((before.0, mode))));
        }
        let failed = Error::while_("cannot merge a file");
        let blob = |entry: (git2::Oid, FileMode)| self.git.find_blob(entry.0);
        let base = blob(after).map_err(&failed)?;
        let ours = blob(present).map_err(&failed)?;
        let theirs = blob(before).map_err(&failed)?;
        if base.is_binary() || ours.is_binary() || theirs.is_binary() {
            return Ok(None);
        }
        let (mut base_input, mut ours_input, mut theirs_input) = (
            MergeFileInput::new(),
            MergeFileInput::new(),
            MergeFileInput::new(),
        );
        base_input.content(base.content());
        ours_input.content(ours.content());
        theirs_input.content(theirs.content());
        let merged = merge_file(
            &base_input,
            &ours_input,
            &theirs_input,
            Some(&mut MergeFileOptions::new()),
        )
        .map_err(&failed)?;
        if !merged.is_automergeable() {
            return Ok(None);
        }
        let id = self.git.blob(merged.content()).map_err(failed)?;
        Ok(Some(Some((id, mode))))
    }
}

/// The mode without the change from `before` to `after`.
fn merged_mode(before: FileMode, after: FileMode, present: FileMode) -> FileMode {
    if present == after { before } else { present }
}
