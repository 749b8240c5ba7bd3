//! Work trees of tileperf's own: made, moved and removed without hooks, and only these.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use tileperf_vcs::{Error, Gap, Head, NoGit};

use crate::support::{Place, Tree, program};

/// A repository with two commits, and a place for a work tree that does not exist yet.
fn started(place: &Place) -> (Tree, PathBuf) {
    let tree = place.empty("repo");
    for name in ["kernel.py", "same.py", "deep/er/gone.py", "\u{e4} b/[x].py"] {
        tree.write(name, "first\n");
    }
    tree.write(".gitignore", "*.log\n");
    tree.commit_all("first");
    tree.write("kernel.py", "second\n");
    tree.write("new.py", "new\n");
    tree.git(["rm", "-q", "deep/er/gone.py"]);
    tree.git(["add", "--all"]);
    tree.git(["update-index", "--chmod=+x", "kernel.py"]);
    tree.git(["commit", "-q", "-m", "second"]);
    tree.git(["reset", "-q", "--hard"]);
    let path = place.path().join("cache/base");
    (tree.ready_to_write(), path)
}

fn commit(tree: &Tree, revision: &str) -> tileperf_vcs::CommitId {
    tree.git(["rev-parse", revision]).parse().unwrap()
}

#[test]
fn one_is_made_detached_and_git_finds_nothing_wrong_with_it() {
    let place = Place::new();
    let (tree, path) = started(&place);
    let (status, branches) = (tree.status(), tree.git(["branch", "--list"]));
    let id = commit(&tree, "HEAD");
    let made = tree.repo().add_worktree(&NoGit, &path, id).unwrap();
    assert_eq!(made.name, "tileperf-base");
    assert_eq!(
        (&made.path, made.commit, made.exists),
        (&path, Some(id), true)
    );
    let linked = Tree(path.clone());
    assert_eq!(linked.head(), Head::Detached { commit: id });
    assert_eq!(linked.status(), [""; 0]);
    assert_eq!(linked.read("\u{e4} b/[x].py"), b"first\n");
    assert!(linked.repo().is_linked_worktree());
    assert_eq!(tree.status(), status);
    assert_eq!(
        tree.git(["branch", "--list"]),
        branches,
        "a branch was made"
    );
    let list = tree.git(["worktree", "list", "--porcelain"]);
    assert!(
        list.contains(&format!(
            "worktree {}\nHEAD {id}\ndetached\nlocked tileperf measures",
            path.display()
        )),
        "{list}"
    );
    tree.git(["fsck", "--strict"]);
    // Neither git nor anybody's clean-up takes it for abandoned.
    tree.git(["worktree", "prune", "--expire=now"]);
    assert_eq!(tree.repo().worktree_at(&path), Ok(Some(made)));
    tree.no_hook_ran();
}

#[test]
fn only_what_differs_is_written_and_what_is_foreign_is_removed() {
    let place = Place::new();
    let (tree, path) = started(&place);
    let (first, second) = (commit(&tree, "HEAD~1"), commit(&tree, "HEAD"));
    let repo = tree.repo();
    repo.add_worktree(&NoGit, &path, second).unwrap();
    let linked = Tree(path.clone());
    let stamp = |name: &str| linked.0.join(name).metadata().unwrap().modified().unwrap();
    let before = stamp("same.py");
    let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();

    let brought = repo.checkout_worktree(&NoGit, &path, first).unwrap();
    assert_eq!(brought.written, paths(&["deep/er/gone.py", "kernel.py"]));
    assert_eq!(brought.removed, paths(&["new.py"]));
    assert_eq!(linked.status(), [""; 0]);
    assert_eq!(linked.head(), Head::Detached { commit: first });

    // A candidate was tried: edits, a new file, a staged one, an ignored one.
    linked.write("kernel.py", "tried\n");
    linked.write("deep/new/tried.py", "tried\n");
    linked.write("staged.py", "tried\n");
    linked.quiet(["add", "staged.py"]);
    linked.quiet(["rm", "-q", "deep/er/gone.py"]);
    linked.write("cache.log", "kept\n");
    let brought = repo.checkout_worktree(&NoGit, &path, first).unwrap();
    assert_eq!(brought.written, paths(&["deep/er/gone.py", "kernel.py"]));
    assert_eq!(brought.removed, paths(&["deep/new/tried.py", "staged.py"]));
    assert!(!linked.0.join("deep/new").exists());
    assert_eq!(linked.read("cache.log"), b"kept\n");
    assert_eq!(linked.status(), [""; 0]);
    assert_eq!(
        stamp("same.py"),
        before,
        "it was written although it is the same"
    );

    let brought = repo.checkout_worktree(&NoGit, &path, first).unwrap();
    assert_eq!(brought, tileperf_vcs::Brought::default());
    // Somebody worked on a branch there.
    linked.quiet(["checkout", "-q", "-b", "theirs"]);
    repo.checkout_worktree(&NoGit, &path, second).unwrap();
    assert_eq!(linked.head(), Head::Detached { commit: second });
    assert_eq!(repo.branch_tip("theirs"), Ok(Some(first)));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = linked.0.join("kernel.py").metadata().unwrap();
        assert_eq!(mode.permissions().mode() & 0o111, 0o111);
        std::fs::remove_file(linked.0.join("same.py")).unwrap();
        std::os::unix::fs::symlink("kernel.py", linked.0.join("same.py")).unwrap();
        let brought = repo.checkout_worktree(&NoGit, &path, second).unwrap();
        assert_eq!(brought.written, paths(&["same.py"]));
        assert_eq!(linked.read("same.py"), b"first\n");
        assert_eq!(linked.read("kernel.py"), b"second\n");
        // A folder too, which leads out.
        let outside = place.path().join("outside");
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("[x].py"), "theirs\n").unwrap();
        std::fs::write(outside.join("untracked.py"), "theirs\n").unwrap();
        std::fs::remove_dir_all(linked.0.join("\u{e4} b")).unwrap();
        std::os::unix::fs::symlink(&outside, linked.0.join("\u{e4} b")).unwrap();
        repo.checkout_worktree(&NoGit, &path, second).unwrap();
        assert_eq!(linked.read("\u{e4} b/[x].py"), b"first\n");
        assert_eq!(std::fs::read(outside.join("[x].py")).unwrap(), b"theirs\n");
        assert!(outside.join("untracked.py").exists());
        assert_eq!(linked.status(), [""; 0]);
    }
    tree.no_hook_ran();
}

/// Candidates follow each other within the resolution of many clocks.
#[test]
fn an_edit_of_the_same_size_in_the_same_moment_is_undone() {
    let place = Place::new();
    let (tree, path) = started(&place);
    let repo = tree.repo();
    let id = commit(&tree, "HEAD");
    repo.add_worktree(&NoGit, &path, id).unwrap();
    for round in 0..50 {
        std::fs::write(path.join("kernel.py"), format!("se{round:03}\n")).unwrap();
        std::fs::write(path.join("same.py"), format!("f{round:04}\n")).unwrap();
        repo.checkout_worktree(&NoGit, &path, id).unwrap();
        assert_eq!(std::fs::read(path.join("kernel.py")).unwrap(), b"second\n");
        assert_eq!(std::fs::read(path.join("same.py")).unwrap(), b"first\n");
    }
}

#[test]
fn nothing_of_anybody_else_is_touched() {
    let place = Place::new();
    let (tree, path) = started(&place);
    let repo = tree.repo();
    let id = commit(&tree, "HEAD");
    let theirs = place.path().join("theirs");
    tree.quiet(["worktree", "add", "-q", "--detach", "../theirs"]);
    let full = place.path().join("full");
    std::fs::create_dir(&full).unwrap();
    std::fs::write(full.join("file"), "mine").unwrap();
    for path in [&theirs, &full, &tree.0, &full.join("file")] {
        let not_ours = Error::NotOurs { path: path.clone() };
        assert_eq!(repo.add_worktree(&NoGit, path, id).unwrap_err(), not_ours);
        assert_eq!(
            repo.checkout_worktree(&NoGit, path, id).unwrap_err(),
            not_ours
        );
        assert_eq!(repo.remove_worktree(path).unwrap_err(), not_ours);
        assert_eq!(repo.worktree_at(path), Ok(None));
    }
    assert_eq!(repo.worktrees(), Ok(vec![]));
    assert_eq!(std::fs::read(full.join("file")).unwrap(), b"mine");
    assert!(theirs.join("kernel.py").exists());
    assert!(matches!(
        repo.add_worktree(&NoGit, Path::new("relative"), id),
        Err(Error::Outside { .. })
    ));

    // Ours was, and somebody has put a repository of their own there since.
    repo.add_worktree(&NoGit, &path, id).unwrap();
    std::fs::remove_dir_all(&path).unwrap();
    let other = place.with_commit("other");
    std::fs::rename(&other.0, &path).unwrap();
    assert!(!repo.worktree_at(&path).unwrap().unwrap().exists);
    assert_eq!(
        repo.remove_worktree(&path),
        Err(Error::NotOurs { path: path.clone() })
    );
    assert!(matches!(
        repo.checkout_worktree(&NoGit, &path, id),
        Err(Error::NotOurs { .. })
    ));
    assert_eq!(Tree(path.clone()).status(), [""; 0]);
}

#[test]
fn one_is_made_again_after_a_kill_within_the_writing_of_its_link() {
    use std::hash::{DefaultHasher, Hash, Hasher};

    let place = Place::new();
    let (tree, path) = started(&place);
    let mut hash = DefaultHasher::new();
    Path::new(".git").file_name().hash(&mut hash);
    let left = path.join(format!(".tileperf-new-{:016x}", hash.finish()));
    std::fs::create_dir_all(&path).unwrap();
    std::fs::write(&left, "gitdir: /so").unwrap();
    let id = commit(&tree, "HEAD");
    tree.repo().add_worktree(&NoGit, &path, id).unwrap();
    assert!(!left.exists());
    assert_eq!(std::fs::read(path.join("kernel.py")).unwrap(), b"second\n");
}

#[test]
fn one_is_removed_even_if_its_folder_is_gone_and_made_again_after_a_kill() {
    let place = Place::new();
    let (tree, path) = started(&place);
    let repo = tree.repo();
    let id = commit(&tree, "HEAD");
    let other = place.path().join("elsewhere/base");
    repo.add_worktree(&NoGit, &path, id).unwrap();
    let second = repo.add_worktree(&NoGit, &other, id).unwrap();
    assert_eq!(second.name, "tileperf-base-2");
    assert_eq!(repo.worktrees().unwrap().len(), 2);

    std::fs::write(path.join("untracked"), "").unwrap();
    repo.remove_worktree(&path).unwrap();
    assert!(!path.exists());
    assert!(!tree.0.join(".git/worktrees/tileperf-base").exists());
    repo.remove_worktree(&path).unwrap();

    std::fs::remove_dir_all(&other).unwrap();
    assert!(!repo.worktree_at(&other).unwrap().unwrap().exists);
    repo.remove_worktree(&other).unwrap();
    assert_eq!(repo.worktrees(), Ok(vec![]));
    assert!(!tree.0.join(".git/worktrees").exists());

    // Killed at each step of the making.
    repo.add_worktree(&NoGit, &path, id).unwrap();
    let admin = tree.0.join(".git/worktrees/tileperf-base");
    for left in [
        &["locked", "commondir", "gitdir"][..],
        &["locked", "commondir", "gitdir", "HEAD"],
    ] {
        for entry in std::fs::read_dir(&admin).unwrap() {
            let entry = entry.unwrap();
            if left.iter().any(|name| entry.file_name() == *name) {
                continue;
            }
            match entry.path().is_dir() {
                true => std::fs::remove_dir_all(entry.path()).unwrap(),
                false => std::fs::remove_file(entry.path()).unwrap(),
            }
        }
        std::fs::remove_dir_all(&path).unwrap();
        tree.git(["worktree", "prune", "--expire=now"]);
        let made = repo.add_worktree(&NoGit, &path, id).unwrap();
        assert_eq!(made.name, "tileperf-base");
        assert_eq!(Tree(path.clone()).status(), [""; 0]);
    }
}

#[test]
fn a_lock_in_it_is_said() {
    let place = Place::new();
    let (tree, path) = started(&place);
    let repo = tree.repo();
    let id = commit(&tree, "HEAD");
    repo.add_worktree(&NoGit, &path, id).unwrap();
    let lock = tree.0.join(".git/worktrees/tileperf-base/index.lock");
    std::fs::write(&lock, "").unwrap();
    assert_eq!(
        repo.checkout_worktree(&NoGit, &path, commit(&tree, "HEAD~1")),
        Err(Error::Locked { file: lock })
    );
}

#[test]
fn filters_and_line_ends_are_applied_and_attributes_come_first() {
    let place = Place::new();
    let tree = place.empty("repo");
    tree.git(["config", "filter.double.clean", "sed -n 'p;n'"]);
    tree.git(["config", "filter.double.smudge", "sed p"]);
    tree.write("kernel.py", "a\na\n");
    tree.write("dos.txt", "a\n");
    tree.commit_all("plain");
    tree.write(
        ".gitattributes",
        "*.py filter=double\n*.txt text eol=crlf\n",
    );
    tree.git(["add", "--renormalize", "."]);
    tree.commit_all("filtered");
    let tree = tree.ready_to_write();
    let (plain, filtered) = (commit(&tree, "HEAD~1"), commit(&tree, "HEAD"));
    let repo = tree.repo();
    let path = place.path().join("base");
    let linked = Tree(path.clone());
    let read = || (linked.read("kernel.py"), linked.read("dos.txt"));
    for round in 0..2 {
        let made = repo.add_worktree(&program, &path, filtered).unwrap();
        assert!(made.exists);
        assert_eq!(read(), (b"a\na\n".into(), b"a\r\n".into()), "{round}");
        assert_eq!(linked.status(), [""; 0]);
        let again = repo.checkout_worktree(&program, &path, filtered).unwrap();
        assert_eq!(again, tileperf_vcs::Brought::default());
        linked.write("kernel.py", "b\nb\n");
        let brought = repo.checkout_worktree(&program, &path, filtered).unwrap();
        assert_eq!(brought.written, ["kernel.py".as_ref() as &Path]);
        assert_eq!(read().0, b"a\na\n");

        repo.checkout_worktree(&program, &path, plain).unwrap();
        assert_eq!(read(), (b"a\na\n".into(), b"a\n".into()), "{round}");
        assert_eq!(linked.status(), [""; 0]);
    }
}

#[test]
fn what_a_work_tree_would_lack_is_named() {
    let place = Place::new();
    let inner = place.with_commit("inner");
    let (tree, _) = started(&place);
    assert_eq!(
        tree.repo().worktree_gaps(
            commit(&tree, "HEAD"),
            &["kernel.py", "\u{e4} b", "not there"]
        ),
        Ok(vec![])
    );
    tree.quiet([
        OsStr::new("submodule"),
        "add".as_ref(),
        "-q".as_ref(),
        inner.0.as_ref(),
        "libs/sub".as_ref(),
    ]);
    tree.write(".gitattributes", "*.bin filter=lfs diff=lfs -text\n");
    tree.write("a.bin", "version https://git-lfs.github.com/spec/v1\n");
    tree.write("b.bin", "version https://git-lfs.github.com/spec/v1\n");
    tree.quiet(["add", "."]);
    tree.quiet(["commit", "-q", "-m", "more"]);
    tree.write("built.log", "");
    tree.write("helper.py", "");
    tree.git(["config", "remote.origin.promisor", "true"]);
    let needed = ["kernel.py", "built.log", "helper.py", "libs/sub/kernel.py"];
    assert_eq!(
        tree.repo()
            .worktree_gaps(commit(&tree, "HEAD"), &needed)
            .unwrap(),
        [
            Gap::Submodule {
                path: "libs/sub".into()
            },
            Gap::Filtered {
                filter: "lfs".into(),
                files: 2,
                first: "a.bin".into()
            },
            Gap::Missing {
                path: "built.log".into(),
                ignored: true
            },
            Gap::Missing {
                path: "helper.py".into(),
                ignored: false
            },
            Gap::Missing {
                path: "libs/sub/kernel.py".into(),
                ignored: false
            },
            Gap::PartialClone {
                remote: "origin".into()
            },
        ]
    );
}

#[test]
fn from_a_linked_worktree_and_from_a_submodule() {
    let place = Place::new();
    let inner = place.with_commit("inner");
    let (tree, _) = started(&place);
    tree.quiet([
        OsStr::new("submodule"),
        "add".as_ref(),
        "-q".as_ref(),
        inner.0.as_ref(),
        "sub".as_ref(),
    ]);
    tree.quiet(["commit", "-q", "-m", "a submodule"]);
    tree.quiet(["worktree", "add", "-q", "--detach", "../linked"]);
    let linked = Tree(place.path().join("linked"));
    for (number, tree) in [linked, Tree(tree.0.join("sub"))].iter().enumerate() {
        let path = place.path().join(format!("of {number}"));
        let id = commit(tree, "HEAD");
        let made = tree.repo().add_worktree(&NoGit, &path, id).unwrap();
        assert_eq!(made.name, format!("tileperf-of-{number}"));
        let made = Tree(path.clone());
        assert_eq!(made.repo().root(), Some(path.as_path()));
        assert_eq!(made.status(), [""; 0]);
        assert_eq!(
            made.git(["rev-parse", "--show-toplevel"]),
            path.display().to_string()
        );
        made.write("kernel.py", "tried\n");
        assert_eq!(tree.status(), [""; 0]);
        tree.repo().checkout_worktree(&NoGit, &path, id).unwrap();
        assert_eq!(made.status(), [""; 0]);
        tree.repo().remove_worktree(&path).unwrap();
        assert!(!path.exists());
    }
}
