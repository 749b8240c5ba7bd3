//! The frontend's process, however it behaves: stand-ins for Python, in shell, that answer, end, hang
//! or talk nonsense.
#![cfg(unix)]

mod support;

use std::time::{Duration, Instant};

use support::{environment, request, script};
use tileperf_compiler::worker::{Answer, Error, Limits, ProblemKind, Worker};
use tileperf_proc::CancelToken;

/// Reads a request's id into `$id`, over and over.
const LOOP: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
"#;

fn worker(body: &str, folder: &tempfile::TempDir) -> Worker {
    let python = script(folder.path(), &format!("{LOOP}{body}\ndone"));
    let limits = Limits {
        time: Duration::from_secs(1),
        ..Limits::default()
    };
    Worker::new(environment(&python), folder.path(), limits).expect("a worker")
}

fn problem(kind: &str) -> String {
    format!(
        r#"echo "{{\"id\": $id, \"ok\": false, \"error\": {{\"kind\": \"{kind}\", \"type\": null, \"message\": \"pid $$\", \"path\": null, \"line\": null, \"column\": null, \"end_line\": null, \"end_column\": null, \"chain\": []}}, \"failures\": []}}""#
    )
}

fn ask(worker: &Worker) -> Result<Answer, Error> {
    worker.compile(&request("", "k"), &CancelToken::new())
}

/// The message of a problem, which the stand-ins fill with their process id.
fn message(answer: Result<Answer, Error>) -> String {
    match answer {
        Ok(Answer::Problem(problem)) => problem.message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_process_answers_many_requests() {
    let folder = tempfile::tempdir().unwrap();
    let worker = worker(&problem("frontend"), &folder);
    let first = message(ask(&worker));
    assert_eq!(message(ask(&worker)), first);
    worker.stop();
    assert_ne!(message(ask(&worker)), first, "stopped, and started again");
}

#[test]
fn a_process_that_ends_behind_its_answer_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let worker = worker(&format!("{}\nexit 75", problem("time")), &folder);
    let first = message(ask(&worker));
    assert_ne!(message(ask(&worker)), first);
}

#[test]
fn what_it_says_longer_than_any_line_arrives() {
    let folder = tempfile::tempdir().unwrap();
    let long = r#"big=$(head -c 300000 /dev/zero | base64 -w0)
echo "{\"id\": $id, \"ok\": true, \"symbol\": \"k\", \"bytecode\": \"$big\", \"seconds\": 0.1}""#;
    let Ok(Answer::Compiled(compiled)) = ask(&worker(long, &folder)) else {
        panic!("no answer")
    };
    assert_eq!(compiled.bytecode, vec![0; 300_000]);
}

#[test]
fn an_unknown_kind_of_problem_is_one_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    match ask(&worker(&problem("novelty"), &folder)) {
        Ok(Answer::Problem(problem)) => assert_eq!(problem.kind, ProblemKind::Other),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_crash_is_told_and_the_next_request_starts_anew_a_few_times() {
    let folder = tempfile::tempdir().unwrap();
    let worker = worker("echo 'out of luck' >&2; kill -SEGV $$", &folder);
    for _ in 0..5 {
        let error = ask(&worker).unwrap_err();
        let said = error.to_string();
        assert!(
            said.contains("SIGSEGV") && said.contains("out of luck"),
            "{said}"
        );
    }
    assert!(matches!(ask(&worker), Err(Error::GivenUp { .. })));
}

#[test]
fn nonsense_and_silence_end_the_process() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(
        ask(&worker("echo hello", &folder)),
        Err(Error::Confused(_))
    ));
    let wrong = r#"echo '{"id": 999, "ok": true}'"#;
    assert!(matches!(
        ask(&worker(wrong, &folder)),
        Err(Error::Confused(_))
    ));
    let asked = Instant::now();
    assert!(matches!(
        ask(&worker("sleep 60", &folder)),
        Err(Error::NoAnswer(_))
    ));
    assert!(asked.elapsed() < Duration::from_secs(15));
}

#[test]
fn no_python_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = environment(&folder.path().join("nowhere"));
    let worker = Worker::new(nowhere, folder.path(), Limits::default()).unwrap();
    let said = ask(&worker).unwrap_err().to_string();
    assert!(said.contains("there is no program"), "{said}");
}

#[test]
fn cancelling_is_immediate_and_leaves_nothing_running() {
    let folder = tempfile::tempdir().unwrap();
    let pid_file = folder.path().join("pid");
    let body = format!("sleep 60 & echo $! > {}; wait", pid_file.display());
    let worker = worker(&body, &folder);
    let cancel = CancelToken::new();
    let asked = std::thread::scope(|scope| {
        let thread = scope.spawn(|| worker.compile(&request("", "k"), &cancel));
        let deadline = Instant::now() + support::PATIENCE;
        while std::fs::read_to_string(&pid_file)
            .unwrap_or_default()
            .is_empty()
        {
            assert!(Instant::now() < deadline, "it did not start");
            std::thread::sleep(Duration::from_millis(5));
        }
        let asked = Instant::now();
        cancel.cancel();
        assert_eq!(thread.join().unwrap(), Err(Error::Cancelled));
        asked
    });
    let pid = std::fs::read_to_string(&pid_file).unwrap();
    let alive = || std::path::Path::new(&format!("/proc/{}/stat", pid.trim())).exists();
    while alive() {
        assert!(asked.elapsed() < Duration::from_secs(2), "left running");
        std::thread::sleep(Duration::from_millis(1));
    }
    println!("gone {:?} after it was cancelled", asked.elapsed());
}
