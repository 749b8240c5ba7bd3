//! What the repository holds of a file is what `git add` would have put there.

use std::ffi::OsStr;
use std::path::Path;

use tileperf_vcs::{ChangedFile, Content, Error, FileVersion, NewCommit, NoGit, Swap, Untracked};

use crate::support::{Place, Tree, program};

/// `git add` of `text` in `tree`, with the repository's settings only: the blob's id.
fn added(tree: &Tree, text: &[u8]) -> String {
    tree.write("kernel.py", text);
    let run = |args: &[&str]| {
        let args: Vec<_> = args.iter().map(OsStr::new).collect();
        let output = program(&tree.0, &args, &[]).unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.success, "{error}");
        String::from_utf8(output.stdout).unwrap()
    };
    run(&["add", "kernel.py"]);
    let id = run(&["rev-parse", ":kernel.py"]);
    run(&["read-tree", "HEAD"]);
    id.trim().to_owned()
}

/// Every way to ask for line ends, each with every kind of content before and after.
#[test]
fn line_ends_are_converted_as_git_does_it() {
    let texts: [&[u8]; 6] = [
        b"a\nb\n",
        b"a\r\nb\r\n",
        b"a\r\nb\n",
        b"a\rb\n",
        b"a\r\n\0b\r\n",
        b"$Id: 0123 $\r\n",
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
    tree.write("other.py", "");
    tree.quiet(["add", "other.py"]);
    tree.quiet(["commit", "-q", "-m", "root"]);
    tree.repo().start_branch("perf").unwrap();
    let mut cases = 0;
    for base in texts {
        // Stored as it is.
        tree.write(".git/info/attributes", "* -text\n");
        tree.write("kernel.py", base);
        tree.quiet(["add", "kernel.py"]);
        tree.quiet(["commit", "-q", "--allow-empty", "-m", "base"]);
        for setting in ["false", "true", "input"] {
            tree.quiet(["config", "core.autocrlf", setting]);
            for attribute in attributes {
                tree.write(".git/info/attributes", format!("*.py {attribute}\n"));
                for text in texts {
                    let expected = added(&tree, text);
                    let on = tree.head();
                    let files = [FileVersion::new("kernel.py", Content::plain(text))];
                    let request = NewCommit {
                        on: &on,
                        files: &files,
                        message: "converted",
                        author: None,
                    };
                    let case = format!(
                        "{:?} over {:?} with autocrlf={setting} and `{attribute}`",
                        String::from_utf8_lossy(text),
                        String::from_utf8_lossy(base)
                    );
                    match tree.repo().commit_files(&NoGit, &request) {
                        Ok(_) => {}
                        Err(Error::Unchanged) => {}
                        other => panic!("{case}: {other:?}"),
                    }
                    let stored = tree.quiet(["rev-parse", "HEAD:kernel.py"]);
                    assert_eq!(stored, expected, "{case}");
                    let base = tree.quiet(["rev-parse", ":/base"]);
                    tree.quiet(["update-ref", "refs/heads/perf", &base]);
                    tree.quiet(["read-tree", "HEAD"]);
                    cases += 1;
                }
            }
        }
    }
    assert_eq!(cases, 6 * 3 * 13 * 6);
}
