//! Nothing outlives its owner, however either of them behaves.
#![cfg(target_os = "linux")]

mod support;

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use support::{
    FIXTURE, Mark, STUBBORN_COUNT, STUBBORN_TREE, eventually, guarded, sh, wait_for_stubborn,
};
use tileperf_proc::{CancelToken, Ended, Error, Guarded};

/// The tree that is hard to end, with little patience for its SIGTERM handlers.
fn stubborn(mark: &Mark) -> Guarded {
    guarded("python3")
        .args(["-c", STUBBORN_TREE])
        .env(Mark::VARIABLE, mark.value())
        .env("READY", mark.ready_file())
        .grace(Duration::from_millis(200))
}

/// A process of its own that owns the stubborn tree.
fn owner(mode: &str, mark: &Mark) -> Child {
    Command::new(FIXTURE)
        .args([mode, "python3", "-c", STUBBORN_TREE])
        .env(Mark::VARIABLE, mark.value())
        .env("READY", mark.ready_file())
        .stdout(Stdio::null())
        .spawn()
        .expect("an owner")
}

fn send(pid: i32, signal: Signal) {
    let pid = Pid::from_raw(pid).expect("a process id");
    kill_process(pid, signal).expect("a process to signal");
}

/// The guard among marked processes.
fn guard_among(pids: &[i32]) -> i32 {
    let is_guard = |pid: &&i32| {
        std::fs::read(format!("/proc/{pid}/cmdline"))
            .unwrap_or_default()
            .starts_with(b"tileperf\0guard\0")
    };
    *pids.iter().find(is_guard).expect("a guard")
}

#[test]
fn drop_ends_the_tree() {
    let mark = Mark::new();
    let running = stubborn(&mark).spawn().unwrap();
    wait_for_stubborn(&mark, 1);
    drop(running);
    mark.assert_all_gone();
}

#[test]
fn cancel_ends_the_tree_before_wait_returns() {
    let mark = Mark::new();
    let running = stubborn(&mark).spawn().unwrap();
    wait_for_stubborn(&mark, 1);
    assert!(!running.is_finished());
    running.cancel();
    running.cancel();
    let report = running.wait().unwrap();
    assert_eq!((report.ended, report.survivors), (Ended::Cancelled, 0));
    mark.assert_gone_now();
}

#[test]
fn a_token_ends_what_runs_and_what_would_start_later() {
    let (mark, token) = (Mark::new(), CancelToken::new());
    let one = stubborn(&mark).cancel_with(&token).spawn().unwrap();
    let two = stubborn(&mark)
        .cancel_with(&token)
        .cancel_with(&CancelToken::new())
        .spawn()
        .unwrap();
    wait_for_stubborn(&mark, 2);
    token.clone().cancel();
    assert_eq!(one.wait().unwrap().ended, Ended::Cancelled);
    assert_eq!(two.wait().unwrap().ended, Ended::Cancelled);
    mark.assert_gone_now();

    let folder = tempfile::tempdir().unwrap();
    let late = sh("touch started")
        .current_dir(folder.path())
        .cancel_with(&token)
        .stdin(vec![0; 1 << 20]);
    assert_eq!(late.run().unwrap().ended, Ended::Cancelled);
    assert_eq!(
        support::file_count(folder.path()),
        0,
        "a cancelled program has run"
    );
}

#[test]
fn a_deadline_ends_the_tree() {
    let mark = Mark::new();
    let running = stubborn(&mark)
        .timeout(Duration::from_secs(3))
        .spawn()
        .unwrap();
    wait_for_stubborn(&mark, 1);
    let report = running.wait().unwrap();
    assert_eq!(
        report.ended,
        Ended::TimedOut {
            after: Duration::from_secs(3)
        }
    );
    mark.assert_gone_now();
}

#[test]
fn kill_9_of_the_owner_ends_the_tree() {
    let mark = Mark::new();
    let mut owner = owner("own", &mark);
    wait_for_stubborn(&mark, 1);
    owner.kill().unwrap();
    owner.wait().unwrap();
    mark.assert_all_gone();
}

#[test]
fn exit_of_the_owner_ends_the_tree() {
    let mark = Mark::new();
    let mut owner = owner("leave", &mark);
    assert!(owner.wait().unwrap().success());
    mark.assert_all_gone();
}

#[test]
fn kill_9_of_the_guard_is_an_error_and_the_owner_ends_the_tree() {
    let mark = Mark::new();
    let running = stubborn(&mark).spawn().unwrap();
    let pids = wait_for_stubborn(&mark, 1);
    send(guard_among(&pids), Signal::KILL);
    let error = running.wait().unwrap_err();
    assert!(
        matches!(&error, Error::GuardLost { status } if status.contains("signal: 9")),
        "{error}"
    );
    mark.assert_gone_now();
}

#[test]
fn a_signal_to_the_guard_ends_the_tree() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let mark = Mark::new();
        let running = stubborn(&mark).spawn().unwrap();
        let pids = wait_for_stubborn(&mark, 1);
        send(guard_among(&pids), signal);
        assert_eq!(running.wait().unwrap().ended, Ended::Cancelled);
        mark.assert_gone_now();
    }
}

#[test]
fn what_a_program_leaves_behind_is_ended_and_counted() {
    let mark = Mark::new();
    let script = "sleep 300 & sleep 300 & setsid sleep 300 & sleep 0.3; exit 4";
    let report = sh(script).env(Mark::VARIABLE, mark.value()).run().unwrap();
    assert_eq!(
        (report.ended, report.leftovers),
        (Ended::Exited { code: 4 }, 3)
    );
    mark.assert_gone_now();
}

#[test]
fn sigterm_ignored_waits_the_grace_time_and_no_longer() {
    let mark = Mark::new();
    let running = sh("trap '' TERM; echo deaf; while :; do sleep 1; done")
        .env(Mark::VARIABLE, mark.value())
        .grace(Duration::from_millis(700))
        .spawn()
        .unwrap();
    // guard, shell, and its sleep: the trap is set by then.
    mark.wait_for(3);
    let asked = Instant::now();
    running.cancel();
    assert_eq!(running.wait().unwrap().ended, Ended::Cancelled);
    assert!(
        asked.elapsed() >= Duration::from_millis(700),
        "{:?}",
        asked.elapsed()
    );
    mark.assert_gone_now();
}

#[test]
fn sigterm_obeyed_leaves_time_to_clean_up() {
    let mark = Mark::new();
    let running = sh("trap 'echo cleaned; exit 0' TERM; while :; do sleep 0.05; done")
        .env(Mark::VARIABLE, mark.value())
        .grace(Duration::from_secs(15))
        .spawn()
        .unwrap();
    mark.wait_for(3);
    let asked = Instant::now();
    running.cancel();
    let report = running.wait().unwrap();
    assert_eq!(report.stdout.to_text(), "cleaned\n");
    assert!(
        asked.elapsed() < Duration::from_secs(14),
        "did not wait out the grace time"
    );
}

#[test]
fn a_stopped_tree_can_be_ended() {
    let mark = Mark::new();
    let running = sh("kill -STOP $$")
        .env(Mark::VARIABLE, mark.value())
        .spawn()
        .unwrap();
    mark.wait_for(2);
    std::thread::sleep(Duration::from_millis(200));
    running.cancel();
    running.wait().unwrap();
    mark.assert_gone_now();
}

#[test]
fn what_forks_all_the_time_does_not_escape() {
    let mark = Mark::new();
    // Each generation leaves the session of the one before and ignores SIGTERM.
    let script = "
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    if os.fork():
        os._exit(0)
    os.setsid()
    time.sleep(0.002)
";
    let running = guarded("python3")
        .args(["-c", script])
        .env(Mark::VARIABLE, mark.value())
        .grace(Duration::ZERO)
        .spawn()
        .unwrap();
    // The first generation exits at once, so that the rest is leftovers.
    let report = running.wait().unwrap();
    assert_eq!(
        (report.ended, report.survivors),
        (Ended::Exited { code: 0 }, 0)
    );
    mark.assert_gone_now();
}

#[test]
fn a_detached_program_outlives_its_owner_and_obeys_its_guard() {
    let mark = Mark::new();
    let output = Command::new(FIXTURE)
        .args(["detach", "python3", "-c", STUBBORN_TREE])
        .env(Mark::VARIABLE, mark.value())
        .env("READY", mark.ready_file())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let ids: Vec<&str> = text.split_whitespace().collect();
    let (pid, guard): (i32, i32) = (ids[0].parse().unwrap(), ids[1].parse().unwrap());

    let pids = wait_for_stubborn(&mark, 1);
    assert!(pids.contains(&pid) && pids.contains(&guard));
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(
        mark.processes().len(),
        STUBBORN_COUNT,
        "it ended with its owner"
    );
    send(guard, Signal::TERM);
    mark.assert_all_gone();
}

#[test]
fn a_detached_tree_without_guard_can_be_swept() {
    let mark = Mark::new();
    let detached = stubborn(&mark).spawn_detached(None).unwrap();
    wait_for_stubborn(&mark, 1);
    send(i32::try_from(detached.guard).unwrap(), Signal::KILL);
    assert_eq!(tileperf_proc::sweep("another tag"), 0);
    let swept = eventually(|| Some(tileperf_proc::sweep(&detached.tag)).filter(|&count| count > 0));
    assert!(swept.is_some());
    mark.assert_gone_now();
}

#[test]
fn a_detached_program_writes_its_log_and_keeps_its_deadline() {
    let (mark, folder) = (Mark::new(), tempfile::tempdir().unwrap());
    let log = folder.path().join("log");
    std::fs::write(&log, "before\n").unwrap();
    sh("echo out; echo err >&2; sleep 300")
        .env(Mark::VARIABLE, mark.value())
        .timeout(Duration::from_millis(500))
        .spawn_detached(Some(&log))
        .unwrap();
    mark.assert_all_gone();
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "before\nout\nerr\n");
    // Its guard is reaped: no zombie of this process is left.
    let zombie = |pid: &str| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let stat = stat.rsplit(')').next().unwrap_or_default().to_owned();
        stat.starts_with(" Z") && stat.split(' ').nth(2) == Some(&std::process::id().to_string())
    };
    let none = eventually(|| {
        let pids = std::fs::read_dir("/proc").unwrap().flatten();
        let zombies = pids.filter(|entry| entry.file_name().to_str().is_some_and(zombie));
        (zombies.count() == 0).then_some(())
    });
    assert!(none.is_some(), "a guard stays a zombie");
}

#[test]
fn a_detached_program_that_cannot_start_says_so() {
    let error = guarded("no-such-program-here")
        .spawn_detached(None)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot start detached: there is no program no-such-program-here on PATH"
    );
}
