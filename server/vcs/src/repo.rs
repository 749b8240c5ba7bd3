//! Finding a repository, and what can be said of it as a whole.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use git2::{ErrorCode, Repository, RepositoryState};

use crate::error::Error;
use crate::version::CommitId;

/// An open repository; see the crate's documentation.
pub struct Repo {
    pub(crate) git: Repository,
}

/// What is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// A branch with at least one commit.
    Branch {
        /// Its name without `refs/heads/`; bytes that are not UTF-8 are replaced.
        name: String,
        /// Its last commit.
        commit: CommitId,
    },
    /// A commit and no branch.
    Detached {
        /// The commit.
        commit: CommitId,
    },
    /// A branch without any commit, as after `git init`.
    Unborn {
        /// The name that the branch will have.
        name: String,
    },
}

impl Head {
    /// The commit, unless there is none yet.
    #[must_use]
    pub fn commit(&self) -> Option<CommitId> {
        match self {
            Self::Branch { commit, .. } | Self::Detached { commit } => Some(*commit),
            Self::Unborn { .. } => None,
        }
    }

    /// The branch, if one is checked out.
    #[must_use]
    pub fn branch(&self) -> Option<&str> {
        match self {
            Self::Branch { name, .. } | Self::Unborn { name } => Some(name),
            Self::Detached { .. } => None,
        }
    }
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Branch { name, .. } => write!(f, "{name}"),
            Self::Detached { commit } => {
                write!(f, "detached at {}", commit.short())
            }
            Self::Unborn { name } => write!(f, "{name}, without commits yet"),
        }
    }
}

/// Something that git was told to do and that waits for the user to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `git merge`.
    Merge,
    /// `git rebase`.
    Rebase,
    /// `git cherry-pick`.
    CherryPick,
    /// `git revert`.
    Revert,
    /// `git bisect`.
    Bisect,
    /// `git am`.
    ApplyMailbox,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Merge => "merge",
            Self::Rebase => "rebase",
            Self::CherryPick => "cherry-pick",
            Self::Revert => "revert",
            Self::Bisect => "bisect",
            Self::ApplyMailbox => "am",
        })
    }
}

impl Repo {
    /// The innermost repository that holds `path`, a file or folder, which need not exist (an unsaved
    /// file): inside a submodule that is the submodule. `GIT_DIR` and its like are not looked at.
    ///
    /// # Errors
    /// [`Error::NotARepository`], [`Error::Refused`], or [`Error::Git`] if it is damaged.
    pub fn discover(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        // A path with a single component has the empty path above it, which means here.
        let start = path
            .ancestors()
            .map(|folder| {
                if folder.as_os_str().is_empty() {
                    Path::new(".")
                } else {
                    folder
                }
            })
            .find(|folder| folder.is_dir())
            .ok_or_else(|| Error::NotARepository {
                path: path.to_owned(),
            })?;
        let git = Repository::discover(start).map_err(|error| Error::from_opening(path, error))?;
        Ok(Self { git })
    }

    /// The root of the work tree, symbolic links resolved; `None` in a bare repository.
    #[must_use]
    pub fn root(&self) -> Option<&Path> {
        self.git.workdir()
    }

    /// The git folder of this work tree (`.git`, or the one that a `.git` file names).
    #[must_use]
    pub fn git_dir(&self) -> &Path {
        self.git.path()
    }

    /// The git folder shared by all work trees of the repository: `info/exclude` lies here.
    #[must_use]
    pub fn common_dir(&self) -> &Path {
        self.git.commondir()
    }

    /// Whether this is a work tree made by `git worktree add`.
    #[must_use]
    pub fn is_linked_worktree(&self) -> bool {
        self.git.is_worktree()
    }

    /// The root of the repository that has this one as a submodule, if one does. A repository that
    /// merely lies inside another one is no submodule.
    ///
    /// # Errors
    /// If there is a repository around this one and it cannot be read.
    pub fn superproject(&self) -> Result<Option<PathBuf>, Error> {
        let Some(outside) = self.root().and_then(Path::parent) else {
            return Ok(None);
        };
        let outer = match Self::discover(outside) {
            Ok(outer) => outer,
            Err(Error::NotARepository { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let (Some(root), Some(inner)) = (outer.root(), self.root()) else {
            return Ok(None);
        };
        let Ok(place) = inner.strip_prefix(root) else {
            return Ok(None);
        };
        let index = outer
            .git
            .index()
            .map_err(Error::while_("cannot read the outer index"))?;
        // Compared whole, not through the file-type mask: a gitlink shares bits with a symbolic link.
        let gitlink = u32::from(git2::FileMode::Commit);
        let is_submodule = index
            .get_path(place, 0)
            .is_some_and(|entry| entry.mode == gitlink);
        Ok(is_submodule.then(|| root.to_owned()))
    }

    /// What is checked out.
    ///
    /// # Errors
    /// [`Error::Git`] if HEAD cannot be read.
    pub fn head(&self) -> Result<Head, Error> {
        let failed = Error::while_("cannot read HEAD");
        let head = match self.git.head() {
            Ok(head) => head,
            Err(error) if error.code() == ErrorCode::UnbornBranch => {
                let head = self.git.find_reference("HEAD").map_err(failed)?;
                let target = head.symbolic_target_bytes().unwrap_or_default();
                let name = target.strip_prefix(b"refs/heads/").unwrap_or(target);
                return Ok(Head::Unborn {
                    name: String::from_utf8_lossy(name).into_owned(),
                });
            }
            Err(error) => return Err(failed(error)),
        };
        let commit = head.peel_to_commit().map_err(failed)?.id();
        let commit = CommitId(commit);
        if self
            .git
            .head_detached()
            .map_err(Error::while_("cannot read HEAD"))?
        {
            return Ok(Head::Detached { commit });
        }
        let name = String::from_utf8_lossy(head.shorthand_bytes()).into_owned();
        Ok(Head::Branch { name, commit })
    }

    /// What git is in the middle of, if anything.
    #[must_use]
    pub fn operation(&self) -> Option<Operation> {
        match self.git.state() {
            RepositoryState::Clean => None,
            RepositoryState::Merge => Some(Operation::Merge),
            RepositoryState::Revert | RepositoryState::RevertSequence => Some(Operation::Revert),
            RepositoryState::CherryPick | RepositoryState::CherryPickSequence => {
                Some(Operation::CherryPick)
            }
            RepositoryState::Bisect => Some(Operation::Bisect),
            RepositoryState::Rebase
            | RepositoryState::RebaseInteractive
            | RepositoryState::RebaseMerge => Some(Operation::Rebase),
            RepositoryState::ApplyMailbox | RepositoryState::ApplyMailboxOrRebase => {
                Some(Operation::ApplyMailbox)
            }
        }
    }

    /// `path` as git names it: relative to the root. Relative paths count from the root already.
    pub(crate) fn relative(&self, path: &Path) -> Result<PathBuf, Error> {
        let root = self.root().ok_or(Error::Bare)?;
        let outside = || Error::Outside {
            path: path.to_owned(),
            root: root.to_owned(),
        };
        let names_a_file = |path: &Path| {
            let mut parts = path.components();
            parts.clone().next().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
        };
        if path.is_relative() {
            return if names_a_file(path) {
                Ok(path.to_owned())
            } else {
                Err(outside())
            };
        }
        if let Ok(inside) = path.strip_prefix(root)
            && names_a_file(inside)
        {
            return Ok(inside.to_owned());
        }
        // The same place may have another name: through a symbolic link, or with `..`.
        let resolved = resolve_folder(path);
        let inside = resolved
            .strip_prefix(root)
            .ok()
            .filter(|inside| names_a_file(inside));
        inside.map(Path::to_owned).ok_or_else(outside)
    }
}

/// `path` with the links among its folders resolved. Its last component stays: a tracked file may be
/// a link itself. Folders that do not exist stay as they are.
fn resolve_folder(path: &Path) -> PathBuf {
    for folder in path.ancestors().skip(1) {
        if let Ok(resolved) = folder.canonicalize() {
            let rest = path.strip_prefix(folder).unwrap_or(Path::new(""));
            return resolved.join(rest);
        }
    }
    path.to_owned()
}

impl fmt::Debug for Repo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repo")
            .field("git_dir", &self.git_dir())
            .finish_non_exhaustive()
    }
}
