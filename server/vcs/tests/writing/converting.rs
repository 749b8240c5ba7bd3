//! What the repository holds of a file is what `git add` would have put there.

use std::ffi::OsStr;

use tileperf_vcs::{ChangedFile, Content, Error, FileVersion, NewCommit, NoGit, Swap, Untracked};

use crate::support::{Place, Tree, program};

/// Runs git with the repository's settings and no others.
#[track_caller]
fn settings_only(tree: &Tree, args: &[&str], input: &str) -> String {
    let args: Vec<_> = args.iter().map(OsStr::new).collect();
    let output = program(&tree.0, &args, input.as_bytes()).unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.success, "{error}");
    String::from_utf8(output.stdout).unwrap()
}

/// Every way to ask for line ends, each with every kind of content before and after.
#[test]
fn line_ends_are_stored_as_git_does_it() {
    let texts: [&[u8]; 9] = [
        b"a\nb\n",
        b"a\r\nb\r\n",
        b"a\r\nb\n",
        b"a\rb\n",
        b"a\r\n\0b\r\n",
        b"$Id: 0123 $\r\n$Id: $Id: $$ Id:$\n$Id$ $Id:",
        b"",
        b"\x01\r\n",
        b"\xe4\r\n\x1a",
    ];
    let attributes = [
        "",
        "text",
        "-text",
        "text=auto",
        "eol=crlf",
        "text eol=lf",
        "text=auto eol=crlf",
        "-text eol=crlf",
        "crlf",
        "-crlf",
        "crlf=input",
        "ident",
        "binary",
    ];
    let place = Place::new();
    let tree = place.empty("repo").ready_to_write();
    tree.git(["config", "core.hooksPath", "/dev/null"]);
    tree.write("other.py", "");
    tree.commit_all("root");
    let root = tree.git(["rev-parse", "HEAD"]);
    tree.repo().start_branch("perf").unwrap();
    // All cases at once, each a file of its own: `base` is in the index, `text` is to be stored.
    let files = |suffix: &str| {
        let cases = texts.iter().enumerate();
        let suffix = suffix.to_owned();
        cases.flat_map(move |(base, _)| {
            let suffix = suffix.clone();
            (0..texts.len()).map(move |text| (base, text, format!("{base}-{text}{suffix}")))
        })
    };
    for setting in [
        "core.autocrlf=false",
        "core.autocrlf=true",
        "core.autocrlf=input",
        "core.eol=crlf",
    ] {
        tree.git(["config", "core.autocrlf", "false"]);
        tree.git(["config", "core.eol", "native"]);
        // Stored as they are.
        tree.write(".git/info/attributes", "* -text\n");
        tree.git(["reset", "-q", "--hard", &root]);
        for number in 0..attributes.len() {
            for (base, _, name) in files(&format!(".{number}")) {
                tree.write(name, texts[base]);
            }
        }
        tree.commit_all("base");
        let rules = attributes.iter().enumerate();
        let rules: String = rules.map(|(n, rule)| format!("*.{n} {rule}\n")).collect();
        tree.write(".git/info/attributes", rules);
        let (name, value) = setting.split_once('=').unwrap();
        tree.git(["config", name, value]);

        let mut versions = Vec::new();
        for number in 0..attributes.len() {
            for (_, text, name) in files(&format!(".{number}")) {
                tree.write(&name, texts[text]);
                versions.push(FileVersion::new(name, Content::plain(texts[text])));
            }
        }
        let index = tree.read(".git/index");
        settings_only(&tree, &["add", "."], "");
        let expected = settings_only(&tree, &["ls-files", "-s"], "");
        tree.write(".git/index", &index);
        let on = tree.head();
        let request = NewCommit {
            on: &on,
            files: &versions,
            message: "converted",
            author: None,
        };
        tree.repo().commit_files(&NoGit, &request).unwrap();
        let stored = settings_only(&tree, &["ls-files", "-s"], "");
        let describe = |line: &str| {
            let name = line.split('\t').nth(1).unwrap();
            let (case, rule) = name.split_once('.').unwrap();
            let (base, text) = case.split_once('-').unwrap();
            let show = |number: &str| {
                String::from_utf8_lossy(texts[number.parse::<usize>().unwrap()]).into_owned()
            };
            let rule = attributes[rule.parse::<usize>().unwrap()];
            format!(
                "{:?} over {:?}, {setting}, `{rule}`",
                show(text),
                show(base)
            )
        };
        for (stored, expected) in stored.lines().zip(expected.lines()) {
            assert_eq!(stored, expected, "{}", describe(expected));
        }
        assert_eq!(stored.lines().count(), 9 * 9 * attributes.len() + 1);
        // And git agrees that nothing is left to do.
        assert_eq!(tree.status(), [""; 0], "{setting}");

        // On the way out: what git checks out of the same blobs.
        for version in &versions {
            std::fs::remove_file(tree.0.join(&version.path)).unwrap();
        }
        settings_only(&tree, &["checkout-index", "-a", "-f"], "");
        let paths: Vec<_> = versions.iter().map(|version| &version.path).collect();
        let commit = tree.head().commit().unwrap();
        let read = tree.repo().read_files_at(&program, commit, &paths).unwrap();
        for version in read {
            let name = format!("x\t{}", version.path.display());
            let on_disk = tree.read(&version.path);
            assert_eq!(
                version.content,
                Some(Content::plain(on_disk)),
                "{}",
                describe(&name)
            );
        }
    }
}

/// A repository in which a real filter doubles every line on the way into the work tree.
fn with_filter(place: &Place) -> Tree {
    let tree = place.empty("repo");
    tree.git(["config", "filter.double.clean", "sed -n 'p;n'"]);
    tree.git(["config", "filter.double.smudge", "sed p"]);
    tree.write(".gitattributes", "*.py filter=double\n");
    tree.write("kernel.py", "a\na\n");
    tree.write("other.py", "b\nb\n");
    tree.write("plain.txt", "c\n");
    tree.commit_all("first");
    let tree = tree.ready_to_write();
    tree.repo().start_branch("perf").unwrap();
    tree
}

fn doubled(text: &str) -> Content {
    Content::plain(text)
}

#[test]
fn filtered_files_are_stored_read_and_compared_by_the_users_git() {
    let place = Place::new();
    let tree = with_filter(&place);
    let repo = tree.repo();
    let first = tree.head().commit().unwrap();
    tree.write("kernel.py", "x\nx\ny\ny\n");
    // Written anew and the same, which only the filter can tell.
    std::thread::sleep(std::time::Duration::from_millis(20));
    tree.write("other.py", "b\nb\n");
    let changed = repo.changed_files(&program, Untracked::Files).unwrap();
    let paths: Vec<_> = changed
        .iter()
        .map(|file: &ChangedFile| &file.path)
        .collect();
    assert_eq!(paths, ["kernel.py".as_ref() as &std::path::Path]);

    let on = tree.head();
    let files = [FileVersion::new("kernel.py", doubled("x\nx\ny\ny\n"))];
    let request = NewCommit {
        on: &on,
        files: &files,
        message: "filtered",
        author: None,
    };
    let error = repo.commit_files(&NoGit, &request).unwrap_err();
    assert!(matches!(error, Error::GitProgram { .. }), "{error}");
    assert_eq!(tree.head(), on);
    let second = repo.commit_files(&program, &request).unwrap();
    assert_eq!(tree.git(["show", "HEAD:kernel.py"]), "x\ny");
    assert_eq!(tree.status(), [""; 0]);

    let paths = ["kernel.py", "plain.txt", "none.py"];
    let at = |commit| repo.read_files_at(&program, commit, &paths).unwrap();
    assert_eq!(
        at(first),
        [
            FileVersion::new("kernel.py", doubled("a\na\n")),
            FileVersion::new("plain.txt", Content::plain("c\n")),
            FileVersion::absent("none.py"),
        ]
    );
    assert_eq!(at(second)[0].content, Some(doubled("x\nx\ny\ny\n")));
    let ids = repo.blob_ids(first, &paths).unwrap();
    assert_eq!(
        ids[0].unwrap().to_string(),
        tree.git(["rev-parse", "HEAD~1:kernel.py"])
    );
    assert_eq!(ids[2], None);
}

#[test]
fn a_filter_that_fails_is_said_and_nothing_is_changed() {
    let place = Place::new();
    let tree = with_filter(&place);
    tree.git(["config", "filter.double.clean", "echo broken >&2; false"]);
    tree.git(["config", "filter.double.required", "true"]);
    let (on, index) = (tree.head(), tree.read(".git/index"));
    let files = [FileVersion::new("kernel.py", doubled("x\nx\n"))];
    let request = NewCommit {
        on: &on,
        files: &files,
        message: "filtered",
        author: None,
    };
    let error = tree.repo().commit_files(&program, &request).unwrap_err();
    assert!(error.to_string().contains("broken"), "{error}");
    assert_eq!((tree.head(), tree.read(".git/index")), (on, index));
}

#[test]
fn a_filtered_file_comes_back_as_it_was() {
    let place = Place::new();
    let tree = with_filter(&place);
    let on = tree.head();
    tree.write("kernel.py", "x\nx\n");
    let files = [FileVersion::new("kernel.py", doubled("x\nx\n"))];
    let request = NewCommit {
        on: &on,
        files: &files,
        message: "filtered",
        author: None,
    };
    tree.repo().commit_files(&program, &request).unwrap();
    let back = [Swap {
        path: "kernel.py".into(),
        expected: Some(doubled("x\nx\n")),
        new: Some(doubled("a\na\n")),
    }];
    let main = tileperf_vcs::Head::Branch {
        name: "main".into(),
        commit: on.commit().unwrap(),
    };
    let repo = tree.repo();
    repo.switch_back(&program, &tree.head(), &main, &back)
        .unwrap();
    assert_eq!(tree.head(), main);
    assert_eq!(tree.read("kernel.py"), b"a\na\n");
    assert_eq!(tree.status(), [""; 0]);
}
