//! Bringing one of our own work trees to a commit.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use git2::build::CheckoutBuilder;
use git2::{Delta, DiffOptions, ErrorCode, Index};

use crate::commit::{Change, tree_of};
use crate::disk;
use crate::error::Error;
use crate::program::GitProgram;
use crate::repo::{Head, Repo};
use crate::version::{CommitId, Content, Swap, bytes_path};

/// What [`Repo::checkout_worktree`] had to do, in the order of the names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Brought {
    /// Files that were written anew.
    pub written: Vec<PathBuf>,
    /// Files that the commit does not have and git does not ignore, removed.
    pub removed: Vec<PathBuf>,
}

impl Repo {
    /// Brings our work tree at `path` to `commit`, detached: every file that differs is written, and
    /// every file that is neither in the commit nor ignored is removed. Files that are the same are
    /// not touched, so nothing has to be built anew for them; ignored ones (caches, `sandbox/`) and
    /// nested repositories stay. No hook is run.
    ///
    /// Changes made there are lost. That is why it refuses any work tree but those of
    /// [`add_worktree`](Self::add_worktree).
    ///
    /// # Errors
    /// [`Error::NotOurs`], [`Error::UnknownRevision`], [`Error::Locked`], [`Error::NotFetched`] if
    /// this is a partial clone without all of the commit, [`Error::GitProgram`], [`Error::Io`],
    /// [`Error::Git`]. It can be repeated after any of them; a lock that a kill has left goes with
    /// [`remove_worktree`](Self::remove_worktree).
    pub fn checkout_worktree(
        &self,
        git: &dyn GitProgram,
        path: &Path,
        commit: CommitId,
    ) -> Result<Brought, Error> {
        self.find_commit(commit)?;
        self.open_worktree(path)?.bring_to(git, commit)
    }

    /// Makes this work tree, one of ours, equal to `commit`.
    fn bring_to(&self, git: &dyn GitProgram, commit: CommitId) -> Result<Brought, Error> {
        let root = self.root().ok_or(Error::Bare)?;
        let mut index = self.index()?;
        // Entries that are as in the tree keep their stamps, so that only the others are compared by
        // content.
        index
            .read_tree(&tree_of(&self.find_commit(commit)?)?)
            .map_err(Error::while_("cannot read the tree of a commit"))?;
        index.write().map_err(|error| self.index_error(error))?;

        let mut brought = Brought::default();
        let (mut differing, untracked) = self.differing(&index)?;
        // First, because a file may be in the way of a folder.
        for path in &untracked {
            let full = root.join(path);
            fs::remove_file(&full).map_err(|error| Error::io("cannot remove", &full, &error))?;
            disk::remove_empty_folders(root, path);
        }
        let attributes: Vec<_> = differing.iter().filter(|p| is_attributes(p)).collect();
        if !attributes.is_empty() || untracked.iter().any(|path| is_attributes(path)) {
            // A file may have to change although neither the commit's nor the disk's has.
            let attributes: Vec<_> = attributes.into_iter().cloned().collect();
            if !attributes.is_empty() {
                self.write_plain(&mut index, commit, Some(&attributes))?;
            }
            brought.written.extend(attributes);
            differing = self.clear(&index)?;
        }
        brought.removed = untracked;
        let (mut plain, mut filtered) = (Vec::new(), Vec::new());
        for path in differing {
            let full = root.join(&path);
            if full.is_symlink() {
                // libgit2 would write into the file that it leads to, wherever that is.
                fs::remove_file(&full)
                    .map_err(|error| Error::io("cannot remove", &full, &error))?;
            }
            let filter = self.filter_of(&path)?;
            let list = if filter.is_some() {
                &mut filtered
            } else {
                &mut plain
            };
            list.push(path);
        }
        if !plain.is_empty() {
            let only = (!filtered.is_empty()).then_some(plain.as_slice());
            self.write_plain(&mut index, commit, only)?;
        }
        for path in &filtered {
            if self.write_filtered(git, &mut index, path)? {
                brought.written.push(path.clone());
            }
        }
        if !filtered.is_empty() {
            index.write().map_err(|error| self.index_error(error))?;
        }
        brought.written.extend(plain);
        brought.written.sort();
        brought.removed.sort();

        let head = Head::Detached { commit };
        let present = self.head()?;
        if present != head {
            self.point_head(&self.lock_index()?, &present, &head)?;
        }
        Ok(brought)
    }

    /// The files that are not as in the index, and those that are not in it.
    fn differing(&self, index: &Index) -> Result<(BTreeSet<PathBuf>, Vec<PathBuf>), Error> {
        let mut options = DiffOptions::new();
        options
            .include_untracked(true)
            .recurse_untracked_dirs(true)
            .include_typechange(true)
            .ignore_submodules(true);
        let diff = self
            .git
            .diff_index_to_workdir(Some(index), Some(&mut options))
            .map_err(Error::while_("cannot compare the work tree"))?;
        let (mut differing, mut untracked) = (BTreeSet::new(), Vec::new());
        for delta in diff.deltas() {
            let Some(bytes) = delta.old_file().path_bytes() else {
                continue;
            };
            match delta.status() {
                // A folder here is a repository of its own.
                Delta::Untracked if bytes.ends_with(b"/") => {}
                Delta::Untracked => untracked.push(bytes_path(bytes)),
                _ => {
                    differing.insert(bytes_path(bytes));
                }
            }
        }
        Ok((differing, untracked))
    }

    /// Removes all files but `.gitattributes`, so that they are made anew.
    fn clear(&self, index: &Index) -> Result<BTreeSet<PathBuf>, Error> {
        let root = self.root().ok_or(Error::Bare)?;
        let gitlink = u32::from(git2::FileMode::Commit);
        let files = index.iter().filter(|entry| entry.mode != gitlink);
        let paths = files.map(|entry| bytes_path(&entry.path));
        let cleared: BTreeSet<_> = paths.filter(|path| !is_attributes(path)).collect();
        for path in &cleared {
            let full = root.join(path);
            match fs::remove_file(&full) {
                Err(error) if full.symlink_metadata().is_ok() => {
                    return Err(Error::io("cannot remove", &full, &error));
                }
                _ => {}
            }
        }
        Ok(cleared)
    }

    /// Writes files without a filter: those in `only`, or all that differ.
    fn write_plain(
        &self,
        index: &mut Index,
        commit: CommitId,
        only: Option<&[PathBuf]>,
    ) -> Result<(), Error> {
        let mut options = CheckoutBuilder::new();
        options.force().disable_pathspec_match(true);
        for path in only.unwrap_or_default() {
            options.path(path);
        }
        self.git
            .checkout_index(Some(index), Some(&mut options))
            .map_err(|error| match error.code() {
                ErrorCode::NotFound => Error::NotFetched {
                    path: only.and_then(<[_]>::first).cloned().unwrap_or_default(),
                    revision: commit.to_string(),
                },
                _ => self.index_error(error),
            })
    }

    /// Writes a file with a filter, unless it differs only in its stamp.
    fn write_filtered(
        &self,
        git: &dyn GitProgram,
        index: &mut Index,
        path: &Path,
    ) -> Result<bool, Error> {
        let root = self.root().ok_or(Error::Bare)?;
        let Some(entry) = index.get_path(path, 0) else {
            return Ok(false);
        };
        let executable = entry.mode == u32::from(git2::FileMode::BlobExecutable);
        let mode = crate::commit::mode(executable);
        let found = disk::read_file(&root.join(path))?;
        let same = match &found {
            Some(found) => {
                found.executable == executable && self.store(git, path, &found.bytes)? == entry.id
            }
            None => false,
        };
        let content = match &found {
            Some(found) if same => found.clone(),
            _ => Content {
                bytes: self.load(git, path, entry.id)?,
                executable,
            },
        };
        let swap = Swap {
            path: path.to_owned(),
            expected: found,
            new: Some(content.clone()),
        };
        disk::swap(root, &[swap], self.modes())?;
        let version = Some((entry.id, mode));
        self.put(
            index,
            &Change {
                path: path.to_owned(),
                old: version,
                new: version,
                on_disk: Some(content),
            },
        )?;
        Ok(!same)
    }

    fn index_error(&self, error: git2::Error) -> Error {
        if error.code() == ErrorCode::Locked {
            return Error::Locked {
                file: self.git_dir().join("index.lock"),
            };
        }
        Error::while_("cannot check out files")(error)
    }
}

fn is_attributes(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name == ".gitattributes")
}
