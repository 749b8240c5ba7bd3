//! Guarded child processes: nothing that tileperf starts outlives its owner.
//!
//! A performance tool starts compilers, test suites and benchmarks, which start children of their
//! own. Whatever happens to the server (a crash, `kill -9`, an editor that quits), those trees have
//! to end: a benchmark left behind falsifies every measurement after it.
//!
//! So no child is started directly. [`Guarded`] starts `tileperf guard -- program args`, our own
//! binary again, which
//! - leads a new session and is a *subreaper*: a descendant that calls `setsid` or forks twice is
//!   re-parented to the guard and stays findable;
//! - holds a **leash**, one end of a socket pair as its standard input. The kernel closes the other
//!   end however the owner dies, and end of file on it ends the whole tree: SIGTERM, a grace time,
//!   then SIGKILL until nothing is left;
//! - enforces the deadline by itself, even if the owner hangs;
//! - ends what the program left behind when it exits, then reports its exit status on the leash.
//!
//! ```no_run
//! use std::time::Duration;
//! use tileperf_proc::{Ended, Guarded};
//!
//! tileperf_proc::guard_with_this_program(); // once, in main
//! let report = Guarded::new("python3")
//!     .args(["-m", "pytest", "-q"])
//!     .env("PYTHONDONTWRITEBYTECODE", "1")
//!     .timeout(Duration::from_secs(60))
//!     .run()?;
//! if report.ended != (Ended::Exited { code: 0 }) {
//!     eprintln!("{}\n{}", report.ended, report.stderr.to_text());
//! }
//! # Ok::<(), tileperf_proc::Error>(())
//! ```
//!
//! **Platforms.** Linux fully. On other Unixes there is no subreaper and no `/proc`: a guard ends
//! the program's process group, and a descendant that leaves it is not found. On Windows every
//! start fails with [`Error::Unsupported`].
//!
//! **What a guard cannot do.** Processes of another user (a setuid program) cannot be signalled and
//! one stuck inside a driver cannot die; both are counted in [`Report::survivors`]. If the guard
//! itself is killed with `kill -9`, a living owner ends the tree, which it recognises by an
//! environment variable; after the owner's death [`sweep`] does the same for a known tag.

#![cfg_attr(
    not(unix),
    allow(
        dead_code,
        reason = "only what says that nothing can be started is used"
    )
)]

mod cancel;
mod guarded;
mod outcome;
mod output;
pub mod python;
mod wire;

#[cfg(unix)]
mod guard;
#[cfg(unix)]
mod pump;

pub use cancel::CancelToken;
pub use guarded::{Detached, Guarded, Running, guard_with, guard_with_this_program};
pub use outcome::{Ended, Error, Report};
pub use output::{Captured, Stream};

#[cfg(unix)]
pub use guard::{guard_main, sweep};

/// The environment variable that marks every process of one guarded tree (see [`sweep`]).
pub const TAG_VARIABLE: &str = "TILEPERF_GUARD_TAG";

/// Without Unix there is no guard: prints why and returns 125.
#[cfg(not(unix))]
pub fn guard_main(_args: impl IntoIterator<Item = std::ffi::OsString>) -> i32 {
    eprintln!("{}", Error::Unsupported);
    125
}

/// Without Unix nothing was started, so nothing is left: returns 0.
#[cfg(not(unix))]
pub fn sweep(_tag: &str) -> usize {
    0
}
