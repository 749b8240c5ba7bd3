//! What several test files need: a guarded program, a shell, and a look at the process table.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(unreachable_pub, reason = "a module of a test has no public outside")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tileperf_proc::Guarded;

pub const FIXTURE: &str = env!("CARGO_BIN_EXE_proc-fixture");

/// How long anything may take on a busy machine before a test calls it hanging.
pub const PATIENCE: Duration = Duration::from_secs(20);

pub fn guarded(program: &str) -> Guarded {
    Guarded::new(program).guard(FIXTURE)
}

pub fn sh(script: &str) -> Guarded {
    guarded("sh").args(["-c", script])
}

/// Marks all processes of one test through their environment.
pub struct Mark(String, tempfile::TempDir);

impl Mark {
    pub const VARIABLE: &str = "PROC_TEST_MARK";

    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Self(
            format!("{}-{count}", std::process::id()),
            tempfile::tempdir().expect("a temporary folder"),
        )
    }

    /// Where a stubborn tree says that it is complete.
    pub fn ready_file(&self) -> PathBuf {
        self.1.path().join("ready")
    }

    pub fn value(&self) -> &str {
        &self.0
    }

    /// The living processes that carry the mark, guard included.
    pub fn processes(&self) -> Vec<i32> {
        let entry = format!("{}={}", Self::VARIABLE, self.0);
        let pids = std::fs::read_dir("/proc")
            .expect("a process table")
            .flatten();
        pids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
            .filter(|pid| {
                let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
                environment
                    .split(|&byte| byte == 0)
                    .any(|known| known == entry.as_bytes())
            })
            .collect()
    }

    /// Waits until at least `count` marked processes live.
    pub fn wait_for(&self, count: usize) -> Vec<i32> {
        eventually(|| {
            let found = self.processes();
            (found.len() >= count).then_some(found)
        })
        .unwrap_or_else(|| {
            panic!(
                "only {} of {count} processes came up",
                self.processes().len()
            )
        })
    }

    /// Fails unless every marked process ends soon.
    #[track_caller]
    pub fn assert_all_gone(&self) {
        let gone = eventually(|| self.processes().is_empty().then_some(()));
        assert!(
            gone.is_some(),
            "left running: {:?}",
            names(&self.processes())
        );
    }

    /// Fails if a marked process lives now: `wait` and `run` return only when the tree is gone.
    #[track_caller]
    pub fn assert_gone_now(&self) {
        let left = self.processes();
        assert!(left.is_empty(), "left running: {:?}", names(&left));
    }
}

fn names(pids: &[i32]) -> Vec<String> {
    pids.iter()
        .map(|pid| std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .collect()
}

/// Asks again and again until there is an answer or patience ends.
pub fn eventually<T>(mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask() {
            return Some(answer);
        }
        if Instant::now() > deadline {
            return None;
        }
        sleep(Duration::from_millis(10));
    }
}

/// A tree of four processes below the guard, each harder to end than the one before: the program, a
/// plain child, a daemon (two forks and `setsid`), and a daemon that ignores SIGTERM and has closed
/// everything. Each of the three Python processes writes one byte to the file `$READY` when it has
/// got so far: `python3` may be a script that starts and ends other processes first.
pub const STUBBORN_TREE: &str = r#"
import os, signal, subprocess, time

def daemon(work):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            work()
            ready()
            os.closerange(0, 256)
            time.sleep(300)
        os._exit(0)

def deaf():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)

def ready():
    with open(os.environ["READY"], "a") as file:
        file.write("x")

daemon(lambda: None)
daemon(deaf)
subprocess.Popen(["sleep", "300"])
ready()
time.sleep(300)
"#;

/// Processes of [`STUBBORN_TREE`] with its guard.
pub const STUBBORN_COUNT: usize = 5;

/// Waits until `trees` stubborn trees with this mark are complete, and returns their processes.
pub fn wait_for_stubborn(mark: &Mark, trees: usize) -> Vec<i32> {
    let all_ready = || {
        let size = std::fs::metadata(mark.ready_file()).map_or(0, |file| file.len());
        (size == 3 * trees as u64).then_some(())
    };
    assert!(eventually(all_ready).is_some(), "the tree did not come up");
    mark.wait_for(trees * STUBBORN_COUNT)
}

pub fn file_count(folder: impl AsRef<Path>) -> usize {
    std::fs::read_dir(folder).expect("a folder").count()
}
