//! Starting a branch: HEAD moves, and nothing else.

use std::path::Path;

use tileperf_vcs::{Error, Head, Operation};

use crate::support::{Place, Tree};

/// A tree in which something of every kind is going on.
fn busy(place: &Place) -> Tree {
    let tree = place.with_commit("repo").ready_to_write();
    tree.write("staged.py", "staged\n");
    tree.quiet(["add", "staged.py"]);
    tree.write("staged.py", "and changed\n");
    tree.write("untracked.py", "new\n");
    tree.write("kernel.py", "typed\n");
    tree
}

#[test]
fn head_moves_and_nothing_else() {
    let place = Place::new();
    let tree = busy(&place);
    let (status, index) = (tree.status(), tree.read(".git/index"));
    let before = tree.head();
    let started = tree
        .repo()
        .start_branch("cutile-perf-rms/2026-01-01")
        .unwrap();
    assert_eq!(started.from, before);
    assert_eq!(started.on, tree.head());
    assert_eq!(started.on.branch(), Some("cutile-perf-rms/2026-01-01"));
    assert_eq!(started.on.commit(), before.commit());
    assert_eq!(
        (tree.status(), tree.read(".git/index")),
        (status, index),
        "the tree changed"
    );
    assert_eq!(
        tree.git(["reflog", "-1", "--format=%gs"]),
        "checkout: moving from main to cutile-perf-rms/2026-01-01"
    );
    tree.git(["fsck", "--strict"]);
    tree.no_hook_ran();
}

#[test]
fn a_detached_head_is_remembered() {
    let place = Place::new();
    let tree = busy(&place);
    tree.quiet(["checkout", "-q", "--detach"]);
    let commit = tree.head().commit().unwrap();
    let started = tree.repo().start_branch("perf").unwrap();
    assert_eq!(started.from, Head::Detached { commit });
    assert_eq!(tree.git(["symbolic-ref", "HEAD"]), "refs/heads/perf");
}

#[test]
fn a_taken_name_comes_with_a_free_one() {
    let place = Place::new();
    let tree = place.with_commit("repo");
    for name in ["perf", "perf-2", "folder/perf"] {
        tree.git(["branch", name]);
    }
    let repo = tree.repo();
    let free = |name: &str| match repo.start_branch(name) {
        Err(Error::BranchExists { branch, free }) => {
            assert_eq!(branch, name);
            free
        }
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(free("perf"), "perf-3");
    assert_eq!(free("main"), "main-2");
    // Names that collide as folders of each other.
    assert_eq!(free("folder"), "folder-2");
    assert_eq!(free("perf/a"), "perf-a-2");
    assert_eq!(tree.head().branch(), Some("main"));
    repo.start_branch("perf-a-2").unwrap();
}

#[test]
fn what_keeps_a_branch_from_starting_is_said() {
    let place = Place::new();
    let empty = place.empty("empty");
    assert_eq!(
        empty.repo().start_branch("perf").unwrap_err().to_string(),
        "the branch main has no commit yet"
    );

    let tree = place.with_commit("repo");
    for name in ["", "a b", "a..b", "-a", "HEAD", "a.lock", "a/", "@{x}"] {
        assert_eq!(
            tree.repo().start_branch(name),
            Err(Error::InvalidName { name: name.into() }),
            "{name}"
        );
    }
    // Another work tree waits to make its first commit on that branch.
    tree.git(["worktree", "add", "-q", "../other"]);
    std::fs::write(
        tree.0.join(".git/worktrees/other/HEAD"),
        "ref: refs/heads/perf\n",
    )
    .unwrap();
    assert_eq!(
        tree.repo().start_branch("perf"),
        Err(Error::CheckedOutElsewhere {
            branch: "perf".into(),
            worktree: place.path().join("other")
        })
    );

    tree.git(["checkout", "-q", "-b", "theirs"]);
    tree.write("kernel.py", "theirs\n");
    tree.commit_all("theirs");
    tree.git(["checkout", "-q", "main"]);
    tree.write("kernel.py", "ours\n");
    tree.commit_all("ours");
    assert!(!tree.try_git(["merge", "theirs"]).status.success());
    assert_eq!(
        tree.repo().start_branch("new"),
        Err(Error::Busy {
            operation: Operation::Merge
        })
    );
}

#[test]
fn a_locked_head_leaves_no_branch_behind() {
    let place = Place::new();
    let tree = place.with_commit("repo");
    tree.write(".git/HEAD.lock", "");
    assert_eq!(
        tree.repo().start_branch("perf"),
        Err(Error::Locked {
            file: tree.0.join(".git/HEAD.lock")
        })
    );
    assert_eq!(tree.git(["branch", "--list", "perf"]), "");
    assert_eq!(tree.head().branch(), Some("main"));
}

#[test]
fn in_a_linked_worktree_only_its_own_head_moves() {
    let place = Place::new();
    let main = place.with_commit("repo").ready_to_write();
    main.quiet(["worktree", "add", "-q", "-b", "work", "../linked"]);
    let linked = Tree(place.path().join("linked"));
    let started = linked.repo().start_branch("perf").unwrap();
    assert_eq!(started.from.branch(), Some("work"));
    assert_eq!(linked.head().branch(), Some("perf"));
    assert_eq!(main.head().branch(), Some("main"));
    main.no_hook_ran();
}

#[test]
fn in_a_submodule_the_outer_repository_stays() {
    let place = Place::new();
    let inner = place.with_commit("inner");
    let outer = place.with_commit("outer");
    outer.git([
        Path::new("submodule"),
        "add".as_ref(),
        "-q".as_ref(),
        &inner.0,
        "sub".as_ref(),
    ]);
    outer.commit_all("with a submodule");
    let sub = Tree(outer.0.join("sub"));
    sub.repo().start_branch("perf").unwrap();
    assert_eq!(sub.head().branch(), Some("perf"));
    assert_eq!(outer.head().branch(), Some("main"));
    assert_eq!(outer.status(), [""; 0]);
}

#[test]
fn a_branch_is_deleted_only_where_it_was_seen_and_not_under_a_work_tree() {
    let place = Place::new();
    let tree = place.with_commit("repo");
    let first = tree.head().commit().unwrap();
    tree.git(["branch", "perf"]);
    tree.write("kernel.py", "second\n");
    tree.commit_all("second");
    let repo = tree.repo();
    assert_eq!(repo.branch_tip("perf"), Ok(Some(first)));
    let second = tree.head().commit().unwrap();
    assert!(matches!(
        repo.delete_branch("perf", second),
        Err(Error::BranchMoved { found: Some(found), .. }) if found == first
    ));
    assert!(matches!(
        repo.delete_branch("main", second),
        Err(Error::CheckedOutElsewhere { .. })
    ));
    tree.git(["worktree", "add", "-q", "../other", "perf"]);
    assert!(matches!(
        repo.delete_branch("perf", first),
        Err(Error::CheckedOutElsewhere { .. })
    ));
    tree.git(["worktree", "remove", "../other"]);
    repo.delete_branch("perf", first).unwrap();
    assert_eq!(repo.branch_tip("perf"), Ok(None));
    assert_eq!(repo.delete_branch("perf", first), Ok(()));
}
