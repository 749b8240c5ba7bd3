//! Where the two variants stand while they are run, and putting them there.
//!
//! In trees of their own the user's tree is not touched before the decision. In place (no
//! repository, submodules, files that a filter makes) the user's files are exchanged, each only if it
//! still is what was put there last, and every exchange is announced in the journal first.

use std::path::{Path, PathBuf};

use tileperf_analysis::digest::sha256;
use tileperf_vcs::{CommitId, Gap, Repo};

use crate::error::Error;
use crate::event::Stored;
use crate::git::UsersGit;
use crate::plan::{Place, PlaceChoice};
use crate::stats::Variant;
use crate::store::Store;

/// The two trees of a session, made when first needed and kept until it is over.
#[derive(Debug, Clone)]
pub(crate) struct Trees {
    base: PathBuf,
    candidate: PathBuf,
}

impl Trees {
    /// The trees of a session, below the user's cache folder: outside the project, so that neither
    /// an editor nor a test collector finds every file three times.
    pub(crate) fn new(cache: &Path, repo: &Repo, session: &str) -> Self {
        let repository = sha256(repo.common_dir().as_os_str().as_encoded_bytes());
        let folder = cache.join("trees").join(&repository[..12]).join(session);
        Self {
            base: folder.join(Variant::Base.in_paths()),
            candidate: folder.join(Variant::Candidate.in_paths()),
        }
    }

    /// The root of a variant.
    pub(crate) fn root(&self, variant: Variant) -> &Path {
        match variant {
            Variant::Base => &self.base,
            Variant::Candidate => &self.candidate,
        }
    }

    /// Brings a variant's tree to `commit`, with the changeable files as in `files`.
    ///
    /// # Errors
    /// [`Error::Git`], [`Error::Io`].
    pub(crate) fn bring(
        &self,
        repo: &Repo,
        git: &UsersGit,
        store: &Store,
        variant: Variant,
        commit: CommitId,
        files: &[Stored],
    ) -> Result<(), Error> {
        let root = self.root(variant);
        // Adding one that is there already brings it to the commit.
        repo.add_worktree(git, root, commit)?;
        for stored in files {
            let file = store.get(stored)?;
            let found = tileperf_vcs::read_file(&root.join(&file.path))?;
            if found != file.content {
                let swap = tileperf_vcs::Swap {
                    path: file.path,
                    expected: found,
                    new: file.content,
                };
                tileperf_vcs::swap_files(root, &[swap])?;
            }
        }
        Ok(())
    }

    /// Removes both. What cannot be removed is a warning: nothing depends on it.
    pub(crate) fn remove(&self, repo: &Repo) {
        for root in [&self.base, &self.candidate] {
            if let Err(error) = repo.remove_worktree(root) {
                tracing::warn!("{}: {error}", root.display());
            }
        }
        if let Some(folder) = self.base.parent() {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Where a session's variants can be run, and why not elsewhere.
///
/// # Errors
/// [`Error::State`] if trees of their own are asked for and cannot be.
pub(crate) fn choose(
    choice: PlaceChoice,
    repo: Option<&Repo>,
    commit: Option<CommitId>,
) -> Result<(Place, Option<String>), Error> {
    let reason = match (choice, repo, commit) {
        (PlaceChoice::InPlace, _, _) => Some("perf.place asks for it".to_owned()),
        (_, Some(repo), Some(commit)) => {
            let gaps = repo.worktree_gaps(commit, &[] as &[&Path])?;
            gaps.first().map(describe)
        }
        _ => Some("the kernel's file is in no commit of a git repository".to_owned()),
    };
    match (choice, reason) {
        (_, None) => Ok((Place::Trees, None)),
        (PlaceChoice::Trees, Some(why)) => Err(Error::State(format!(
            "base and candidate cannot be run in trees of their own: {why}"
        ))),
        (_, why) => Ok((Place::InPlace, why)),
    }
}

fn describe(gap: &Gap) -> String {
    match gap {
        Gap::Submodule { path } => format!("the submodule {} would be empty", path.display()),
        Gap::Filtered {
            filter,
            files,
            first,
        } => format!(
            "{files} files are made by the filter {filter} ({} is one)",
            first.display()
        ),
        Gap::Missing { path, .. } => format!("{} is not committed", path.display()),
        Gap::PartialClone { remote } => {
            format!("the clone fetches files from {remote} when they are needed")
        }
        other => format!("{other:?}"),
    }
}
