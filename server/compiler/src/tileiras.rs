//! From bytecode to machine code with NVIDIA's tileiras: guarded, with low priority, within limits.
//!
//! One run takes 0.2 s to minutes. It works in a folder of its own, with its temporary files, so
//! that nothing stays behind when it is killed.

use std::fs;
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;
use tileperf_analysis::arch::Arch;
use tileperf_proc::{CancelToken, Ended, Guarded};

use crate::environment::{Compiler, Release};
use crate::remarks::{self, Remarks, Site};

/// The first release that gives remarks as YAML, and the oldest that is asked for them.
const WITH_REMARKS: (u32, u32) = (13, 4);
/// A remark has some hundred bytes, and a kernel some hundred operations.
const MOST_REMARKS: u64 = 256 << 20;
/// The code with which tileiras ends if it cannot compile, whatever the reason.
const CANNOT_COMPILE: i32 = 5;
/// All that it says if libnvvm or ptxas cannot be used.
const NO_REASON: &str = "failed to compile Tile IR program";

/// What one run may use.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// From start to end. There are kernels that take over a minute.
    pub time: Duration,
    /// Private memory of each process, bytes.
    pub memory: u64,
    /// Added to the scheduling priority's number: higher gives way sooner.
    pub nice: u8,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(180),
            memory: 16 << 30,
            nice: 10,
        }
    }
}

/// A program to compile.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// As the frontend made it.
    pub bytecode: &'a [u8],
    /// For which architecture.
    pub arch: Arch,
    /// 0 to 3; cuTile's default is 3.
    pub opt_level: u8,
}

/// What came out.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// The compiled file, with line tables.
    pub cubin: Vec<u8>,
    /// What the compiler says it did; `None` from a release that does not say.
    pub remarks: Option<Remarks>,
    /// How long it took.
    pub seconds: f64,
}

/// Why nothing came out.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// The caller gave up.
    #[error("cancelled")]
    Cancelled,
    /// The limit of time.
    #[error("tileiras took longer than {} s; smaller tiles compile faster", .0.as_secs())]
    TimedOut(Duration),
    /// The compiler refused the program, with its words and a place if it named one.
    #[error("tileiras: {message}")]
    Refused {
        /// The compiler's words.
        message: String,
        /// The place that it named.
        place: Option<Site>,
    },
    /// Exit code 5 and not a word of why: not the program's fault but the installation's.
    #[error(
        "tileiras ended with code 5 without a reason. It says so little when its libnvvm or ptxas is \
         missing or of another CUDA release: see `tileperf doctor`"
    )]
    Unusable,
    /// It ended in another way: a crash, or no memory.
    #[error("tileiras {how}{}", if said.is_empty() { String::new() } else { format!(": {said}") })]
    Crashed {
        /// How it ended.
        how: String,
        /// The last that it said.
        said: String,
    },
    /// It cannot be started, or its files cannot be written or read.
    #[error("{0}")]
    Cannot(String),
}

impl Error {
    /// Whether the same program would fail in the same way again.
    #[must_use]
    pub fn is_lasting(&self) -> bool {
        matches!(self, Self::Refused { .. })
    }
}

/// The compiler of an environment.
#[derive(Debug, Clone)]
pub struct Tileiras {
    compiler: Compiler,
    release: Option<Release>,
    /// What names this compiler in the cache: its release, else its path.
    identity: String,
}

impl Tileiras {
    /// Reads the release out of the program once, which takes 0.1 s.
    #[must_use]
    pub fn new(compiler: Compiler) -> Self {
        let release = compiler.release();
        let identity = match release {
            Some(release) => release.to_string(),
            None => compiler.tileiras.display().to_string(),
        };
        Self {
            compiler,
            release,
            identity,
        }
    }

    /// The release, if the program says.
    #[must_use]
    pub fn release(&self) -> Option<Release> {
        self.release
    }

    /// What tells this compiler from others in a cache.
    #[must_use]
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// Compiles on this thread. Cancelling kills the compiler at once.
    ///
    /// # Errors
    /// [`Error`].
    pub fn compile(
        &self,
        job: Job<'_>,
        limits: Limits,
        cancel: &CancelToken,
    ) -> Result<Output, Error> {
        let folder = tempfile::Builder::new().prefix("tileperf-").tempdir();
        let folder = folder.map_err(|e| Error::Cannot(format!("no temporary folder: {e}")))?;
        let [input, cubin, remarks] = ["kernel.bytecode", "kernel.cubin", "remarks.yaml"]
            .map(|name| folder.path().join(name));
        fs::write(&input, job.bytecode).map_err(|error| cannot(&input, &error))?;
        let with_remarks = self.gives_remarks();
        let mut program = Guarded::new(&self.compiler.tileiras)
            .args(["--gpu-name", job.arch.name(), "--lineinfo"])
            .arg(format!("-O{}", job.opt_level))
            .args([input.as_os_str(), "-o".as_ref(), cubin.as_os_str()]);
        if with_remarks {
            let file = format!("--remarks-output-file={}", remarks.display());
            program = program.args(["--remarks=all", "--remark-format=yaml", &file]);
        }
        let program = (self.compiler.with_its_root(program))
            .env("TMPDIR", folder.path())
            .current_dir(folder.path())
            .timeout(limits.time)
            .memory_limit(limits.memory)
            .nice(limits.nice)
            .grace(Duration::ZERO)
            .cancel_with(cancel);
        let report = program.run().map_err(|e| Error::Cannot(e.to_string()))?;
        if !report.ended.success() {
            return Err(explain(report.ended, &report.stderr.to_text()));
        }
        let done = Output {
            cubin: fs::read(&cubin).map_err(|error| cannot(&cubin, &error))?,
            remarks: with_remarks.then(|| read_remarks(&remarks)),
            seconds: report.elapsed.as_secs_f64(),
        };
        remove(folder);
        Ok(done)
    }

    fn gives_remarks(&self) -> bool {
        // Of a release that cannot be told, the newest is assumed: it fails loudly otherwise.
        self.release
            .is_none_or(|r| (r.major, r.minor) >= WITH_REMARKS)
    }
}

/// A compile without a single remark writes no file.
fn read_remarks(path: &Path) -> Remarks {
    let size = fs::metadata(path).map_or(0, |file| file.len());
    if size > MOST_REMARKS {
        return Remarks {
            all: Vec::new(),
            unreadable: 1,
        };
    }
    let yaml = fs::read(path).unwrap_or_default();
    remarks::parse(&String::from_utf8_lossy(&yaml))
}

fn remove(folder: TempDir) {
    if let Err(error) = folder.close() {
        tracing::warn!(%error, "a temporary folder of the compiler stays");
    }
}

fn cannot(path: &Path, error: &std::io::Error) -> Error {
    Error::Cannot(format!("{}: {error}", path.display()))
}

fn explain(ended: Ended, said: &str) -> Error {
    match ended {
        Ended::Cancelled => Error::Cancelled,
        Ended::TimedOut { after } => Error::TimedOut(after),
        Ended::NotFound { .. } | Ended::CannotStart { .. } => Error::Cannot(ended.to_string()),
        Ended::Exited { code } => {
            let (place, message) = words(said);
            if code == CANNOT_COMPILE && (message.is_empty() || message == NO_REASON) {
                return Error::Unusable;
            }
            if message.is_empty() {
                return crashed(&ended, said);
            }
            Error::Refused { message, place }
        }
        Ended::Signaled { .. } => crashed(&ended, said),
    }
}

fn crashed(ended: &Ended, said: &str) -> Error {
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    Error::Crashed {
        how: ended.to_string(),
        said: last.unwrap_or_default().trim().to_owned(),
    }
}

/// The error lines of what was said, without their places, and the first place.
fn words(said: &str) -> (Option<Site>, String) {
    let mut place = None;
    let mut lines = Vec::new();
    for line in said.lines() {
        let Some((before, message)) = line.split_once("error: ") else {
            continue;
        };
        if place.is_none() {
            place = place_in(before);
        }
        lines.push(message.trim());
    }
    (place, lines.join("\n"))
}

/// The place in `loc("file":7:8): ` or `loc(fused<...>["file":7:8]): `.
fn place_in(text: &str) -> Option<Site> {
    let (_, rest) = text.split_once('"')?;
    let (file, rest) = rest.split_once("\":")?;
    let mut numbers = rest.split(|c: char| !c.is_ascii_digit());
    Some(Site {
        file: file.to_owned(),
        line: numbers.next()?.parse().ok()?,
        column: numbers.next()?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_compiler_says_is_told_apart() {
        let exit = |code| Ended::Exited { code };
        let silent = "error: failed to compile Tile IR program\n";
        assert_eq!(explain(exit(5), silent), Error::Unusable);
        assert_eq!(explain(exit(5), ""), Error::Unusable);
        let said =
            "loc(\"/a b/k.py\":7:8): error: no such tile\nerror: failed to compile Tile IR program";
        let Error::Refused { message, place } = explain(exit(5), said) else {
            panic!()
        };
        assert_eq!(message, "no such tile\nfailed to compile Tile IR program");
        let place = place.unwrap();
        assert_eq!(
            (place.file.as_str(), place.line, place.column),
            ("/a b/k.py", 7, 8)
        );
        let fused = "loc(fused<#x>[\"k.py\":3:4]): error: why";
        assert_eq!(words(fused).0.unwrap().line, 3);
        let crash = explain(Ended::Signaled { signal: 11 }, "Stack dump:\n 1. x\n\n");
        assert_eq!(
            crash.to_string(),
            "tileiras was ended by SIGSEGV (invalid memory access): 1. x"
        );
        assert!(!crash.is_lasting());
        assert!(matches!(explain(exit(1), "oh"), Error::Crashed { .. }));
    }
}
