//! The guard's end of the leash: its standard input.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::fs::FileType;

use crate::pump::poll;
use crate::wire::Word;

/// Standard input as a leash. A guard started by hand has a pipe, a terminal or a file there: end of
/// file ends the tree then too, but nothing can be reported.
pub(super) struct Leash {
    fd: OwnedFd,
    can_report: bool,
    /// Bytes of the program's standard input that have not arrived yet.
    awaited: u64,
    /// Bytes that have arrived and not been passed on. They are taken off the leash even when the
    /// program does not read them, so that its end is always seen.
    arrived: VecDeque<u8>,
}

impl Leash {
    pub(super) fn from_stdin(stdin_bytes: u64) -> io::Result<Self> {
        let fd = io::stdin().as_fd().try_clone_to_owned()?;
        let can_report =
            FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode) == FileType::Socket;
        Ok(Self {
            fd,
            can_report,
            awaited: stdin_bytes,
            arrived: VecDeque::new(),
        })
    }

    /// Whether the owner has already let go, without waiting for anything.
    pub(super) fn is_closed(&mut self) -> bool {
        let mut fds = [PollFd::new(&self.fd, PollFlags::IN)];
        poll(&mut fds, Duration::ZERO);
        let ready = !fds[0].revents().is_empty();
        ready && self.read()
    }

    /// Reads once, when there is something; whether it was the end.
    pub(super) fn read(&mut self) -> bool {
        let mut buffer = [0; 64 * 1024];
        match rustix::io::read(&self.fd, &mut buffer) {
            Ok(0) => true,
            Ok(count) => {
                let wanted = usize::try_from(self.awaited)
                    .unwrap_or(usize::MAX)
                    .min(count);
                self.arrived.extend(&buffer[..wanted]);
                self.awaited -= wanted as u64;
                false
            }
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => false,
            Err(_) => true,
        }
    }

    /// Whether there is standard input to pass on.
    pub(super) fn has_stdin(&self) -> bool {
        !self.arrived.is_empty()
    }

    /// Passes on what the program takes now; whether that was all, or the program wants no more, so
    /// that its standard input has to be closed.
    pub(super) fn feed(&mut self, stdin: Option<BorrowedFd<'_>>) -> bool {
        let Some(stdin) = stdin else {
            self.arrived.clear();
            return false;
        };
        while !self.arrived.is_empty() {
            match rustix::io::write(stdin, self.arrived.as_slices().0) {
                Ok(count) => drop(self.arrived.drain(..count)),
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return false,
                Err(_) => return true,
            }
        }
        self.awaited == 0
    }

    /// Says something to the owner, if it is still there.
    pub(super) fn say(&self, word: &Word) {
        if self.can_report {
            let _ = send(self.fd.as_fd(), word.to_line().as_bytes());
        }
    }
}

impl AsFd for Leash {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Sends to a socket whose other end may be gone, without the signal that this would raise in a
/// program which has SIGPIPE at its default.
pub(crate) fn send(socket: BorrowedFd<'_>, bytes: &[u8]) -> rustix::io::Result<usize> {
    #[cfg(target_os = "linux")]
    let flags = rustix::net::SendFlags::NOSIGNAL;
    #[cfg(not(target_os = "linux"))]
    let flags = rustix::net::SendFlags::empty();
    rustix::net::send(socket, bytes, flags)
}
