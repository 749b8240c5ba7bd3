//! Everything that can keep a question about a repository from being answered.

use std::fmt;
use std::path::{Path, PathBuf};

use git2::{ErrorClass, ErrorCode};

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Neither the path nor any folder above it is a repository.
    #[error("{} is not in a git repository", path.display())]
    NotARepository {
        /// The path that was asked about.
        path: PathBuf,
    },
    /// There is a repository, and libgit2 does not open it. The user's git may be able to.
    #[error("the git repository of {} cannot be used: {why}", path.display())]
    Refused {
        /// The path that was asked about.
        path: PathBuf,
        /// What libgit2 objects to.
        why: Refusal,
    },
    /// The question is about files, and a bare repository has none.
    #[error("the repository is bare: it has no work tree")]
    Bare,
    /// The file does not lie in this work tree.
    #[error("{} is not inside the work tree {}", path.display(), root.display())]
    Outside {
        /// The file that was asked about.
        path: PathBuf,
        /// The root of the work tree.
        root: PathBuf,
    },
    /// A filter stands between the file and what the repository holds of it.
    #[error("{} passes through the git filter `{filter}`, which only git itself can run", path.display())]
    Filtered {
        /// The file, relative to the work tree.
        path: PathBuf,
        /// The filter's name, or `working-tree-encoding=...`.
        filter: String,
    },
    /// There is no such commit, branch or tag, or the abbreviation fits several.
    #[error("there is no revision `{revision}`: {why}")]
    UnknownRevision {
        /// The revision as it was asked for.
        revision: String,
        /// What libgit2 said.
        why: String,
    },
    /// Git knows no file of this name, neither in the work tree nor (if one was named) in the
    /// revision.
    #[error("there is no file {}{}", path.display(), in_revision(revision.as_deref()))]
    NoSuchFile {
        /// The file, relative to the work tree.
        path: PathBuf,
        /// The revision that was looked at, if one was.
        revision: Option<String>,
    },
    /// There is something of this name that is not a file.
    #[error("{} is {what}, not a file", path.display())]
    NotAFile {
        /// The path, relative to the work tree.
        path: PathBuf,
        /// "a folder", "a submodule" or "a symbolic link".
        what: &'static str,
    },
    /// The commit has the file, and this clone does not have its content: a partial clone fetches
    /// that when git is asked for it, which libgit2 cannot.
    #[error("the content of {} in revision `{revision}` is not in this (partial) clone", path.display())]
    NotFetched {
        /// The file, relative to the work tree.
        path: PathBuf,
        /// The revision that was looked at.
        revision: String,
    },
    /// The file is too large to be a source file.
    #[error("{} has {bytes} bytes, which is too large", path.display())]
    TooLarge {
        /// The file, relative to the work tree.
        path: PathBuf,
        /// Its size in the repository.
        bytes: usize,
    },
    /// Anything else that libgit2 reports: a damaged repository, a file that cannot be read.
    #[error("{doing}: {message}")]
    Git {
        /// What was being done.
        doing: &'static str,
        /// What libgit2 said.
        message: String,
    },
}

fn in_revision(revision: Option<&str>) -> String {
    revision.map_or_else(String::new, |revision| format!(" in revision `{revision}`"))
}

impl Error {
    /// A converter for errors that mean nothing special at this place.
    pub(crate) fn while_(doing: &'static str) -> impl Fn(git2::Error) -> Self {
        move |error| Self::Git {
            doing,
            message: error.message().to_owned(),
        }
    }

    /// The meaning of an error while opening the repository of `path`, which exists.
    pub(crate) fn from_opening(path: &Path, error: git2::Error) -> Self {
        if let Some(why) = Refusal::from_git(&error) {
            return Self::Refused {
                path: path.to_owned(),
                why,
            };
        }
        // Not found by the operating system is another thing: a `.git` file that leads nowhere.
        if error.code() == ErrorCode::NotFound && error.class() == ErrorClass::Repository {
            return Self::NotARepository {
                path: path.to_owned(),
            };
        }
        Self::while_("cannot open the git repository")(error)
    }
}

/// What libgit2 objects to in a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// It declares an extension: `refstorage` (reftable), `partialclone` and so on.
    Extension(String),
    /// It uses another hash than SHA-1.
    ObjectFormat(String),
    /// Its layout has a version of the future.
    Version(String),
    /// It belongs to another user and `safe.directory` does not allow it.
    NotOwned,
}

impl Refusal {
    /// libgit2 has no error codes for most of these; the tests pin its (vendored) wording.
    fn from_git(error: &git2::Error) -> Option<Self> {
        if error.code() == ErrorCode::Owner {
            return Some(Self::NotOwned);
        }
        let message = error.message();
        if let Some(name) = message.strip_prefix("unsupported extension name ") {
            let name = name.strip_prefix("extensions.").unwrap_or(name);
            return Some(Self::Extension(name.to_owned()));
        }
        if let Some(format) = message.strip_prefix("unknown object format ") {
            return Some(Self::ObjectFormat(format.trim_matches('\'').to_owned()));
        }
        let version = message.strip_prefix("unsupported repository version ")?;
        let number = version.split(';').next().unwrap_or(version);
        Some(Self::Version(number.to_owned()))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Extension(name) => {
                write!(
                    f,
                    "it uses the extension `{name}`, which libgit2 does not support"
                )
            }
            Self::ObjectFormat(format) => {
                write!(
                    f,
                    "its object format is {format}, and libgit2 supports sha1 only"
                )
            }
            Self::Version(version) => write!(f, "its format version {version} is too new"),
            Self::NotOwned => write!(
                f,
                "it belongs to another user; `git config --global --add safe.directory PATH` \
                 allows it"
            ),
        }
    }
}
