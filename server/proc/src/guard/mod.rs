//! The guard process: between an owner and a program, with no other purpose than to end the tree.
//!
//! It is single-threaded and polls: the leash, its own signals, the program's standard input and
//! the deadline. Nothing in it waits for the program.

mod leash;
mod limits;
mod tree;

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::Pid;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

use crate::outcome::Ended;
use crate::pump::poll;
use crate::wire::{Orders, Word};
use leash::Leash;
use tree::Tree;

pub(crate) use leash::send;
pub use tree::sweep;

/// How long a program's leftovers get to end by themselves after it has exited: shorter than the
/// grace time, because every normal end waits for them.
const LEFTOVER_GRACE: Duration = Duration::from_millis(500);
/// The longest wait without a look at the children, should a signal get lost.
const TICK: Duration = Duration::from_secs(1);

/// The hidden subcommand `tileperf guard`: `args` are those after the word `guard`. Returns the exit
/// code for the process: the program's own, 128 + signal, 124 after the deadline, 126 or 127 if it
/// cannot be started, 125 if the guard itself failed.
///
/// It changes the whole process (session, signal handling, priority): call it first in `main`, while
/// there is one thread, and exit with its result.
#[must_use]
pub fn guard_main(args: impl IntoIterator<Item = OsString>) -> i32 {
    let orders = match Orders::from_args(args) {
        Ok(orders) => orders,
        Err(why) => {
            complain(&why);
            return 125;
        }
    };
    match guard(&orders) {
        Ok(ended) => exit_code(&ended),
        Err(error) => {
            complain(&error);
            125
        }
    }
}

/// Says something on standard error, which may be a pipe that nobody reads any more: `eprintln!`
/// would panic.
fn complain(what: &dyn std::fmt::Display) {
    let _ = writeln!(io::stderr(), "tileperf guard: {what}");
}

fn exit_code(ended: &Ended) -> i32 {
    match ended {
        Ended::Exited { code } => *code,
        Ended::Signaled { signal } => 128 + signal,
        Ended::TimedOut { .. } | Ended::Cancelled => 124,
        Ended::CannotStart { .. } => 126,
        Ended::NotFound { .. } => 127,
    }
}

/// Runs the program, ends its tree, reports.
fn guard(orders: &Orders) -> io::Result<Ended> {
    become_root()?;
    let signals = Signals::catch()?;
    let mut leash = Leash::from_stdin(orders.stdin_bytes)?;
    // An owner that has already let go wants nothing started.
    if leash.is_closed() {
        return Ok(report(&leash, Ended::Cancelled, 0, 0));
    }
    let (pid, mut stdin) = match start(orders) {
        Ok(started) => started,
        Err(ended) => return Ok(report(&leash, ended, 0, 0)),
    };
    leash.say(&Word::Started(pid.as_raw_pid().cast_unsigned()));
    let tree = Tree::new(pid);
    let ended = watch(orders, &tree, &signals, &mut leash, &mut stdin);
    drop(stdin);

    let by_itself = matches!(ended, Ended::Exited { .. } | Ended::Signaled { .. });
    let (leftovers, grace) = if by_itself {
        (tree.living(), orders.grace.min(LEFTOVER_GRACE))
    } else {
        (0, orders.grace)
    };
    let survivors = tree.end(grace);
    Ok(report(&leash, ended, leftovers, survivors))
}

fn report(leash: &Leash, how: Ended, leftovers: usize, survivors: usize) -> Ended {
    leash.say(&Word::Ended {
        how: how.clone(),
        leftovers,
        survivors,
    });
    how
}

/// Leads a session of its own, away from the terminal's signals, and inherits orphans.
fn become_root() -> io::Result<()> {
    // Refused to the leader of a process group, which a guard started by hand in a shell is.
    let _ = rustix::process::setsid();
    #[cfg(target_os = "linux")]
    {
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        // `ps` would show the link in /proc that it was started through.
        let _ = rustix::thread::set_name(c"tileperf-guard");
    }
    Ok(())
}

/// Linux shares the processors among sessions first where it groups them (autogroup): within a
/// session of its own, a nice process gives way to nobody. Elsewhere there is no such file.
#[cfg(target_os = "linux")]
fn lower_session(nice: u8) {
    // The kernel takes one such wish in a tenth of a second, of all processes.
    for _ in 0..4 {
        match std::fs::write("/proc/self/autogroup", nice.to_string()) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                std::thread::sleep(std::time::Duration::from_millis(50));
            }
            _ => return,
        }
    }
}

/// Starts the program in a process group of its own.
fn start(orders: &Orders) -> Result<(Pid, Option<ChildStdin>), Ended> {
    let program = || orders.program.to_string_lossy().into_owned();
    let cannot = |why: String| Ended::CannotStart {
        program: program(),
        why,
    };

    let mut command = Command::new(&orders.program);
    command.args(&orders.args).process_group(0);
    if let Some(directory) = &orders.directory {
        if !directory.is_dir() {
            return Err(cannot(format!(
                "there is no folder {}",
                directory.display()
            )));
        }
        command.current_dir(directory);
    }
    command.stdin(if orders.stdin_bytes > 0 {
        Stdio::piped()
    } else {
        Stdio::null()
    });

    if orders.nice > 0 {
        // The guard takes it too: a priority once lowered cannot be raised again.
        let _ = rustix::process::nice(orders.nice.into());
        #[cfg(target_os = "linux")]
        lower_session(orders.nice);
    }
    let lowered = limits::lower(orders).map_err(|error| cannot(format!("its limits: {error}")))?;
    let spawned = command.spawn();
    let pid = spawned
        .as_ref()
        .ok()
        .and_then(|child| Pid::from_raw(child.id().cast_signed()));
    lowered.restore(pid);
    match (spawned, pid) {
        (Ok(mut child), Some(pid)) => Ok((pid, child.stdin.take())),
        (Ok(_), None) => Err(cannot("it has no process id".to_owned())),
        (Err(error), _) if error.kind() == io::ErrorKind::NotFound => {
            let path = orders
                .directory
                .clone()
                .unwrap_or_default()
                .join(&orders.program);
            // A file that is there and is still "not found" names an interpreter that is not.
            if orders.program.as_encoded_bytes().contains(&b'/') && path.exists() {
                return Err(cannot(
                    "the interpreter or loader that it names is missing".to_owned(),
                ));
            }
            Err(Ended::NotFound { program: program() })
        }
        (Err(error), _) => Err(cannot(error.to_string())),
    }
}

/// Waits for whatever comes first: the program's end, the leash, the deadline, a signal.
fn watch(
    orders: &Orders,
    tree: &Tree,
    signals: &Signals,
    leash: &mut Leash,
    stdin: &mut Option<ChildStdin>,
) -> Ended {
    // A deadline too far to be represented is none.
    let deadline = orders
        .timeout
        .and_then(|after| Some((Instant::now().checked_add(after)?, after)));
    if let Some(stdin) = stdin {
        // Of our end of the pipe only: the program still reads from a blocking one.
        let _ = rustix::io::ioctl_fionbio(&*stdin, true);
    }
    loop {
        if let Some(ended) = tree.reap_program() {
            return ended;
        }
        let now = Instant::now();
        let mut wait = TICK;
        if let Some((deadline, after)) = deadline {
            if now >= deadline {
                return Ended::TimedOut { after };
            }
            wait = wait.min(deadline - now);
        }
        // A detached program's leash is allowed to end.
        let watch_leash = !orders.detached;
        let feed = stdin.as_ref().filter(|_| leash.has_stdin());

        let mut fds = vec![
            PollFd::new(&signals.children, PollFlags::IN),
            PollFd::new(&signals.stop, PollFlags::IN),
        ];
        if watch_leash {
            fds.push(PollFd::new(leash, PollFlags::IN));
        }
        if let Some(stdin) = feed {
            fds.push(PollFd::new(stdin, PollFlags::OUT));
        }
        poll(&mut fds, wait);
        let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();

        if ready[0] {
            signals.drain();
        }
        if ready[1] || (watch_leash && ready[2] && leash.read()) {
            return tree.reap_program().unwrap_or(Ended::Cancelled);
        }
        if leash.feed(stdin.as_ref().map(AsFd::as_fd)) {
            *stdin = None;
        }
    }
}

/// Signals as descriptors that can be polled.
struct Signals {
    children: UnixStream,
    stop: UnixStream,
}

impl Signals {
    fn catch() -> io::Result<Self> {
        let (children, from_children) = UnixStream::pair()?;
        let (stop, from_stop) = UnixStream::pair()?;
        children.set_nonblocking(true)?;
        signal_hook::low_level::pipe::register(SIGCHLD, OwnedFd::from(from_children))?;
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            signal_hook::low_level::pipe::register(signal, from_stop.try_clone()?)?;
        }
        Ok(Self { children, stop })
    }

    fn drain(&self) {
        let mut buffer = [0_u8; 256];
        while rustix::io::read(&self.children, &mut buffer).is_ok_and(|count| count > 0) {}
    }
}
