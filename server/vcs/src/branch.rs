//! Moving HEAD and branches, never a file.

use std::fs;
use std::path::{Path, PathBuf};

use git2::{Branch, BranchType, ErrorCode, Reference};

use crate::error::Error;
use crate::lock::{IndexLock, patiently};
use crate::repo::{Head, Repo};
use crate::version::CommitId;

/// What [`Repo::start_branch`] has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// What was checked out before; to be kept for the way back.
    pub from: Head,
    /// What is checked out now: the new branch, at the same commit.
    pub on: Head,
}

impl Repo {
    /// Makes the branch `name` at the commit that is checked out, and switches to it. It is the same
    /// commit, so neither the index nor a file is touched, and what is staged stays staged.
    /// No hook is run (`post-checkout`, `reference-transaction`).
    ///
    /// # Errors
    /// [`Error::BranchExists`] (with a free name), [`Error::InvalidName`], [`Error::Unborn`],
    /// [`Error::Busy`], [`Error::CheckedOutElsewhere`] (a work tree that waits for the branch to be
    /// born), [`Error::HeadMoved`], [`Error::Locked`], [`Error::Bare`], [`Error::Git`].
    /// Then HEAD is as it was, and there is no new branch.
    pub fn start_branch(&self, name: &str) -> Result<Started, Error> {
        self.root().ok_or(Error::Bare)?;
        if !Branch::name_is_valid(name).unwrap_or(false) {
            return Err(Error::InvalidName {
                name: name.to_owned(),
            });
        }
        let lock = self.lock_index()?;
        self.ready()?;
        let from = self.head()?;
        let Some(commit) = from.commit() else {
            let branch = from.to_string();
            let branch = from.branch().map_or(branch, str::to_owned);
            return Err(Error::Unborn { branch });
        };
        if self.is_taken(name)? {
            return Err(Error::BranchExists {
                branch: name.to_owned(),
                free: self.free_name(name)?,
            });
        }
        self.not_elsewhere(name)?;
        let log = format!("branch: Created from {}", commit.short());
        let full = format!("refs/heads/{name}");
        lock.announce(&full, &commit.to_string())?;
        let create = || self.git.reference(&full, commit.0, false, &log);
        match patiently(create, |error| error.code() == ErrorCode::Locked) {
            Ok(_) => {}
            Err(error) if error.code() == ErrorCode::Exists => {
                return Err(Error::BranchExists {
                    branch: name.to_owned(),
                    free: self.free_name(name)?,
                });
            }
            Err(error) => return Err(self.moving(error, &full)),
        }
        let on = Head::Branch {
            name: name.to_owned(),
            commit,
        };
        if let Err(error) = self.point_head(&lock, &from, &on) {
            // Nobody can have used a branch that is a moment old; if so, it is theirs.
            let _ = self.delete_branch(name, commit);
            return Err(error);
        }
        Ok(Started { from, on })
    }

    /// The last commit of the branch `name`, if there is one of this name.
    ///
    /// # Errors
    /// [`Error::Git`].
    pub fn branch_tip(&self, name: &str) -> Result<Option<CommitId>, Error> {
        let branch = match self.git.find_branch(name, BranchType::Local) {
            Ok(branch) => branch,
            Err(error) if matches!(error.code(), ErrorCode::NotFound | ErrorCode::InvalidSpec) => {
                return Ok(None);
            }
            Err(error) => return Err(Error::while_("cannot read a branch")(error)),
        };
        let commit = branch.get().peel_to_commit();
        let commit = commit.map_err(Error::while_("cannot read a branch"))?;
        Ok(Some(CommitId(commit.id())))
    }

    /// Deletes the branch `name` if it still is at `tip`. Its commits stay reachable only through
    /// other branches. A branch that is gone already is no error.
    ///
    /// # Errors
    /// [`Error::BranchMoved`], [`Error::CheckedOutElsewhere`] (here counts too), [`Error::Locked`],
    /// [`Error::Git`].
    pub fn delete_branch(&self, name: &str, tip: CommitId) -> Result<(), Error> {
        let Some(found) = self.branch_tip(name)? else {
            return Ok(());
        };
        if found != tip {
            return Err(Error::BranchMoved {
                branch: name.to_owned(),
                expected: tip,
                found: Some(found),
            });
        }
        self.not_elsewhere(name)?;
        if self.head()?.branch() == Some(name) {
            return Err(Error::CheckedOutElsewhere {
                branch: name.to_owned(),
                worktree: self.root().unwrap_or(self.git_dir()).to_owned(),
            });
        }
        let full = format!("refs/heads/{name}");
        let mut branch = self
            .git
            .find_branch(name, BranchType::Local)
            .map_err(Error::while_("cannot read a branch"))?;
        // libgit2 deletes only what it has just read.
        let delete = || branch.delete();
        patiently(delete, |error| error.code() == ErrorCode::Locked)
            .map_err(|error| self.moving(error, &full))
    }

    /// Whether `ancestor` is `commit` or one of the commits it was made on.
    ///
    /// # Errors
    /// [`Error::Git`] if a commit cannot be read.
    pub fn is_ancestor(&self, ancestor: CommitId, commit: CommitId) -> Result<bool, Error> {
        if ancestor == commit {
            return Ok(true);
        }
        self.git
            .graph_descendant_of(commit.0, ancestor.0)
            .map_err(Error::while_("cannot compare commits"))
    }

    /// Refuses while the user is in the middle of a merge or the like.
    pub(crate) fn ready(&self) -> Result<(), Error> {
        self.operation()
            .map_or(Ok(()), |operation| Err(Error::Busy { operation }))
    }

    /// Refuses unless exactly `expected` is checked out.
    pub(crate) fn expect_head(&self, expected: &Head) -> Result<(), Error> {
        let found = self.head()?;
        if found == *expected {
            return Ok(());
        }
        Err(Error::HeadMoved {
            expected: Box::new(expected.clone()),
            found: Box::new(found),
        })
    }

    /// Lets HEAD name `to` if it still names `from`. The index and the files are the caller's.
    pub(crate) fn point_head(&self, lock: &IndexLock, from: &Head, to: &Head) -> Result<(), Error> {
        self.expect_head(from)?;
        match to {
            Head::Branch { name, .. } | Head::Unborn { name } => {
                self.not_elsewhere(name)?;
                lock.announce("HEAD", &format!("ref: refs/heads/{name}"))?;
            }
            Head::Detached { commit } => lock.announce("HEAD", &commit.to_string())?,
        }
        let is_locked = |error: &Error| matches!(error, Error::Locked { .. });
        patiently(|| self.point_head_now(from, to), is_locked)
    }

    fn point_head_now(&self, from: &Head, to: &Head) -> Result<(), Error> {
        self.expect_head(from)?;
        let log = format!("checkout: moving from {} to {}", short(from), short(to));
        let moved = match to {
            Head::Branch { name, .. } | Head::Unborn { name } => {
                let target = format!("refs/heads/{name}");
                match from.branch() {
                    Some(old) => {
                        let old = format!("refs/heads/{old}");
                        self.git
                            .reference_symbolic_matching("HEAD", &target, true, &old, &log)
                    }
                    // libgit2 compares only like with like.
                    None => self.git.reference_symbolic("HEAD", &target, true, &log),
                }
            }
            Head::Detached { commit } => self.git.reference("HEAD", commit.0, true, &log),
        };
        moved.map(drop).map_err(|error| {
            if error.code() == ErrorCode::Modified {
                return self.head_moved(from);
            }
            self.moving(error, "HEAD")
        })
    }

    /// Moves what is checked out, branch or bare commit, from its commit to `new`.
    pub(crate) fn advance(
        &self,
        lock: &IndexLock,
        on: &Head,
        new: CommitId,
        log: &str,
    ) -> Result<(), Error> {
        let (name, commit) = match on {
            Head::Branch { name, commit } => (format!("refs/heads/{name}"), *commit),
            Head::Detached { commit } => ("HEAD".to_owned(), *commit),
            Head::Unborn { name } => {
                return Err(Error::Unborn {
                    branch: name.clone(),
                });
            }
        };
        lock.announce(&name, &new.to_string())?;
        let advance = || {
            self.git
                .reference_matching(&name, new.0, true, commit.0, log)
        };
        let moved = patiently(advance, |error| error.code() == ErrorCode::Locked);
        moved.map(drop).map_err(|error| match error.code() {
            ErrorCode::Modified | ErrorCode::NotFound => self.head_moved(on),
            _ => self.moving(error, &name),
        })
    }

    fn head_moved(&self, expected: &Head) -> Error {
        match self.head() {
            Ok(found) => Error::HeadMoved {
                expected: Box::new(expected.clone()),
                found: Box::new(found),
            },
            Err(error) => error,
        }
    }

    /// The meaning of an error while changing the reference `name`.
    pub(crate) fn moving(&self, error: git2::Error, name: &str) -> Error {
        if error.code() == ErrorCode::Locked {
            let folder = if name == "HEAD" {
                self.git_dir()
            } else {
                self.common_dir()
            };
            return Error::Locked {
                file: folder.join(format!("{name}.lock")),
            };
        }
        Error::while_("cannot change a branch")(error)
    }

    /// Whether a branch of this name, or one inside it or around it, is in the way.
    fn is_taken(&self, name: &str) -> Result<bool, Error> {
        if self.branch_tip(name)?.is_some() {
            return Ok(true);
        }
        for (at, _) in name.match_indices('/') {
            if self.branch_tip(&name[..at])?.is_some() {
                return Ok(true);
            }
        }
        let inside = format!("refs/heads/{name}/*");
        let failed = Error::while_("cannot list the branches");
        let mut inside = self.git.references_glob(&inside).map_err(failed)?;
        Ok(inside.next().is_some())
    }

    /// `name-2`, or the first number after it that no branch has.
    fn free_name(&self, name: &str) -> Result<String, Error> {
        for number in 2..1000 {
            let free = format!("{name}-{number}");
            if !self.is_taken(&free)? {
                return Ok(free);
            }
        }
        // A branch may lie in the way of all of them (`perf` and `perf/a`).
        Ok(name.replace('/', "-") + "-2")
    }

    /// Refuses if another work tree has the branch `name` checked out, or is rebasing it.
    pub(crate) fn not_elsewhere(&self, name: &str) -> Result<(), Error> {
        for git_dir in self.git_dirs()? {
            if git_dir.canonicalize().ok() == self.git_dir().canonicalize().ok() {
                continue;
            }
            let uses = |file: &str, prefix: &str| {
                let text = fs::read(git_dir.join(file)).unwrap_or_default();
                let target = text.trim_ascii().strip_prefix(prefix.as_bytes());
                target.and_then(|target| target.trim_ascii().strip_prefix(b"refs/heads/"))
                    == Some(name.as_bytes())
            };
            if uses("HEAD", "ref:")
                || uses("rebase-merge/head-name", "")
                || uses("rebase-apply/head-name", "")
            {
                return Err(Error::CheckedOutElsewhere {
                    branch: name.to_owned(),
                    worktree: root_of(&git_dir).unwrap_or(git_dir),
                });
            }
        }
        Ok(())
    }

    /// The git folders of all work trees of this repository.
    fn git_dirs(&self) -> Result<Vec<PathBuf>, Error> {
        let mut found = Vec::new();
        let bare = self
            .git
            .config()
            .and_then(|config| config.get_bool("core.bare"));
        if !bare.unwrap_or(false) {
            found.push(self.common_dir().to_owned());
        }
        let linked = self.common_dir().join("worktrees");
        let entries = match fs::read_dir(&linked) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(found),
            Err(error) => return Err(Error::io("cannot read", &linked, &error)),
        };
        for entry in entries {
            let entry = entry.map_err(|error| Error::io("cannot read", &linked, &error))?;
            found.push(entry.path());
        }
        Ok(found)
    }
}

/// The root of the work tree with this git folder, as far as it says.
pub(crate) fn root_of(git_dir: &Path) -> Option<PathBuf> {
    if let Ok(text) = fs::read(git_dir.join("gitdir")) {
        let link = crate::version::bytes_path(text.trim_ascii());
        // Relative since git 2.48, if the user wishes so.
        return git_dir.join(link).parent().map(Path::to_owned);
    }
    (git_dir.file_name()? == ".git").then(|| git_dir.parent().map(Path::to_owned))?
}

/// As git calls it in the reflog.
fn short(head: &Head) -> String {
    match head {
        Head::Branch { name, .. } | Head::Unborn { name } => name.clone(),
        Head::Detached { commit } => commit.to_string(),
    }
}

/// Whether `name` can be a branch at all; for callers that make up names.
#[must_use]
pub fn is_branch_name(name: &str) -> bool {
    Reference::is_valid_name(&format!("refs/heads/{name}"))
        && Branch::name_is_valid(name).unwrap_or(false)
}
