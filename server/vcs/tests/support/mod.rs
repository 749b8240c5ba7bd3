//! Temporary repositories made by the real `git`, which is the oracle of these tests.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(
    clippy::disallowed_methods,
    reason = "the crate starts nothing; its tests do"
)]
#![allow(unreachable_pub, reason = "a module of a test has no public outside")]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;
use tileperf_vcs::{CommitId, Content, FileVersion, GitOutput, Head, NewCommit, NoGit, Repo};

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
        // Maintenance in the background would hold locks that no test has asked for.
        command.args(["-c", "gc.auto=0", "-c", "maintenance.auto=false"]);
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

impl Tree {
    /// Settings that a commit made inside the process needs, and hooks that fail if one is run.
    pub fn ready_to_write(self) -> Self {
        self.git(["config", "user.name", "Somebody"]);
        self.git(["config", "user.email", "somebody@example.org"]);
        self.git(["config", "core.autocrlf", "false"]);
        for hook in [
            "pre-commit",
            "commit-msg",
            "prepare-commit-msg",
            "post-commit",
            "post-checkout",
            "reference-transaction",
            "post-index-change",
        ] {
            self.hook(
                hook,
                "touch \"$(git rev-parse --git-common-dir)/HOOK-RAN\"\nexit 1\n",
            );
        }
        self
    }

    #[cfg(unix)]
    pub fn hook(&self, name: &str, script: &str) {
        use std::os::unix::fs::PermissionsExt;
        let common = self.git(["rev-parse", "--path-format=absolute", "--git-common-dir"]);
        let path = Path::new(&common).join("hooks").join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a new folder");
        std::fs::write(&path, format!("#!/bin/sh\n{script}")).expect("a new file");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a file");
    }

    #[cfg(not(unix))]
    pub fn hook(&self, _: &str, _: &str) {}

    /// Runs git without any hook: what a user of these tests does in between.
    #[track_caller]
    pub fn quiet<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> String {
        let mut all: Vec<std::ffi::OsString> = vec!["-c".into(), "core.hooksPath=/dev/null".into()];
        all.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self.git(all)
    }

    /// `git status`, one line a file; what git itself thinks of the tree.
    #[track_caller]
    pub fn status(&self) -> Vec<String> {
        let output = program(
            &self.0,
            &["--no-optional-locks", "status", "--porcelain", "-uall"].map(OsStr::new),
            &[],
        );
        let output = output.expect("git runs");
        assert!(
            output.success,
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let text = String::from_utf8(output.stdout).expect("names in UTF-8");
        text.lines().map(str::to_owned).collect()
    }

    pub fn read(&self, path: impl AsRef<Path>) -> Vec<u8> {
        std::fs::read(self.0.join(path)).expect("a file")
    }

    pub fn head(&self) -> Head {
        self.repo().head().expect("a HEAD")
    }

    /// Writes these files (`None`: removes) and commits them as a kept iteration.
    #[track_caller]
    pub fn keep(&self, files: &[(&str, Option<&str>)], message: &str) -> CommitId {
        let mut versions = Vec::new();
        for (path, text) in files {
            match text {
                Some(text) => self.write(path, text),
                None => std::fs::remove_file(self.0.join(path)).expect("a file"),
            }
            versions.push(FileVersion {
                path: path.into(),
                content: text.map(Content::plain),
            });
        }
        let on = self.head();
        let request = NewCommit {
            on: &on,
            files: &versions,
            message,
            author: None,
        };
        self.repo()
            .commit_files(&NoGit, &request)
            .expect("a commit")
    }

    #[track_caller]
    pub fn no_hook_ran(&self) {
        let common = self.git(["rev-parse", "--path-format=absolute", "--git-common-dir"]);
        assert!(!Path::new(&common).join("HOOK-RAN").exists(), "a hook ran");
    }
}

/// The user's git, lent to the library, with nothing but the repository's own settings.
pub fn program(dir: &Path, args: &[&OsStr], stdin: &[u8]) -> Result<GitOutput, String> {
    use std::io::Write;
    let mut command = Command::new("git");
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(name);
    }
    let mut child = command
        .current_dir(dir)
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(stdin).map_err(|error| error.to_string())?;
    drop(input);
    let output = child
        .wait_with_output()
        .map_err(|error| error.to_string())?;
    Ok(GitOutput {
        success: output.status.success(),
        stdout: output.stdout,
        stderr: output.stderr,
    })
}
