//! Repositories that libgit2 does not open are refused with the reason, never misread.
#![allow(
    clippy::disallowed_methods,
    reason = "the crate starts nothing; its tests do"
)]

mod support;

use std::path::Path;
use std::process::Command;

use support::{Place, Tree};
use tileperf_vcs::{Content, Error, FileVersion, NewCommit, NoGit, Refusal, Repo, Untracked};

#[track_caller]
fn refusal(tree: &Tree) -> Refusal {
    match Repo::discover(tree.0.join("kernel.py")) {
        Err(Error::Refused { why, path }) => {
            assert_eq!(path, tree.0.join("kernel.py"));
            why
        }
        other => panic!("not refused: {other:?}"),
    }
}

/// A repository made with an option that an older git may not know; a git that does not know it
/// cannot have made such a repository on this machine either.
fn made_with(place: &Place, option: &str) -> Option<Tree> {
    let tree = Tree(place.path().join("repo"));
    std::fs::create_dir(&tree.0).expect("a new folder");
    tree.try_git(["init", "-q", option])
        .status
        .success()
        .then_some(tree)
}

#[test]
fn sha256_objects() {
    let place = Place::new();
    let tree = made_with(&place, "--object-format=sha256").expect("git 2.29 or newer");
    let why = refusal(&tree);
    assert_eq!(why, Refusal::ObjectFormat("sha256".into()));
    assert_eq!(
        why.to_string(),
        "its object format is sha256, and libgit2 supports sha1 only"
    );
}

#[test]
fn reftable() {
    let place = Place::new();
    let tree = made_with(&place, "--ref-format=reftable").unwrap_or_else(|| {
        // An older git: what `git init` would have written.
        let tree = Tree(place.path().join("repo"));
        tree.git(["init", "-q"]);
        tree.git(["config", "core.repositoryFormatVersion", "1"]);
        tree.git(["config", "extensions.refStorage", "reftable"]);
        tree
    });
    assert_eq!(refusal(&tree), Refusal::Extension("refstorage".into()));
}

#[test]
fn a_partial_clone_is_refused_or_says_what_it_has_not_fetched() {
    let place = Place::new();
    let origin = place.with_commit("origin");
    origin.write("kernel.py", "second\n");
    origin.commit_all("second");
    origin.git(["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", origin.0.display());
    origin.git(["clone", "-q", "--filter=blob:none", &url, "../clone"]);
    let clone = Tree(place.path().join("clone"));
    assert_eq!(
        clone.repo().content_at("HEAD", "kernel.py"),
        Ok(b"second\n".to_vec())
    );
    assert_eq!(
        clone
            .repo()
            .content_at("HEAD~1", "kernel.py")
            .unwrap_err()
            .to_string(),
        "the content of kernel.py in revision `HEAD~1` is not in this (partial) clone"
    );

    // As some versions of git write it.
    clone.git(["config", "core.repositoryFormatVersion", "1"]);
    clone.git(["config", "extensions.partialClone", "origin"]);
    let why = refusal(&clone);
    assert_eq!(why, Refusal::Extension("partialclone".into()));
    assert_eq!(
        why.to_string(),
        "it uses the extension `partialclone`, which libgit2 does not support"
    );
}

/// Nothing is written to a repository whose index cannot be read.
#[test]
fn an_index_in_parts() {
    for (command, name) in [
        (&["update-index", "--split-index"][..], "link"),
        (&["sparse-checkout", "set", "--sparse-index", "a"], "sdir"),
    ] {
        let place = Place::new();
        let tree = place.with_commit("repo").ready_to_write();
        tree.write("a/a.py", "a\n");
        tree.write("b/b/b.py", "b\n");
        tree.quiet(["add", "."]);
        tree.quiet(["commit", "-q", "-m", "second"]);
        tree.quiet(command);
        let (repo, on) = (tree.repo(), tree.head());
        let refused = |error: Error| match error {
            Error::Refused { why, .. } => {
                assert_eq!(why, Refusal::Index(name.into()));
                assert!(why.to_string().ends_with(" undoes it"), "{why}");
            }
            other => panic!("not refused: {other:?}"),
        };
        refused(repo.changed_files(&NoGit, Untracked::Files).unwrap_err());
        let files = [FileVersion::new("kernel.py", Content::plain("second\n"))];
        let commit = NewCommit {
            on: &on,
            files: &files,
            message: "Second",
            author: None,
        };
        refused(repo.commit_files(&NoGit, &commit).unwrap_err());
        assert_eq!(tree.head(), on);
        assert!(!tree.0.join(".git/index.lock").exists());
    }
}

#[test]
fn a_format_of_the_future() {
    let place = Place::new();
    let tree = place.with_commit("repo");
    tree.git(["config", "core.repositoryFormatVersion", "9"]);
    assert_eq!(refusal(&tree), Refusal::Version("9".into()));
}

#[test]
fn a_damaged_configuration_is_an_error_of_its_own() {
    let place = Place::new();
    let tree = place.with_commit("repo");
    tree.write(".git/config", "[core\n");
    assert!(matches!(Repo::discover(&tree.0), Err(Error::Git { .. })));
}

#[test]
fn a_shallow_clone_and_per_worktree_settings_are_not_refused() {
    let place = Place::new();
    let origin = place.with_commit("origin");
    let url = format!("file://{}", origin.0.display());
    origin.git(["clone", "-q", "--depth=1", &url, "../clone"]);
    let clone = Tree(place.path().join("clone"));
    clone.git(["config", "core.repositoryFormatVersion", "1"]);
    clone.git(["config", "extensions.worktreeConfig", "true"]);
    assert_eq!(
        clone.repo().content_at("HEAD", "kernel.py"),
        Ok(b"first\n".to_vec())
    );
}

/// Names the repository for the copy of this test that runs with a home folder of its own.
const STRANGERS_REPOSITORY: &str = "VCS_TEST_STRANGERS_REPOSITORY";

#[cfg(target_os = "linux")]
#[test]
fn another_users_repository() {
    if let Some(path) = std::env::var_os(STRANGERS_REPOSITORY) {
        let tree = Tree(path.into());
        let why = refusal(&tree);
        assert_eq!(why, Refusal::NotOwned);
        assert!(why.to_string().contains("safe.directory"), "{why}");
        return;
    }
    let place = Place::new();
    let tree = place.with_commit("repo");
    // Only root can give a file away.
    let chown = Command::new("chown")
        .args(["-R", "54321"])
        .arg(&tree.0)
        .output()
        .unwrap();
    if !chown.status.success() {
        assert_ne!(
            owner(Path::new("/proc/self")),
            0,
            "root cannot give a file away"
        );
        eprintln!("not checked: giving a repository to another user takes root");
        return;
    }
    // libgit2 reads the settings of the user's home folder, which may allow everything.
    let again = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "another_users_repository"])
        .env(STRANGERS_REPOSITORY, &tree.0)
        .env("HOME", place.path())
        .env("XDG_CONFIG_HOME", place.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&again.stdout);
    assert!(
        again.status.success() && text.contains("1 passed"),
        "{text}"
    );
}

#[cfg(target_os = "linux")]
fn owner(path: &Path) -> u32 {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).expect("a file").uid()
}
