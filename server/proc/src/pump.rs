//! The owner's side of one guarded program: starts the guard, moves bytes, waits for the report.
//!
//! One thread polls three descriptors (the leash and two outputs), so fifty programs at once cost
//! fifty threads and a hundred and fifty descriptors, and nothing blocks on a program that neither
//! reads nor writes.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use rustix::event::{PollFd, PollFlags, Timespec};

use crate::cancel::Leash;
use crate::guard::{send, sweep};
use crate::guarded::{Detached, Guarded, OnBytes, OnLine};
use crate::outcome::{Ended, Error, Report};
use crate::output::{Captured, Lines, Stream};
use crate::wire::{Orders, REAP_LIMIT, Word};

/// How long a hanging guard (a stopped one, say) may exceed all of its own limits.
const SLACK: Duration = Duration::from_secs(5);
/// How long output is still read after the guard's end. Only a survivor can hold it open so long.
const DRAIN: Duration = Duration::from_secs(1);
/// How often a cancellation is noticed if the guard does not answer it.
const TICK: Duration = Duration::from_millis(500);

/// One output stream on its way to where it is kept.
struct Output {
    which: Stream,
    pipe: Option<OwnedFd>,
    kept: Captured,
    lines: Lines,
}

impl Output {
    fn new(which: Stream, pipe: Option<OwnedFd>, (head, tail): (usize, usize)) -> Self {
        Self {
            which,
            pipe,
            kept: Captured::new(head, tail),
            lines: Lines::default(),
        }
    }

    /// Reads once; the caller knows that there is something.
    fn read(
        &mut self,
        buffer: &mut [u8],
        on_line: &mut Option<OnLine>,
        on_bytes: &mut Option<OnBytes>,
    ) {
        let Some(pipe) = &self.pipe else { return };
        let mut emit = |line: &str| {
            if let Some(on_line) = on_line {
                on_line(self.which, line);
            }
        };
        match rustix::io::read(pipe, &mut *buffer) {
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Ok(0) | Err(_) => {
                self.pipe = None;
                self.lines.finish(&mut emit);
            }
            Ok(count) => {
                if let Some(on_bytes) = on_bytes {
                    on_bytes(self.which, &buffer[..count]);
                }
                self.kept.push(&buffer[..count]);
                self.lines.push(&buffer[..count], &mut emit);
            }
        }
    }
}

/// A guarded program that has been started.
pub(crate) struct Pump {
    guard: Child,
    guard_reaped: bool,
    leash: Arc<Leash>,
    orders: Orders,
    tag: String,
    started: Instant,
    stdin: Vec<u8>,
    stdin_sent: usize,
    outputs: [Output; 2],
    on_line: Option<OnLine>,
    on_bytes: Option<OnBytes>,
    said: Vec<u8>,
    ended: Option<Word>,
}

impl Pump {
    pub(crate) fn start(mut guarded: Guarded) -> Result<Self, Error> {
        let started = Instant::now();
        let (link, guards_end) = leash_ends()?;
        let leash = Arc::new(Leash::new(link));
        // Before the guard starts, so that it sees at once what was cancelled earlier.
        for token in &guarded.tokens {
            token.watch(&leash);
        }
        let (mut guard, tag) = launch(&guarded, guards_end, Stdio::piped(), Stdio::piped())?;
        let stdout = guard.stdout.take().map(OwnedFd::from);
        let stderr = guard.stderr.take().map(OwnedFd::from);
        tracing::debug!(program = ?guarded.orders.program, guard = guard.id(), "started");
        Ok(Self {
            guard,
            guard_reaped: false,
            leash,
            tag,
            started,
            stdin: std::mem::take(&mut guarded.stdin),
            stdin_sent: 0,
            outputs: [
                Output::new(Stream::Stdout, stdout, guarded.keep),
                Output::new(Stream::Stderr, stderr, guarded.keep),
            ],
            on_line: guarded.on_line.take(),
            on_bytes: guarded.on_bytes.take(),
            said: Vec::new(),
            ended: None,
            orders: guarded.orders,
        })
    }

    pub(crate) fn leash(&self) -> Arc<Leash> {
        Arc::clone(&self.leash)
    }

    /// Moves bytes until guard and outputs are at their end.
    pub(crate) fn run(mut self) -> Result<Report, Error> {
        let mut buffer = vec![0; 64 * 1024];
        let mut released_at = None;
        let mut guard_killed = false;
        let mut link_closed_at: Option<Instant> = None;

        loop {
            let outputs_closed = self.outputs.iter().all(|output| output.pipe.is_none());
            if let Some(closed_at) = link_closed_at
                && (outputs_closed || closed_at.elapsed() > DRAIN)
            {
                break;
            }
            let ready = self.poll(link_closed_at.is_none());
            if ready.link_readable && self.read_link(&mut buffer) {
                link_closed_at = Some(Instant::now());
                if self.ended.is_none() {
                    // The guard was killed, so its tree is this process's to end.
                    let _ = sweep(&self.tag);
                }
            }
            if ready.link_writable {
                self.write_link();
            }
            for (output, ready) in self.outputs.iter_mut().zip(ready.outputs) {
                if ready {
                    output.read(&mut buffer, &mut self.on_line, &mut self.on_bytes);
                }
            }
            if self.leash.released() && released_at.is_none() {
                released_at = Some(Instant::now());
            }
            if !guard_killed && self.overdue(released_at) {
                tracing::warn!(program = ?self.orders.program, "the guard does not answer; it is killed");
                guard_killed = true;
                let _ = self.guard.kill();
                let _ = sweep(&self.tag);
            }
        }
        let elapsed = link_closed_at.map_or_else(|| self.started.elapsed(), |at| at - self.started);
        self.finish(elapsed, guard_killed)
    }

    /// Waits until a descriptor is ready or the next tick.
    fn poll(&self, link_open: bool) -> Ready {
        let mut fds: Vec<PollFd<'_>> = Vec::with_capacity(3);
        let mut link_flags = PollFlags::IN;
        if self.stdin_sent < self.stdin.len() {
            link_flags |= PollFlags::OUT;
        }
        if link_open {
            fds.push(PollFd::new(&self.leash.link, link_flags));
        }
        for output in &self.outputs {
            if let Some(pipe) = &output.pipe {
                fds.push(PollFd::new(pipe, PollFlags::IN));
            }
        }
        poll(&mut fds, TICK);

        let mut results = fds.iter().map(PollFd::revents);
        let link = if link_open { results.next() } else { None }.unwrap_or(PollFlags::empty());
        let mut output_ready = |output: &Output| {
            output.pipe.is_some() && results.next().is_some_and(|r| !r.is_empty())
        };
        Ready {
            link_readable: link.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR),
            link_writable: link.contains(PollFlags::OUT),
            outputs: [
                output_ready(&self.outputs[0]),
                output_ready(&self.outputs[1]),
            ],
        }
    }

    /// Reads what the guard says; whether it has said its last.
    fn read_link(&mut self, buffer: &mut [u8]) -> bool {
        match (&self.leash.link).read(buffer) {
            Ok(0) => true,
            Ok(count) => {
                self.said.extend_from_slice(&buffer[..count]);
                while let Some(end) = self.said.iter().position(|&byte| byte == b'\n') {
                    let line: Vec<u8> = self.said.drain(..=end).collect();
                    let word = Word::from_line(&String::from_utf8_lossy(&line), &self.orders);
                    if let Some(word @ Word::Ended { .. }) = word {
                        self.ended = Some(word);
                    }
                }
                false
            }
            Err(error) => !matches!(
                error.kind(),
                io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
            ),
        }
    }

    fn write_link(&mut self) {
        match send(self.leash.link.as_fd(), &self.stdin[self.stdin_sent..]) {
            Ok(count) => self.stdin_sent += count,
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => return,
            // Cancelled, or the guard is gone: nobody wants the rest.
            Err(_) => self.stdin_sent = self.stdin.len(),
        }
        if self.stdin_sent == self.stdin.len() {
            self.stdin = Vec::new();
            self.stdin_sent = 0;
        }
    }

    /// Whether the guard should have ended long ago.
    fn overdue(&self, released_at: Option<Instant>) -> bool {
        let allowance = self.orders.grace + REAP_LIMIT + SLACK;
        let late =
            |since: Instant, limit: Duration| since.elapsed() > limit.saturating_add(allowance);
        released_at.is_some_and(|at| late(at, Duration::ZERO))
            || self
                .orders
                .timeout
                .is_some_and(|timeout| late(self.started, timeout))
    }

    fn finish(mut self, elapsed: Duration, guard_killed: bool) -> Result<Report, Error> {
        let status = self.guard.wait();
        self.guard_reaped = true;
        let (ended, leftovers, survivors) = match self.ended.take() {
            Some(Word::Ended {
                how,
                leftovers,
                survivors,
            }) => (how, leftovers, survivors),
            _ if guard_killed && self.leash.released() => (Ended::Cancelled, 0, 0),
            _ if guard_killed => (
                Ended::TimedOut {
                    after: self.orders.timeout.unwrap_or_default(),
                },
                0,
                0,
            ),
            _ => {
                return Err(Error::GuardLost {
                    status: self.guard_status(status),
                });
            }
        };
        let [stdout, stderr] = std::array::from_fn(|at| {
            let output = &mut self.outputs[at];
            std::mem::replace(&mut output.kept, Captured::new(0, 0))
        });
        tracing::debug!(program = ?self.orders.program, %ended, ?elapsed, "ended");
        Ok(Report {
            ended,
            stdout,
            stderr,
            elapsed,
            leftovers,
            survivors,
        })
    }

    /// What can be said of a guard that did not report.
    fn guard_status(&self, status: io::Result<std::process::ExitStatus>) -> String {
        let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
        let stderr = self.outputs[1].kept.to_text();
        match stderr.lines().last() {
            Some(last) => format!("{status}, {last}"),
            None => status,
        }
    }
}

impl Drop for Pump {
    /// On the way out of a panicking callback: the tree ends, and the guard does not stay a zombie.
    fn drop(&mut self) {
        if !self.guard_reaped {
            self.leash.release();
            reap_later(&self.guard);
        }
    }
}

struct Ready {
    link_readable: bool,
    link_writable: bool,
    outputs: [bool; 2],
}

/// The owner's end of a new leash, which never blocks, and the guard's.
fn leash_ends() -> Result<(UnixStream, UnixStream), Error> {
    UnixStream::pair()
        .and_then(|(ours, theirs)| ours.set_nonblocking(true).map(|()| (ours, theirs)))
        .map_err(|source| Error::Io {
            what: "cannot make a leash".to_owned(),
            source,
        })
}

/// Starts the guard of a program; with it comes the tag of its tree.
fn launch(
    guarded: &Guarded,
    leash: UnixStream,
    stdout: Stdio,
    stderr: Stdio,
) -> Result<(Child, String), Error> {
    let path = guarded.guard.clone().ok_or(Error::NoGuard)?;
    let tag = new_tag();
    let mut command = Command::new(&path);
    command
        .arg0("tileperf")
        .arg("guard")
        .args(guarded.orders.to_args());
    if !guarded.inherit {
        command.env_clear();
    }
    for (name, value) in &guarded.environment {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env(crate::TAG_VARIABLE, &tag);
    command
        .stdin(OwnedFd::from(leash))
        .stdout(stdout)
        .stderr(stderr);
    let guard = command
        .spawn()
        .map_err(|source| Error::StartGuard { path, source })?;
    Ok((guard, tag))
}

/// A tag that no other tree has: process, a count, and the time, because process ids come again.
fn new_tag() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    format!("{}-{count}-{:x}", std::process::id(), now.as_nanos())
}

/// Starts a program that is to outlive this process; see [`Guarded::spawn_detached`].
pub(crate) fn detach(mut guarded: Guarded, log: Option<&Path>) -> Result<Detached, Error> {
    guarded.orders.detached = true;
    guarded.orders.stdin_bytes = 0;
    let (stdout, stderr) = match log {
        None => (Stdio::null(), Stdio::null()),
        Some(log) => {
            let open = OpenOptions::new().create(true).append(true).open(log);
            let both = open.and_then(|file| Ok((file.try_clone()?.into(), file.into())));
            both.map_err(|source| Error::Io {
                what: format!("cannot open {}", log.display()),
                source,
            })?
        }
    };
    let (link, guards_end) = leash_ends()?;
    let (mut guard, tag) = launch(&guarded, guards_end, stdout, stderr)?;
    let word = first_word(&link, &guarded.orders);
    if word.is_none() {
        // Reported as lost below; it must not start the program after that.
        let _ = guard.kill();
        let _ = sweep(&tag);
    }
    reap_later(&guard);
    match word {
        Some(Word::Started(pid)) => Ok(Detached {
            pid,
            guard: guard.id(),
            tag,
        }),
        Some(Word::Ended { how, .. }) => Err(Error::Io {
            what: "cannot start detached".to_owned(),
            source: io::Error::other(how.to_string()),
        }),
        None => Err(Error::GuardLost {
            status: "it did not say whether the program started".to_owned(),
        }),
    }
}

/// The first thing that a guard says, unless it takes longer than any start should.
fn first_word(mut link: &UnixStream, orders: &Orders) -> Option<Word> {
    let deadline = Instant::now() + REAP_LIMIT;
    let (mut said, mut buffer) = (Vec::new(), [0; 1024]);
    while Instant::now() < deadline {
        poll(&mut [PollFd::new(&link, PollFlags::IN)], TICK);
        match link.read(&mut buffer) {
            Ok(0) => return None,
            Ok(count) => said.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => return None,
        }
        if said.contains(&b'\n') {
            return Word::from_line(&String::from_utf8_lossy(&said), orders);
        }
    }
    None
}

/// Waits for a guard in the background, so that it does not stay a zombie of this process.
fn reap_later(guard: &Child) {
    let Some(pid) = rustix::process::Pid::from_raw(guard.id().cast_signed()) else {
        return;
    };
    let wait = move || {
        let _ = rustix::io::retry_on_intr(|| {
            rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty())
        });
    };
    // Without a thread it stays a zombie until this process ends; nothing else depends on it.
    let _ = std::thread::Builder::new()
        .name("guard-reaper".to_owned())
        .spawn(wait);
}

/// Sends all of `bytes` to a guard, which passes them on to its program.
pub(crate) fn write_all(leash: &Leash, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        if leash.released() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        match send(leash.link.as_fd(), bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => {
                poll(&mut [PollFd::new(&leash.link, PollFlags::OUT)], TICK);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Polls; an interruption counts as nothing being ready.
pub(crate) fn poll(fds: &mut [PollFd<'_>], timeout: Duration) {
    let timeout = Timespec::try_from(timeout).ok();
    if rustix::event::poll(fds, timeout.as_ref()).is_err() {
        for fd in fds {
            fd.clear_revents();
        }
    }
}
