//! Between the bytes of a work tree and the bytes of the repository: line ends and filters.
//!
//! Into the repository, libgit2 converts line ends as git does (a test compares it with git over all
//! settings), but runs no filter. Out of it, it converts only while it checks out whole files, so
//! that direction asks the user's git wherever anything is to be converted.

use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;

use git2::{AttrCheckFlags, AttrValue, ErrorCode, Oid};

use crate::error::Error;
use crate::program::{GitProgram, run};
use crate::repo::Repo;

/// What stands between a file and its blob.
enum Conversion {
    /// Nothing: they are equal.
    None,
    /// Line ends, or `$Id$`. `out`: whether a file can differ from its blob at all; on most machines
    /// line ends are converted only on the way in.
    Text { out: bool },
    /// Something that only git can run.
    Filter,
}

impl Repo {
    /// Stores `bytes` of the file `path` as `git add` would.
    pub(crate) fn store(
        &self,
        git: &dyn GitProgram,
        path: &Path,
        bytes: &[u8],
    ) -> Result<Oid, Error> {
        let failed = Error::while_("cannot store a file");
        match self.conversion(path)? {
            Conversion::None => self.git.blob(bytes).map_err(failed),
            Conversion::Text { .. } => {
                // Whether CRLF is converted may depend on what the index has of the file.
                self.index()?;
                let mut writer = self.git.blob_writer(Some(path)).map_err(&failed)?;
                writer
                    .write_all(bytes)
                    .map_err(|error| Error::io("cannot store", path, &error))?;
                writer.commit().map_err(failed)
            }
            Conversion::Filter => {
                let option = with_path("--path=", path);
                let args = ["hash-object", "-w", "--stdin"].map(OsStr::new);
                let args = [args[0], args[1], args[2], &option];
                let root = self.root().ok_or(Error::Bare)?;
                let doing = "cannot store a filtered file";
                let output = run(git, root, &args, bytes, doing)?;
                let text = String::from_utf8_lossy(&output);
                Oid::from_str(text.trim()).map_err(Error::while_(doing))
            }
        }
    }

    /// The bytes that a work tree has of the blob `id` in the file `path`.
    pub(crate) fn load(
        &self,
        git: &dyn GitProgram,
        path: &Path,
        id: Oid,
    ) -> Result<Vec<u8>, Error> {
        let as_stored = match self.conversion(path)? {
            Conversion::None | Conversion::Text { out: false } => true,
            Conversion::Text { out: true } | Conversion::Filter => false,
        };
        if as_stored {
            match self.git.find_blob(id) {
                Ok(blob) => return Ok(blob.content().to_owned()),
                // A partial clone: git fetches it.
                Err(error) if error.code() == ErrorCode::NotFound => {}
                Err(error) => return Err(Error::while_("cannot read a file of a commit")(error)),
            }
        }
        let (option, id) = (with_path("--path=", path), id.to_string());
        let args = [
            OsStr::new("cat-file"),
            "--filters".as_ref(),
            &option,
            id.as_ref(),
        ];
        let root = self.root().ok_or(Error::Bare)?;
        run(git, root, &args, &[], "cannot read a file of a commit")
    }

    fn conversion(&self, path: &Path) -> Result<Conversion, Error> {
        if self.filter_of(path)?.is_some() {
            return Ok(Conversion::Filter);
        }
        let failed = || Error::while_("cannot read the git configuration");
        let config = self.git.config().and_then(|mut config| config.snapshot());
        let config = config.map_err(failed())?;
        let setting = |name: &str| match config.get_string(name) {
            Ok(text) => Ok(text.to_ascii_lowercase()),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(String::new()),
            Err(error) => Err(failed()(error)),
        };
        let on = |text: &str| matches!(text, "true" | "yes" | "on" | "1");
        let auto = setting("core.autocrlf")?;
        let crlf_from_settings = on(&auto) || setting("core.eol")? == "crlf" || cfg!(windows);

        let mut text = on(&auto) || auto == "input";
        let mut out = false;
        for name in ["text", "crlf", "eol", "ident"] {
            let value = self
                .git
                .get_attr_bytes(path, name, AttrCheckFlags::FILE_THEN_INDEX)
                .map_err(Error::while_("cannot read .gitattributes"))?;
            let value = AttrValue::from_bytes(value);
            match (name, value) {
                (_, AttrValue::Unspecified) => {}
                ("text", AttrValue::False) => text = false,
                ("ident", AttrValue::True) => {
                    text = true;
                    out = true;
                }
                ("ident", _) => {}
                ("eol", value) => {
                    text = true;
                    out |= value == AttrValue::String("crlf");
                }
                _ => text = true,
            }
        }
        Ok(if text {
            let out = out || crlf_from_settings;
            Conversion::Text { out }
        } else {
            Conversion::None
        })
    }
}

fn with_path(option: &str, path: &Path) -> std::ffi::OsString {
    let mut text = std::ffi::OsString::from(option);
    text.push(path);
    text
}
