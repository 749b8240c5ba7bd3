//! How a program ends is told exactly.
#![cfg(unix)]

mod support;

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use support::{FIXTURE, guarded, sh};
use tileperf_proc::{Ended, Error, Guarded};

#[test]
fn exit_codes_come_through() {
    for code in [0, 1, 2, 77, 124, 125, 126, 127, 128, 137, 255] {
        let report = sh(&format!("exit {code}")).run().unwrap();
        assert_eq!(report.ended, Ended::Exited { code });
        assert_eq!((report.leftovers, report.survivors), (0, 0));
    }
}

#[test]
fn signals_come_through() {
    for (signal, said) in [
        (
            9,
            "was ended by SIGKILL (killed, perhaps for want of memory)",
        ),
        (15, "was ended by SIGTERM (told to end)"),
        (11, "was ended by SIGSEGV (invalid memory access)"),
        (10, "was ended by signal 10"),
    ] {
        // A core file of a shell would be of no use to anybody.
        let report = sh(&format!("ulimit -c 0; kill -{signal} $$; sleep 60"))
            .run()
            .unwrap();
        assert_eq!(report.ended, Ended::Signaled { signal });
        assert_eq!(report.ended.to_string(), said);
    }
}

#[test]
fn a_missing_program_is_named() {
    let by_name = guarded("no-such-program-here").run().unwrap().ended;
    assert_eq!(
        by_name.to_string(),
        "there is no program no-such-program-here on PATH"
    );
    let by_path = guarded("/no/such/program").run().unwrap().ended;
    assert_eq!(by_path.to_string(), "there is no program /no/such/program");
    assert!(matches!(by_path, Ended::NotFound { .. }));
}

#[test]
fn the_path_of_the_programs_own_environment_counts() {
    let report = guarded("sh")
        .args(["-c", "exit 0"])
        .env("PATH", "/nowhere")
        .run()
        .unwrap();
    assert!(
        matches!(report.ended, Ended::NotFound { .. }),
        "{}",
        report.ended
    );
}

#[test]
fn what_is_there_but_cannot_start_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str, mode: u32| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    };
    let cases = [
        (
            write("data", "text", 0o644),
            "Permission denied (os error 13)",
        ),
        (
            write("script", "#!/no/interpreter\n", 0o755),
            "the interpreter or loader that it names is missing",
        ),
        (folder.path().to_owned(), "Permission denied (os error 13)"),
    ];
    for (program, reason) in cases {
        match Guarded::new(&program).guard(FIXTURE).run().unwrap().ended {
            Ended::CannotStart { why, .. } => assert_eq!(why, reason),
            other => panic!("{}: {other}", program.display()),
        }
    }
}

#[test]
fn a_missing_folder_is_not_a_missing_program() {
    let ended = sh("true")
        .current_dir("/no/such/folder")
        .run()
        .unwrap()
        .ended;
    assert_eq!(
        ended.to_string(),
        "sh cannot be started: there is no folder /no/such/folder"
    );
}

#[test]
fn the_folder_is_the_programs() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let report = sh("pwd -P").current_dir(&folder).run().unwrap();
    assert_eq!(report.stdout.to_text().trim_end(), folder.to_str().unwrap());
}

#[test]
fn the_environment_is_what_was_asked_for() {
    let report = sh("echo $GIVEN/$HOME/${PATH:+path}")
        .env("GIVEN", "a b")
        .env_remove("HOME")
        .run()
        .unwrap();
    assert_eq!(report.stdout.to_text(), "a b//path\n");

    let report = guarded("/usr/bin/env")
        .env_clear()
        .env("ONLY", "this")
        .run()
        .unwrap();
    let text = report.stdout.to_text();
    let names: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split('=').next())
        .collect();
    assert_eq!(names, ["ONLY", tileperf_proc::TAG_VARIABLE]);
}

#[test]
fn arguments_arrive_byte_for_byte() {
    let report = guarded("printf")
        .args(["%s|", "", "--", "a b", "\u{1f600}", "\"$HOME\"", "\n"])
        .run()
        .unwrap();
    assert_eq!(report.stdout.to_text(), "|--|a b|\u{1f600}|\"$HOME\"|\n|");
}

#[test]
fn a_deadline_is_kept_and_named() {
    let started = Instant::now();
    let report = sh("sleep 300")
        .timeout(Duration::from_millis(300))
        .run()
        .unwrap();
    assert_eq!(
        report.ended.to_string(),
        "was ended because it ran longer than 0.3 s"
    );
    assert!(started.elapsed() >= Duration::from_millis(300));
    assert!(
        started.elapsed() < Duration::from_secs(15),
        "{:?}",
        started.elapsed()
    );
}

#[test]
fn a_deadline_that_is_not_reached_changes_nothing() {
    let report = sh("exit 3").timeout(Duration::MAX).run().unwrap();
    assert_eq!(report.ended, Ended::Exited { code: 3 });
}

#[test]
fn niceness_is_the_programs() {
    let before = sh("nice").run().unwrap().stdout.to_text();
    let nicer = sh("nice").nice(7).run().unwrap().stdout.to_text();
    let number = |text: String| text.trim().parse::<i32>().unwrap();
    assert_eq!(number(nicer), (number(before) + 7).min(19));
}

/// Linux shares the processors among sessions before it looks at nice values within one.
#[cfg(target_os = "linux")]
#[test]
fn niceness_counts_against_other_sessions() {
    if std::fs::read_to_string("/proc/self/autogroup").is_err() {
        return;
    }
    let group = |nice| {
        let report = sh("cat /proc/self/autogroup").nice(nice).run().unwrap();
        report.stdout.to_text().trim().to_owned()
    };
    assert!(group(7).ends_with(" nice 7"), "{}", group(7));
    assert!(group(0).ends_with(" nice 0"), "{}", group(0));
}

#[test]
fn a_cpu_limit_ends_a_busy_loop() {
    let report = sh("while :; do :; done")
        .cpu_limit(1)
        .timeout(Duration::from_secs(60))
        .run()
        .unwrap();
    assert_eq!(
        report.ended.to_string(),
        "was ended by SIGXCPU (out of CPU time)"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_memory_limit_is_an_error_in_the_program_and_cannot_be_raised() {
    let script = "
import resource
soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
try:
    bytearray(600 << 20)
except MemoryError:
    print('refused', soft == hard == 256 << 20)
";
    let report = guarded("python3")
        .args(["-c", script])
        .memory_limit(256 << 20)
        .run()
        .unwrap();
    assert_eq!(
        report.stdout.to_text(),
        "refused True\n",
        "{}",
        report.stderr.to_text()
    );
}

#[test]
fn a_guard_that_is_none_is_an_error_and_not_a_result() {
    let error = Guarded::new("true")
        .guard("/no/such/guard")
        .run()
        .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the guard /no/such/guard cannot be started: "),
        "{error}"
    );

    let error = Guarded::new("true").guard("/bin/false").run().unwrap_err();
    assert!(
        matches!(&error, Error::GuardLost { status } if status == "exit status: 1"),
        "{error}"
    );

    // This test binary names no guard for itself.
    assert!(matches!(Guarded::new("true").run(), Err(Error::NoGuard)));
}
