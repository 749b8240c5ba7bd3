//! What git says about single files, compared with what git itself says.

mod support;

use std::ffi::OsStr;
use std::path::PathBuf;

use support::{Place, Tree};
use tileperf_vcs::{Error, FileStatus};

/// Names that have gone wrong somewhere before.
fn names() -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> = [
        "plain.py",
        "with space.py",
        "[glob]*?.py",
        "quo\"te'.py",
        "\u{e4}\u{1f600}.py",
        "-dash.py",
        "deep/er/file.py",
        "new\nline.py",
        ":(top)magic.py",
        "!bang.py",
        "#hash.py",
    ]
    .map(PathBuf::from)
    .to_vec();
    // Not UTF-8; the file systems of other platforms refuse it.
    #[cfg(target_os = "linux")]
    names.push(PathBuf::from(
        <OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"latin\xe4.py"),
    ));
    names
}

#[test]
fn any_name_goes_through_every_question() {
    let place = Place::new();
    let tree = place.empty("repo");
    for name in names() {
        tree.write(&name, name.as_os_str().as_encoded_bytes());
    }
    for name in names() {
        assert_eq!(
            tree.repo().status(&name),
            Ok(FileStatus::Untracked),
            "{name:?}"
        );
    }
    tree.commit_all("all");
    for name in names() {
        let repo = tree.repo();
        assert_eq!(repo.status(&name), Ok(FileStatus::Clean), "{name:?}");
        assert_eq!(
            repo.status(tree.0.join(&name)),
            Ok(FileStatus::Clean),
            "{name:?}"
        );
        assert_eq!(
            repo.content_at("HEAD", &name).unwrap(),
            name.as_os_str().as_encoded_bytes()
        );
        assert_eq!(
            (repo.is_ignored(&name), repo.filter(&name)),
            (Ok(false), Ok(None))
        );
        tree.write(&name, "other");
        assert_eq!(repo.status(&name), Ok(FileStatus::Modified), "{name:?}");
    }
    tree.write(".gitattributes", "* filter=lfs\n");
    for name in names() {
        assert_eq!(
            tree.repo().filter(&name),
            Ok(Some("lfs".into())),
            "{name:?}"
        );
    }
}

#[test]
fn every_way_to_differ_is_told_apart() {
    let place = Place::new();
    let tree = place.empty("repo");
    for name in [
        "clean",
        "changed",
        "staged",
        "deleted",
        "removed",
        "restored",
        "mode",
        "tracked.log",
    ] {
        tree.write(name, "first\n");
    }
    tree.write(".gitignore", "*.log\nbuild/\n");
    tree.git(["add", "--force", "."]);
    tree.git(["commit", "-q", "-m", "first"]);

    tree.write("changed", "other\n");
    tree.write("staged", "other\n");
    tree.write("added", "new\n");
    tree.git(["add", "staged", "added"]);
    std::fs::remove_file(tree.0.join("deleted")).unwrap();
    tree.git(["rm", "-q", "removed"]);
    tree.write("restored", "first\n");
    tree.write("untracked", "new\n");
    tree.write("some.log", "new\n");
    tree.write("build/out.py", "new\n");
    tree.write("new folder/new.py", "new\n");

    let expected = [
        ("clean", FileStatus::Clean),
        ("changed", FileStatus::Modified),
        ("staged", FileStatus::Modified),
        ("added", FileStatus::Modified),
        ("deleted", FileStatus::Modified),
        ("removed", FileStatus::Modified),
        ("restored", FileStatus::Clean),
        ("tracked.log", FileStatus::Clean),
        ("untracked", FileStatus::Untracked),
        ("some.log", FileStatus::Ignored),
        ("build/out.py", FileStatus::Ignored),
        ("new folder/new.py", FileStatus::Untracked),
    ];
    let repo = tree.repo();
    for (name, status) in expected {
        assert_eq!(repo.status(name), Ok(status), "{name}");
        let ignored = tree.try_git(["check-ignore", "-q", name]).status.success();
        assert_eq!(repo.is_ignored(name), Ok(ignored), "{name}");
    }
    assert_eq!(repo.is_ignored("build"), Ok(true));
    assert_eq!(repo.is_ignored("not there yet.log"), Ok(true));

    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(tree.0.join("mode"), executable).unwrap();
        assert_eq!(repo.status("mode"), Ok(FileStatus::Modified));
    }
}

#[test]
fn files_before_the_first_commit_have_a_status() {
    let place = Place::new();
    let tree = place.empty("repo");
    tree.write("added.py", "new\n");
    tree.write("untracked.py", "new\n");
    tree.git(["add", "added.py"]);
    assert_eq!(tree.repo().status("added.py"), Ok(FileStatus::Modified));
    assert_eq!(
        tree.repo().status("untracked.py"),
        Ok(FileStatus::Untracked)
    );
    assert!(matches!(
        tree.repo().content_at("HEAD", "added.py"),
        Err(Error::UnknownRevision { .. })
    ));
}

#[test]
fn ignore_rules_come_from_everywhere() {
    let place = Place::new();
    let tree = place.with_commit("repo");
    tree.write(".git/info/exclude", "sandbox/\n");
    tree.write("sub/.gitignore", "*.tmp\n!keep.tmp\n");
    let repo = tree.repo();
    for (path, ignored) in [
        ("sandbox/perf_results.md", true),
        ("sub/a.tmp", true),
        ("sub/keep.tmp", false),
        ("a.tmp", false),
    ] {
        assert_eq!(repo.is_ignored(path), Ok(ignored), "{path}");
    }
}

#[test]
fn what_is_no_file_of_this_tree_is_an_error() {
    let place = Place::new();
    let tree = place.with_commit("repo");
    tree.write("folder/file.py", "text\n");
    tree.commit_all("second");
    let repo = tree.repo();
    assert!(matches!(
        repo.status("nothing.py"),
        Err(Error::NoSuchFile { revision: None, .. })
    ));
    assert!(matches!(
        repo.status("folder"),
        Err(Error::NotAFile {
            what: "a folder",
            ..
        })
    ));
    for path in ["", ".", "../other.py", "folder/../../x", "/", "/etc/passwd"] {
        assert!(
            matches!(repo.status(path), Err(Error::Outside { .. })),
            "{path}"
        );
    }
    // Beside it, with the same beginning.
    let beside = place.path().join("repository/file.py");
    assert!(matches!(repo.status(&beside), Err(Error::Outside { .. })));
}

#[cfg(unix)]
#[test]
fn a_path_through_a_link_is_the_same_file_and_a_tracked_link_stays_one() {
    let place = Place::new();
    let tree = place.with_commit("repo");
    let alias = place.path().join("alias");
    std::os::unix::fs::symlink(&tree.0, &alias).unwrap();
    std::os::unix::fs::symlink("kernel.py", tree.0.join("link.py")).unwrap();
    tree.commit_all("a link");

    let repo = tree.repo();
    assert_eq!(repo.status(alias.join("kernel.py")), Ok(FileStatus::Clean));
    assert_eq!(repo.status(alias.join("link.py")), Ok(FileStatus::Clean));
    let through_dots = tree.0.join("../repo/kernel.py");
    assert_eq!(repo.status(through_dots), Ok(FileStatus::Clean));
    let link = repo.content_at("HEAD", "link.py");
    assert!(matches!(
        link,
        Err(Error::NotAFile {
            what: "a symbolic link",
            ..
        })
    ));
}

#[test]
fn content_comes_from_any_revision_byte_for_byte() {
    let place = Place::new();
    let tree = place.with_commit("repo");
    let bytes: Vec<u8> = (0..=255).collect();
    tree.write("kernel.py", &bytes);
    tree.commit_all("second");
    tree.git(["tag", "-a", "-m", "annotated", "v1"]);
    tree.write("kernel.py", "not committed\n");
    let repo = tree.repo();
    let id = tree.git(["rev-parse", "--short", "HEAD"]);
    for revision in ["HEAD", "main", "v1", "HEAD~0", "v1^{tree}", id.as_str()] {
        assert_eq!(
            repo.content_at(revision, "kernel.py").as_ref(),
            Ok(&bytes),
            "{revision}"
        );
    }
    assert_eq!(
        repo.content_at("HEAD~1", "kernel.py"),
        Ok(b"first\n".to_vec())
    );

    let error = repo.content_at("nonsense", "kernel.py").unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("there is no revision `nonsense`: "),
        "{error}"
    );
    assert!(matches!(
        repo.content_at("HEAD:kernel.py", "kernel.py"),
        Err(Error::UnknownRevision { .. })
    ));
    assert!(matches!(
        repo.content_at("HEAD~9", "kernel.py"),
        Err(Error::UnknownRevision { .. })
    ));
    let error = repo.content_at("HEAD", "gone.py").unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no file gone.py in revision `HEAD`"
    );
}

#[test]
fn content_is_of_files_only() {
    let place = Place::new();
    let inner = place.with_commit("inner");
    let tree = place.with_commit("repo");
    tree.git([
        OsStr::new("submodule"),
        "add".as_ref(),
        "-q".as_ref(),
        inner.0.as_ref(),
        "sub".as_ref(),
    ]);
    tree.write("folder/file.py", "text\n");
    tree.commit_all("second");
    let what = |path: &str| match tree.repo().content_at("HEAD", path) {
        Err(Error::NotAFile { what, .. }) => what,
        other => panic!("{path}: {other:?}"),
    };
    assert_eq!((what("folder"), what("sub")), ("a folder", "a submodule"));
}

#[test]
fn a_huge_file_is_refused_before_it_is_read() {
    let place = Place::new();
    let tree = place.empty("repo");
    std::fs::File::create(tree.0.join("huge"))
        .unwrap()
        .set_len((64 << 20) + 1)
        .unwrap();
    tree.commit_all("huge");
    let error = tree.repo().content_at("HEAD", "huge").unwrap_err();
    assert_eq!(
        error.to_string(),
        "huge has 67108865 bytes, which is too large"
    );
}

/// A repository in which a real filter doubles every line on the way into the work tree.
fn with_filter(place: &Place) -> Tree {
    let tree = place.empty("repo");
    tree.git(["config", "filter.double.clean", "sed -n 'p;n'"]);
    tree.git(["config", "filter.double.smudge", "sed p"]);
    tree.write(
        ".gitattributes",
        "*.py filter=double\nplain.py !filter\noff.py -filter\nset.py filter\n",
    );
    for name in ["kernel.py", "plain.py", "off.py", "set.py"] {
        tree.write(name, "a\na\n");
    }
    tree.commit_all("first");
    tree
}

#[test]
fn a_filter_is_named_and_nothing_is_answered_past_it() {
    let place = Place::new();
    let tree = with_filter(&place);
    assert_eq!(
        tree.git(["show", "HEAD:kernel.py"]),
        "a",
        "the filter was not run by git"
    );
    let repo = tree.repo();
    assert_eq!(repo.filter("kernel.py"), Ok(Some("double".into())));
    assert!(matches!(
        repo.status("kernel.py"),
        Err(Error::Filtered { .. })
    ));
    assert_eq!(
        repo.content_at("HEAD", "kernel.py")
            .unwrap_err()
            .to_string(),
        "kernel.py passes through the git filter `double`, which only git itself can run"
    );
    for name in ["plain.py", "off.py", "set.py", ".gitattributes"] {
        assert_eq!(repo.filter(name), Ok(None), "{name}");
        assert_eq!(repo.status(name), Ok(FileStatus::Clean), "{name}");
    }
}

#[test]
fn filters_are_found_in_every_attribute_file_and_behind_macros() {
    let place = Place::new();
    let tree = place.with_commit("repo");
    tree.write(
        ".gitattributes",
        "[attr]large filter=lfs diff=lfs -text\n*.bin large\n",
    );
    tree.write(
        "sub/.gitattributes",
        "*.py working-tree-encoding=UTF-16LE\n",
    );
    tree.write(".git/info/attributes", "secret/** filter=git-crypt\n");
    let repo = tree.repo();
    for (path, filter) in [
        ("weights.bin", Some("lfs")),
        ("sub/kernel.py", Some("working-tree-encoding=UTF-16LE")),
        ("secret/key.py", Some("git-crypt")),
        ("kernel.py", None),
    ] {
        assert_eq!(repo.filter(path), Ok(filter.map(str::to_owned)), "{path}");
    }
}

#[test]
fn line_ends_that_git_converts_do_not_count_as_a_change() {
    let place = Place::new();
    let tree = place.empty("repo");
    tree.write(".gitattributes", "*.py text eol=crlf\n");
    tree.write("kernel.py", "a\r\nb\r\n");
    tree.commit_all("first");
    // Written anew, so that the answer cannot come from the index alone.
    tree.write("kernel.py", "a\r\nb\r\n");
    assert_eq!(tree.repo().status("kernel.py"), Ok(FileStatus::Clean));
    assert_eq!(
        tree.repo().content_at("HEAD", "kernel.py"),
        Ok(b"a\nb\n".to_vec())
    );
}
