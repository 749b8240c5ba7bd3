//! What a file was in another revision.

use std::path::Path;

use git2::{ErrorCode, FileMode, ObjectType};

use crate::error::Error;
use crate::repo::Repo;

/// More than any source file: a larger one is refused before it is read into memory.
const LARGEST: usize = 64 << 20;

impl Repo {
    /// The bytes of the file `path` as `revision` (`HEAD`, `main~2`, a commit id, ...) holds them.
    /// Line ends are the repository's: a work tree with `core.autocrlf` may have others.
    ///
    /// # Errors
    /// [`Error::UnknownRevision`], [`Error::NoSuchFile`], [`Error::NotAFile`],
    /// [`Error::NotFetched`], [`Error::TooLarge`] over 64 MiB, [`Error::Filtered`] (the bytes would be
    /// a pointer or encrypted), [`Error::Outside`], [`Error::Bare`], [`Error::Git`].
    pub fn content_at(&self, revision: &str, path: impl AsRef<Path>) -> Result<Vec<u8>, Error> {
        let path = self.relative(path.as_ref())?;
        if let Some(filter) = self.filter_of(&path)? {
            return Err(Error::Filtered { path, filter });
        }
        let tree = self
            .git
            .revparse_single(revision)
            .and_then(|object| object.peel_to_tree())
            .map_err(|error| Error::UnknownRevision {
                revision: revision.to_owned(),
                why: error.message().to_owned(),
            })?;
        let entry = match tree.get_path(&path) {
            Ok(entry) => entry,
            Err(error) if error.code() == ErrorCode::NotFound => {
                return Err(Error::NoSuchFile {
                    path,
                    revision: Some(revision.to_owned()),
                });
            }
            Err(error) => return Err(Error::while_("cannot read a revision")(error)),
        };
        let not_a_file = |what| {
            Err(Error::NotAFile {
                path: path.clone(),
                what,
            })
        };
        match entry.kind() {
            Some(ObjectType::Blob) if entry.filemode() == i32::from(FileMode::Link) => {
                return not_a_file("a symbolic link");
            }
            Some(ObjectType::Blob) => {}
            Some(ObjectType::Commit) => return not_a_file("a submodule"),
            _ => return not_a_file("a folder"),
        }

        let failed = Error::while_("cannot read a file of a revision");
        let objects = self.git.odb().map_err(&failed)?;
        let (bytes, _) = match objects.read_header(entry.id()) {
            Ok(header) => header,
            Err(error) if error.code() == ErrorCode::NotFound => {
                return Err(Error::NotFetched {
                    path,
                    revision: revision.to_owned(),
                });
            }
            Err(error) => return Err(failed(error)),
        };
        if bytes > LARGEST {
            return Err(Error::TooLarge { path, bytes });
        }
        let blob = self.git.find_blob(entry.id()).map_err(&failed)?;
        Ok(blob.content().to_owned())
    }
}
