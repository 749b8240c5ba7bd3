//! The ways back from the branch of an experiment to what was checked out before it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use git2::Tree;

use crate::commit::{Change, Identity, entry_of, nothing_lost, tree_of};
use crate::disk;
use crate::error::Error;
use crate::program::GitProgram;
use crate::repo::{Head, Repo};
use crate::version::{CommitId, Swap};

/// How the commits of an experiment get onto the branch it started from.
#[derive(Clone, Copy, Debug)]
pub enum Finish<'a> {
    /// As they are: the branch is moved forward to the last of them.
    KeepCommits,
    /// As one commit with this message.
    Squash {
        /// The message; a first line, an empty one, the rest.
        message: &'a str,
        /// As in [`NewCommit`](crate::NewCommit::author).
        author: Option<&'a Identity>,
    },
}

impl Repo {
    /// Puts the commits of the branch `on` onto the branch `to` that the experiment started from, and
    /// checks that out. Returns what is checked out then.
    ///
    /// The result holds the same files as the last commit of `on`, so neither the index nor a file of
    /// the work tree is touched: whatever is staged or changed stays so. The branch of `on` stays too
    /// ([`delete_branch`](Self::delete_branch) removes it). If `to` is a detached commit, the result
    /// is checked out detached. No hook is run and nothing is signed.
    ///
    /// # Errors
    /// [`Error::BranchMoved`] unless the branch `to` is still where it was or has only moved forward
    /// along the commits of `on`; [`Error::CheckedOutElsewhere`], [`Error::HeadMoved`] if `on` is not
    /// what is checked out, [`Error::Busy`], [`Error::Locked`], [`Error::NoIdentity`],
    /// [`Error::Unborn`], [`Error::Git`].
    pub fn finish(&self, on: &Head, to: &Head, how: Finish<'_>) -> Result<Head, Error> {
        self.ready()?;
        let lock = self.lock_index()?;
        self.expect_head(on)?;
        let last = self.commit_of(on)?;
        let tip = CommitId(last.id());
        let origin = CommitId(self.commit_of(to)?.id());
        let branch = to.branch();
        let present = match branch {
            Some(name) => {
                self.not_elsewhere(name)?;
                self.branch_tip(name)?
            }
            None => Some(origin),
        };
        let moved = || Error::BranchMoved {
            branch: branch.unwrap_or_default().to_owned(),
            expected: origin,
            found: present,
        };
        let present = present.ok_or_else(moved)?;
        let base = self.find_commit(present)?;
        let forward =
            self.is_ancestor(origin, present)? && self.is_ancestor(present, tip)? || present == tip;
        // A squash that was interrupted before HEAD was switched.
        let squashed = matches!(how, Finish::Squash { .. })
            && base.tree_id() == last.tree_id()
            && base.parent_ids().eq([origin.0]);
        if !forward && !squashed {
            return Err(moved());
        }
        let result = match how {
            Finish::KeepCommits => tip,
            Finish::Squash { .. } if base.tree_id() == last.tree_id() => present,
            Finish::Squash { message, author } => {
                self.new_commit(last.tree_id(), &base, message, author)?
            }
        };
        let Some(name) = branch else {
            let result = Head::Detached { commit: result };
            self.point_head(&lock, on, &result)?;
            return Ok(result);
        };
        let at = |commit| Head::Branch {
            name: name.to_owned(),
            commit,
        };
        let (before, after) = (at(present), at(result));
        if present != result {
            let log = format!("tileperf: finish {on}");
            self.advance(&lock, &before, result, &log)?;
        }
        if let Err(error) = self.point_head(&lock, on, &after) {
            let _ = self.advance(&lock, &after, present, "tileperf: finish failed");
            return Err(error);
        }
        Ok(after)
    }

    /// Leaves the branch `on` for `to`, without taking its commits along: for abandoning an
    /// experiment, or for leaving its branch to a pull request. Returns what is checked out then.
    ///
    /// `files` are the files that the experiment changed: what it wrote last, and what they were
    /// before it, which may differ from any commit. Every other file in which the two commits differ
    /// (`to` may have moved meanwhile) is brought over as by a careful check-out: only if it is as
    /// in the last commit of `on`. All other files and everything staged of them stay as they are.
    ///
    /// # Errors
    /// [`Error::Differs`] with all files that somebody else changed, both versions of each;
    /// [`Error::Staged`], [`Error::Conflicted`]; [`Error::ChangedLater`] if `to` has moved and changes
    /// one of `files` too; [`Error::BranchMoved`] if `to` is gone; [`Error::CheckedOutElsewhere`],
    /// [`Error::HeadMoved`], [`Error::Busy`], [`Error::Locked`], [`Error::NotAFile`],
    /// [`Error::GitProgram`], [`Error::Io`], [`Error::Git`]. Then nothing has changed.
    pub fn switch_back(
        &self,
        git: &dyn GitProgram,
        on: &Head,
        to: &Head,
        files: &[Swap],
    ) -> Result<Head, Error> {
        self.ready()?;
        let root = self.root().ok_or(Error::Bare)?;
        let target = self.present_state(to)?;
        let (changes, swaps) = self.way_back(git, on, to, &target, files)?;

        let lock = self.lock_index()?;
        // A run that was killed, or an index written back by another git, may have left only the
        // index to do.
        let arrived = self.head()? == target;
        if !arrived {
            self.expect_head(on)?;
        }
        if let Some(name) = target.branch() {
            self.not_elsewhere(name)?;
        }
        let mut index = lock.copy()?;
        nothing_lost(&index, &changes)?;
        let done = disk::swap(root, &swaps, self.modes())?;
        let moved = (|| {
            // After the files, whose stamps go into the index.
            for change in &changes {
                self.put(&mut index, change)?;
            }
            lock.prepare(&mut index)?;
            lock.publish()?;
            if arrived {
                return Ok(());
            }
            self.point_head(&lock, on, &target)
                .inspect_err(|_| lock.restore())
        })();
        if let Err(error) = moved {
            disk::take_back(root, &done, self.modes());
            return Err(error);
        }
        Ok(target)
    }

    /// `head`, with its branch where it is now.
    fn present_state(&self, head: &Head) -> Result<Head, Error> {
        match head {
            Head::Branch { name, commit } => {
                let found = self.branch_tip(name)?;
                let commit = found.ok_or_else(|| Error::BranchMoved {
                    branch: name.clone(),
                    expected: *commit,
                    found,
                })?;
                Ok(Head::Branch {
                    name: name.clone(),
                    commit,
                })
            }
            Head::Detached { .. } => Ok(head.clone()),
            Head::Unborn { name } => Err(Error::Unborn {
                branch: name.clone(),
            }),
        }
    }

    /// What has to change in the index and on the disk.
    fn way_back(
        &self,
        git: &dyn GitProgram,
        on: &Head,
        origin: &Head,
        target: &Head,
        files: &[Swap],
    ) -> Result<(Vec<Change>, Vec<Swap>), Error> {
        let mut ours: BTreeMap<PathBuf, &Swap> = BTreeMap::new();
        for swap in files {
            ours.insert(self.file_path(&swap.path)?, swap);
        }
        let tree = |head| tree_of(&self.commit_of(head)?);
        let (from, before, to): (Tree<'_>, Tree<'_>, Tree<'_>) =
            (tree(on)?, tree(origin)?, tree(target)?);
        let commit = |head: &Head| self.commit_of(head).map(|commit| CommitId(commit.id()));
        let mut paths = self.files_between(commit(on)?, commit(target)?)?;
        paths.extend(ours.keys().cloned());
        paths.sort();
        paths.dedup();

        let (mut changes, mut swaps, mut clash) = (Vec::new(), Vec::new(), Vec::new());
        for path in paths {
            let path = self.file_path(&path)?;
            let (old, new) = (entry_of(&from, &path)?, entry_of(&to, &path)?);
            let swap = match ours.get(&path) {
                Some(swap) => {
                    if entry_of(&before, &path)? != new {
                        clash.push(path);
                        continue;
                    }
                    (*swap).clone()
                }
                None => Swap {
                    expected: self.content_of(git, &path, old)?,
                    new: self.content_of(git, &path, new)?,
                    path: path.clone(),
                },
            };
            if old != new {
                let on_disk = self.if_stored_as(git, &path, &swap, new)?;
                changes.push(Change {
                    path: path.clone(),
                    old,
                    new,
                    on_disk,
                });
            }
            swaps.push(Swap { path, ..swap });
        }
        if clash.is_empty() {
            Ok((changes, swaps))
        } else {
            Err(Error::ChangedLater { paths: clash })
        }
    }

    /// What the disk will hold, if that is what the tree's entry is. A file that was changed before
    /// the experiment is changed after it as well.
    fn if_stored_as(
        &self,
        git: &dyn GitProgram,
        path: &Path,
        swap: &Swap,
        entry: crate::commit::Entry,
    ) -> Result<Option<crate::version::Content>, Error> {
        let (Some(content), Some((id, _))) = (&swap.new, entry) else {
            return Ok(None);
        };
        let same = self.store(git, path, &content.bytes)? == id;
        Ok(same.then(|| content.clone()))
    }
}
