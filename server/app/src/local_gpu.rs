//! The GPU of this machine, asked for in a process of its own.
//!
//! A driver that is wedged or broken takes whoever asks it along; a server must not be that one. So this
//! program asks itself, as a child, and does without an answer that does not come.

use std::sync::mpsc;
use std::time::Duration;

use serde::Deserialize;
use tileperf_engine::{Engine, LocalGpu};
use tileperf_proc::Guarded;

/// A machine that keeps no driver loaded takes seconds for each device.
const PATIENCE: Duration = Duration::from_secs(15);
/// Until a child that does not end is left alone: not even a signal ends a wedged system call.
const GRACE: Duration = Duration::from_secs(5);
/// Names a program that answers in place of this one: for tests.
const PROBE: &str = "TILEPERF_GPU_PROBE";
/// The hidden command that answers.
pub(crate) const COMMAND: &str = "gpu-probe";

/// An answer.
#[derive(Debug, Deserialize)]
struct Answer {
    arch: String,
    name: String,
}

/// Has an engine ask for the GPU of this machine.
pub(crate) fn ask_for(engine: &Engine) {
    engine.ask_gpu_with(Box::new(ask));
}

fn ask() -> Option<LocalGpu> {
    let (send, answers) = mpsc::channel();
    let thread = std::thread::Builder::new().name("tileperf-gpu-probe".to_owned());
    let started = thread.spawn(move || {
        // Nobody may be listening any more.
        let _ = send.send(child());
    });
    if let Err(error) = started {
        tracing::warn!(%error, "this machine's GPU is not asked for");
        return None;
    }
    let answer = (answers.recv_timeout(PATIENCE + GRACE))
        .unwrap_or_else(|_| Err("it does not answer".to_owned()));
    match answer {
        Ok(gpu) => gpu,
        Err(why) => {
            tracing::info!("this machine's GPU is not known: {why}");
            None
        }
    }
}

/// # Errors
/// There is no answer, and why.
fn child() -> Result<Option<LocalGpu>, String> {
    let program = match std::env::var_os(PROBE) {
        Some(program) => program.into(),
        None => std::env::current_exe().map_err(|error| error.to_string())?,
    };
    let report = (Guarded::new(program).arg(COMMAND))
        .timeout(PATIENCE)
        .grace(Duration::ZERO)
        .run()
        .map_err(|error| error.to_string())?;
    if !report.ended.success() {
        return Err(format!("the probe {}", report.ended));
    }
    Ok(read(&report.stdout.to_text()))
}

/// The first device that cuTile compiles for.
fn read(text: &str) -> Option<LocalGpu> {
    let answers = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    answers.into_iter().find_map(|answer: Answer| {
        Some(LocalGpu {
            arch: answer.arch.parse().ok()?,
            name: answer.name,
        })
    })
}

#[cfg(test)]
mod tests {
    use tileperf_analysis::arch::Arch;

    use super::*;

    #[test]
    fn the_first_device_that_can_be_compiled_for() {
        let line = |arch: &str| format!("{{\"name\":\"G {arch}\",\"arch\":\"{arch}\"}}\n");
        for (text, wanted) in [
            (line("sm_90"), Some(Arch::Sm90)),
            (line("sm_70") + &line("sm_120"), Some(Arch::Sm120)),
            (line("sm_999"), None),
            (String::new(), None),
            (
                "{}\nno JSON\n".to_owned() + &line("sm_80"),
                Some(Arch::Sm80),
            ),
        ] {
            let found = read(&text);
            assert_eq!(found.as_ref().map(|gpu| gpu.arch), wanted, "{text}");
            if let Some(gpu) = found {
                assert_eq!(gpu.name, format!("G {}", gpu.arch));
            }
        }
    }
}
