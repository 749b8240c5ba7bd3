//! Other programs at the same moment, and an end at any moment.

use std::time::Duration;

use tileperf_vcs::{CommitId, Content, Error, FileVersion, Head, NewCommit, NoGit, Repo, Swap};

use crate::support::{Place, Tree};

fn commit(repo: &Repo, on: &Head, text: &str) -> Result<CommitId, Error> {
    let files = [FileVersion::new("kernel.py", Content::plain(text))];
    let commit = NewCommit {
        on,
        files: &files,
        message: "ours",
        author: None,
    };
    repo.commit_files(&NoGit, &commit)
}

fn started(place: &Place) -> Tree {
    let tree = place.with_commit("repo").ready_to_write();
    tree.write("other.py", "first\n");
    tree.git(["config", "core.hooksPath", "/dev/null"]);
    tree.commit_all("second");
    tree
}

/// Two programs commit to one branch as fast as they can, and neither loses anything.
#[test]
fn commits_of_two_programs_never_overwrite_each_other() {
    const EACH: usize = 25;
    let place = Place::new();
    let tree = started(&place);
    tree.git(["config", "core.hooksPath", "/dev/null"]);
    let (ours, theirs) = std::thread::scope(|scope| {
        let ours = scope.spawn(|| {
            let mut again = 0;
            for number in 0..EACH {
                let text = format!("{number}\n");
                tree.write("kernel.py", &text);
                let try_it = || commit(&tree.repo(), &tree.head(), &text);
                loop {
                    match try_it() {
                        Ok(_) => break,
                        Err(Error::Locked { .. } | Error::HeadMoved { .. }) => again += 1,
                        Err(error) => panic!("{error:?}"),
                    }
                }
            }
            again
        });
        let theirs = scope.spawn(|| {
            let mut again = 0;
            for number in 0..EACH {
                tree.write("other.py", format!("{number}\n"));
                while !tree
                    .try_git(["commit", "-q", "-m", "theirs", "other.py"])
                    .status
                    .success()
                {
                    again += 1;
                }
            }
            again
        });
        (ours.join().unwrap(), theirs.join().unwrap())
    });
    eprintln!("had to try again: we {ours} times, git {theirs} times");
    let count = |path: &str| tree.git(["rev-list", "--count", "HEAD", "--", path]);
    let expected = (EACH + 1).to_string();
    assert_eq!(
        (count("kernel.py"), count("other.py")),
        (expected.clone(), expected)
    );
    assert_eq!(tree.status(), [""; 0]);
    tree.git(["fsck", "--strict"]);
}

/// Names the repository for the copy of this test that commits until it is killed.
const KILLED: &str = "VCS_TEST_KILLED";

#[test]
fn a_kill_at_any_moment_is_recovered_from() {
    if let Some(path) = std::env::var_os(KILLED) {
        let repo = Repo::discover(&path).unwrap();
        for number in 0.. {
            let new = Content::plain(format!("{number}\n"));
            let swap = Swap {
                path: "kernel.py".into(),
                expected: repo.read_file("kernel.py").unwrap().content,
                new: Some(new),
            };
            repo.swap_files(&[swap]).unwrap();
            match commit(&repo, &repo.head().unwrap(), &format!("{number}\n")) {
                Ok(_) | Err(Error::Unchanged) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
    }
    let place = Place::new();
    let tree = started(&place);
    tree.write("other.py", "staged\n");
    tree.git(["add", "other.py"]);
    let (mut abandoned, mut ahead) = (0, 0);
    let tip = || std::fs::read(tree.0.join(".git/refs/heads/main")).unwrap();
    for round in 0..30 {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "racing::a_kill_at_any_moment_is_recovered_from",
                "--nocapture",
            ])
            .env(KILLED, &tree.0)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let start = tip();
        while tip() == start {
            assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
            std::thread::sleep(Duration::from_micros(500));
        }
        std::thread::sleep(Duration::from_micros(713 * round));
        child.kill().unwrap();
        child.wait().unwrap();

        let lock = tree.0.join(".git/index.lock");
        abandoned += u32::from(lock.exists());
        ahead += u32::from(tree.status().iter().any(|line| line.starts_with("M  k")));
        // The next start finishes or undoes; it knows what was to be written.
        let repo = tree.repo();
        let mut present = repo.read_file("kernel.py").unwrap();
        if round % 2 == 0 {
            let text = String::from_utf8(present.content.clone().unwrap().bytes).unwrap();
            match commit(&repo, &tree.head(), &text) {
                Ok(_) | Err(Error::Unchanged) => {}
                Err(error) => panic!("{error:?}"),
            }
        } else {
            let files = std::slice::from_ref(&present);
            repo.settle_index(&NoGit, &tree.head(), files).unwrap();
            let kept = tree.head().commit().unwrap();
            present = repo
                .read_files_at(&NoGit, kept, &["kernel.py"])
                .unwrap()
                .remove(0);
        }
        let settle = Swap {
            path: "kernel.py".into(),
            expected: repo.read_file("kernel.py").unwrap().content,
            new: present.content,
        };
        repo.swap_files(&[settle]).unwrap();
        assert!(!lock.exists());
        assert_eq!(tree.status(), ["M  other.py"], "round {round}");
        tree.git(["fsck", "--strict"]);
    }
    let commits = tree.git(["rev-list", "--count", "HEAD"]);
    eprintln!("{commits} commits, {abandoned} abandoned locks, {ahead} times the index was ahead");
}

const MARK: &str = "tileperf holds the index\n";

#[test]
fn a_held_lock_changes_nothing_and_an_abandoned_one_of_ours_is_cleared() {
    let place = Place::new();
    let tree = started(&place);
    let lock = tree.0.join(".git/index.lock");
    let before = (tree.head(), tree.read(".git/index"));
    let try_it = || commit(&tree.repo(), &tree.head(), "new\n");
    for text in ["", "DIRC"] {
        std::fs::write(&lock, text).unwrap();
        assert_eq!(try_it(), Err(Error::Locked { file: lock.clone() }));
        assert_eq!(
            tree.repo().start_branch("perf"),
            Err(Error::Locked { file: lock.clone() })
        );
        assert_eq!((tree.head(), tree.read(".git/index")), before);
        assert_eq!(std::fs::read_to_string(&lock).unwrap(), text);
    }
    // One of us that lives.
    std::fs::write(&lock, MARK).unwrap();
    let alive = std::fs::File::open(&lock).unwrap();
    alive.lock().unwrap();
    assert!(matches!(try_it(), Err(Error::Locked { .. })));
    // And has died.
    drop(alive);
    try_it().unwrap();
    assert!(!lock.exists());
}

#[test]
fn a_lock_that_is_held_for_a_moment_is_waited_for() {
    let place = Place::new();
    let tree = started(&place);
    for lock in ["index.lock", "refs/heads/main.lock"] {
        let file = tree.0.join(".git").join(lock);
        std::fs::write(&file, "").unwrap();
        let other = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(200));
            std::fs::remove_file(file).unwrap();
        });
        commit(&tree.repo(), &tree.head(), &format!("{lock}\n")).unwrap();
        other.join().unwrap();
    }
    let head = tree.0.join(".git/HEAD.lock");
    std::fs::write(&head, "ref: refs/heads/theirs\n").unwrap();
    tree.git(["update-ref", "refs/heads/theirs", "HEAD"]);
    let other = std::thread::spawn({
        let to = tree.0.join(".git/HEAD");
        move || {
            std::thread::sleep(std::time::Duration::from_millis(200));
            std::fs::rename(head, to).unwrap();
        }
    });
    // What the other one did meanwhile is seen.
    let started = tree.repo().start_branch("perf");
    assert!(
        matches!(started, Err(Error::HeadMoved { .. })),
        "{started:?}"
    );
    other.join().unwrap();
    assert_eq!(tree.head().branch(), Some("theirs"));
}

#[test]
fn a_locked_branch_is_freed_only_if_the_same_kill_left_it() {
    let place = Place::new();
    let tree = started(&place);
    let (index, branch) = (
        tree.0.join(".git/index.lock"),
        tree.0.join(".git/refs/heads/main.lock"),
    );
    let (intended, other) = ("01234567".repeat(5), "76543210".repeat(5));
    let announced = format!("{MARK}refs/heads/main {intended}\n");
    for (text, lock) in [("", ""), (announced.as_str(), other.as_str())] {
        if !text.is_empty() {
            std::fs::write(&index, text).unwrap();
        }
        std::fs::write(&branch, lock).unwrap();
        let before = (tree.head(), tree.read(".git/index"));
        assert_eq!(
            commit(&tree.repo(), &tree.head(), "new\n"),
            Err(Error::Locked {
                file: branch.clone()
            })
        );
        assert_eq!((tree.head(), tree.read(".git/index")), before);
        assert!(!index.exists() && branch.exists());
    }
    for (number, left) in ["", &intended[..7], &format!("{intended}\n")]
        .into_iter()
        .enumerate()
    {
        std::fs::write(&index, &announced).unwrap();
        std::fs::write(&branch, left).unwrap();
        commit(&tree.repo(), &tree.head(), &format!("new {number}\n")).unwrap();
        assert!(!index.exists() && !branch.exists());
    }
    std::fs::write(&index, format!("{MARK}HEAD ref: refs/heads/perf\n")).unwrap();
    tree.write(".git/HEAD.lock", "ref: refs/heads/perf\n");
    tree.repo().start_branch("perf").unwrap();
    assert_eq!(tree.head().branch(), Some("perf"));
}

#[test]
fn an_index_out_of_step_is_settled_and_nothing_else() {
    let place = Place::new();
    let tree = started(&place);
    tree.write("other.py", "staged\n");
    tree.git(["add", "other.py"]);
    let index = tree.read(".git/index");
    let files = [("kernel.py", Some("second\n")), ("new.py", Some("new\n"))];
    tree.keep(&files, "Kept");
    let after = tree.read(".git/index");
    let versions = files.map(|(path, text)| FileVersion::new(path, Content::plain(text.unwrap())));
    let settle = || tree.repo().settle_index(&NoGit, &tree.head(), &versions);

    // Another git wrote back what it had read before.
    tree.write(".git/index", index);
    tree.write(".git/index.lock", MARK);
    assert_eq!(tree.status().len(), 4);
    assert_eq!(settle(), Ok(true));
    assert_eq!(tree.status(), ["M  other.py"]);
    assert_eq!(settle(), Ok(false));

    // A kill before the branch was moved: not finished, but taken back.
    tree.git(["update-ref", "refs/heads/main", "HEAD~1"]);
    tree.write(".git/index", after);
    assert_eq!(tree.status(), ["M  kernel.py", "A  new.py", "M  other.py"]);
    assert_eq!(settle(), Ok(true));
    assert_eq!(tree.status(), [" M kernel.py", "M  other.py", "?? new.py"]);
    // What the user has staged of the same file is not ours to take back.
    tree.write("kernel.py", "theirs\n");
    tree.git(["add", "kernel.py"]);
    assert_eq!(settle(), Ok(false));
    assert_eq!(tree.git(["show", ":kernel.py"]), "theirs");
}
