//! A session begins: branch, folder, first event.

use std::path::{Path, PathBuf};

use tileperf_vcs::{Head, Repo};

use crate::clock;
use crate::error::Error;
use crate::event::{Event, GitStart, Stored};
use crate::journal::Journal;
use crate::plan::Plan;
use crate::session::Session;
use crate::store::Store;

use super::{Loop, Options, read_files, take};

/// The root that a session on `file` works in: its repository's, else `workspace`.
pub fn root_of(file: &Path, workspace: &Path) -> PathBuf {
    Repo::discover(file)
        .ok()
        .and_then(|repo| repo.root().map(Path::to_owned))
        .unwrap_or_else(|| workspace.to_owned())
}

/// Refuses if a session on `plan` would begin with a change that was not tried: its files are not as
/// in the last commit.
///
/// # Errors
/// [`Error::Untried`]; [`Error::Git`], [`Error::Io`].
pub fn expect_committed(root: &Path, plan: &Plan, options: &Options<'_>) -> Result<(), Error> {
    let Some(repo) = tracked(root, plan)? else {
        return Ok(());
    };
    let Some(commit) = repo.head()?.commit() else {
        return Ok(());
    };
    let git = crate::git::UsersGit {
        cancel: options.cancel.clone(),
    };
    let found = read_files(Some(&repo), root, &plan.files)?;
    let base = repo.read_files_at(&git, commit, &plan.files)?;
    let differing = found.into_iter().zip(base).filter(|(f, b)| f != b);
    let files: Vec<PathBuf> = differing.map(|(found, _)| found.path).collect();
    match files.is_empty() {
        true => Ok(()),
        false => Err(Error::Untried { files }),
    }
}

/// Starts a session: in a repository on a branch of its own, at the commit that is checked out, and
/// without touching index or files.
///
/// # Errors
/// [`Error::SessionExists`], [`Error::OnSessionBranch`], [`Error::State`] if there is no such file,
/// [`Error::Git`] (a merge in progress, no commit yet, ...), [`Error::Io`]. Then nothing has changed.
pub fn set_up<'a>(root: &Path, plan: Plan, options: &'a Options<'a>) -> Result<Loop<'a>, Error> {
    if plan.files.first() != Some(&plan.file) {
        return Err(Error::State(format!(
            "{} must be the first of the files that may change",
            plan.file.display()
        )));
    }
    for (what, command) in [
        ("correctness", &plan.correctness),
        ("benchmark", &plan.benchmark),
    ] {
        crate::command::fill(what, command, &plan, root, Path::new("junit.xml"))?;
    }
    let repo = tracked(root, &plan)?;
    refuse_others(root, &plan, repo.as_ref())?;
    let found = read_files(repo.as_ref(), root, &plan.files)?;
    if let Some(missing) = found.iter().find(|f| f.content.is_none()) {
        return Err(Error::State(format!(
            "there is no file {}",
            root.join(&missing.path).display()
        )));
    }
    let kernel = slug(&plan.kernel);
    let (name, branch) = free_name(root, repo.as_ref(), &kernel)?;
    let store = Store::new(root, &name);
    store.create()?;
    let begun = begin(&store, plan, repo, branch, found, options);
    if begun.is_err() {
        // Nothing was announced that could be found later, so nothing stays.
        let _ = std::fs::remove_dir_all(store.folder());
    }
    begun
}

fn begin<'a>(
    store: &Store,
    plan: Plan,
    repo: Option<Repo>,
    branch: String,
    found: Vec<tileperf_vcs::FileVersion>,
    options: &'a Options<'a>,
) -> Result<Loop<'a>, Error> {
    let root = store.root();
    let lock = take(store)?;
    let git = crate::git::UsersGit {
        cancel: options.cancel.clone(),
    };
    let keep = |files: &[tileperf_vcs::FileVersion]| -> Result<Vec<Stored>, Error> {
        files.iter().map(|f| store.keep(f)).collect()
    };
    let (start, base) = match &repo {
        Some(repo) => {
            repo.exclude("sandbox/")?;
            let head = repo.head()?;
            let commit = head.commit().ok_or_else(|| {
                Error::State("the repository has no commit yet; the base must be one".to_owned())
            })?;
            let start = GitStart {
                branch: match &head {
                    Head::Branch { name, .. } => Some(name.clone()),
                    _ => None,
                },
                commit: commit.to_string(),
                session_branch: branch.clone(),
            };
            let base = repo.read_files_at(&git, commit, &plan.files)?;
            (Some(start), keep(&base)?)
        }
        None => (None, keep(&found)?),
    };
    let found = keep(&found)?;
    let (mut journal, _) = Journal::open(&store.journal())?;
    // Announced first: a start that is killed in between is finished by the next one.
    let entry = journal.append(Event::SetUp {
        session: store
            .folder()
            .file_name()
            .map(|n| n.to_string_lossy().into_owned())
            .unwrap_or_default(),
        root: root.to_owned(),
        plan: Box::new(plan),
        git: start,
        found,
        base,
    })?;
    if let Some(repo) = &repo {
        repo.start_branch(&branch)?;
    }
    let session = Session::fold(std::slice::from_ref(&entry)).ok_or_else(|| Error::Journal {
        path: store.journal(),
        line: 1,
        why: "it does not begin with a setup".to_owned(),
    })?;
    (options.observer)(&entry);
    let out = Loop {
        options,
        store: store.clone(),
        journal,
        session,
        repo,
        git,
        completed: None,
        _lock: lock,
    };
    out.write_table()?;
    Ok(out)
}

/// The repository, if it has all of the changeable files; otherwise the session does without.
fn tracked(root: &Path, plan: &Plan) -> Result<Option<Repo>, Error> {
    let repo = match Repo::discover(root.join(&plan.file)) {
        Ok(repo) => repo,
        Err(tileperf_vcs::Error::NotARepository { .. }) => return Ok(None),
        // Backups do where libgit2 must not work; its reason is worth a word.
        Err(error @ tileperf_vcs::Error::Refused { .. }) => {
            tracing::warn!("the session does without git: {error}");
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    if repo.root() != Some(root) {
        return Ok(None);
    }
    let Some(commit) = repo.head()?.commit() else {
        return Ok(Some(repo));
    };
    let known = repo.blob_ids(commit, &plan.files)?;
    if known.iter().all(Option::is_some) {
        return Ok(Some(repo));
    }
    let mut untracked = Vec::new();
    for (path, id) in plan.files.iter().zip(known) {
        if id.is_none() && !repo.is_ignored(path)? {
            untracked.push(path.clone());
        }
    }
    match untracked.as_slice() {
        // An ignored file has no history: backups do.
        [] => Ok(None),
        files => Err(Error::State(format!(
            "{} is not committed yet: commit it first, a change is measured against the last commit",
            crate::error::list(files)
        ))),
    }
}

/// One session a kernel; and in one work tree one that is not over, for its branch is checked out.
fn refuse_others(root: &Path, plan: &Plan, repo: Option<&Repo>) -> Result<(), Error> {
    let head = repo.and_then(|repo| repo.head().ok());
    for name in Store::sessions(root) {
        let store = Store::new(root, &name);
        let Some(session) = Session::fold(&crate::journal::read(&store.journal())?) else {
            continue;
        };
        if session.phase.is_over() {
            continue;
        }
        if session.plan.kernel == plan.kernel && session.plan.file == plan.file {
            return Err(Error::SessionExists {
                kernel: plan.kernel.to_string(),
                session: name,
            });
        }
        if let (Some(git), Some(Head::Branch { name: on, .. })) = (&session.git, &head)
            && git.session_branch == *on
        {
            return Err(Error::OnSessionBranch {
                session: name,
                branch: on.clone(),
            });
        }
    }
    Ok(())
}

/// `scale_kernel-20261129`, with a number where that is taken, and the branch that goes with it.
fn free_name(root: &Path, repo: Option<&Repo>, kernel: &str) -> Result<(String, String), Error> {
    let today = clock::today();
    let mut number = 1;
    loop {
        let suffix = if number == 1 {
            String::new()
        } else {
            format!("-{number}")
        };
        let name = format!("{kernel}-{today}{suffix}");
        let branch = format!("cutile-perf-{name}");
        let branch_taken = match repo {
            Some(repo) => repo.branch_tip(&branch)?.is_some(),
            None => false,
        };
        if !branch_taken && !Store::new(root, &name).folder().exists() {
            return Ok((name, branch));
        }
        number += 1;
    }
}

/// A kernel's name as part of branch and folder names.
pub(crate) fn slug(kernel: &str) -> String {
    let plain: String = kernel
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '_' {
                c
            } else {
                '-'
            }
        })
        .collect();
    let plain = plain.trim_matches('-');
    if plain.is_empty() {
        "kernel".to_owned()
    } else {
        plain.to_owned()
    }
}
