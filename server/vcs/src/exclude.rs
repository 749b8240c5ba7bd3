//! Keeping tileperf's own folder out of every commit, without touching a tracked file.

use std::fs;
use std::io::ErrorKind;

use crate::disk;
use crate::error::Error;
use crate::repo::Repo;

impl Repo {
    /// Adds `pattern` (`sandbox/`) to `info/exclude`, the ignore rules of this clone that are never
    /// committed and count in all of its work trees. What the file holds stays byte for byte, and the
    /// line ends that it uses are used. Returns whether it was added: a line that is there already is
    /// not added again.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn exclude(&self, pattern: &str) -> Result<bool, Error> {
        let path = self.common_dir().join("info").join("exclude");
        // Some keep the file elsewhere and link to it: the link stays.
        let path = path.canonicalize().unwrap_or(path);
        let failed = |error| Error::io("cannot write", &path, &error);
        let mut text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(Error::io("cannot read", &path, &error)),
        };
        let mut lines = text.split(|&byte| byte == b'\n');
        if lines.any(|line| line.trim_ascii_end() == pattern.as_bytes()) {
            return Ok(false);
        }
        let end: &[u8] = if text.windows(2).any(|two| two == b"\r\n") {
            b"\r\n"
        } else {
            b"\n"
        };
        if text.last().is_some_and(|&last| last != b'\n') {
            text.extend_from_slice(end);
        }
        text.extend_from_slice(pattern.as_bytes());
        text.extend_from_slice(end);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        disk::replace(&path, &text).map_err(failed)?;
        Ok(true)
    }
}
