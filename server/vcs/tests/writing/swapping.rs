//! Guarded, atomic changes of files: all or none, and never over somebody's work.

use std::path::Path;

use tileperf_vcs::{Content, Difference, Error, Swap, read_file, swap_files};

use crate::support::Place;

fn swap(path: &str, expected: Option<&str>, new: Option<&str>) -> Swap {
    Swap {
        path: path.into(),
        expected: expected.map(Content::plain),
        new: new.map(Content::plain),
    }
}

/// Every file under `root` with its content, and every folder.
fn all(root: &Path) -> Vec<(String, Option<Content>)> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().display().to_string();
            if path.is_dir() {
                found.push((name, None));
                folders.push(path);
            } else {
                found.push((name, read_file(&path).unwrap()));
            }
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

fn present(path: &str, text: &str) -> (String, Option<Content>) {
    (path.to_owned(), Some(Content::plain(text)))
}

#[test]
fn files_are_written_made_and_removed_with_their_folders() {
    let place = Place::new();
    let root = place.path();
    std::fs::create_dir_all(root.join("a/b")).unwrap();
    std::fs::write(root.join("a/b/gone.py"), "1").unwrap();
    std::fs::write(root.join("kept.py"), "2").unwrap();
    std::fs::write(root.join("becomes"), "4").unwrap();
    let swaps = [
        swap("becomes/folder.py", None, Some("5")),
        swap("a/b/gone.py", Some("1"), None),
        swap("kept.py", Some("2"), Some("3")),
        swap("n/e/w.py", None, Some("6")),
        swap("becomes", Some("4"), None),
        swap("was never there.py", None, None),
    ];
    swap_files(&root, &swaps).unwrap();
    let after = [
        ("becomes".to_owned(), None),
        present("becomes/folder.py", "5"),
        present("kept.py", "3"),
        ("n".to_owned(), None),
        ("n/e".to_owned(), None),
        present("n/e/w.py", "6"),
    ];
    assert_eq!(all(&root), after);
    // An interrupted call can be repeated.
    swap_files(&root, &swaps).unwrap();
    assert_eq!(all(&root), after);

    let back: Vec<_> = swaps.iter().rev().map(Swap::reversed).collect();
    swap_files(&root, &back).unwrap();
    assert_eq!(
        all(&root),
        [
            ("a".to_owned(), None),
            ("a/b".to_owned(), None),
            present("a/b/gone.py", "1"),
            present("becomes", "4"),
            present("kept.py", "2"),
        ]
    );
}

#[test]
fn nothing_is_written_if_one_file_is_not_as_expected() {
    let place = Place::new();
    let root = place.path();
    for name in ["a.py", "b.py", "c.py"] {
        std::fs::write(root.join(name), "first").unwrap();
    }
    let before = all(&root);
    let error = swap_files(
        &root,
        &[
            swap("a.py", Some("first"), Some("new")),
            swap("b.py", Some("other"), Some("new")),
            swap("c.py", None, Some("new")),
            swap("d.py", Some("first"), None),
            swap("e.py", Some("first"), Some("new")),
        ],
    )
    .unwrap_err();
    let differs = |path: &str, expected: Option<&str>, found: Option<&str>| Difference {
        path: path.into(),
        expected: expected.map(Content::plain),
        found: found.map(Content::plain),
    };
    assert_eq!(
        error,
        Error::Differs {
            files: vec![
                differs("b.py", Some("other"), Some("first")),
                differs("c.py", None, Some("first")),
                differs("e.py", Some("first"), None),
            ]
        }
    );
    assert_eq!(
        error.to_string(),
        "changed by someone else, and left alone: b.py, c.py, e.py"
    );
    assert_eq!(all(&root), before);
}

#[cfg(unix)]
#[test]
fn permissions_stay_but_for_the_bit_that_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let root = place.path();
    let mode = |name: &str| {
        let metadata = std::fs::metadata(root.join(name)).unwrap();
        metadata.permissions().mode() & 0o7777
    };
    for (name, before) in [("a", 0o640), ("b", 0o700), ("c", 0o444), ("d", 0o755)] {
        std::fs::write(root.join(name), "first").unwrap();
        std::fs::set_permissions(root.join(name), PermissionsExt::from_mode(before)).unwrap();
    }
    let change = |path: &str, was: bool, is: bool| Swap {
        path: path.into(),
        expected: Some(Content {
            bytes: b"first".into(),
            executable: was,
        }),
        new: Some(Content {
            bytes: b"second".into(),
            executable: is,
        }),
    };
    let swaps = [
        change("a", false, true),
        change("b", true, false),
        change("c", false, false),
        change("d", true, true),
    ];
    swap_files(&root, &swaps).unwrap();
    assert_eq!(["a", "b", "c", "d"].map(mode), [0o750, 0o600, 0o444, 0o755]);
    // The bit alone is a difference too.
    let error = swap_files(&root, &[change("a", false, true)]);
    assert_eq!(error, Ok(()), "it is as it should be already");
    let bit = Swap {
        new: Some(Content::plain("second")),
        expected: Some(Content::plain("second")),
        path: "d".into(),
    };
    assert!(matches!(
        swap_files(&root, &[bit]),
        Err(Error::Differs { .. })
    ));
}

#[cfg(unix)]
#[test]
fn links_are_neither_followed_nor_replaced() {
    let place = Place::new();
    let root = place.path().join("root");
    let outside = place.path().join("outside");
    std::fs::create_dir_all(&root).unwrap();
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("file.py"), "first").unwrap();
    std::os::unix::fs::symlink(outside.join("file.py"), root.join("link.py")).unwrap();
    std::os::unix::fs::symlink(&outside, root.join("folder")).unwrap();
    std::os::unix::fs::symlink("nowhere", root.join("dangling.py")).unwrap();
    let what = |path: &str, expected: Option<&str>| match swap_files(
        &root,
        &[swap(path, expected, Some("new"))],
    ) {
        Err(Error::NotAFile { what, .. }) => what,
        other => panic!("{path}: {other:?}"),
    };
    assert_eq!(what("link.py", Some("first")), "a symbolic link");
    assert_eq!(what("dangling.py", None), "a symbolic link");
    assert_eq!(what("folder", None), "a symbolic link");
    assert_eq!(
        what("folder/file.py", Some("first")),
        "behind a symbolic link"
    );
    assert_eq!(what("folder/new.py", None), "behind a symbolic link");
    assert_eq!(std::fs::read(outside.join("file.py")).unwrap(), b"first");
}

#[test]
fn paths_that_lead_out_are_refused() {
    let place = Place::new();
    let root = place.path();
    for path in [
        "../x",
        "a/../../x",
        "/etc/x",
        "",
        ".",
        ".git/config",
        "a/.Git/x",
        "a\0",
    ] {
        assert!(
            matches!(
                swap_files(&root, &[swap(path, None, Some("new"))]),
                Err(Error::Outside { .. })
            ),
            "{path:?}"
        );
    }
    // The same file twice has no meaning.
    let twice = [swap("a", None, Some("1")), swap("a", Some("1"), Some("2"))];
    assert!(matches!(
        swap_files(&root, &twice),
        Err(Error::Outside { .. })
    ));
    assert_eq!(all(&root), []);
}

/// Root may write everywhere, so what cannot be written is a name that is too long.
#[test]
fn a_write_that_fails_takes_the_others_back() {
    let place = Place::new();
    let root = place.path();
    std::fs::write(root.join("a.py"), "first").unwrap();
    std::fs::write(root.join("gone.py"), "first").unwrap();
    let before = all(&root);
    let blocked = "x".repeat(200) + "/" + &"y".repeat(300);
    let error = swap_files(
        &root,
        &[
            swap("a.py", Some("first"), Some("second")),
            swap("gone.py", Some("first"), None),
            swap("new.py", None, Some("new")),
            swap("z/folder/is made.py", None, Some("new")),
            swap(&blocked, None, Some("new")),
        ],
    )
    .unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error:?}");
    let mut after = all(&root);
    after.retain(|(_, content)| content.is_some());
    assert_eq!(after, before);
}

#[test]
fn a_name_of_the_greatest_length_can_be_written() {
    let place = Place::new();
    let root = place.path();
    let long = "n".repeat(255);
    swap_files(&root, &[swap(&long, None, Some("text"))]).unwrap();
    assert_eq!(all(&root), [present(&long, "text")]);
}
