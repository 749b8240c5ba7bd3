//! What has changed, files as they were, and the ignore rules of the clone.

use std::path::PathBuf;

use tileperf_vcs::{ChangedFile, Content, Error, FileVersion, NoGit, Untracked};

use crate::support::{Place, Tree};

fn changed(tree: &Tree, untracked: Untracked) -> Vec<String> {
    let files = tree.repo().changed_files(&NoGit, untracked).unwrap();
    let flag = |on: bool, letter: &str| {
        if on {
            letter.to_owned()
        } else {
            "-".to_owned()
        }
    };
    let line = |file: &ChangedFile| {
        [
            flag(file.staged, "s"),
            flag(file.unstaged, "u"),
            flag(file.untracked, "n"),
            flag(file.conflicted, "c"),
            format!(" {}", file.path.display()),
        ]
        .concat()
    };
    files.iter().map(line).collect()
}

#[test]
fn every_kind_of_change_is_listed_and_the_index_is_not_written() {
    let place = Place::new();
    let tree = place.empty("repo");
    for name in [
        "changed", "staged", "deleted", "removed", "both", "sparse", "clean",
    ] {
        tree.write(name, "first\n");
    }
    tree.write(".gitignore", "*.log\n");
    tree.commit_all("first");
    tree.write("changed", "other\n");
    tree.write("staged", "other\n");
    tree.write("both", "other\n");
    tree.git(["add", "staged", "both"]);
    tree.write("both", "again\n");
    std::fs::remove_file(tree.0.join("deleted")).unwrap();
    tree.git(["rm", "-q", "removed"]);
    tree.git(["update-index", "--skip-worktree", "sparse"]);
    std::fs::remove_file(tree.0.join("sparse")).unwrap();
    tree.write("new folder/a/\u{e4}.py", "new\n");
    tree.write("new folder/b.py", "new\n");
    tree.write("a.log", "ignored\n");
    // Only its stamp is new.
    std::thread::sleep(std::time::Duration::from_millis(20));
    tree.write("clean", "first\n");
    let index = tree.read(".git/index");
    let mut expected = vec![
        "su-- both",
        "-u-- changed",
        "-u-- deleted",
        "-un- new folder/a/\u{e4}.py",
        "-un- new folder/b.py",
        "s--- removed",
        "s--- staged",
    ];
    assert_eq!(changed(&tree, Untracked::Files), expected);
    expected.splice(3..5, ["-un- new folder/"]);
    assert_eq!(changed(&tree, Untracked::Folders), expected);
    assert_eq!(tree.read(".git/index"), index);
}

#[test]
fn an_open_repository_sees_what_others_do_to_it() {
    let place = Place::new();
    let tree = place.with_commit("repo");
    let repo = tree.repo();
    let paths = || {
        let files = repo.changed_files(&NoGit, Untracked::Files).unwrap();
        files
            .into_iter()
            .map(|f| (f.path, f.staged))
            .collect::<Vec<_>>()
    };
    assert_eq!(paths(), []);
    assert_eq!(repo.is_ignored("a.log"), Ok(false));
    tree.write("a.log", "new\n");
    tree.git(["add", "a.log"]);
    tree.write(".gitignore", "*.log\n");
    assert_eq!(
        paths(),
        [(".gitignore".into(), false), ("a.log".into(), true)]
    );
    assert_eq!(repo.is_ignored("a.log"), Ok(false), "it is tracked");
    tree.git(["rm", "-q", "--cached", "a.log"]);
    assert_eq!(repo.is_ignored("a.log"), Ok(true));
    assert_eq!(paths(), [(PathBuf::from(".gitignore"), false)]);
}

#[test]
fn a_conflict_is_marked() {
    let place = Place::new();
    let tree = place.with_commit("repo");
    tree.git(["checkout", "-q", "-b", "theirs"]);
    tree.write("kernel.py", "theirs\n");
    tree.commit_all("theirs");
    tree.git(["checkout", "-q", "main"]);
    tree.write("kernel.py", "ours\n");
    tree.commit_all("ours");
    assert!(!tree.try_git(["merge", "theirs"]).status.success());
    assert_eq!(changed(&tree, Untracked::Files), ["-u-c kernel.py"]);
}

#[test]
fn a_file_on_the_disk_and_in_a_commit() {
    let place = Place::new();
    let tree = place.empty("repo");
    let bytes: Vec<u8> = (0..=255).collect();
    tree.write("kernel.py", &bytes);
    tree.write("run.sh", "echo\n");
    tree.git(["add", "."]);
    tree.git(["update-index", "--chmod=+x", "run.sh"]);
    tree.git(["commit", "-q", "-m", "first"]);
    let repo = tree.repo();
    let commit = tree.head().commit().unwrap();
    let at = repo
        .read_files_at(&NoGit, commit, &[tree.0.join("kernel.py"), "run.sh".into()])
        .unwrap();
    assert_eq!(
        at,
        [
            FileVersion::new("kernel.py", Content::plain(bytes)),
            FileVersion::new("run.sh", Content::executable("echo\n")),
        ]
    );
    // The disk says that it is not executable, and counts, unless it has been said not to.
    let on_disk = || repo.read_file("run.sh").unwrap().content.unwrap();
    #[cfg(unix)]
    assert_eq!(on_disk(), Content::plain("echo\n"));
    tree.git(["config", "core.fileMode", "false"]);
    assert_eq!(on_disk(), Content::executable("echo\n"));
    assert_eq!(
        repo.read_file("none.py"),
        Ok(FileVersion::absent("none.py"))
    );
    assert!(matches!(
        repo.read_file(".git/config"),
        Err(Error::Outside { .. })
    ));
    let unknown = "0123456789012345678901234567890123456789".parse().unwrap();
    assert!(matches!(
        repo.read_files_at(&NoGit, unknown, &["kernel.py"]),
        Err(Error::UnknownRevision { .. })
    ));
    assert!("0123".parse::<tileperf_vcs::CommitId>().is_err());
    assert_eq!(commit.to_string().parse(), Ok(commit));
}

#[test]
fn files_between_two_commits() {
    let place = Place::new();
    let tree = place.empty("repo");
    for name in ["a.py", "b/c.py", "same.py"] {
        tree.write(name, format!("{name}\n"));
    }
    tree.commit_all("first");
    let first = tree.head().commit().unwrap();
    tree.git(["mv", "a.py", "renamed.py"]);
    tree.write("b/c.py", "other\n");
    tree.write("b/new.py", "new\n");
    tree.commit_all("second");
    let second = tree.head().commit().unwrap();
    let expected: Vec<PathBuf> = ["a.py", "b/c.py", "b/new.py", "renamed.py"]
        .map(Into::into)
        .into();
    let repo = tree.repo();
    assert_eq!(repo.files_between(first, second), Ok(expected.clone()));
    assert_eq!(repo.files_between(second, first), Ok(expected));
    assert_eq!(repo.files_between(first, first), Ok(vec![]));
    assert_eq!(repo.is_ancestor(first, second), Ok(true));
    assert_eq!(repo.is_ancestor(second, second), Ok(true));
    assert_eq!(repo.is_ancestor(second, first), Ok(false));
}

#[test]
fn a_pattern_is_excluded_once_and_the_file_keeps_its_ways() {
    for (before, after) in [
        (None, "sandbox/\n"),
        (Some(""), "sandbox/\n"),
        (Some("# mine\n*.tmp\n"), "# mine\n*.tmp\nsandbox/\n"),
        (Some("*.tmp"), "*.tmp\nsandbox/\n"),
        (Some("*.tmp\r\n*.log"), "*.tmp\r\n*.log\r\nsandbox/\r\n"),
        (Some("sandbox/ \r\n*.log"), "sandbox/ \r\n*.log"),
        (
            Some("sandbox/x\n#sandbox/\n"),
            "sandbox/x\n#sandbox/\nsandbox/\n",
        ),
    ] {
        let place = Place::new();
        let tree = place.with_commit("repo");
        let file = tree.0.join(".git/info/exclude");
        match before {
            Some(text) => std::fs::write(&file, text).unwrap(),
            None => std::fs::remove_dir_all(file.parent().unwrap()).unwrap(),
        }
        let repo = tree.repo();
        let added = before.is_none_or(|text| !text.starts_with("sandbox/ "));
        assert_eq!(repo.exclude("sandbox/"), Ok(added), "{before:?}");
        assert_eq!(repo.exclude("sandbox/"), Ok(false), "{before:?}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), after);
        tree.write("sandbox/perf_results.md", "");
        assert_eq!(repo.is_ignored("sandbox/perf_results.md"), Ok(true));
        assert_eq!(tree.status(), [""; 0], "{before:?}");
    }
}

#[test]
fn an_exclusion_made_in_a_linked_worktree_counts_in_all() {
    let place = Place::new();
    let tree = place.with_commit("repo");
    tree.git(["worktree", "add", "-q", "../linked"]);
    let linked = Tree(place.path().join("linked"));
    linked.repo().exclude("sandbox/").unwrap();
    for tree in [&tree, &linked] {
        tree.write("sandbox/x", "");
        assert_eq!(tree.status(), [""; 0]);
    }
}
