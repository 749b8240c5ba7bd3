//! Finishing and abandoning: back on the branch of before, with everything else as it was.

use tileperf_vcs::{Content, Difference, Error, Finish, Head, NoGit, Swap};

use crate::support::{Place, Tree};

/// An experiment with two kept commits, and other work of the user's going on.
struct Experiment {
    tree: Tree,
    from: Head,
    on: Head,
    status: Vec<String>,
}

const OTHER_WORK: [&str; 3] = ["A  added.py", "MM other.py", "?? untracked.py"];

fn experiment(place: &Place, detached: bool) -> Experiment {
    let tree = place.empty("repo");
    for name in ["kernel.py", "old.py", "other.py"] {
        tree.write(name, "first\n");
    }
    tree.commit_all("first");
    let tree = tree.ready_to_write();
    if detached {
        tree.quiet(["checkout", "-q", "--detach"]);
    }
    tree.write("other.py", "staged\n");
    tree.write("added.py", "staged\n");
    tree.quiet(["add", "other.py", "added.py"]);
    tree.write("other.py", "staged and changed\n");
    tree.write("untracked.py", "new\n");
    let started = tree.repo().start_branch("perf").unwrap();
    tree.keep(&[("kernel.py", Some("one\n"))], "One");
    tree.keep(
        &[
            ("kernel.py", Some("two\n")),
            ("launch.py", Some("new\n")),
            ("old.py", None),
        ],
        "Two",
    );
    assert_eq!(tree.status(), OTHER_WORK);
    Experiment {
        from: started.from,
        on: tree.head(),
        status: tree.status(),
        tree,
    }
}

/// What the experiment wrote last, and what was there before it.
fn written() -> Vec<Swap> {
    let swap = |path: &str, expected: Option<&str>, new: Option<&str>| Swap {
        path: path.into(),
        expected: expected.map(Content::plain),
        new: new.map(Content::plain),
    };
    vec![
        swap("kernel.py", Some("two\n"), Some("first\n")),
        swap("launch.py", Some("new\n"), None),
        swap("old.py", None, Some("first\n")),
    ]
}

fn squash(message: &str) -> Finish<'_> {
    Finish::Squash {
        message,
        author: None,
    }
}

#[test]
fn finishing_with_all_commits_moves_the_branch_forward() {
    let place = Place::new();
    let e = experiment(&place, false);
    let index = e.tree.read(".git/index");
    let end = e
        .tree
        .repo()
        .finish(&e.on, &e.from, Finish::KeepCommits)
        .unwrap();
    assert_eq!(end, e.tree.head());
    assert_eq!(end.branch(), Some("main"));
    assert_eq!(e.tree.git(["log", "--format=%s"]), "Two\nOne\nfirst");
    assert_eq!(e.tree.status(), e.status);
    assert_eq!(e.tree.read(".git/index"), index);
    assert_eq!(e.tree.read("kernel.py"), b"two\n");
    let repo = e.tree.repo();
    repo.delete_branch("perf", e.on.commit().unwrap()).unwrap();
    assert_eq!(e.tree.git(["branch", "--format=%(refname:short)"]), "main");
    e.tree.no_hook_ran();
}

#[test]
fn finishing_with_one_commit_squashes() {
    let place = Place::new();
    let e = experiment(&place, false);
    let repo = e.tree.repo();
    let end = repo
        .finish(&e.on, &e.from, squash("All\n\nBody\n"))
        .unwrap();
    assert_eq!(end.branch(), Some("main"));
    assert_eq!(e.tree.git(["log", "--format=%s"]), "All\nfirst");
    assert_eq!(
        e.tree.git(["rev-parse", "HEAD^{tree}"]),
        e.tree.git(["rev-parse", "perf^{tree}"])
    );
    assert_eq!(e.tree.status(), e.status);
    e.tree.git(["fsck", "--strict"]);

    // Killed before HEAD was switched: the next run makes no second commit.
    e.tree.quiet(["symbolic-ref", "HEAD", "refs/heads/perf"]);
    assert_eq!(repo.finish(&e.on, &e.from, squash("All")), Ok(end));
    assert_eq!(e.tree.git(["log", "--format=%s"]), "All\nfirst");
    e.tree.no_hook_ran();
}

#[test]
fn finishing_from_a_detached_head_stays_detached() {
    let place = Place::new();
    let e = experiment(&place, true);
    let end = e.tree.repo().finish(&e.on, &e.from, squash("All")).unwrap();
    assert!(matches!(end, Head::Detached { .. }));
    assert_eq!(end, e.tree.head());
    assert_eq!(e.tree.git(["log", "--format=%s"]), "All\nfirst");
    assert_eq!(e.tree.git(["log", "-1", "--format=%s", "main"]), "first");
    assert_eq!(e.tree.status(), e.status);
}

#[test]
fn a_branch_that_went_elsewhere_is_not_moved() {
    for how in [Finish::KeepCommits, squash("All")] {
        let place = Place::new();
        let e = experiment(&place, false);
        let repo = e.tree.repo();
        let main = e.from.commit().unwrap();
        let tree = e.tree.git(["rev-parse", "perf~1^{tree}"]);
        let theirs = e
            .tree
            .git(["commit-tree", &tree, "-p", "main", "-m", "theirs"]);
        e.tree.quiet(["branch", "-f", "main", &theirs]);
        let error = repo.finish(&e.on, &e.from, how).unwrap_err();
        assert_eq!(
            error,
            Error::BranchMoved {
                branch: "main".into(),
                expected: main,
                found: Some(theirs.parse().unwrap())
            }
        );
        let text = error.to_string();
        assert!(text.contains("and it is at"), "{text}");
        // Back behind where it was: going forward would bring back what was dropped.
        let root = e.tree.git(["commit-tree", &tree, "-m", "root"]);
        e.tree.quiet(["branch", "-f", "main", &root]);
        assert!(matches!(
            repo.finish(&e.on, &e.from, how),
            Err(Error::BranchMoved { .. })
        ));
        e.tree.quiet(["branch", "-D", "-q", "main"]);
        assert!(matches!(
            repo.finish(&e.on, &e.from, how),
            Err(Error::BranchMoved { found: None, .. })
        ));
        // Along the experiment it may have gone: someone took the first commit already.
        e.tree.quiet(["branch", "main", "perf~1"]);
        repo.finish(&e.on, &e.from, how).unwrap();
        assert_eq!(e.tree.status(), e.status);
        assert_eq!(e.tree.head().branch(), Some("main"));
    }
}

#[test]
fn a_branch_that_is_checked_out_elsewhere_is_not_moved() {
    let place = Place::new();
    let e = experiment(&place, false);
    e.tree.quiet(["worktree", "add", "-q", "../other", "main"]);
    let elsewhere = Error::CheckedOutElsewhere {
        branch: "main".into(),
        worktree: place.path().join("other"),
    };
    let repo = e.tree.repo();
    assert_eq!(
        repo.finish(&e.on, &e.from, squash("All")),
        Err(elsewhere.clone())
    );
    assert_eq!(
        repo.switch_back(&NoGit, &e.on, &e.from, &written()),
        Err(elsewhere)
    );
    assert_eq!((e.tree.head(), e.tree.status()), (e.on, e.status));
}

#[test]
fn locks_and_other_heads_stop_an_ending_before_it_begins() {
    let place = Place::new();
    let e = experiment(&place, false);
    let repo = e.tree.repo();
    for lock in ["index.lock", "HEAD.lock"] {
        let file = e.tree.0.join(".git").join(lock);
        std::fs::write(&file, "").unwrap();
        let locked = Err(Error::Locked { file: file.clone() });
        assert_eq!(repo.finish(&e.on, &e.from, Finish::KeepCommits), locked);
        assert_eq!(repo.finish(&e.on, &e.from, squash("All")), locked);
        assert_eq!(repo.switch_back(&NoGit, &e.on, &e.from, &written()), locked);
        std::fs::remove_file(&file).unwrap();
        assert_eq!(
            (e.tree.head(), e.tree.status()),
            (e.on.clone(), e.status.clone())
        );
        assert_eq!(e.tree.git(["log", "-1", "--format=%s", "main"]), "first");
    }
    e.tree.keep(&[("kernel.py", Some("theirs\n"))], "Theirs");
    for result in [
        repo.finish(&e.on, &e.from, squash("All")),
        repo.switch_back(&NoGit, &e.on, &e.from, &written()),
    ] {
        assert!(matches!(result, Err(Error::HeadMoved { .. })), "{result:?}");
    }
}

#[test]
fn abandoning_restores_the_files_and_leaves_other_work() {
    for detached in [false, true] {
        let place = Place::new();
        let e = experiment(&place, detached);
        let repo = e.tree.repo();
        let index = e.tree.read(".git/index");
        let end = repo
            .switch_back(&NoGit, &e.on, &e.from, &written())
            .unwrap();
        assert_eq!(end, e.from);
        assert_eq!(e.tree.head(), e.from);
        assert_eq!(e.tree.status(), OTHER_WORK);
        assert_eq!(e.tree.read("kernel.py"), b"first\n");
        assert_eq!(e.tree.read("old.py"), b"first\n");
        assert_eq!(e.tree.read("other.py"), b"staged and changed\n");
        assert!(!e.tree.0.join("launch.py").exists());
        assert_eq!(e.tree.git(["show", ":other.py"]), "staged");
        assert_eq!(
            e.tree.git(["log", "--format=%s", "perf"]),
            "Two\nOne\nfirst"
        );
        // Killed before the index was replaced.
        e.tree.write(".git/index", index);
        assert_ne!(e.tree.status(), OTHER_WORK);
        assert_eq!(
            repo.switch_back(&NoGit, &e.on, &e.from, &written()),
            Ok(end)
        );
        assert_eq!(e.tree.status(), OTHER_WORK);
        e.tree.no_hook_ran();
    }
}

#[test]
fn a_file_that_was_dirty_before_is_dirty_again() {
    let place = Place::new();
    let e = experiment(&place, false);
    let mut files = written();
    files[0].new = Some(Content::plain("typed before\n"));
    e.tree
        .repo()
        .switch_back(&NoGit, &e.on, &e.from, &files)
        .unwrap();
    let mut status = vec![" M kernel.py"];
    status.extend(OTHER_WORK);
    let mut found = e.tree.status();
    found.sort();
    status.sort_unstable();
    assert_eq!(found, status);
    assert_eq!(e.tree.read("kernel.py"), b"typed before\n");
}

#[test]
fn what_was_typed_since_is_listed_with_both_versions_and_nothing_changes() {
    let place = Place::new();
    let e = experiment(&place, false);
    let repo = e.tree.repo();
    e.tree.write("kernel.py", "typed on\n");
    e.tree.write("old.py", "made again\n");
    let status = e.tree.status();
    let differs = |path: &str, expected: Option<&str>, found: &str| Difference {
        path: path.into(),
        expected: expected.map(Content::plain),
        found: Some(Content::plain(found)),
    };
    assert_eq!(
        repo.switch_back(&NoGit, &e.on, &e.from, &written()),
        Err(Error::Differs {
            files: vec![
                differs("kernel.py", Some("two\n"), "typed on\n"),
                differs("old.py", None, "made again\n"),
            ]
        })
    );
    assert_eq!((e.tree.head(), e.tree.status()), (e.on.clone(), status));

    std::fs::remove_file(e.tree.0.join("old.py")).unwrap();
    e.tree.write("kernel.py", "typed and staged\n");
    e.tree.quiet(["add", "kernel.py"]);
    e.tree.write("kernel.py", "two\n");
    assert_eq!(
        repo.switch_back(&NoGit, &e.on, &e.from, &written()),
        Err(Error::Staged {
            paths: vec!["kernel.py".into()]
        })
    );
    assert_eq!(e.tree.git(["show", ":kernel.py"]), "typed and staged");
}

#[test]
fn a_branch_that_moved_on_is_checked_out_with_care() {
    let place = Place::new();
    let e = experiment(&place, false);
    // Somebody committed to main from elsewhere.
    e.tree.quiet(["worktree", "add", "-q", "../other", "main"]);
    let other = Tree(place.path().join("other"));
    other.write("pulled.py", "theirs\n");
    other.write("deep/pulled.py", "theirs\n");
    other.quiet(["add", "."]);
    other.quiet(["commit", "-q", "-m", "theirs"]);
    other.quiet(["checkout", "-q", "--detach"]);
    let repo = e.tree.repo();
    // An untracked file of the user's is in the way.
    e.tree.write("pulled.py", "mine\n");
    let status = e.tree.status();
    assert!(matches!(
        repo.switch_back(&NoGit, &e.on, &e.from, &written()),
        Err(Error::Differs { files }) if files[0].path.as_os_str() == "pulled.py"
    ));
    assert_eq!((e.tree.head(), e.tree.status()), (e.on.clone(), status));
    std::fs::remove_file(e.tree.0.join("pulled.py")).unwrap();
    repo.switch_back(&NoGit, &e.on, &e.from, &written())
        .unwrap();
    assert_eq!(e.tree.status(), OTHER_WORK);
    assert_eq!(e.tree.read("deep/pulled.py"), b"theirs\n");
    assert_eq!(e.tree.git(["log", "-1", "--format=%s"]), "theirs");

    // And if it changed one of the experiment's own files, only the user can tell what to do.
    let place = Place::new();
    let e = experiment(&place, false);
    e.tree.quiet(["worktree", "add", "-q", "../other", "main"]);
    let other = Tree(place.path().join("other"));
    other.write("kernel.py", "theirs\n");
    other.quiet(["commit", "-q", "-a", "-m", "theirs"]);
    other.quiet(["checkout", "-q", "--detach"]);
    assert_eq!(
        e.tree
            .repo()
            .switch_back(&NoGit, &e.on, &e.from, &written()),
        Err(Error::ChangedLater {
            paths: vec!["kernel.py".into()]
        })
    );
    assert_eq!((e.tree.head(), e.tree.status()), (e.on, e.status));
}
