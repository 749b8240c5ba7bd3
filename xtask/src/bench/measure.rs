//! The measurements, each with all servers in turn.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::bail;

use super::edits::{self, Edit, Kind};
use super::files::{Files, Sample};
use super::samples::Samples;
use super::servers::{COUNT, Server};
use super::session::Session;

/// Ruff with all of its rules, reading every file again.
const RUFF_CHECK: [&str; 4] = ["check", "--isolated", "--select=ALL", "--no-cache"];

/// How long a server is left alone before its memory is read.
const SETTLE: Duration = Duration::from_secs(1);

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    /// Different sequences of edits.
    scripts: usize,
    /// How often each of them is typed.
    repeats: usize,
    /// Bursts of typing a session; a multiple of the kinds.
    bursts: usize,
    /// First readings of the package, and sessions in it.
    indexings: usize,
}

impl Plan {
    pub(super) fn full() -> Self {
        Self {
            scripts: 6,
            repeats: 3,
            bursts: 16,
            indexings: 9,
        }
    }

    /// Sessions of what is measured by itself.
    pub(super) fn sessions(&self) -> usize {
        self.indexings
    }

    pub(super) fn quick() -> Self {
        Self {
            scripts: 2,
            repeats: 1,
            bursts: 12,
            indexings: 3,
        }
    }
}

/// What one server showed on one file.
#[derive(Debug, Default)]
pub(super) struct Typing {
    pub(super) initialize: Samples,
    pub(super) open: Samples,
    /// By [`Kind`], in its order: of each edit the best time of all sessions that made it. What
    /// else a machine does takes milliseconds now and then; it is not the server's.
    pub(super) edits: [Samples; Kind::ALL.len()],
    /// Every time taken, as it was.
    pub(super) taken: Samples,
    /// At the end of each session, in KiB.
    pub(super) resident: Vec<u64>,
}

impl Typing {
    /// All edits together.
    pub(super) fn all_edits(&self) -> Samples {
        let mut all = Samples::default();
        self.edits.iter().for_each(|kind| all.extend(kind));
        all
    }
}

/// Everything that was measured; arrays are in the order of the servers.
#[derive(Debug)]
pub(super) struct Results {
    pub(super) small: [Typing; COUNT],
    pub(super) large: [Typing; COUNT],
    /// With a file open that has nothing to do with cuTile, in KiB.
    pub(super) plain: [u64; COUNT],
    /// From the session's start to the end of the first reading of the package.
    pub(super) index: Samples,
    /// After it, in KiB, each time.
    pub(super) index_resident: Vec<u64>,
    /// `tileperf facts` on the package, from the process's start to its end.
    pub(super) facts: Samples,
    /// Checking the package with every rule: `tileperf check`, and `ruff check`.
    pub(super) check: [Samples; 2],
}

/// Measures everything.
///
/// # Errors
/// A server cannot be started, ends, answers with an error or not at all.
pub(super) fn all(
    servers: &[Server; COUNT],
    files: &Files,
    plan: &Plan,
) -> anyhow::Result<Results> {
    let mut results = Results {
        small: Default::default(),
        large: Default::default(),
        plain: [0; COUNT],
        index: Samples::default(),
        index_resident: Vec::new(),
        facts: Samples::default(),
        check: Default::default(),
    };
    for script in 0..plan.scripts {
        typed_often(servers, &files.small, plan, script, &mut results.small)?;
        typed_often(servers, &files.large, plan, script, &mut results.large)?;
    }
    for (server, resident) in servers.iter().zip(&mut results.plain) {
        *resident = at_rest(server, &files.plain)?;
    }
    for _ in 0..plan.indexings {
        let (taken, resident) = first_index(&servers[0], &files.package)?;
        results.index.push(taken);
        results.index_resident.push(resident);
        results.facts.push(facts(&servers[0], &files.package)?);
        for (samples, (server, args)) in results.check.iter_mut().zip([
            (&servers[0], &["check"][..]),
            (&servers[1], &RUFF_CHECK[..]),
        ]) {
            samples.push(check(server, args, &files.package)?);
        }
    }
    Ok(results)
}

/// One sequence of edits in several sessions.
fn typed_often(
    servers: &[Server; COUNT],
    file: &Sample,
    plan: &Plan,
    script: usize,
    results: &mut [Typing; COUNT],
) -> anyhow::Result<()> {
    let edits = edits::script(&file.text, plan.bursts, script as u64);
    let mut best = vec![[Duration::MAX; COUNT]; edits.len()];
    for repeat in 0..plan.repeats {
        let round = script * plan.repeats + repeat;
        let taken = typing(servers, file, &edits, round, results)?;
        for (best, taken) in best.iter_mut().zip(taken) {
            for i in 0..COUNT {
                best[i] = best[i].min(taken[i]);
                results[i].taken.push(taken[i]);
            }
        }
    }
    for (edit, best) in edits.iter().zip(best) {
        for (result, best) in results.iter_mut().zip(best) {
            result.edits[edit.kind as usize].push(best);
        }
    }
    Ok(())
}

/// One session of each server on a file, all alive at once, taking turns at every edit. Who is first
/// changes from round to round, and so does who comes after whom: a server that has answered may still
/// be at work, and leaves the caches to the next one. Gives what each edit took.
fn typing(
    servers: &[Server; COUNT],
    file: &Sample,
    edits: &[Edit],
    round: usize,
    results: &mut [Typing; COUNT],
) -> anyhow::Result<Vec<[Duration; COUNT]>> {
    let mut order: Vec<usize> = (0..COUNT).map(|i| (i + round) % COUNT).collect();
    if round % 2 == 1 {
        order.reverse();
    }
    let uri = file.uri();
    let mut sessions = Vec::new();
    for &i in &order {
        let (mut session, initialize) = Session::start(&servers[i], &file.folder)?;
        results[i].initialize.push(initialize);
        results[i].open.push(session.open(&uri, &file.text)?);
        sessions.push((i, session));
    }
    let mut all = Vec::new();
    for (version, edit) in (2..).zip(edits) {
        let mut taken = [Duration::MAX; COUNT];
        for (i, session) in &mut sessions {
            taken[*i] = session.change(&uri, version, &edit.change)?;
        }
        all.push(taken);
    }
    for (i, session) in sessions {
        results[i].resident.push(session.resident_kib()?);
        session.finish()?;
    }
    Ok(all)
}

/// Memory with one file open and nothing to do.
fn at_rest(server: &Server, file: &Sample) -> anyhow::Result<u64> {
    let (mut session, _) = Session::start(server, &file.folder)?;
    session.open(&file.uri(), &file.text)?;
    std::thread::sleep(SETTLE);
    let resident = session.resident_kib()?;
    session.finish()?;
    Ok(resident)
}

/// The first reading of a whole package, with one of its files open.
fn first_index(server: &Server, package: &Sample) -> anyhow::Result<(Duration, u64)> {
    let (mut session, _) = Session::start(server, &package.folder)?;
    session.open_unanswered(&package.uri(), &package.text)?;
    let taken = session.indexed()?;
    std::thread::sleep(SETTLE);
    let resident = session.resident_kib()?;
    session.finish()?;
    Ok((taken, resident))
}

fn facts(server: &Server, package: &Sample) -> anyhow::Result<Duration> {
    let started = Instant::now();
    let status = Command::new(&server.program)
        .args(["facts", "--format", "json"])
        .arg(&package.folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()?;
    if !status.success() {
        bail!("tileperf facts ended with {status}");
    }
    Ok(started.elapsed())
}

/// From the process's start to its end. That something is found is no failure.
fn check(server: &Server, args: &[&str], package: &Sample) -> anyhow::Result<Duration> {
    let started = Instant::now();
    let status = Command::new(&server.program)
        .args(args)
        .arg(&package.folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    if !matches!(status.code(), Some(0 | 1)) {
        bail!("{} check ended with {status}", server.name);
    }
    Ok(started.elapsed())
}
