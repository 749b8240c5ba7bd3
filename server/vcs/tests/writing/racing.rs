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
    let (mut abandoned, mut behind) = (0, 0);
    let tip = || std::fs::read(tree.0.join(".git/refs/heads/main")).unwrap();
    for round in 0..30 {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "racing::a_kill_at_any_moment_is_recovered_from"])
            .env(KILLED, &tree.0)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
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
        behind += u32::from(tree.status().iter().any(|line| line.starts_with("MM k")));
        let before = tree.git(["rev-parse", "HEAD~1"]).parse().unwrap();
        tree.repo().catch_up(&NoGit, before, &tree.head()).unwrap();
        assert!(!lock.exists());
        // The next step, whichever it is, names the file.
        let present = tree.repo().read_file("kernel.py").unwrap().content;
        let settle = Swap {
            path: "kernel.py".into(),
            expected: present.clone(),
            new: present,
        };
        tree.repo().swap_files(&[settle]).unwrap();
        // The file is as committed, or as it was to be committed next; nothing else has changed.
        let status = tree.status();
        let expected = [" M kernel.py", "M  other.py"];
        assert!(
            status == expected || status == expected[1..],
            "round {round}: {status:?}"
        );
        tree.git(["fsck", "--strict"]);
    }
    let commits = tree.git(["rev-list", "--count", "HEAD"]);
    eprintln!("{commits} commits, {abandoned} abandoned locks, {behind} times a stale index");
}
