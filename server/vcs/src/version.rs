//! The plain data of the writing side: commits, and what a file is at one moment.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use git2::Oid;

use crate::error::Error;

/// The id of a commit. Its text is the full 40 hexadecimal digits, and parses back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitId(pub(crate) Oid);

impl CommitId {
    /// The first ten digits, for people.
    #[must_use]
    pub fn short(self) -> String {
        self.0.to_string()[..10].to_owned()
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl FromStr for CommitId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        // libgit2 would fill up a shorter one with zeros.
        let whole = text.len() == 40;
        let id = whole.then(|| Oid::from_str(text).ok()).flatten();
        id.map(Self).ok_or_else(|| Error::UnknownRevision {
            revision: text.to_owned(),
            why: "a commit id has 40 hexadecimal digits".to_owned(),
        })
    }
}

/// The id of a file's content in the repository: equal ids are equal bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId(pub(crate) Oid);

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// A file as the work tree has it: its bytes after filters and line ends, and its one mode bit.
#[derive(Clone, PartialEq, Eq)]
pub struct Content {
    /// All of its bytes.
    pub bytes: Vec<u8>,
    /// Whether its owner may execute it. Git keeps no other permission.
    pub executable: bool,
}

impl Content {
    /// A file that is not executable.
    #[must_use]
    pub fn plain(bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            bytes: bytes.into(),
            executable: false,
        }
    }

    /// An executable file.
    #[must_use]
    pub fn executable(bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            bytes: bytes.into(),
            executable: true,
        }
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 120;
        let start = &self.bytes[..self.bytes.len().min(SHOWN)];
        let mode = if self.executable { "executable, " } else { "" };
        let (bytes, text) = (self.bytes.len(), String::from_utf8_lossy(start));
        write!(f, "({mode}{bytes} bytes: {text:?})")
    }
}

/// What a path holds at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileVersion {
    /// Relative to the root of the work tree.
    pub path: PathBuf,
    /// `None`: there is no such file.
    pub content: Option<Content>,
}

impl FileVersion {
    /// A file that is there.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, content: Content) -> Self {
        Self {
            path: path.into(),
            content: Some(content),
        }
    }

    /// A file that is not there.
    #[must_use]
    pub fn absent(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            content: None,
        }
    }
}

/// One guarded change of a file on the disk: it is made only if the file still is `expected`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swap {
    /// Relative to the root of the work tree.
    pub path: PathBuf,
    /// What has to be there; `None`: no file.
    pub expected: Option<Content>,
    /// What will be there; `None`: no file.
    pub new: Option<Content>,
}

impl Swap {
    /// The change that takes this one back.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self {
            path: self.path.clone(),
            expected: self.new.clone(),
            new: self.expected.clone(),
        }
    }
}

/// A file that is not what it was expected to be, with both versions, so that both can be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Relative to the root of the work tree.
    pub path: PathBuf,
    /// What should have been there.
    pub expected: Option<Content>,
    /// What is there.
    pub found: Option<Content>,
}

/// The bytes by which git knows `path`.
pub(crate) fn path_bytes(path: &Path) -> Cow<'_, [u8]> {
    let bytes = path.as_os_str().as_encoded_bytes();
    if cfg!(windows) {
        let slashes = bytes.iter().map(|&b| if b == b'\\' { b'/' } else { b });
        return Cow::Owned(slashes.collect());
    }
    Cow::Borrowed(bytes)
}

/// The path that git calls `bytes`.
pub(crate) fn bytes_path(bytes: &[u8]) -> PathBuf {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
    }
    #[cfg(not(unix))]
    {
        PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
    }
}
