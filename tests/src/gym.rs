//! A project in TileGym's layout whose kernels are work of the processor, and tileperf run in it.
//!
//! Everything is real: a git repository, pytest, processes that take time. The kernel's constants
//! say what it costs, so an edit of one changes its speed by a known factor. The files are those of
//! `tests/gym`.

mod records;
mod started;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::process::{is_running, server_binary};

pub use started::{Done, Started};

/// The kernel's file, relative to the project.
pub const KERNEL: &str = "src/gym/ops/cutile/scale.py";

/// The longest that anything here may take.
const PATIENCE: Duration = Duration::from_secs(120);

const FILES: [(&str, &str); 11] = [
    (".gitignore", include_str!("../gym/gitignore")),
    (
        "bench/bench_scale.py",
        include_str!("../gym/bench/bench_scale.py"),
    ),
    (KERNEL, include_str!("../gym/src/gym/ops/cutile/scale.py")),
    (
        "src/gym/__init__.py",
        include_str!("../gym/src/gym/__init__.py"),
    ),
    (
        "src/gym/backend.py",
        include_str!("../gym/src/gym/backend.py"),
    ),
    (
        "src/gym/ops/__init__.py",
        include_str!("../gym/src/gym/ops/__init__.py"),
    ),
    (
        "src/gym/ops/cutile/__init__.py",
        include_str!("../gym/src/gym/ops/cutile/__init__.py"),
    ),
    (
        "stubs/cuda/tile/__init__.py",
        include_str!("../gym/stubs/cuda/tile/__init__.py"),
    ),
    ("tests/check.py", include_str!("../gym/tests/check.py")),
    (
        "tests/conftest.py",
        include_str!("../gym/tests/conftest.py"),
    ),
    (
        "tests/ops/test_scale.py",
        include_str!("../gym/tests/ops/test_scale.py"),
    ),
];
const PYPROJECT: &str = include_str!("../gym/pyproject.toml");

/// What tests and times the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Harness {
    /// pytest, as tileperf calls it without settings.
    Pytest,
    /// A script that asserts, and one that prints the times that calls took.
    Lines,
    /// The same, printed as a Triton-style table.
    Table,
    /// A script that asserts, and one that prints what the kernel is made to cost.
    Model,
}

impl Harness {
    fn settings(self) -> String {
        let how = match self {
            Harness::Pytest => return String::new(),
            Harness::Lines => "lines",
            Harness::Table => "table",
            Harness::Model => "model",
        };
        format!(
            "perf.correctness = [\"{{python}}\", \"tests/check.py\"]\n\
             perf.benchmark = [\"{{python}}\", \"bench/bench_scale.py\", \"{how}\"]\n"
        )
    }
}

/// A Python with pytest: that of `TILEPERF_TEST_PYTEST`. Without one the reason is printed, and the
/// caller has nothing to do.
///
/// # Panics
/// There is none, and this is CI, where nobody would read that.
pub fn python() -> Option<&'static Path> {
    static PYTHON: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let found = PYTHON.get_or_init(|| {
        let named = std::env::var_os("TILEPERF_TEST_PYTEST").map(PathBuf::from);
        let python = named.ok_or("TILEPERF_TEST_PYTEST names no Python with pytest")?;
        let asked = Command::new(&python).args(["-c", "import pytest"]).output();
        match asked {
            Ok(output) if output.status.success() => Ok(python),
            _ => Err(format!(
                "TILEPERF_TEST_PYTEST names {}, which has no pytest",
                python.display()
            )),
        }
    });
    match found {
        Ok(python) => Some(python),
        Err(why) if std::env::var_os("CI").is_some() => panic!("{why}"),
        Err(why) => {
            eprintln!("skipped: {why}");
            None
        }
    }
}

/// A project with a state, cache and home of its own.
#[derive(Debug)]
pub struct Gym {
    folder: TempDir,
    root: PathBuf,
    state: PathBuf,
}

impl Gym {
    /// A project in a git repository, everything committed on the branch `main`. `None` as for
    /// [`python`].
    pub fn new(harness: Harness) -> Option<Self> {
        Self::with_settings(harness, "")
    }

    /// The same with more lines of `[tool.tileperf]`.
    pub fn with_settings(harness: Harness, settings: &str) -> Option<Self> {
        let gym = Self::without_git(harness, settings)?;
        gym.git(&["init", "--quiet"]);
        gym.commit("Begin");
        Some(gym)
    }

    /// A project in no repository.
    ///
    /// # Panics
    /// It cannot be written.
    pub fn without_git(harness: Harness, settings: &str) -> Option<Self> {
        let python = python()?;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folder_path = folder.path().canonicalize().expect("a folder");
        let gym = Self {
            root: folder_path.join("project"),
            state: folder_path.join("state"),
            folder,
        };
        for (name, text) in FILES {
            gym.write(name, text);
        }
        gym.write(
            "pyproject.toml",
            format!("{PYPROJECT}{}{settings}", harness.settings()),
        );
        let home = gym.folder.path().join("home");
        fs::create_dir_all(home.join("config/tileperf")).expect("a home");
        fs::write(
            home.join(".gitconfig"),
            "[user]\nname = Test\nemail = test@example.com\n[init]\ndefaultBranch = main\n\
             [protocol \"file\"]\nallow = always\n",
        )
        .expect("a git configuration");
        gym.use_python(python);
        Some(gym)
    }

    /// The user's own setting of the interpreter.
    ///
    /// # Panics
    /// It cannot be written.
    pub fn use_python(&self, python: &Path) {
        let settings = self
            .folder
            .path()
            .join("home/config/tileperf/tileperf.toml");
        let text = format!("python.path = {:?}\n", python.display().to_string());
        fs::write(settings, text).expect("user settings");
    }

    /// The same folders, used from another root in them: a linked work tree.
    #[must_use]
    pub fn at(self, root: PathBuf) -> Self {
        Self { root, ..self }
    }

    /// The same project for a user who also has the other one: locks are shared.
    #[must_use]
    pub fn sharing(self, other: &Gym) -> Self {
        let state = other.state.clone();
        Self { state, ..self }
    }

    /// The project.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder with project, state, cache and home.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file of the project.
    ///
    /// # Panics
    /// It cannot be written.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.root.join(name);
        let parent = path.parent().expect("a folder");
        fs::create_dir_all(parent).expect("the folder can be made");
        fs::write(&path, text).expect("the file can be written");
    }

    /// Reads a file of the project.
    ///
    /// # Panics
    /// It cannot be read.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.root.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// The kernel's text.
    pub fn kernel(&self) -> String {
        self.read(KERNEL)
    }

    /// Saves an edit of the kernel: each pair is a text that is there once, and its replacement.
    ///
    /// # Panics
    /// A text is not there exactly once.
    pub fn edit(&self, changes: &[(&str, &str)]) {
        let mut text = self.kernel();
        for (from, to) in changes {
            assert_eq!(text.matches(from).count(), 1, "{from} in\n{text}");
            text = text.replace(from, to);
        }
        self.write(KERNEL, text);
    }

    /// Runs git in the project; gives what it printed.
    ///
    /// # Panics
    /// It fails.
    pub fn git(&self, args: &[&str]) -> String {
        let output = self.git_output(args);
        assert!(
            output.status.success(),
            "git {args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    /// Runs git in the project, whatever it says.
    ///
    /// # Panics
    /// There is no git.
    pub fn git_output(&self, args: &[&str]) -> Output {
        let mut git = Command::new("git");
        self.surround(&mut git);
        git.args(args)
            .current_dir(&self.root)
            .output()
            .expect("git runs")
    }

    /// Commits everything.
    pub fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--no-verify", "--message", message]);
    }

    /// `git status` in its short form, a line for each file.
    pub fn status(&self) -> Vec<String> {
        let text = self.git(&["status", "--porcelain"]);
        text.lines().map(str::to_owned).collect()
    }

    fn surround(&self, command: &mut Command) {
        let home = self.folder.path().join("home");
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            let ours = [
                "GIT_",
                "PYTHON",
                "PYTEST",
                "TILEPERF_",
                "VIRTUAL_ENV",
                "XDG_",
            ];
            if ours.iter().any(|prefix| text.starts_with(prefix)) {
                command.env_remove(&name);
            }
        }
        command
            .env("HOME", &home)
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("TILEPERF_STATE", &self.state)
            .env("TILEPERF_CACHE", self.folder.path().join("cache"))
            .stdin(Stdio::null());
    }

    /// Runs `tileperf ARGS` to its end.
    ///
    /// # Panics
    /// It cannot be started.
    pub fn run(&self, args: &[&str]) -> Done {
        let mut command = Command::new(server_binary());
        self.surround(&mut command);
        command.args(args).current_dir(&self.root);
        self.started(command).wait()
    }

    /// The same, which must succeed.
    ///
    /// # Panics
    /// It does not.
    pub fn run_ok(&self, args: &[&str]) -> Done {
        let done = self.run(args);
        assert_eq!(done.code, Some(0), "{args:?}: {done}");
        done
    }

    /// `tileperf perf ARGS`, ready to be started.
    pub fn perf_command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(server_binary());
        self.surround(&mut command);
        command.arg("perf").args(args).current_dir(&self.root);
        if matches!(
            args.first(),
            Some(&("setup" | "baseline" | "iterate" | "apply" | "experiment"))
        ) {
            command.arg("--trust");
        }
        command
    }

    /// Runs `tileperf perf ARGS` to its end.
    pub fn perf(&self, args: &[&str]) -> Done {
        self.start(args).wait()
    }

    /// Runs `tileperf perf ARGS`, which must succeed.
    ///
    /// # Panics
    /// It does not.
    pub fn perf_ok(&self, args: &[&str]) -> Done {
        let done = self.perf(args);
        assert_eq!(done.code, Some(0), "perf {args:?}: {done}");
        done
    }

    /// Starts `tileperf perf ARGS`.
    ///
    /// # Panics
    /// It cannot be started.
    pub fn start(&self, args: &[&str]) -> Started {
        self.started(self.perf_command(args))
    }

    fn started(&self, mut command: Command) -> Started {
        let out = tempfile::NamedTempFile::new_in(self.folder.path()).expect("a file");
        let err = tempfile::NamedTempFile::new_in(self.folder.path()).expect("a file");
        let child = command
            .stdout(out.reopen().expect("a file"))
            .stderr(err.reopen().expect("a file"))
            .spawn()
            .expect("tileperf starts");
        Started { child, out, err }
    }

    /// Processes that have one of this project's folders for their working directory.
    pub fn processes(&self) -> Vec<u32> {
        let folder = self.folder.path().canonicalize().expect("a folder");
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|id| {
                let cwd = fs::read_link(format!("/proc/{id}/cwd"));
                cwd.is_ok_and(|cwd| cwd.starts_with(&folder)) && is_running(*id)
            })
            .collect()
    }

    /// Waits until no process of this project runs any more.
    ///
    /// # Panics
    /// One still does after ten seconds.
    pub fn wait_until_quiet(&self) {
        let began = Instant::now();
        loop {
            let left = self.processes();
            if left.is_empty() {
                return;
            }
            assert!(
                began.elapsed() < Duration::from_secs(10),
                "still running: {:?}",
                left.iter().map(|id| command_line(*id)).collect::<Vec<_>>()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn command_line(id: u32) -> String {
    let bytes = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}
