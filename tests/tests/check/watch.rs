//! `tileperf check --watch`: looking again whenever a file changes.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use tileperf_tests::process::server_binary;
use tileperf_tests::project::Project;

use crate::BAD;

/// More than enough for a machine that is busy.
const LIMIT: Duration = Duration::from_secs(30);

/// Nothing that is a warning.
const FINE: &str = "import cuda.tile as ct\n";

struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    fn start(project: &Project, paths: &[&str]) -> Self {
        let mut child = Command::new(server_binary())
            .args(["check", "--watch", "--format", "json", "--select", "TP101"])
            .args(paths)
            .current_dir(project.folder())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let (sender, lines) = channel();
        let outputs: [Box<dyn Read + Send>; 2] = [
            Box::new(child.stdout.take().expect("it is piped")),
            Box::new(child.stderr.take().expect("it is piped")),
        ];
        for output in outputs {
            let sender = sender.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    // The test may be over.
                    let _ = sender.send(line);
                }
            });
        }
        Self { child, lines }
    }

    /// Waits for a line that holds all of these.
    fn told(&self, parts: &[&str]) {
        self.told_all(&[parts]);
    }

    /// Waits for a line of each, in any order: there are two outputs.
    fn told_all(&self, wanted: &[&[&str]]) {
        let begin = Instant::now();
        let mut wanted = wanted.to_vec();
        let mut said = Vec::new();
        while let Ok(line) = (self.lines).recv_timeout(LIMIT.saturating_sub(begin.elapsed())) {
            wanted.retain(|parts| !parts.iter().all(|part| line.contains(part)));
            if wanted.is_empty() {
                return;
            }
            said.push(line);
        }
        panic!("no line with {wanted:?} after {said:#?}");
    }

    /// The lines until nothing comes for some time.
    fn rest(&self) -> Vec<String> {
        let mut rest = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(Duration::from_secs(2)) {
            rest.push(line);
        }
        rest
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        // It ends no other way.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn changes_are_seen_in_a_folder_and_in_files_that_were_named() {
    for paths in [&["."][..], &["pkg/a.py", "pkg/b.py"]] {
        let project = Project::empty();
        project.write("pkg/a.py", FINE);
        project.write("pkg/b.py", BAD);
        let watching = Watching::start(&project, paths);
        watching.told(&["TP101", "pkg/b.py"]);
        project.write("pkg/a.py", BAD);
        watching.told(&["TP101", "pkg/a.py"]);
        project.write("pkg/b.py", BAD.replace("\ndef run", "\n\n\n\ndef run"));
        watching.told(&["TP101", "pkg/b.py", "\"line\":15"]);
    }
}

#[test]
fn what_cannot_be_read_is_told_each_time() {
    let mut broken = BAD.as_bytes().to_vec();
    broken.extend(b"# caf\xe9\n");
    for paths in [&["."][..], &["pkg/a.py", "pkg/latin.py", "pkg/late.py"]] {
        let project = Project::empty();
        project.write("pkg/a.py", FINE);
        project.write("pkg/latin.py", &broken);
        let watching = Watching::start(&project, paths);
        watching.told(&["tileperf: cannot read pkg/latin.py: "]);
        // Again after another file has changed; another one, once it is there and is no text.
        project.write("pkg/a.py", BAD);
        let unread = "tileperf: cannot read pkg/latin.py: ";
        watching.told_all(&[&["TP101", "pkg/a.py"], &[unread]]);
        project.write("pkg/late.py", &broken);
        watching.told(&["tileperf: cannot read pkg/late.py: "]);
        watching.rest();
        // Mended: what is found in it is told, and it is not said to be unread any more.
        project.write("pkg/latin.py", BAD);
        watching.told(&["TP101", "pkg/latin.py"]);
        project.write("pkg/a.py", format!("{FINE}\n"));
        let rest = watching.rest();
        assert!(rest.iter().any(|l| l.contains("late.py")), "{rest:#?}");
        let unread = |l: &String| l.contains("cannot read pkg/latin.py");
        assert!(!rest.iter().any(unread), "{rest:#?}");
    }
}

#[test]
fn a_file_that_is_missing_is_awaited() {
    let project = Project::empty();
    project.write("pkg/a.py", FINE);
    let watching = Watching::start(&project, &["pkg/a.py", "pkg/late.py"]);
    watching.told(&["tileperf: cannot read pkg/late.py: "]);
    project.write("pkg/late.py", BAD);
    watching.told(&["TP101", "pkg/late.py"]);
    std::fs::remove_file(project.folder().join("pkg/late.py")).expect("it is there");
    watching.told(&["tileperf: cannot read pkg/late.py: "]);
}
