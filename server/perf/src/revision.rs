//! What a file was in another revision, for comparisons.

use std::path::Path;

use tileperf_vcs::{Error as GitError, Repo};

use crate::Error;

/// The text of a file as a revision (`HEAD`, `main~2`, a commit) has it; `None` if it has no such
/// file.
///
/// # Errors
/// There is no repository around it or no such revision, or the file is no UTF-8.
pub fn text_at(path: &Path, revision: &str) -> Result<Option<String>, Error> {
    let repo = Repo::discover(path.parent().unwrap_or(path)).map_err(Error::Git)?;
    let bytes = match repo.content_at(revision, path) {
        Ok(bytes) => bytes,
        Err(GitError::NoSuchFile { .. }) => return Ok(None),
        Err(error) => return Err(Error::Git(error)),
    };
    let text = String::from_utf8(bytes);
    text.map(Some)
        .map_err(|_| Error::State(format!("{} is no UTF-8", path.display())))
}
