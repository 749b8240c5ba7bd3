//! Work trees of tileperf's own, next to the user's: what is measured lies in one that nobody edits.
//!
//! They are made by writing git's documented layout (`gitrepository-layout`), because libgit2's own
//! way makes a branch for each, and git's runs hooks. Each has a detached HEAD, a name that begins
//! with `tileperf-`, and is locked, so that `git worktree prune` leaves it alone and
//! `git worktree list` says what it is. Only these are ever changed or removed.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use git2::Repository;

use crate::branch::root_of;
use crate::disk;
use crate::error::Error;
use crate::program::GitProgram;
use crate::repo::Repo;
use crate::version::{CommitId, path_bytes};

/// How the names of our work trees begin.
const PREFIX: &str = "tileperf-";

/// Shown by `git worktree list --verbose`.
const REASON: &str = "tileperf measures here; `tileperf clean` removes it\n";

/// A work tree that tileperf made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worktree {
    /// Its name in the repository, `tileperf-...`.
    pub name: String,
    /// Its root.
    pub path: PathBuf,
    /// What is checked out; `None` if it was never finished or somebody checked out a branch in it.
    pub commit: Option<CommitId>,
    /// Whether the folder is there and belongs to it.
    pub exists: bool,
}

impl Repo {
    /// Makes a work tree in the folder `path`, which must be empty or missing, and checks out
    /// `commit` there, detached. If it is one of ours already, also after its folder has vanished or
    /// the making of it was killed, it is brought to `commit`.
    ///
    /// No hook is run. Files with a filter are made by `git`. Submodules stay empty.
    ///
    /// # Errors
    /// [`Error::NotOurs`] if there is something else in the folder; [`Error::UnknownRevision`],
    /// [`Error::Outside`] if `path` is not absolute; and those of
    /// [`checkout_worktree`](Self::checkout_worktree).
    pub fn add_worktree(
        &self,
        git: &dyn GitProgram,
        path: &Path,
        commit: CommitId,
    ) -> Result<Worktree, Error> {
        self.find_commit(commit)?;
        let path = place(path)?;
        let admin = match self.admin_of(&path)? {
            Some((admin, _)) => admin,
            None => {
                if !is_vacant(&path)? {
                    return Err(Error::NotOurs { path });
                }
                self.new_admin(&path)?
            }
        };
        if !leads_to(&path, &admin) {
            if !is_vacant(&path)? {
                return Err(Error::NotOurs { path });
            }
            let failed = |error| Error::io("cannot make the work tree", &path, &error);
            fs::create_dir_all(&path).map_err(failed)?;
            let head = format!("{commit}\n");
            disk::replace(&admin.join("HEAD"), head.as_bytes()).map_err(failed)?;
            let mut link = b"gitdir: ".to_vec();
            link.extend_from_slice(&path_bytes(&admin));
            link.push(b'\n');
            disk::replace(&path.join(".git"), &link).map_err(failed)?;
        }
        self.checkout_worktree(git, &path, commit)?;
        self.worktree_at(&path)?.ok_or(Error::NotOurs { path })
    }

    /// All work trees that tileperf made for this repository, in the order of their names.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn worktrees(&self) -> Result<Vec<Worktree>, Error> {
        let mut found = Vec::new();
        for admin in self.admins()? {
            let Some(path) = root_of(&admin) else {
                continue;
            };
            found.push(described(&admin, &path));
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    /// Our work tree whose root is `path`; `None` if there is none there, or one of somebody else.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Outside`] if `path` is not absolute.
    pub fn worktree_at(&self, path: &Path) -> Result<Option<Worktree>, Error> {
        let path = place(path)?;
        let admin = self.admin_of(&path)?;
        Ok(admin.map(|(admin, path)| described(&admin, &path)))
    }

    /// The repository as seen from our work tree at `path`, if it is really ours.
    pub(crate) fn open_worktree(&self, path: &Path) -> Result<Self, Error> {
        let path = place(path)?;
        let admin = match self.admin_of(&path)? {
            Some((admin, _)) if leads_to(&path, &admin) => admin,
            _ => return Err(Error::NotOurs { path }),
        };
        let git = Repository::open(&path).map_err(|error| Error::from_opening(&path, error))?;
        let same = git.path().canonicalize().ok() == admin.canonicalize().ok();
        if same {
            Ok(Self { git })
        } else {
            Err(Error::NotOurs { path })
        }
    }

    /// Removes our work tree at `path`, with all that lies in it, and what the repository keeps of it,
    /// also if the folder has vanished. If there is none, nothing happens.
    ///
    /// # Errors
    /// [`Error::NotOurs`] if the folder belongs to something else by now, [`Error::Io`],
    /// [`Error::Outside`] if `path` is not absolute.
    pub fn remove_worktree(&self, path: &Path) -> Result<(), Error> {
        let path = place(path)?;
        let Some((admin, _)) = self.admin_of(&path)? else {
            return if is_vacant(&path)? {
                Ok(())
            } else {
                Err(Error::NotOurs { path })
            };
        };
        if leads_to(&path, &admin) {
            // `.git` last: until then an interrupted removal can be repeated.
            empty(&path).map_err(|error| Error::io("cannot remove", &path, &error))?;
            fs::remove_dir_all(&path).map_err(|error| Error::io("cannot remove", &path, &error))?;
        } else if !is_vacant(&path)? {
            return Err(Error::NotOurs { path });
        }
        // At once: half of it would be a work tree of which git has lost the commit.
        let failed = |error| Error::io("cannot remove", &admin, &error);
        let name = admin.file_name().unwrap_or_default().to_string_lossy();
        let grave = self.common_dir().join(format!("{name}.removed"));
        // Left by a kill between the next two steps.
        let _ = fs::remove_dir_all(&grave);
        fs::rename(&admin, &grave).map_err(failed)?;
        fs::remove_dir_all(&grave).map_err(failed)?;
        // Git removes the folder of all of them with the last one.
        let _ = fs::remove_dir(self.linked());
        Ok(())
    }

    /// The folder with what the repository keeps of linked work trees.
    fn linked(&self) -> PathBuf {
        let common = self.common_dir();
        let common = common
            .canonicalize()
            .unwrap_or_else(|_| common.to_path_buf());
        common.join("worktrees")
    }

    /// What the repository keeps of each of our work trees.
    fn admins(&self) -> Result<Vec<PathBuf>, Error> {
        let linked = self.linked();
        let failed = |error| Error::io("cannot read", &linked, &error);
        let entries = match fs::read_dir(&linked) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed)?;
            if entry
                .file_name()
                .as_encoded_bytes()
                .starts_with(PREFIX.as_bytes())
            {
                found.push(entry.path());
            }
        }
        Ok(found)
    }

    /// What the repository keeps of our work tree at `path`, and its root.
    fn admin_of(&self, path: &Path) -> Result<Option<(PathBuf, PathBuf)>, Error> {
        let admins = self.admins()?.into_iter();
        let mut known = admins.filter_map(|admin| root_of(&admin).map(|root| (admin, root)));
        Ok(known.find(|(_, root)| place(root).is_ok_and(|root| root == path)))
    }

    fn new_admin(&self, path: &Path) -> Result<PathBuf, Error> {
        let linked = self.linked();
        let failed = |error| Error::io("cannot make the work tree", path, &error);
        fs::create_dir_all(&linked).map_err(failed)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let name: String = name.chars().map(plain).take(40).collect();
        let mut number = 1;
        let admin = loop {
            let suffix = match number {
                1 => String::new(),
                number => format!("-{number}"),
            };
            let admin = linked.join(format!("{PREFIX}{name}{suffix}"));
            match fs::create_dir(&admin) {
                Ok(()) => break admin,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(failed(error)),
            }
        };
        let mut link = path_bytes(&path.join(".git")).into_owned();
        link.push(b'\n');
        // Locked first: a prune must not meet it half made.
        for (name, text) in [
            ("locked", REASON.as_bytes()),
            ("commondir", b"../..\n"),
            ("gitdir", &link),
        ] {
            disk::replace(&admin.join(name), text).map_err(failed)?;
        }
        Ok(admin)
    }
}

/// `path` in the one way in which it is compared: absolute, links among its folders resolved.
fn place(path: &Path) -> Result<PathBuf, Error> {
    let name = path.file_name().filter(|_| path.is_absolute());
    let Some(name) = name else {
        return Err(Error::Outside {
            path: path.to_owned(),
            root: PathBuf::from("/"),
        });
    };
    if let Ok(path) = path.canonicalize() {
        return Ok(path);
    }
    let mut missing = vec![name];
    for folder in path.ancestors().skip(1) {
        if let Ok(folder) = folder.canonicalize() {
            return Ok(missing
                .iter()
                .rev()
                .fold(folder, |path, name| path.join(name)));
        }
        missing.extend(folder.file_name());
    }
    Ok(path.to_owned())
}

/// Whether the folder `path` says that it belongs to `admin`.
fn leads_to(path: &Path, admin: &Path) -> bool {
    let Ok(text) = fs::read(path.join(".git")) else {
        return false;
    };
    let Some(link) = text.strip_prefix(b"gitdir:") else {
        return false;
    };
    let link = path.join(crate::version::bytes_path(link.trim_ascii()));
    link.canonicalize()
        .is_ok_and(|link| admin.canonicalize().is_ok_and(|admin| admin == link))
}

/// Whether there is nothing at `path`, or an empty folder, or one in which nothing has come to be but
/// what a kill left of the link that makes it a work tree.
fn is_vacant(path: &Path) -> Result<bool, Error> {
    let link = disk::beside(&path.join(".git"));
    match fs::read_dir(path) {
        Ok(mut entries) => Ok(entries.all(|entry| entry.is_ok_and(|entry| entry.path() == link))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotADirectory => Ok(false),
        Err(error) => Err(Error::io("cannot read", path, &error)),
    }
}

fn described(admin: &Path, path: &Path) -> Worktree {
    let head = fs::read_to_string(admin.join("HEAD")).unwrap_or_default();
    Worktree {
        name: admin
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        path: path.to_owned(),
        commit: head.trim().parse().ok(),
        exists: leads_to(path, admin),
    }
}

/// Removes everything in `folder` but `.git`. Links are removed, not followed.
fn empty(folder: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name() != ".git" {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

fn remove(path: &Path) -> std::io::Result<()> {
    if path.symlink_metadata()?.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}
