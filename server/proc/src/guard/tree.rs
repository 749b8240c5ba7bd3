//! Every process that came from one program: finding them, ending them, knowing that they are gone.
//!
//! On Linux the guard is a subreaper, so each of them is its descendant, whatever it forked, and
//! "no child left" (`ECHILD`) proves that none is: a guard of a program that cleaned up after itself
//! never reads `/proc`.

use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};

use crate::outcome::Ended;
use crate::wire::REAP_LIMIT;

/// The tree of one program.
pub(super) struct Tree {
    program: Pid,
}

/// What reaping found.
#[derive(Default)]
struct Reaped {
    program: Option<WaitStatus>,
    no_child_left: bool,
}

impl Tree {
    pub(super) fn new(program: Pid) -> Self {
        Self { program }
    }

    /// Takes the exit status of every child that has ended, orphans included; how the program itself
    /// ended if it is among them.
    pub(super) fn reap_program(&self) -> Option<Ended> {
        let status = self.reap().program?;
        if let Some(code) = status.exit_status() {
            return Some(Ended::Exited { code });
        }
        status
            .terminating_signal()
            .map(|signal| Ended::Signaled { signal })
    }

    fn reap(&self) -> Reaped {
        let mut reaped = Reaped::default();
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.program => reaped.program = Some(status),
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return reaped,
                Err(_) => {
                    reaped.no_child_left = true;
                    return reaped;
                }
            }
        }
    }

    /// Ends the tree: SIGTERM, `grace`, then SIGKILL until nothing is left. Returns how many
    /// processes are left nevertheless after [`REAP_LIMIT`].
    pub(super) fn end(&self, grace: Duration) -> usize {
        if self.is_gone() {
            return 0;
        }
        self.signal(Signal::TERM);
        // A stopped process handles nothing, not even SIGTERM.
        self.signal(Signal::CONT);
        if self.wait_until_gone(grace) {
            return 0;
        }
        let deadline = Instant::now() + REAP_LIMIT;
        loop {
            // Again and again: what forks while it is being killed has new children.
            self.signal(Signal::KILL);
            if self.wait_until_gone(Duration::from_millis(20)) {
                return 0;
            }
            if Instant::now() >= deadline {
                return self.living();
            }
        }
    }

    fn wait_until_gone(&self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        let mut pause = Duration::from_millis(1);
        loop {
            if self.is_gone() {
                return true;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            sleep(pause.min(left));
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }
}

impl Drop for Tree {
    /// A guard that fails must not leave behind what it guards.
    fn drop(&mut self) {
        self.end(Duration::ZERO);
    }
}

#[cfg(target_os = "linux")]
impl Tree {
    fn is_gone(&self) -> bool {
        self.reap().no_child_left
    }

    /// Processes of the tree that have not ended.
    pub(super) fn living(&self) -> usize {
        if self.is_gone() {
            0
        } else {
            linux::descendants().len()
        }
    }

    /// Signals by process group, which reaches at one instant also what is forking, and one by one
    /// only what has joined the guard's own group.
    fn signal(&self, signal: Signal) {
        let own_group = rustix::process::getpgrp().as_raw_pid();
        let mut groups: Vec<i32> = Vec::new();
        for process in linux::descendants() {
            if process.group == own_group {
                linux::kill(process.pid, signal);
            } else if !groups.contains(&process.group) {
                groups.push(process.group);
                if let Some(group) = Pid::from_raw(process.group) {
                    // Fails if it has ended meanwhile, or is another user's.
                    let _ = rustix::process::kill_process_group(group, signal);
                }
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Tree {
    fn is_gone(&self) -> bool {
        self.reap();
        rustix::process::test_kill_process_group(self.program) == Err(Errno::SRCH)
    }

    pub(super) fn living(&self) -> usize {
        usize::from(!self.is_gone())
    }

    fn signal(&self, signal: Signal) {
        let _ = rustix::process::kill_process_group(self.program, signal);
    }
}

/// Kills (SIGKILL) every process that carries `tag` in its environment under
/// [`TAG_VARIABLE`](crate::TAG_VARIABLE), whoever its parent is by now, and returns how many there
/// were. For trees whose guard was killed itself; a program that has replaced its environment is not
/// recognised. Linux only: elsewhere it does nothing.
#[must_use = "it says whether anything was left"]
pub fn sweep(tag: &str) -> usize {
    #[cfg(target_os = "linux")]
    return linux::sweep(tag);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = tag;
        0
    }
}

#[cfg(target_os = "linux")]
mod linux {
    //! Reading `/proc`.

    use std::collections::{BTreeSet, HashMap};
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, Signal};

    /// One line of the process table, see proc_pid_stat(5).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct Process {
        pub(super) pid: i32,
        parent: i32,
        pub(super) group: i32,
        zombie: bool,
    }

    impl Process {
        /// From `pid (name) state parent group ...`; the name may contain anything.
        fn parse(stat: &[u8]) -> Option<Self> {
            let name_end = stat.iter().rposition(|&byte| byte == b')')?;
            let pid_end = stat.iter().position(|&byte| byte == b' ')?;
            let number = |bytes: &[u8]| std::str::from_utf8(bytes).ok()?.parse().ok();
            let mut fields = stat[name_end + 1..].split(|&byte| byte == b' ').skip(1);
            let state = fields.next()?;
            Some(Self {
                pid: number(&stat[..pid_end])?,
                zombie: matches!(state, b"Z" | b"X"),
                parent: number(fields.next()?)?,
                group: number(fields.next()?)?,
            })
        }
    }

    fn pids() -> impl Iterator<Item = i32> {
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
    }

    /// The living processes below this one.
    pub(super) fn descendants() -> Vec<Process> {
        let mut children: HashMap<i32, Vec<Process>> = HashMap::new();
        for pid in pids() {
            // It may end between listing and reading.
            let Ok(stat) = std::fs::read(format!("/proc/{pid}/stat")) else {
                continue;
            };
            if let Some(process) = Process::parse(&stat) {
                children.entry(process.parent).or_default().push(process);
            }
        }
        let mut found = Vec::new();
        let mut open = vec![rustix::process::getpid().as_raw_pid()];
        while let Some(parent) = open.pop() {
            for process in children.remove(&parent).unwrap_or_default() {
                open.push(process.pid);
                if !process.zombie {
                    found.push(process);
                }
            }
        }
        found
    }

    pub(super) fn kill(pid: i32, signal: Signal) {
        if let Some(pid) = Pid::from_raw(pid) {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }

    pub(super) fn sweep(tag: &str) -> usize {
        let entry = format!("{}={tag}", crate::TAG_VARIABLE);
        let own = rustix::process::getpid().as_raw_pid();
        let tagged = |pid: &i32| {
            // Empty for a zombie, unreadable for another user's process.
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            *pid != own
                && environment
                    .split(|&byte| byte == 0)
                    .any(|known| known == entry.as_bytes())
        };
        let mut killed = BTreeSet::new();
        let deadline = Instant::now() + Duration::from_secs(2);
        loop {
            let found: Vec<i32> = pids().filter(tagged).collect();
            if found.is_empty() || Instant::now() > deadline {
                return killed.len();
            }
            for pid in found {
                kill(pid, Signal::KILL);
                killed.insert(pid);
            }
            sleep(Duration::from_millis(5));
        }
    }

    #[cfg(test)]
    mod tests {
        use super::Process;

        #[test]
        fn a_name_with_parentheses_and_spaces_does_not_confuse() {
            let process = Process::parse(b"42 (a) Z 1 (b) S 7 40 39 0 -1");
            assert_eq!(
                process,
                Some(Process {
                    pid: 42,
                    parent: 7,
                    group: 40,
                    zombie: false
                })
            );
            let zombie = Process::parse(b"43 (x) Z 1 43 43");
            assert_eq!(
                zombie,
                Some(Process {
                    pid: 43,
                    parent: 1,
                    group: 43,
                    zombie: true
                })
            );
            assert_eq!(Process::parse(b"garbage"), None);
        }
    }
}
