//! Temporary repositories made by the real `git`, which is the oracle of these tests.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(
    clippy::disallowed_methods,
    reason = "the crate starts nothing; its tests do"
)]
#![allow(unreachable_pub, reason = "a module of a test has no public outside")]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;
use tileperf_vcs::Repo;

/// A folder in which repositories are made; nothing of the user's own configuration counts in it.
pub struct Place {
    folder: TempDir,
}

impl Place {
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    /// Its path, with links resolved as git does it.
    pub fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("a folder")
    }

    /// A repository `name` with nothing in it.
    pub fn empty(&self, name: &str) -> Tree {
        let tree = Tree(self.path().join(name));
        std::fs::create_dir(&tree.0).expect("a new folder");
        tree.git(["init", "-q"]);
        tree
    }

    /// A repository `name` with one commit of one file, `kernel.py`.
    pub fn with_commit(&self, name: &str) -> Tree {
        let tree = self.empty(name);
        tree.write("kernel.py", "first\n");
        tree.commit_all("first");
        tree
    }
}

/// A work tree (or bare repository) to run git in.
pub struct Tree(pub PathBuf);

impl Tree {
    /// Runs git and fails unless it succeeds. Returns what it printed.
    #[track_caller]
    pub fn git<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> String {
        let output = self.try_git(args);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git: {error}");
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    pub fn try_git<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Output {
        let mut command = Command::new("git");
        command.current_dir(&self.0);
        // Submodules of local folders are forbidden by default.
        command.args([
            "-c",
            "protocol.file.allow=always",
            "-c",
            "init.defaultBranch=main",
        ]);
        command.args(["-c", "commit.gpgsign=false", "-c", "core.autocrlf=false"]);
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            command.env_remove(name);
        }
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "Someone");
            command.env(format!("GIT_{who}_EMAIL"), "someone@example.org");
        }
        command
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null");
        command
            .env("LC_ALL", "C")
            .args(args)
            .output()
            .expect("git is installed")
    }

    pub fn write(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) {
        let path = self.0.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a new folder");
        std::fs::write(path, text).expect("a new file");
    }

    pub fn commit_all(&self, message: &str) {
        self.git(["add", "--all"]);
        self.git(["commit", "-q", "-m", message]);
    }

    #[track_caller]
    pub fn repo(&self) -> Repo {
        Repo::discover(&self.0).expect("a repository")
    }
}
