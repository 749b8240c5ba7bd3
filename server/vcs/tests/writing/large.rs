//! A tree of 20,000 files: what takes how long. Run with `--nocapture` to see the times.

use std::time::{Duration, Instant};

use tileperf_vcs::{Content, FileVersion, NewCommit, NoGit, Swap, Untracked};

use crate::support::Place;

/// Far above what any step takes, and far below what a person would call broken.
const BOUND: Duration = Duration::from_secs(20);

fn timed<T>(what: &str, action: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = action();
    let took = start.elapsed();
    eprintln!("{what}: {:.1} ms", took.as_secs_f64() * 1e3);
    assert!(took < BOUND, "{what} took {took:?}");
    result
}

#[test]
fn twenty_thousand_files() {
    let place = Place::new();
    let tree = place.empty("repo");
    for folder in 0..200 {
        for file in 0..100 {
            let text = format!("# {folder} {file}\n");
            tree.write(format!("package{folder}/module{file}.py"), text);
        }
    }
    tree.write("package0/.gitattributes", "*.bin filter=lfs\n* text=auto\n");
    tree.commit_all("first");
    let tree = tree.ready_to_write();
    let path = "package7/module7.py";
    let repo = tree.repo();
    let started = timed("start_branch", || repo.start_branch("perf").unwrap());
    tree.write(path, "fast\n");
    let first = timed("changed_files", || {
        repo.changed_files(&NoGit, Untracked::Folders).unwrap()
    });
    assert_eq!(first.len(), 1);
    timed("changed_files again", || {
        repo.changed_files(&NoGit, Untracked::Files).unwrap()
    });
    let original = repo
        .read_files_at(&NoGit, started.from.commit().unwrap(), &[path])
        .unwrap();
    let files = [FileVersion::new(path, Content::plain("fast\n"))];
    let commit = timed("commit_files", || {
        let request = NewCommit {
            on: &started.on,
            files: &files,
            message: "Fast",
            author: None,
        };
        repo.commit_files(&NoGit, &request).unwrap()
    });
    assert_eq!(tree.status(), [""; 0]);

    let work = place.path().join("work");
    timed("worktree_gaps", || {
        assert_eq!(repo.worktree_gaps(commit, &[path]), Ok(vec![]));
    });
    timed("add_worktree", || {
        repo.add_worktree(&NoGit, &work, commit).unwrap()
    });
    let base = started.from.commit().unwrap();
    for what in ["checkout_worktree", "checkout_worktree of the same"] {
        timed(what, || {
            repo.checkout_worktree(&NoGit, &work, base).unwrap()
        });
    }
    timed("remove_worktree", || repo.remove_worktree(&work).unwrap());

    let back = [Swap {
        path: path.into(),
        expected: files[0].content.clone(),
        new: original[0].content.clone(),
    }];
    timed("switch_back", || {
        repo.switch_back(&NoGit, &tree.head(), &started.from, &back)
            .unwrap()
    });
    assert_eq!(tree.status(), [""; 0]);
}
