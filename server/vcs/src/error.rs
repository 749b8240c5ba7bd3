//! Everything that can keep a question about a repository from being answered.

use std::fmt;
use std::path::{Path, PathBuf};

use git2::{ErrorClass, ErrorCode};

use crate::repo::{Head, Operation};
use crate::version::{CommitId, Difference};

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
        /// "a folder", "a submodule", "a symbolic link", "behind a symbolic link", ...
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
    /// There is no commit yet to start from.
    #[error("the branch {branch} has no commit yet")]
    Unborn {
        /// The branch that HEAD names.
        branch: String,
    },
    /// The user is in the middle of something that changes branches and files itself.
    #[error("a {operation} is in progress: finish or abort it first")]
    Busy {
        /// What it is.
        operation: Operation,
    },
    /// Git does not allow a branch of this name.
    #[error("`{name}` is not a name for a branch")]
    InvalidName {
        /// The name.
        name: String,
    },
    /// There is a branch of this name, or one that it would lie in (`a` and `a/b`).
    #[error("there is a branch {branch} already; {free} is free")]
    BranchExists {
        /// The name that was asked for.
        branch: String,
        /// A name that could be used instead.
        free: String,
    },
    /// Another work tree has the branch checked out, and would be left behind by moving it.
    #[error("the branch {branch} is checked out in {}", worktree.display())]
    CheckedOutElsewhere {
        /// The branch.
        branch: String,
        /// The root of the other work tree (of the repository's git folder if it is unknown).
        worktree: PathBuf,
    },
    /// Something else is checked out than what the caller has seen last.
    #[error("expected to be on {}, and HEAD is {}", at(expected), at(found))]
    HeadMoved {
        /// What should be checked out.
        expected: Box<Head>,
        /// What is.
        found: Box<Head>,
    },
    /// A branch is no longer where it was, and going on would drop or mix up commits.
    #[error("the branch {branch} was at {}, and {}", expected.short(), moved_to(*found))]
    BranchMoved {
        /// The branch.
        branch: String,
        /// Where it was.
        expected: CommitId,
        /// Where it is; `None`: it was deleted.
        found: Option<CommitId>,
    },
    /// Another git process is changing the same thing, or has left its lock behind.
    #[error("another git process holds {}; if none is running, remove that file", file.display())]
    Locked {
        /// The lock.
        file: PathBuf,
    },
    /// The commit needs an author.
    #[error(
        "git does not know who you are: set `git config user.name` and `git config user.email`"
    )]
    NoIdentity,
    /// These files have a version in the index that is neither the old nor the new one and would be
    /// lost.
    #[error(
        "staged changes would be lost, commit or unstage them first: {}",
        list(paths)
    )]
    Staged {
        /// The files, relative to the work tree.
        paths: Vec<PathBuf>,
    },
    /// These files have conflicts of an unfinished merge.
    #[error("there are unresolved conflicts: {}", list(paths))]
    Conflicted {
        /// The files, relative to the work tree.
        paths: Vec<PathBuf>,
    },
    /// The files are in the commit already: there is nothing to commit.
    #[error("nothing differs from the last commit")]
    Unchanged,
    /// Files that were to be overwritten are not what they were expected to be: somebody else has
    /// changed them. Nothing was written.
    #[error("changed by someone else, and left alone: {}", differing(files))]
    Differs {
        /// The files with both versions.
        files: Vec<Difference>,
    },
    /// Later commits changed these files too, in a way that cannot be kept apart from what is to be
    /// taken back.
    #[error(
        "{} was changed by later commits, which would be undone as well",
        list(paths)
    )]
    ChangedLater {
        /// The files, relative to the work tree.
        paths: Vec<PathBuf>,
    },
    /// The folder is not a work tree of tileperf's, so it is not for it to change or remove.
    #[error("{} was not made by tileperf", path.display())]
    NotOurs {
        /// The folder.
        path: PathBuf,
    },
    /// The user's own git was needed, and failed.
    #[error("{doing}: git: {message}")]
    GitProgram {
        /// What was being done.
        doing: &'static str,
        /// What it said, or why it did not run.
        message: String,
    },
    /// The operating system refused something.
    #[error("{doing} {}: {message}", path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// To which file.
        path: PathBuf,
        /// What the operating system said.
        message: String,
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

fn at(head: &Head) -> String {
    match head {
        Head::Branch { name, commit } => format!("{name} at {}", commit.short()),
        Head::Detached { .. } | Head::Unborn { .. } => head.to_string(),
    }
}

fn moved_to(found: Option<CommitId>) -> String {
    found.map_or_else(
        || "it is gone".to_owned(),
        |commit| format!("it is at {} now", commit.short()),
    )
}

fn list(paths: &[PathBuf]) -> String {
    let names: Vec<_> = paths.iter().map(|p| p.display().to_string()).collect();
    names.join(", ")
}

fn differing(files: &[Difference]) -> String {
    let paths: Vec<_> = files.iter().map(|file| file.path.clone()).collect();
    list(&paths)
}

impl Error {
    /// What the operating system refused.
    pub(crate) fn io(doing: &'static str, path: &Path, error: &std::io::Error) -> Self {
        Self::Io {
            doing,
            path: path.to_owned(),
            message: error.to_string(),
        }
    }

    /// The meaning of an error while doing something that reads the index of the git folder `path`.
    pub(crate) fn from_index(path: &Path, doing: &'static str, error: git2::Error) -> Self {
        // Pinned by a test, as the other wordings of libgit2.
        let quoted = error
            .message()
            .strip_prefix("unsupported mandatory extension: ");
        let Some(name) = quoted.map(|name| name.trim_matches('\'').to_owned()) else {
            return Self::while_(doing)(error);
        };
        Self::Refused {
            path: path.to_owned(),
            why: Refusal::Index(name),
        }
    }

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
    /// Its index has an extension: `link` (split index), `sdir` (sparse index).
    Index(String),
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
            Self::Index(name) => {
                let undo = match name.as_str() {
                    "link" => "; `git update-index --no-split-index` undoes it",
                    "sdir" => "; `git sparse-checkout reapply --no-sparse-index` undoes it",
                    _ => "",
                };
                write!(
                    f,
                    "its index uses the extension `{name}`, which libgit2 does not support{undo}"
                )
            }
            Self::NotOwned => write!(
                f,
                "it belongs to another user; `git config --global --add safe.directory PATH` \
                 allows it"
            ),
        }
    }
}
