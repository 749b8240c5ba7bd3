//! What git says about one file of the work tree.

use std::path::Path;
use std::time::Duration;

use git2::{AttrCheckFlags, AttrValue, ErrorCode, Status};

use crate::error::Error;
use crate::repo::Repo;

/// How a file stands to the commit that is checked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileStatus {
    /// As in the commit.
    Clean,
    /// Tracked, and different from the commit: changed, added or deleted, staged or not.
    Modified,
    /// Not tracked, and not ignored.
    Untracked,
    /// Not tracked, and ignored.
    Ignored,
    /// In the middle of a merge with unresolved differences.
    Conflicted,
}

impl Repo {
    /// How the file `path`, absolute or relative to the root, stands to the commit checked out.
    /// Only that file is looked at, not the whole tree.
    ///
    /// A file of a submodule is not one of this repository: ask the one that
    /// [`discover`](Repo::discover) finds from the file itself.
    ///
    /// # Errors
    /// [`Error::Filtered`], [`Error::NoSuchFile`], [`Error::NotAFile`] for a folder,
    /// [`Error::Outside`], [`Error::Bare`], [`Error::Git`].
    pub fn status(&self, path: impl AsRef<Path>) -> Result<FileStatus, Error> {
        let path = self.relative(path.as_ref())?;
        if let Some(filter) = self.filter_of(&path)? {
            return Err(Error::Filtered { path, filter });
        }
        let status = match self.git.status_file(&path) {
            Ok(status) => status,
            Err(error) => {
                return Err(match error.code() {
                    ErrorCode::NotFound => Error::NoSuchFile {
                        path,
                        revision: None,
                    },
                    ErrorCode::Ambiguous => Error::NotAFile {
                        path,
                        what: "a folder",
                    },
                    _ => Error::while_("cannot read the status of a file")(error),
                });
            }
        };
        Ok(if status.contains(Status::CONFLICTED) {
            FileStatus::Conflicted
        } else if status == Status::CURRENT {
            FileStatus::Clean
        } else if status.contains(Status::IGNORED) {
            FileStatus::Ignored
        } else if status == Status::WT_NEW {
            FileStatus::Untracked
        } else {
            FileStatus::Modified
        })
    }

    /// Whether git would leave `path`, a file or folder, out: an ignore rule fits it and it is not
    /// tracked. It need not exist.
    ///
    /// # Errors
    /// [`Error::Outside`], [`Error::Bare`], [`Error::Git`].
    pub fn is_ignored(&self, path: impl AsRef<Path>) -> Result<bool, Error> {
        let path = self.relative(path.as_ref())?;
        let ignored = self.git.is_path_ignored(&path);
        if !ignored.map_err(Error::while_("cannot read the ignore rules"))? {
            return Ok(false);
        }
        Ok(self.index()?.get_path(&path, 0).is_none())
    }

    /// The meaning of an error while looking up an attribute.
    pub(crate) fn attribute_error(&self, error: git2::Error) -> Error {
        Error::from_index(self.git_dir(), "cannot read .gitattributes", error)
    }

    /// The index as it is on the disk now; libgit2 by itself keeps the first one that it has read.
    pub(crate) fn index(&self) -> Result<git2::Index, Error> {
        let read = || {
            let mut index = self.git.index()?;
            index.read(false)?;
            Ok(index)
        };
        steadily(read)
            .map_err(|error| Error::from_index(self.git_dir(), "cannot read the index", error))
    }

    /// The filter that stands between the file `path` and the repository: the value of its `filter`
    /// attribute (`lfs`, ...), or `working-tree-encoding=...`, which libgit2 does not know either.
    /// `None`: libgit2's own answers about the file are right.
    ///
    /// # Errors
    /// [`Error::Outside`], [`Error::Bare`], [`Error::Git`].
    pub fn filter(&self, path: impl AsRef<Path>) -> Result<Option<String>, Error> {
        self.filter_of(&self.relative(path.as_ref())?)
    }

    /// [`filter`](Self::filter) of a path that is relative already.
    pub(crate) fn filter_of(&self, path: &Path) -> Result<Option<String>, Error> {
        // Attributes are looked up in the index as well.
        self.index()?;
        let attribute = |name: &str| -> Result<Option<String>, Error> {
            let value = self
                .git
                .get_attr_bytes(path, name, AttrCheckFlags::FILE_THEN_INDEX)
                .map_err(|error| self.attribute_error(error))?;
            // Set or unset without a value, it names nothing, and git does nothing.
            Ok(match AttrValue::from_bytes(value) {
                AttrValue::String(text) => Some(text.to_owned()),
                AttrValue::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
                AttrValue::True | AttrValue::False | AttrValue::Unspecified => None,
            })
        };
        if let Some(filter) = attribute("filter")? {
            return Ok(Some(filter));
        }
        let encoding = attribute("working-tree-encoding")?;
        Ok(encoding.map(|encoding| format!("working-tree-encoding={encoding}")))
    }
}

/// Reads something of the index, again if need be: libgit2 asks for its size and opens it in two
/// steps, between which another program may replace it.
pub(crate) fn steadily<T>(
    mut read: impl FnMut() -> Result<T, git2::Error>,
) -> Result<T, git2::Error> {
    const ATTEMPTS: usize = 10;
    for _ in 1..ATTEMPTS {
        match read() {
            Err(error) if error.message().starts_with("invalid data in index") => {
                std::thread::sleep(Duration::from_millis(2));
            }
            result => return result,
        }
    }
    read()
}
