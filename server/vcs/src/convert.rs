//! Between the bytes of a work tree and the bytes of the repository.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use git2::{ErrorCode, Oid};

use crate::error::Error;
use crate::program::{GitProgram, run};
use crate::repo::Repo;

impl Repo {
    /// Stores `bytes` of the file `path` as `git add` would.
    pub(crate) fn store(
        &self,
        git: &dyn GitProgram,
        path: &Path,
        bytes: &[u8],
    ) -> Result<Oid, Error> {
        let doing = "cannot store a file";
        if self.filter_of(path)?.is_none() {
            let index = self.index()?;
            let present = || {
                let entry = index.get_path(path, 0)?;
                let blob = self.git.find_blob(entry.id).ok()?;
                Some(blob.content().to_owned())
            };
            let stored = self.text_of(path)?.inward(bytes, present);
            return self.git.blob(&stored).map_err(Error::while_(doing));
        }
        let option = with_path(path);
        let args = [
            OsStr::new("hash-object"),
            "-w".as_ref(),
            "--stdin".as_ref(),
            &option,
        ];
        let output = run(git, self.root().ok_or(Error::Bare)?, &args, bytes, doing)?;
        let text = String::from_utf8_lossy(&output);
        Oid::from_str(text.trim()).map_err(Error::while_(doing))
    }

    /// The bytes that a work tree has of the blob `id` in the file `path`.
    pub(crate) fn load(
        &self,
        git: &dyn GitProgram,
        path: &Path,
        id: Oid,
    ) -> Result<Vec<u8>, Error> {
        let doing = "cannot read a file of a commit";
        if self.filter_of(path)?.is_none() {
            match self.git.find_blob(id) {
                Ok(blob) => {
                    if let Some(bytes) = self.text_of(path)?.outward(blob.content()) {
                        return Ok(bytes);
                    }
                }
                // A partial clone: git fetches it.
                Err(error) if error.code() == ErrorCode::NotFound => {}
                Err(error) => return Err(Error::while_(doing)(error)),
            }
        }
        let (option, id) = (with_path(path), id.to_string());
        let args = [
            OsStr::new("cat-file"),
            "--filters".as_ref(),
            &option,
            id.as_ref(),
        ];
        run(git, self.root().ok_or(Error::Bare)?, &args, &[], doing)
    }
}

fn with_path(path: &Path) -> OsString {
    let mut text = OsString::from("--path=");
    text.push(path);
    text
}
