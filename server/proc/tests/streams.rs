//! Input and output of any size, in bounded memory and without a deadlock.
#![cfg(unix)]

mod support;

use std::process::Command;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use support::{FIXTURE, Mark, guarded, sh};
use tileperf_proc::{Ended, Stream};

#[test]
fn input_larger_than_any_buffer_goes_through() {
    let data: Vec<u8> = (0..5_000_000_u32).map(|at| (at % 251) as u8).collect();
    let report = guarded("cat")
        .stdin(data.clone())
        .keep_output(data.len(), 0)
        .run()
        .unwrap();
    assert_eq!(report.ended, Ended::Exited { code: 0 });
    assert!(report.stdout.complete() == Some(data), "changed on the way");
}

#[test]
fn no_input_is_end_of_file() {
    assert_eq!(
        guarded("cat").run().unwrap().ended,
        Ended::Exited { code: 0 }
    );
    assert_eq!(
        guarded("cat").stdin("").run().unwrap().ended,
        Ended::Exited { code: 0 }
    );
}

#[test]
fn a_program_that_does_not_read_its_input_ends_as_it_likes() {
    let data = vec![b'x'; 3_000_000];
    let report = sh("exit 5").stdin(data.clone()).run().unwrap();
    assert_eq!(report.ended, Ended::Exited { code: 5 });
    // It closes its input and goes on.
    let report = sh("exec <&-; sleep 0.3; echo on; exit 6")
        .stdin(data.clone())
        .run()
        .unwrap();
    assert_eq!(report.ended, Ended::Exited { code: 6 });
    assert_eq!(report.stdout.to_text(), "on\n");
    // It neither reads nor ends: the leash must not get stuck behind the input.
    let running = sh("sleep 300").stdin(data).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    running.cancel();
    assert_eq!(running.wait().unwrap().ended, Ended::Cancelled);
}

#[test]
fn a_program_that_closes_its_outputs_is_still_waited_for() {
    let started = Instant::now();
    let report = sh("exec >&- 2>&-; sleep 0.5; exit 7").run().unwrap();
    assert_eq!(report.ended, Ended::Exited { code: 7 });
    assert!(started.elapsed() >= Duration::from_millis(500));
}

#[test]
fn both_outputs_are_kept_apart() {
    let report = sh("echo out; echo err >&2").run().unwrap();
    assert_eq!(
        (report.stdout.to_text(), report.stderr.to_text()),
        ("out\n".into(), "err\n".into())
    );
}

#[test]
fn too_much_output_keeps_its_two_ends() {
    let report = sh("echo begin; head -c 2000000 /dev/zero; echo end")
        .keep_output(6, 4)
        .run()
        .unwrap();
    assert_eq!(
        report.stdout.to_text(),
        "begin\n\n[2000000 bytes dropped]\nend\n"
    );
    assert_eq!(
        (report.stdout.total(), report.stdout.complete()),
        (2_000_010, None)
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_hundred_megabytes_need_little_memory() {
    let output = Command::new(FIXTURE)
        .args(["measure", "head", "-c", "100000000", "/dev/zero"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (total, peak_kib) = text.trim().split_once(' ').unwrap();
    assert_eq!(total, "100000000");
    let peak_kib: u64 = peak_kib.parse().unwrap();
    assert!(peak_kib < 20 * 1024, "the owner needed {peak_kib} KiB");
}

#[test]
fn lines_come_while_the_program_runs() {
    let (sender, lines) = mpsc::channel();
    let running = sh("echo one; echo two >&2; printf three; sleep 300")
        .on_line(move |stream, line| sender.send((stream, line.to_owned())).unwrap())
        .spawn()
        .unwrap();
    let mut first = [lines.recv().unwrap(), lines.recv().unwrap()];
    first.sort_by_key(|(_, line)| line.clone());
    assert_eq!(
        first,
        [
            (Stream::Stdout, "one".to_owned()),
            (Stream::Stderr, "two".to_owned())
        ]
    );
    running.cancel();
    let report = running.wait().unwrap();
    // The last line comes without its end.
    assert_eq!(lines.recv().unwrap(), (Stream::Stdout, "three".to_owned()));
    assert_eq!(report.stdout.to_text(), "one\nthree");
}

#[test]
fn a_panicking_callback_ends_the_tree() {
    let mark = Mark::new();
    let running = sh("echo boo; sleep 300")
        .env(Mark::VARIABLE, mark.value())
        .on_line(|_, line| panic!("{line}"))
        .spawn()
        .unwrap();
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| running.wait()));
    assert!(outcome.is_err());
    #[cfg(target_os = "linux")]
    mark.assert_all_gone();
}

#[test]
fn a_conversation_of_any_length_of_lines() {
    let (send, receive) = mpsc::channel();
    let running = guarded("cat")
        .interactive()
        .keep_output(0, 0)
        .on_bytes(move |stream, bytes| {
            assert_eq!(stream, Stream::Stdout);
            let _ = send.send(bytes.to_vec());
        })
        .grace(Duration::ZERO)
        .spawn()
        .unwrap();
    for length in [1, 70_000, 3_000_000] {
        let question = vec![b'a'; length];
        running.write(&question).unwrap();
        let mut answer = Vec::new();
        while answer.len() < length {
            answer.extend(receive.recv_timeout(support::PATIENCE).unwrap());
        }
        assert!(answer == question, "changed on the way");
    }
    let asked = Instant::now();
    running.cancel();
    assert!(running.write(b"too late").is_err());
    assert_eq!(running.wait().unwrap().ended, Ended::Cancelled);
    assert!(
        asked.elapsed() < Duration::from_secs(1),
        "{:?}",
        asked.elapsed()
    );
}
