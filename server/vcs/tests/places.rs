//! Which repository a path belongs to, what is checked out there, and what is going on in it.

mod support;

use std::path::Path;

use support::{Place, Tree};
use tileperf_vcs::{Error, FileStatus, Head, Operation, Repo};

#[test]
fn a_file_that_does_not_exist_yet_belongs_to_the_folder_around_it() {
    let place = Place::new();
    let tree = place.with_commit("repo");
    for path in [
        "",
        "kernel.py",
        "new.py",
        "new/folder/new.py",
        ".git/config",
    ] {
        let repo = Repo::discover(tree.0.join(path)).unwrap();
        assert_eq!(repo.root(), Some(tree.0.as_path()), "{path}");
        assert_eq!(repo.git_dir(), tree.0.join(".git"));
    }
    assert!(format!("{:?}", tree.repo()).starts_with("Repo { git_dir: "));
}

#[test]
fn outside_of_any_repository_is_said() {
    let place = Place::new();
    let path = place.path().join("some/file.py");
    let error = Repo::discover(&path).unwrap_err();
    assert_eq!(error, Error::NotARepository { path: path.clone() });
    assert_eq!(
        error.to_string(),
        format!("{} is not in a git repository", path.display())
    );
}

#[test]
fn a_git_file_that_leads_nowhere_is_damage_and_not_absence() {
    let place = Place::new();
    let tree = Tree(place.path().join("moved"));
    tree.write(".git", "gitdir: /no/such/folder\n");
    assert!(matches!(Repo::discover(&tree.0), Err(Error::Git { .. })));
}

#[test]
fn head_is_a_branch_a_commit_or_to_be_born() {
    let place = Place::new();
    let tree = place.empty("repo");
    let head = || tree.repo().head().unwrap();
    assert_eq!(
        head(),
        Head::Unborn {
            name: "main".into()
        }
    );
    assert_eq!(head().to_string(), "main, without commits yet");

    tree.write("kernel.py", "first\n");
    tree.commit_all("first");
    let commit = tree.git(["rev-parse", "HEAD"]);
    assert_eq!(
        head(),
        Head::Branch {
            name: "main".into(),
            commit: commit.parse().unwrap()
        }
    );

    tree.git(["checkout", "-q", "-b", "perf/rms-norm"]);
    assert_eq!(head().to_string(), "perf/rms-norm");

    tree.git(["checkout", "-q", "--detach"]);
    assert_eq!(
        head(),
        Head::Detached {
            commit: commit.parse().unwrap()
        }
    );
    assert_eq!(head().to_string(), format!("detached at {}", &commit[..10]));

    // Packed references and a branch named like a tag change nothing.
    tree.git(["tag", "main"]);
    tree.git(["checkout", "-q", "refs/heads/main", "--"]);
    tree.git(["checkout", "-q", "-B", "main"]);
    tree.git(["pack-refs", "--all"]);
    assert_eq!(
        head(),
        Head::Branch {
            name: "main".into(),
            commit: commit.parse().unwrap()
        }
    );
}

#[test]
fn a_linked_worktree_has_its_own_head_and_shares_the_rest() {
    let place = Place::new();
    let tree = place.with_commit("repo");
    tree.git([
        "worktree",
        "add",
        "-q",
        "-b",
        "candidate",
        "../candidate work",
    ]);
    let linked = Tree(place.path().join("candidate work"));
    let repo = linked.repo();
    assert!(repo.is_linked_worktree() && !tree.repo().is_linked_worktree());
    assert_eq!(repo.root(), Some(linked.0.as_path()));
    assert_eq!(repo.head().unwrap().to_string(), "candidate");
    assert_eq!(
        repo.common_dir().canonicalize().unwrap(),
        tree.0.join(".git")
    );
    assert_eq!(repo.superproject(), Ok(None));

    linked.write("kernel.py", "changed\n");
    assert_eq!(repo.status("kernel.py"), Ok(FileStatus::Modified));
    assert_eq!(tree.repo().status("kernel.py"), Ok(FileStatus::Clean));
}

#[test]
fn a_submodule_knows_its_superproject_and_a_nested_repository_has_none() {
    let place = Place::new();
    let inner = place.with_commit("inner");
    let outer = place.with_commit("outer");
    outer.git([
        Path::new("submodule"),
        "add".as_ref(),
        "-q".as_ref(),
        &inner.0,
        "libs/sub".as_ref(),
    ]);
    outer.commit_all("with a submodule");

    let file = outer.0.join("libs/sub/kernel.py");
    let repo = Repo::discover(&file).unwrap();
    assert_eq!(repo.root(), Some(outer.0.join("libs/sub").as_path()));
    assert_eq!(repo.superproject(), Ok(Some(outer.0.clone())));
    assert_eq!(repo.status(&file), Ok(FileStatus::Clean));
    assert_eq!(outer.repo().superproject(), Ok(None));
    // The outer repository does not answer for files of the inner one.
    assert!(outer.repo().status(&file).is_err());

    let nested = outer.0.join("nested");
    std::fs::create_dir(&nested).unwrap();
    let nested = Tree(nested);
    nested.git(["init", "-q"]);
    assert_eq!(nested.repo().superproject(), Ok(None));
}

#[test]
fn a_bare_repository_has_a_head_and_no_files() {
    let place = Place::new();
    let tree = place.with_commit("repo");
    tree.git(["clone", "-q", "--bare", ".", "../bare.git"]);
    let bare = Tree(place.path().join("bare.git")).repo();
    assert_eq!(bare.root(), None);
    assert_eq!(bare.head().unwrap().to_string(), "main");
    assert_eq!(bare.superproject(), Ok(None));
    assert_eq!(bare.status("kernel.py"), Err(Error::Bare));
    assert_eq!(bare.content_at("HEAD", "kernel.py"), Err(Error::Bare));
}

/// Two branches that change the same line.
fn with_conflict(place: &Place) -> Tree {
    let tree = place.with_commit("repo");
    tree.git(["checkout", "-q", "-b", "other"]);
    tree.write("kernel.py", "theirs\n");
    tree.commit_all("theirs");
    tree.git(["checkout", "-q", "main"]);
    tree.write("kernel.py", "ours\n");
    tree.commit_all("ours");
    tree
}

#[test]
fn an_operation_in_progress_is_named() {
    let cases: [(&[&str], &str, Operation); 4] = [
        (&["merge", "other"], "merge", Operation::Merge),
        (&["rebase", "other"], "rebase", Operation::Rebase),
        (
            &["cherry-pick", "other"],
            "cherry-pick",
            Operation::CherryPick,
        ),
        (&["revert", "other"], "revert", Operation::Revert),
    ];
    for (command, name, operation) in cases {
        let place = Place::new();
        let tree = with_conflict(&place);
        assert_eq!(tree.repo().operation(), None);
        assert!(
            !tree.try_git(command).status.success(),
            "{name} found no conflict"
        );
        assert_eq!(tree.repo().operation(), Some(operation));
        assert_eq!(operation.to_string(), name);
        assert_eq!(tree.repo().status("kernel.py"), Ok(FileStatus::Conflicted));
        tree.git([name, "--abort"]);
        assert_eq!(tree.repo().operation(), None);
    }
    let place = Place::new();
    let tree = place.with_commit("repo");
    tree.git(["bisect", "start"]);
    assert_eq!(tree.repo().operation(), Some(Operation::Bisect));
}
