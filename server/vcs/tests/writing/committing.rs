//! A commit of some files, in the middle of whatever the user is doing.

use std::ffi::OsStr;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tileperf_vcs::{CommitId, Content, Error, FileVersion, Head, Identity, NewCommit, NoGit, Repo};

use crate::support::{Place, Tree, program};

fn commit(repo: &Repo, on: &Head, files: &[FileVersion]) -> Result<CommitId, Error> {
    let commit = NewCommit {
        on,
        files,
        message: "Faster\n",
        author: None,
    };
    repo.commit_files(&program, &commit)
}

fn plain(path: &str, text: &str) -> FileVersion {
    FileVersion::new(path, Content::plain(text))
}

fn started(place: &Place) -> Tree {
    let tree = place.empty("repo");
    for name in ["kernel.py", "other.py", "deep/er/old.py", "deep/stays.py"] {
        tree.write(name, "first\n");
    }
    tree.commit_all("first");
    let tree = tree.ready_to_write();
    tree.repo().start_branch("perf").unwrap();
    tree
}

#[test]
fn other_work_survives_byte_for_byte() {
    let place = Place::new();
    let tree = started(&place);
    tree.write("other.py", "staged\n");
    tree.write("added.py", "staged\n");
    tree.quiet(["add", "other.py", "added.py"]);
    tree.write("other.py", "staged and changed\n");
    tree.write("deep/stays.py", "changed\n");
    tree.write("untracked.py", "new\n");
    tree.write("kernel.py", "second\n");
    let others = || {
        let staged = tree.git(["diff", "--cached", "--", "other.py", "added.py"]);
        let files = ["other.py", "added.py", "deep/stays.py", "untracked.py"];
        (staged, files.map(|file| tree.read(file)))
    };
    let before = others();
    let on = tree.head();
    let id = commit(&tree.repo(), &on, &[plain("kernel.py", "second\n")]).unwrap();

    assert_eq!(tree.head().commit(), Some(id));
    assert_eq!(tree.head().branch(), Some("perf"));
    assert_eq!(
        tree.git(["show", "--format=%s|%an|%ae|%P", "--name-status", "HEAD"]),
        format!(
            "Faster|Somebody|somebody@example.org|{}\n\nM\tkernel.py",
            on.commit().unwrap()
        )
    );
    assert_eq!(others(), before);
    assert_eq!(
        tree.status(),
        [
            "A  added.py",
            " M deep/stays.py",
            "MM other.py",
            "?? untracked.py"
        ]
    );
    assert_eq!(tree.git(["reflog", "-1", "--format=%gs"]), "commit: Faster");
    tree.git(["fsck", "--strict"]);
    tree.no_hook_ran();
    assert!(!tree.0.join(".git/index.lock").exists());
    assert!(!tree.0.join(".git/index.tileperf").exists());
}

#[test]
fn files_are_added_deleted_renamed_and_made_executable() {
    let place = Place::new();
    let tree = started(&place);
    tree.write("deep/new.py", "first\n");
    std::fs::remove_file(tree.0.join("deep/er/old.py")).unwrap();
    let changes = [
        FileVersion::absent("deep/er/old.py"),
        plain("deep/new.py", "first\n"),
        FileVersion::new("other.py", Content::executable("first\n")),
        plain("\u{e4}/\u{1f600} file.py", "new\n"),
        plain("A.py", "upper\n"),
        plain("a.py", "lower\n"),
        plain("deep-file.py", "sorts between deep and deep/\n"),
    ];
    for change in &changes[3..] {
        tree.write(&change.path, &change.content.as_ref().unwrap().bytes);
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(tree.0.join("other.py"), mode).unwrap();
    }
    commit(&tree.repo(), &tree.head(), &changes).unwrap();
    assert_eq!(tree.status(), [""; 0]);
    assert_eq!(
        tree.git([
            "-c",
            "core.quotePath=false",
            "ls-tree",
            "-r",
            "--format=%(objectmode) %(path)",
            "HEAD"
        ]),
        "100644 A.py\n100644 a.py\n100644 deep-file.py\n100644 deep/new.py\n100644 deep/stays.py\n\
         100644 kernel.py\n100755 other.py\n100644 \u{e4}/\u{1f600} file.py"
    );
    // The same tree as git makes of the index: no empty folder, no wrong order.
    assert_eq!(
        tree.git(["write-tree"]),
        tree.git(["rev-parse", "HEAD^{tree}"])
    );
    tree.git(["fsck", "--strict"]);
}

#[test]
fn the_disk_need_not_have_what_is_committed() {
    let place = Place::new();
    let tree = started(&place);
    tree.write("kernel.py", "typed on\n");
    commit(&tree.repo(), &tree.head(), &[plain("kernel.py", "tried\n")]).unwrap();
    assert_eq!(tree.status(), [" M kernel.py"]);
    assert_eq!(tree.read("kernel.py"), b"typed on\n");
    assert_eq!(tree.git(["show", "HEAD:kernel.py"]), "tried");
}

/// Waits until the clock's next second has begun: what git compares may be whole seconds.
fn next_second() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let rest = 1_000_000_000 - u64::from(now.subsec_nanos());
    std::thread::sleep(Duration::from_nanos(rest) + Duration::from_millis(5));
}

#[test]
fn an_edit_that_the_old_index_could_not_tell_is_seen_with_the_new_one() {
    let place = Place::new();
    let tree = started(&place);
    tree.write("kernel.py", "second\n");
    next_second();
    // Of the same size, in the second in which git wrote the index.
    tree.write("other.py", "before\n");
    tree.quiet(["add", "other.py"]);
    tree.write("other.py", "behind\n");
    next_second();
    commit(
        &tree.repo(),
        &tree.head(),
        &[plain("kernel.py", "second\n")],
    )
    .unwrap();
    assert_eq!(tree.status(), ["MM other.py"]);
}

#[test]
fn a_file_older_than_the_index_is_compared_by_content() {
    let place = Place::new();
    let tree = started(&place);
    tree.write("kernel.py", "typed\n");
    next_second();
    tree.write("other.py", "staged\n");
    tree.quiet(["add", "other.py"]);
    commit(&tree.repo(), &tree.head(), &[plain("kernel.py", "tried\n")]).unwrap();
    assert_eq!(tree.status(), [" M kernel.py", "M  other.py"]);
}

#[test]
fn a_third_version_in_the_index_is_not_thrown_away() {
    let place = Place::new();
    let tree = started(&place);
    let try_it = |content: &str| commit(&tree.repo(), &tree.head(), &[plain("kernel.py", content)]);
    tree.write("kernel.py", "staged\n");
    tree.quiet(["add", "kernel.py"]);
    let before = (tree.head(), tree.read(".git/index"));
    let staged = Error::Staged {
        paths: vec!["kernel.py".into()],
    };
    assert_eq!(try_it("tried\n"), Err(staged.clone()));
    assert_eq!((tree.head(), tree.read(".git/index")), before);
    // What is staged is what is kept: nothing is lost.
    try_it("staged\n").unwrap();
    assert_eq!(tree.status(), [""; 0]);

    tree.quiet(["rm", "-q", "--cached", "kernel.py"]);
    assert_eq!(try_it("tried\n"), Err(staged));
    tree.quiet(["reset", "-q"]);
    tree.write("intended.py", "new\n");
    tree.quiet(["add", "--intent-to-add", "intended.py"]);
    commit(&tree.repo(), &tree.head(), &[plain("intended.py", "new\n")]).unwrap();
    assert_eq!(tree.status(), [""; 0]);
}

#[test]
fn conflicts_without_a_merge_are_refused() {
    let place = Place::new();
    let tree = started(&place);
    tree.write("kernel.py", "put away\n");
    tree.quiet(["stash"]);
    tree.write("kernel.py", "other\n");
    tree.quiet(["commit", "-q", "-a", "-m", "other"]);
    let popped = tree.try_git(["-c", "core.hooksPath=/dev/null", "stash", "pop"]);
    assert!(!popped.status.success());
    assert_eq!(tree.status(), ["UU kernel.py"]);
    assert_eq!(
        commit(&tree.repo(), &tree.head(), &[plain("kernel.py", "tried\n")]),
        Err(Error::Conflicted {
            paths: vec!["kernel.py".into()]
        })
    );
}

#[test]
fn flags_of_the_index_stay() {
    let place = Place::new();
    let tree = started(&place);
    tree.quiet(["update-index", "--assume-unchanged", "kernel.py"]);
    tree.quiet(["update-index", "--skip-worktree", "other.py"]);
    let files = [
        plain("kernel.py", "second\n"),
        plain("other.py", "second\n"),
    ];
    commit(&tree.repo(), &tree.head(), &files).unwrap();
    assert_eq!(
        tree.git(["ls-files", "-v", "kernel.py", "other.py"]),
        "h kernel.py\nS other.py"
    );
}

#[test]
fn a_moved_branch_is_never_overwritten() {
    let place = Place::new();
    let tree = started(&place);
    let on = tree.head();
    tree.write("other.py", "theirs\n");
    tree.quiet(["commit", "-q", "-a", "-m", "theirs"]);
    let theirs = tree.head();
    let error = commit(&tree.repo(), &on, &[plain("kernel.py", "second\n")]).unwrap_err();
    assert_eq!(
        error,
        Error::HeadMoved {
            expected: Box::new(on.clone()),
            found: Box::new(theirs.clone())
        }
    );
    let text = error.to_string();
    assert!(text.starts_with("expected to be on perf at "), "{text}");

    // The same commit, another branch.
    tree.quiet(["checkout", "-q", "-b", "elsewhere"]);
    assert!(matches!(
        commit(&tree.repo(), &theirs, &[plain("kernel.py", "second\n")]),
        Err(Error::HeadMoved { .. })
    ));
    assert_eq!(tree.head().commit(), theirs.commit());
}

/// Another program commits while the files are being stored.
#[test]
fn a_commit_in_between_is_seen_at_the_last_moment() {
    let place = Place::new();
    let tree = started(&place);
    tree.quiet(["config", "filter.same.clean", "cat"]);
    tree.write(".gitattributes", "kernel.py filter=same\n");
    let on = tree.head();
    let in_between = |dir: &Path, args: &[&OsStr], stdin: &[u8]| {
        tree.write("other.py", "theirs\n");
        tree.quiet(["commit", "-q", "other.py", "-m", "theirs"]);
        program(dir, args, stdin)
    };
    let files = [plain("kernel.py", "second\n")];
    let request = NewCommit {
        on: &on,
        files: &files,
        message: "Faster",
        author: None,
    };
    let result = tree.repo().commit_files(&in_between, &request);
    assert!(matches!(result, Err(Error::HeadMoved { .. })), "{result:?}");
    assert_eq!(tree.git(["log", "-1", "--format=%s"]), "theirs");
    assert!(!tree.0.join(".git/index.lock").exists());
}

#[test]
fn what_cannot_be_committed_is_refused() {
    let place = Place::new();
    let tree = started(&place);
    let inner = place.with_commit("inner");
    tree.quiet([
        OsStr::new("submodule"),
        "add".as_ref(),
        "-q".as_ref(),
        inner.0.as_ref(),
        "sub".as_ref(),
    ]);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("kernel.py", tree.0.join("link.py")).unwrap();
        std::os::unix::fs::symlink("deep", tree.0.join("linked")).unwrap();
    }
    tree.quiet(["add", "."]);
    tree.quiet(["commit", "-q", "-m", "more"]);
    let refused = |path: &str| commit(&tree.repo(), &tree.head(), &[plain(path, "x\n")]);
    let what = |path: &str| match refused(path) {
        Err(Error::NotAFile { what, .. }) => what,
        other => panic!("{path}: {other:?}"),
    };
    assert_eq!(what("deep"), "a folder");
    assert_eq!(what("sub"), "a submodule");
    assert_eq!(what("sub/kernel.py"), "in a repository of its own");
    #[cfg(unix)]
    {
        assert_eq!(what("link.py"), "a symbolic link");
        assert_eq!(what("linked/stays.py"), "behind a symbolic link");
    }
    for path in [".git/config", "deep/.GIT/hooks/x", "../x", "", "a\0b"] {
        assert!(
            matches!(refused(path), Err(Error::Outside { .. })),
            "{path:?}"
        );
    }
    assert_eq!(
        commit(&tree.repo(), &tree.head(), &[plain("kernel.py", "first\n")]),
        Err(Error::Unchanged)
    );
    assert_eq!(
        commit(&tree.repo(), &tree.head(), &[FileVersion::absent("no.py")]),
        Err(Error::Unchanged)
    );
}

#[test]
fn in_a_submodule_and_in_a_linked_worktree_and_detached() {
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
    let sub = Tree(outer.0.join("sub")).ready_to_write();
    sub.repo().start_branch("perf").unwrap();
    sub.write("kernel.py", "second\n");
    commit(&sub.repo(), &sub.head(), &[plain("kernel.py", "second\n")]).unwrap();
    assert_eq!(sub.status(), [""; 0]);
    assert_eq!(outer.status(), [" M sub"]);
    sub.no_hook_ran();

    let outer = outer.ready_to_write();
    outer.quiet(["worktree", "add", "-q", "--detach", "../linked"]);
    let linked = Tree(place.path().join("linked"));
    linked.write("kernel.py", "second\n");
    let files = [plain("kernel.py", "second\n")];
    let id = commit(&linked.repo(), &linked.head(), &files).unwrap();
    assert_eq!(linked.head(), Head::Detached { commit: id });
    assert_eq!(linked.status(), [""; 0]);
    assert_eq!(outer.git(["log", "-1", "--format=%s"]), "with a submodule");
    outer.no_hook_ran();
}

#[test]
fn the_author_can_be_given() {
    let place = Place::new();
    let tree = started(&place);
    let who = Identity {
        name: "Eva \u{e4}".into(),
        email: "eva@example.org".into(),
    };
    let files = [plain("kernel.py", "second\n")];
    let on = tree.head();
    let mut request = NewCommit {
        on: &on,
        files: &files,
        message: "\n\nSubject  \n\n\n\nBody\n\n",
        author: Some(&who),
    };
    tree.repo().commit_files(&NoGit, &request).unwrap();
    assert_eq!(
        tree.git(["log", "-1", "--format=%an|%ce|%B"]),
        "Eva \u{e4}|eva@example.org|Subject\n\nBody"
    );
    let on = tree.head();
    request.on = &on;
    let nobody = Identity {
        name: String::new(),
        email: String::new(),
    };
    request.author = Some(&nobody);
    let files = [plain("kernel.py", "third\n")];
    request.files = &files;
    assert_eq!(
        tree.repo().commit_files(&NoGit, &request),
        Err(Error::NoIdentity)
    );
    assert_eq!(tree.head(), on);
}

/// Names the repository for the copy of this test that runs without any settings of a user.
const NOBODYS_REPOSITORY: &str = "VCS_TEST_NOBODYS_REPOSITORY";

#[test]
fn nobody_cannot_commit() {
    if let Some(path) = std::env::var_os(NOBODYS_REPOSITORY) {
        let tree = Tree(path.into());
        let on = tree.head();
        let error = commit(&tree.repo(), &on, &[plain("kernel.py", "second\n")]).unwrap_err();
        assert_eq!(error, Error::NoIdentity);
        assert_eq!(tree.repo().identity(), Err(Error::NoIdentity));
        assert!(error.to_string().contains("git config user.name"));
        assert_eq!(tree.head(), on);
        return;
    }
    let place = Place::new();
    let tree = place.with_commit("repo");
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    for name in ["NAME", "EMAIL"] {
        again.env_remove(format!("GIT_AUTHOR_{name}"));
        again.env_remove(format!("GIT_COMMITTER_{name}"));
    }
    let again = again
        .args(["--exact", "committing::nobody_cannot_commit"])
        .env(NOBODYS_REPOSITORY, &tree.0)
        .env("HOME", place.path())
        .env("XDG_CONFIG_HOME", place.path())
        .env_remove("EMAIL")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&again.stdout);
    assert!(
        again.status.success() && text.contains("1 passed"),
        "{text}"
    );
}
