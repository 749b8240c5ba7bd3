//! Many at once. A test binary of its own, because it counts the descriptors of the whole process.
#![cfg(target_os = "linux")]

mod support;

use std::time::Duration;

use support::{Mark, eventually, file_count, sh};
use tileperf_proc::{CancelToken, Ended};

const MANY: usize = 50;

#[test]
fn fifty_at_once_leak_no_descriptor_thread_or_process() {
    let count = || (file_count("/proc/self/fd"), file_count("/proc/self/task"));
    let before = count();
    let mark = Mark::new();

    let running: Vec<_> = (0..MANY)
        .map(|at| {
            let program = sh(&format!("cat; exit {at}")).stdin(vec![b'x'; 200_000]);
            program.env(Mark::VARIABLE, mark.value()).spawn().unwrap()
        })
        .collect();
    for (at, running) in running.into_iter().enumerate() {
        let report = running.wait().unwrap();
        assert_eq!(
            report.ended,
            Ended::Exited {
                code: i32::try_from(at).unwrap()
            }
        );
        assert_eq!(report.stdout.total(), 200_000);
    }

    let token = CancelToken::new();
    let program = || {
        sh("sleep 300")
            .env(Mark::VARIABLE, mark.value())
            .grace(Duration::from_secs(5))
    };
    let running: Vec<_> = (0..MANY)
        .map(|_| program().cancel_with(&token).spawn().unwrap())
        .collect();
    token.cancel();
    for running in running {
        assert_eq!(running.wait().unwrap().ended, Ended::Cancelled);
    }
    mark.assert_gone_now();

    let back = eventually(|| (count() == before).then_some(()));
    assert!(back.is_some(), "before {before:?}, after {:?}", count());
}
