//! Taking back one kept commit among others.

use tileperf_vcs::{CommitId, Error, NoGit, Undo};

use crate::support::{Place, Tree};

const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

fn started(place: &Place) -> Tree {
    let tree = place.empty("repo");
    tree.write("kernel.py", LINES);
    tree.write("other.py", "first\n");
    tree.write("old.py", "first\n");
    tree.commit_all("first");
    let tree = tree.ready_to_write();
    tree.repo().start_branch("perf").unwrap();
    tree.write("other.py", "staged\n");
    tree.quiet(["add", "other.py"]);
    tree
}

fn undo(tree: &Tree, kept: CommitId) -> Result<CommitId, Error> {
    let on = tree.head();
    let undo = Undo {
        on: &on,
        kept,
        message: "Undo",
        author: None,
    };
    tree.repo().undo(&NoGit, &undo)
}

#[test]
fn the_last_one_is_taken_back_whole() {
    let place = Place::new();
    let tree = started(&place);
    let before = tree.git(["rev-parse", "HEAD^{tree}"]);
    let kept = tree.keep(
        &[
            ("kernel.py", Some("fast\n")),
            ("new/new.py", Some("new\n")),
            ("old.py", None),
        ],
        "Kept",
    );
    let id = undo(&tree, kept).unwrap();
    assert_eq!(tree.head().commit(), Some(id));
    assert_eq!(tree.git(["rev-parse", "HEAD^{tree}"]), before);
    assert_eq!(tree.git(["log", "--format=%s"]), "Undo\nKept\nfirst");
    assert_eq!(tree.status(), ["M  other.py"]);
    assert_eq!(tree.read("kernel.py"), LINES.as_bytes());
    assert_eq!(tree.read("old.py"), b"first\n");
    assert!(!tree.0.join("new").exists());
    assert_eq!(undo(&tree, kept), Err(Error::Unchanged));
    // And the undoing can be undone.
    undo(&tree, id).unwrap();
    assert_eq!(tree.read("kernel.py"), b"fast\n");
    assert_eq!(tree.status(), ["M  other.py"]);
    tree.no_hook_ran();
}

#[test]
fn an_earlier_one_is_taken_out_of_what_came_later() {
    let place = Place::new();
    let tree = started(&place);
    let first = tree.keep(&[("kernel.py", Some(&LINES.replace('2', "two")))], "Kept");
    let both = LINES.replace('2', "two").replace('8', "eight");
    tree.keep(&[("kernel.py", Some(&both))], "Kept");
    undo(&tree, first).unwrap();
    assert_eq!(
        tree.read("kernel.py"),
        LINES.replace('8', "eight").as_bytes()
    );
    assert_eq!(tree.status(), ["M  other.py"]);
}

#[test]
fn what_later_commits_build_on_is_refused_by_name() {
    let place = Place::new();
    let tree = started(&place);
    let first = tree.keep(
        &[
            ("kernel.py", Some(&LINES.replace('2', "two"))),
            ("added.py", Some("a\n")),
            ("free.py", Some("x\n")),
        ],
        "Kept",
    );
    tree.keep(
        &[
            ("kernel.py", Some(&LINES.replace('2', "zwei"))),
            ("added.py", Some("b\n")),
        ],
        "Kept",
    );
    let before = (tree.head(), tree.status(), tree.read("kernel.py"));
    assert_eq!(
        undo(&tree, first),
        Err(Error::ChangedLater {
            paths: vec!["added.py".into(), "kernel.py".into()]
        })
    );
    assert_eq!((tree.head(), tree.status(), tree.read("kernel.py")), before);
    assert!(tree.0.join("free.py").exists());
}

#[test]
fn typing_since_stops_it() {
    let place = Place::new();
    let tree = started(&place);
    let kept = tree.keep(
        &[("kernel.py", Some("fast\n")), ("new.py", Some("new\n"))],
        "Kept",
    );
    tree.write("new.py", "typed on\n");
    let before = (tree.head(), tree.status());
    let result = undo(&tree, kept);
    assert!(
        matches!(&result, Err(Error::Differs { files }) if files.len() == 1 && files[0].path.as_os_str() == "new.py"),
        "{result:?}"
    );
    assert_eq!((tree.head(), tree.status()), before);
    assert_eq!(tree.read("kernel.py"), b"fast\n");
}

#[test]
fn a_commit_that_fails_takes_the_files_back() {
    let place = Place::new();
    let tree = started(&place);
    let kept = tree.keep(
        &[("kernel.py", Some("fast\n")), ("new.py", Some("new\n"))],
        "Kept",
    );
    let lock = tree.0.join(".git/refs/heads/perf.lock");
    std::fs::write(&lock, "").unwrap();
    assert_eq!(undo(&tree, kept), Err(Error::Locked { file: lock.clone() }));
    assert_eq!(tree.read("kernel.py"), b"fast\n");
    assert_eq!(tree.read("new.py"), b"new\n");
    assert_eq!(tree.status(), ["M  other.py"]);
    std::fs::remove_file(lock).unwrap();
    undo(&tree, kept).unwrap();
    assert_eq!(tree.read("kernel.py"), LINES.as_bytes());
}

#[test]
fn only_commits_of_this_branch_with_one_parent() {
    let place = Place::new();
    let tree = started(&place);
    let root = tree.head().commit().unwrap();
    let kept = tree.keep(&[("kernel.py", Some("fast\n"))], "Kept");
    let refused = |kept| match undo(&tree, kept) {
        Err(Error::UnknownRevision { why, .. }) => why,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(root), "it has not exactly one parent");
    let kernel_tree = tree.git(["rev-parse", "HEAD^{tree}"]);
    let stranger = tree.git(["commit-tree", &kernel_tree, "-p", "HEAD", "-m", "stranger"]);
    assert_eq!(
        refused(stranger.parse().unwrap()),
        "it is not among the commits checked out"
    );
    undo(&tree, kept).unwrap();
}
