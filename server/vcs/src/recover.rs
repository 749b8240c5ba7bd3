//! Finishing what a kill has left half done.

use crate::commit::{Change, entry_of, tree_of};
use crate::error::Error;
use crate::lock::IndexLock;
use crate::program::GitProgram;
use crate::repo::{Head, Repo};
use crate::version::CommitId;

impl Repo {
    /// After [`commit_files`](Self::commit_files) or [`undo`](Self::undo) was killed between moving
    /// the branch and replacing the index: brings the index's entries of the files that differ
    /// between `before` and what is checked out, `on`, to the latter, each only if it still is as in
    /// `before`. An abandoned lock of ours is removed. If there is nothing to do, nothing happens.
    ///
    /// # Errors
    /// [`Error::HeadMoved`], [`Error::Locked`] by another program, [`Error::Busy`],
    /// [`Error::UnknownRevision`], [`Error::NotAFile`], [`Error::GitProgram`], [`Error::Git`].
    pub fn catch_up(&self, git: &dyn GitProgram, before: CommitId, on: &Head) -> Result<(), Error> {
        self.ready()?;
        let lock = IndexLock::take(self.git_dir())?;
        self.expect_head(on)?;
        let commit = self.commit_of(on)?;
        let (old, new) = (tree_of(&self.find_commit(before)?)?, tree_of(&commit)?);
        let mut index = lock.copy()?;
        let mut behind = false;
        for path in self.files_between(before, CommitId(commit.id()))? {
            let path = self.file_path(&path)?;
            let entry = index.get_path(&path, 0).map(|entry| (entry.id, entry.mode));
            let was = entry_of(&old, &path)?.map(|(id, mode)| (id, u32::from(mode)));
            let conflicted = (1..=3).any(|stage| index.get_path(&path, stage).is_some());
            if entry != was || conflicted {
                continue;
            }
            let new = entry_of(&new, &path)?;
            let on_disk = self.content_of(git, &path, new)?;
            let change = Change {
                old: None,
                new,
                on_disk,
                path,
            };
            self.put(&mut index, &change)?;
            behind = true;
        }
        if behind {
            lock.prepare(&mut index)?;
            lock.publish()?;
        }
        Ok(())
    }
}
