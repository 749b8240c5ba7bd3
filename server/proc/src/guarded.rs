//! The builder with which everything else starts programs, and the handles to what runs.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::cancel::{CancelToken, Leash};
use crate::outcome::{Error, Report};
use crate::output::Stream;
use crate::wire::Orders;

/// The guard used by this process. It is named once, in `main`, and not guessed: a test binary or a
/// host that embeds this crate would take the word `guard` for something else.
static GUARD: OnceLock<PathBuf> = OnceLock::new();

/// Names the program that is started as `PROGRAM guard ...` for every child of this process. The
/// first call counts.
pub fn guard_with(program: impl Into<PathBuf>) {
    let _ = GUARD.set(program.into());
}

/// Names the running program itself as the guard. It must call [`guard_main`](crate::guard_main)
/// when its first argument is `guard`, before anything else.
pub fn guard_with_this_program() {
    // The link in /proc still leads to the running binary after an update has replaced the file.
    if cfg!(target_os = "linux") {
        guard_with("/proc/self/exe");
    } else if let Ok(program) = std::env::current_exe() {
        guard_with(program);
    }
}

pub(crate) type OnLine = Box<dyn FnMut(Stream, &str) + Send>;
pub(crate) type OnBytes = Box<dyn FnMut(Stream, &[u8]) + Send>;

/// A program to be run under a guard; see the crate's documentation.
///
/// Standard input is empty, both outputs are captured, the environment is inherited and there is
/// no deadline, unless said otherwise.
pub struct Guarded {
    pub(crate) orders: Orders,
    pub(crate) guard: Option<PathBuf>,
    pub(crate) inherit: bool,
    pub(crate) environment: Vec<(OsString, Option<OsString>)>,
    pub(crate) stdin: Vec<u8>,
    pub(crate) keep: (usize, usize),
    pub(crate) on_line: Option<OnLine>,
    pub(crate) on_bytes: Option<OnBytes>,
    pub(crate) tokens: Vec<CancelToken>,
}

impl Guarded {
    /// A program by path, or by name to be searched on the PATH of the environment it gets.
    #[must_use]
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            orders: Orders::new(program.as_ref().to_owned()),
            guard: GUARD.get().cloned(),
            inherit: true,
            environment: Vec::new(),
            stdin: Vec::new(),
            keep: (256 << 10, 768 << 10),
            on_line: None,
            on_bytes: None,
            tokens: Vec::new(),
        }
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.orders.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.orders
            .args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Starts from an empty environment instead of this process's.
    #[must_use]
    pub fn env_clear(mut self) -> Self {
        self.inherit = false;
        self.environment.clear();
        self
    }

    /// Sets one environment variable.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.environment
            .push((name.as_ref().to_owned(), Some(value.as_ref().to_owned())));
        self
    }

    /// Removes one environment variable.
    #[must_use]
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.as_ref().to_owned(), None));
        self
    }

    /// Runs it in this folder. A relative program path then counts from there.
    #[must_use]
    pub fn current_dir(mut self, directory: impl AsRef<Path>) -> Self {
        self.orders.directory = Some(directory.as_ref().to_owned());
        self
    }

    /// Gives it this standard input, then end of file.
    #[must_use]
    pub fn stdin(mut self, data: impl Into<Vec<u8>>) -> Self {
        self.stdin = data.into();
        self.orders.stdin_bytes = self.stdin.len() as u64;
        self
    }

    /// Keeps its standard input open for [`Running::write`]. It ends with the program: closing it
    /// alone is not possible, because the same connection keeps the tree alive.
    #[must_use]
    pub fn interactive(mut self) -> Self {
        self.stdin = Vec::new();
        self.orders.stdin_bytes = u64::MAX;
        self
    }

    /// Keeps at most the first `head` and the last `tail` bytes of each output (256 and 768 KiB).
    #[must_use]
    pub fn keep_output(mut self, head: usize, tail: usize) -> Self {
        self.keep = (head, tail);
        self
    }

    /// Calls `each` with every line of output as it comes, beside capturing it. Lines over 64 KiB
    /// come in pieces. It runs on the thread that reads: while it works, the program may wait.
    #[must_use]
    pub fn on_line(mut self, each: impl FnMut(Stream, &str) + Send + 'static) -> Self {
        self.on_line = Some(Box::new(each));
        self
    }

    /// Calls `each` with output as it comes, cut wherever reads fell, beside capturing it: for a
    /// program whose lines are of any length. It runs on the thread that reads.
    #[must_use]
    pub fn on_bytes(mut self, each: impl FnMut(Stream, &[u8]) + Send + 'static) -> Self {
        self.on_bytes = Some(Box::new(each));
        self
    }

    /// Ends the tree when the program has run for so long. The guard watches the time itself.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.orders.timeout = Some(timeout);
        self
    }

    /// Time between SIGTERM and SIGKILL when the tree is ended (2 s).
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.orders.grace = grace;
        self
    }

    /// Ends the tree when `token` is cancelled. Several tokens may be given.
    #[must_use]
    pub fn cancel_with(mut self, token: &CancelToken) -> Self {
        self.tokens.push(token.clone());
        self
    }

    /// Lowers the tree's scheduling priority by `nice`, at most 19. Never for a benchmark.
    #[must_use]
    pub fn nice(mut self, nice: u8) -> Self {
        self.orders.nice = nice.min(19);
        self
    }

    /// Limits the CPU time of each process of the tree; one that goes over it gets SIGXCPU, and
    /// SIGKILL two seconds later.
    #[must_use]
    pub fn cpu_limit(mut self, seconds: u64) -> Self {
        self.orders.cpu_seconds = Some(seconds);
        self
    }

    /// Limits the private memory that each process of the tree can allocate, in bytes
    /// (`RLIMIT_DATA`; allocations over it fail, which Python reports as `MemoryError`). Address
    /// space is not limited: the CUDA driver reserves terabytes of it without using them. Enforced
    /// on Linux only; below 32 MiB the program may not even start.
    #[must_use]
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.orders.memory_bytes = Some(bytes);
        self
    }

    /// Uses another guard program than the one named for this process.
    #[must_use]
    pub fn guard(mut self, program: impl Into<PathBuf>) -> Self {
        self.guard = Some(program.into());
        self
    }
}

#[cfg(unix)]
impl Guarded {
    /// Runs the program on this thread until its whole tree has ended. However it ended, missing
    /// program included, is a [`Report`].
    ///
    /// # Errors
    /// Only if the guard itself failed.
    pub fn run(self) -> Result<Report, Error> {
        crate::pump::Pump::start(self)?.run()
    }

    /// Starts the program and reads its output on a thread of its own.
    ///
    /// # Errors
    /// If the guard cannot be started; a program that cannot be started is in the report.
    pub fn spawn(self) -> Result<Running, Error> {
        let pump = crate::pump::Pump::start(self)?;
        let leash = pump.leash();
        let thread = std::thread::Builder::new()
            .name("guarded".to_owned())
            .spawn(move || pump.run())
            .map_err(|source| Error::Io {
                what: "cannot start a thread".to_owned(),
                source,
            })?;
        Ok(Running {
            leash,
            thread: Some(thread),
        })
    }

    /// Starts a program that outlives this process on purpose, as a run that an editor window can
    /// be closed over. Its guard still ends what it leaves behind and keeps its deadline; nobody is
    /// told how it ended. Both outputs are appended to `log`, or discarded; standard input is empty.
    ///
    /// A detached program that is started *inside* a guarded tree still ends with that tree.
    ///
    /// # Errors
    /// If the guard failed, the log cannot be opened, or the program could not be started.
    pub fn spawn_detached(self, log: Option<&Path>) -> Result<Detached, Error> {
        crate::pump::detach(self, log)
    }
}

#[cfg(not(unix))]
impl Guarded {
    /// Fails: this platform has no guard.
    ///
    /// # Errors
    /// Always [`Error::Unsupported`].
    pub fn run(self) -> Result<Report, Error> {
        Err(Error::Unsupported)
    }

    /// Fails: this platform has no guard.
    ///
    /// # Errors
    /// Always [`Error::Unsupported`].
    pub fn spawn(self) -> Result<Running, Error> {
        Err(Error::Unsupported)
    }

    /// Fails: this platform has no guard.
    ///
    /// # Errors
    /// Always [`Error::Unsupported`].
    pub fn spawn_detached(self, _log: Option<&Path>) -> Result<Detached, Error> {
        Err(Error::Unsupported)
    }
}

impl fmt::Debug for Guarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guarded")
            .field("program", &self.orders.program)
            .field("args", &self.orders.args)
            .field("directory", &self.orders.directory)
            .finish_non_exhaustive()
    }
}

/// A program that runs under a guard. Dropping it ends the tree, without waiting for that.
#[derive(Debug)]
pub struct Running {
    leash: Arc<Leash>,
    thread: Option<JoinHandle<Result<Report, Error>>>,
}

impl Running {
    /// Ends the tree. Returns at once; [`wait`](Self::wait) returns when it is gone.
    pub fn cancel(&self) {
        self.leash.release();
    }

    /// Writes to the standard input of an [`interactive`](Guarded::interactive) program. Waits while
    /// the guard takes nothing; the guard always takes, and buffers what the program does not read.
    ///
    /// # Errors
    /// The tree has ended or is being ended.
    #[cfg(unix)]
    pub fn write(&self, bytes: &[u8]) -> std::io::Result<()> {
        crate::pump::write_all(&self.leash, bytes)
    }

    /// Fails: this platform has no guard.
    ///
    /// # Errors
    /// Always.
    #[cfg(not(unix))]
    pub fn write(&self, _bytes: &[u8]) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    /// Whether the tree has ended, so that [`wait`](Self::wait) returns at once.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits until the whole tree has ended.
    ///
    /// # Errors
    /// Only if the guard itself failed.
    ///
    /// # Panics
    /// With the panic of the line callback, if that panicked.
    pub fn wait(mut self) -> Result<Report, Error> {
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(report)) => report,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => unreachable!("only wait and drop take the thread, and both consume the handle"),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // After a complete wait nothing is left to end.
        if self.thread.is_some() {
            self.leash.release();
        }
    }
}

/// A program that runs on its own, see [`Guarded::spawn_detached`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detached {
    /// The program's process id.
    pub pid: u32,
    /// Its guard's process id: SIGTERM to it ends the tree.
    pub guard: u32,
    /// Marks every process of the tree, see [`sweep`](crate::sweep).
    pub tag: String,
}
