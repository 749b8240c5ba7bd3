//! The state machine: what may be done with a session, and every step of it as an event.
//!
//! A [`Loop`] holds a session's lock for as long as it lives, so there is never a second one. It
//! first brings order into what a killed process may have left ([`recover`]), then does one thing.

mod abandon;
mod baseline;
mod check;
mod decide;
mod experiment;
mod finish;
mod intent;
mod iterate;
mod measure;
mod proposal;
mod recover;
mod resume;
mod rounds;
mod run;
mod setup;
mod stop;
mod undo;

use std::path::{Path, PathBuf};

use tileperf_proc::CancelToken;
use tileperf_vcs::{CommitId, FileVersion, Head, Repo};

use crate::error::Error;
use crate::event::{Entry, Event, Intent, Stored, Tried};
use crate::git::UsersGit;
use crate::journal::Journal;
use crate::lock::Lock;
use crate::plan::Probe;
use crate::session::{Phase, Session};
use crate::store::Store;
use crate::verdict::Identity;
use crate::workplace::Trees;

pub use experiment::Experiment;
pub use finish::How;
pub use iterate::{Change, Outcome};
pub use proposal::Proposal;
pub(crate) use setup::slug;
pub use setup::{expect_committed, root_of, set_up};
pub use stop::{ask_to_stop, forget_old_wish, stop_asked};

/// What the loop needs from whoever runs it.
pub struct Options<'a> {
    /// Folder for locks and the helper (`~/.local/state/tileperf`).
    pub state: PathBuf,
    /// Folder for trees (`~/.cache/tileperf`).
    pub cache: PathBuf,
    /// Ends whatever runs.
    pub cancel: CancelToken,
    /// The device.
    pub probe: &'a dyn Probe,
    /// Is told every event once it is on the disk.
    pub observer: &'a dyn Fn(&Entry),
    /// Says whether a change is one of the compiled code.
    pub identity: &'a dyn Fn(&Tried) -> Identity,
    /// The version of tileperf, for the record.
    pub version: String,
}

/// A session that this process runs.
pub struct Loop<'a> {
    options: &'a Options<'a>,
    store: Store,
    journal: Journal,
    session: Session,
    repo: Option<Repo>,
    git: UsersGit,
    /// What a vanished process had announced and this one completed when it took the session up.
    completed: Option<Intent>,
    _lock: Lock,
}

impl<'a> Loop<'a> {
    /// Takes up a session: its lock, its journal, and what a killed process left undone.
    ///
    /// # Errors
    /// [`Error::Running`] if another process has it; [`Error::NoSession`]; [`Error::Journal`];
    /// [`Error::Io`]; and those of finishing what was left.
    pub fn open(root: &Path, session: &str, options: &'a Options<'a>) -> Result<Self, Error> {
        let store = Store::new(root, session);
        if !store.journal().is_file() {
            return Err(Error::NoSession {
                kernel: session.to_owned(),
            });
        }
        let lock = take(&store)?;
        let (journal, entries) = Journal::open(&store.journal())?;
        let session = Session::fold(&entries).ok_or_else(|| Error::Journal {
            path: store.journal(),
            line: 1,
            why: "it does not begin with a setup".to_owned(),
        })?;
        let repo = match session.git {
            Some(_) => Some(Repo::discover(root)?),
            None => None,
        };
        let mut out = Self {
            options,
            store,
            journal,
            session,
            repo,
            git: UsersGit {
                cancel: options.cancel.clone(),
            },
            completed: None,
            _lock: lock,
        };
        out.recover()?;
        Ok(out)
    }

    /// The session as it is.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Its folder.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Appends an event, takes it in and tells the observer.
    fn record(&mut self, event: Event) -> Result<(), Error> {
        let entry = self.journal.append(event)?;
        self.session.apply(&entry);
        (self.options.observer)(&entry);
        Ok(())
    }

    fn root(&self) -> &Path {
        self.store.root()
    }

    /// The changeable files as they are on the disk.
    fn on_disk(&self) -> Result<Vec<FileVersion>, Error> {
        read_files(self.repo.as_ref(), self.root(), &self.session.plan.files)
    }

    fn keep_all(&self, files: &[FileVersion]) -> Result<Vec<Stored>, Error> {
        files.iter().map(|f| self.store.keep(f)).collect()
    }

    fn get_all(&self, files: &[Stored]) -> Result<Vec<FileVersion>, Error> {
        files.iter().map(|f| self.store.get(f)).collect()
    }

    fn base_commit(&self) -> Option<CommitId> {
        self.session.base_commit.as_ref()?.parse().ok()
    }

    /// What has to be checked out while the session lasts.
    fn session_head(&self) -> Option<Head> {
        Some(Head::Branch {
            name: self.session.git.as_ref()?.session_branch.clone(),
            commit: self.base_commit()?,
        })
    }

    /// What was checked out before the session.
    fn original_head(&self) -> Option<Head> {
        let start = self.session.git.as_ref()?;
        let commit = start.commit.parse().ok()?;
        Some(match &start.branch {
            Some(name) => Head::Branch {
                name: name.clone(),
                commit,
            },
            None => Head::Detached { commit },
        })
    }

    /// Refuses to work while something else is checked out.
    fn expect_branch(&self) -> Result<(), Error> {
        let (Some(repo), Some(expected)) = (&self.repo, self.session_head()) else {
            return Ok(());
        };
        let found = repo.head()?;
        if found == expected {
            return Ok(());
        }
        let name = |head: &Head| match head {
            Head::Branch { name, commit } => format!("{name} at {}", commit.short()),
            Head::Detached { commit } => format!("the commit {}", commit.short()),
            Head::Unborn { name } => format!("{name}, without a commit"),
        };
        Err(Error::State(format!(
            "{} is checked out; the session {} stands on {}. Check that out, or end the session with \
             `perf abandon`",
            name(&found),
            self.session.name,
            name(&expected)
        )))
    }

    fn trees(&self) -> Option<Trees> {
        let repo = self.repo.as_ref()?;
        Some(Trees::new(&self.options.cache, repo, &self.session.name))
    }

    fn remove_trees(&self) {
        if let (Some(repo), Some(trees)) = (&self.repo, self.trees()) {
            trees.remove(repo);
        }
    }

    /// Refuses what a session that is over cannot do.
    fn expect_alive(&self) -> Result<(), Error> {
        let how = match self.session.phase {
            Phase::Finished => "finished",
            Phase::Abandoned => "abandoned",
            _ => return Ok(()),
        };
        Err(Error::State(format!(
            "the session {} is {how}; `perf setup` starts another",
            self.session.name
        )))
    }

    /// The session's table, in both places.
    fn write_table(&self) -> Result<(), Error> {
        self.store.write_table(&self.session.rows())
    }
}

fn take(store: &Store) -> Result<Lock, Error> {
    Lock::take(&store.lock())?.map_err(|holder| Error::Running { holder: holder.0 })
}

fn read_files(
    repo: Option<&Repo>,
    root: &Path,
    files: &[PathBuf],
) -> Result<Vec<FileVersion>, Error> {
    (files.iter())
        .map(|path| match repo {
            Some(repo) => Ok(repo.read_file(path)?),
            None => Ok(FileVersion {
                path: path.clone(),
                content: tileperf_vcs::read_file(&root.join(path))?,
            }),
        })
        .collect()
}
