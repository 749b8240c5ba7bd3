//! What a work tree made from a commit would lack of the user's own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use git2::{FileMode, ObjectType, TreeWalkMode, TreeWalkResult};

use crate::commit::tree_of;
use crate::error::Error;
use crate::repo::Repo;
use crate::version::{CommitId, bytes_path};

/// A reason why a program may run here and not in a work tree made from a commit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Gap {
    /// The folder of a submodule would be empty.
    Submodule {
        /// Where it is, relative to the root.
        path: PathBuf,
    },
    /// Files are made by a filter, which the user's git has to run (LFS may ask the network).
    Filtered {
        /// The filter's name.
        filter: String,
        /// How many files of the commit.
        files: usize,
        /// The first of them.
        first: PathBuf,
    },
    /// A file or folder that is needed is there, and is not in the commit.
    Missing {
        /// As it was asked for, relative to the root.
        path: PathBuf,
        /// Git ignores it (a built extension, data); otherwise it is only not committed.
        ignored: bool,
    },
    /// The clone fetches contents when they are needed.
    PartialClone {
        /// From this remote.
        remote: String,
    },
}

impl Repo {
    /// What a work tree made from `commit` would lack, given the files and folders that are `needed`.
    /// Empty: it will do.
    ///
    /// # Errors
    /// [`Error::UnknownRevision`], [`Error::Outside`], [`Error::Bare`], [`Error::Git`].
    pub fn worktree_gaps<P: AsRef<Path>>(
        &self,
        commit: CommitId,
        needed: &[P],
    ) -> Result<Vec<Gap>, Error> {
        let root = self.root().ok_or(Error::Bare)?;
        let tree = tree_of(&self.find_commit(commit)?)?;
        let mut gaps = Vec::new();
        let mut files = Vec::new();
        tree.walk(TreeWalkMode::PreOrder, |folder, entry| {
            let path = || {
                let mut path = folder.as_bytes().to_vec();
                path.extend_from_slice(entry.name_bytes());
                bytes_path(&path)
            };
            match entry.kind() {
                Some(ObjectType::Commit) => gaps.push(Gap::Submodule { path: path() }),
                Some(ObjectType::Blob) if entry.filemode() != i32::from(FileMode::Link) => {
                    files.push(path());
                }
                _ => {}
            }
            TreeWalkResult::Ok
        })
        .map_err(Error::while_("cannot read the tree of a commit"))?;

        let mut filters: BTreeMap<String, (usize, PathBuf)> = BTreeMap::new();
        for path in files {
            if let Some(filter) = self.filter_of(&path)? {
                filters.entry(filter).or_insert((0, path)).0 += 1;
            }
        }
        for (filter, (files, first)) in filters {
            gaps.push(Gap::Filtered {
                filter,
                files,
                first,
            });
        }
        for path in needed {
            let path = self.relative(path.as_ref())?;
            let here = root.join(&path).symlink_metadata().is_ok();
            if here && tree.get_path(&path).is_err() {
                let ignored = self.is_ignored(&path)?;
                gaps.push(Gap::Missing { path, ignored });
            }
        }
        if let Some(remote) = self.promisor()? {
            gaps.push(Gap::PartialClone { remote });
        }
        Ok(gaps)
    }

    /// The remote that a partial clone fetches from.
    fn promisor(&self) -> Result<Option<String>, Error> {
        let failed = Error::while_("cannot read the git configuration");
        let config = self.git.config().map_err(&failed)?;
        let entries = config
            .entries(Some(r"^remote\..*\.promisor$"))
            .map_err(&failed)?;
        let mut remote = None;
        let all = entries.for_each(|entry| {
            let name = String::from_utf8_lossy(entry.name_bytes()).into_owned();
            let name = name.strip_prefix("remote.");
            let name = name.and_then(|name| name.strip_suffix(".promisor"));
            if !entry.value_bytes().eq_ignore_ascii_case(b"false") {
                remote = name.map(str::to_owned);
            }
        });
        all.map_err(failed)?;
        Ok(remote)
    }
}
