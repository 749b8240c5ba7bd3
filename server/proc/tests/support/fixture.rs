//! The program that the tests of this crate start: a guard that is not `tileperf`, and owners of
//! guarded programs that can be killed, measured or dropped from outside.
#![forbid(unsafe_code)]

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use tileperf_proc::Guarded;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let mode = args.next().unwrap_or_default();
    if mode == "guard" {
        let code = tileperf_proc::guard_main(args);
        return ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX));
    }
    tileperf_proc::guard_with_this_program();
    let Some(program) = args.next() else {
        return ExitCode::FAILURE;
    };
    let guarded = Guarded::new(program).args(args);
    match mode.to_str() {
        Some("own") => own(guarded),
        Some("leave") => leave(guarded),
        Some("detach") => detach(guarded),
        Some("measure") => measure(guarded),
        _ => ExitCode::FAILURE,
    }
}

/// Owns a program until it is killed from outside, or the program ends.
fn own(guarded: Guarded) -> ExitCode {
    let report = guarded.run();
    report.map_or(ExitCode::FAILURE, |_| ExitCode::SUCCESS)
}

/// Exits when the stubborn tree is complete, as a server that returns from `main` does.
fn leave(guarded: Guarded) -> ExitCode {
    let running = guarded.spawn();
    let ready = std::env::var_os("READY").unwrap_or_default();
    while std::fs::metadata(&ready).map_or(0, |file| file.len()) < 3 {
        std::thread::sleep(Duration::from_millis(10));
    }
    let code = if running.is_ok() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    };
    // Not even dropped: process exit alone has to be enough.
    std::mem::forget(running);
    code
}

/// Starts a detached program, prints its and its guard's process id, and exits.
fn detach(guarded: Guarded) -> ExitCode {
    let Ok(detached) = guarded.spawn_detached(None) else {
        return ExitCode::FAILURE;
    };
    println!("{} {} {}", detached.pid, detached.guard, detached.tag);
    ExitCode::SUCCESS
}

/// Runs a program and prints how much it wrote and how much memory this process needed at most.
fn measure(guarded: Guarded) -> ExitCode {
    let Ok(report) = guarded.run() else {
        return ExitCode::FAILURE;
    };
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap_or_default();
    let peak: String = peak.chars().filter(char::is_ascii_digit).collect();
    let written = writeln!(std::io::stdout(), "{} {peak}", report.stdout.total());
    if written.is_ok() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
