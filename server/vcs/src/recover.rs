//! Bringing the index back in step with what is checked out.

use git2::IndexEntry;

use crate::commit::{Change, Entry, entry_of, mode, tree_of};
use crate::error::Error;
use crate::program::GitProgram;
use crate::repo::{Head, Repo};
use crate::version::FileVersion;

impl Repo {
    /// Brings the index's entries of `files` to what is checked out, `on`, where one of two things
    /// has put them out of step:
    /// - [`commit_files`](Self::commit_files) or [`undo`](Self::undo) was killed between the index
    ///   and the branch, and is not to be finished: the entry is as `files` would have been stored.
    /// - Another git has written back an index that it read before the last commit (`git commit PATH`
    ///   does): the entry is as in that commit's parent.
    ///
    /// Whatever else is staged stays. The disk is not touched. An abandoned lock of ours is removed.
    /// If nothing is out of step, nothing happens. Returns whether anything was.
    ///
    /// # Errors
    /// [`Error::HeadMoved`], [`Error::Locked`] by another program, [`Error::Busy`],
    /// [`Error::NotAFile`], [`Error::Outside`], [`Error::GitProgram`], [`Error::Git`].
    pub fn settle_index(
        &self,
        git: &dyn GitProgram,
        on: &Head,
        files: &[FileVersion],
    ) -> Result<bool, Error> {
        let mut intended = Vec::new();
        for file in files {
            let path = self.file_path(&file.path)?;
            let entry = match &file.content {
                Some(content) => {
                    let id = self.store(git, &path, &content.bytes)?;
                    Some((id, mode(content.executable)))
                }
                None => None,
            };
            intended.push((path, entry));
        }
        self.ready()?;
        let lock = self.lock_index()?;
        self.expect_head(on)?;
        let commit = self.commit_of(on)?;
        let here = tree_of(&commit)?;
        let before = match commit.parent(0) {
            Ok(parent) => Some(tree_of(&parent)?),
            Err(_) => None,
        };
        let mut index = lock.copy()?;
        let mut out_of_step = false;
        for (path, intended) in intended {
            let found = index.get_path(&path, 0);
            let new = entry_of(&here, &path)?;
            let parent = match &before {
                Some(before) => entry_of(before, &path)?,
                None => None,
            };
            let conflicted = (1..=3).any(|stage| index.get_path(&path, stage).is_some());
            let known = is(found.as_ref(), intended) || is(found.as_ref(), parent);
            if conflicted || is(found.as_ref(), new) || !known {
                continue;
            }
            let on_disk = self.content_of(git, &path, new)?;
            let change = Change {
                old: None,
                new,
                on_disk,
                path,
            };
            self.put(&mut index, &change)?;
            out_of_step = true;
        }
        if out_of_step {
            lock.prepare(&mut index)?;
            lock.publish()?;
        }
        Ok(out_of_step)
    }
}

fn is(found: Option<&IndexEntry>, entry: Entry) -> bool {
    found.map(|found| (found.id, found.mode)) == entry.map(|(id, mode)| (id, u32::from(mode)))
}
