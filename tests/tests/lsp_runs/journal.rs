//! A journal that is written event by event, as a process that runs a session writes it.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tileperf_tests::project::Project;

/// The two configurations of the made-up benchmark.
const CONFIGURATIONS: [&str; 2] = [
    "tests/test_scale.py::test_perf[16-cutile]",
    "tests/test_scale.py::test_perf[64-cutile]",
];

/// The journal of a session on the sample project's kernel.
pub(crate) struct Journal {
    root: PathBuf,
    folder: PathBuf,
    lock: Option<File>,
    seq: u64,
    run: u32,
    rows: u32,
    latency: f64,
}

impl Journal {
    /// A session begins, and nobody runs it.
    pub(crate) fn new(project: &Project, session: &str) -> Self {
        let root = project.folder().to_owned();
        let folder = root.join("sandbox/tileperf").join(session);
        fs::create_dir_all(&folder).expect("a folder");
        let mut journal = Self {
            root,
            folder,
            lock: None,
            seq: 0,
            run: 0,
            rows: 0,
            latency: 0.5,
        };
        let files = journal.stored();
        journal.add(
            "set_up",
            json!({
                "session": session,
                "root": journal.root,
                "plan": {
                    "kernel": "scale", "file": "pkg/kernels.py", "op": null,
                    "files": ["pkg/kernels.py", "pkg/launch.py"],
                    "test_file": "tests/test_scale.py",
                    "correctness": ["{python}"], "benchmark": ["{python}"], "python": "python3",
                    "place": "auto", "repeat": true, "record": true, "limit": 600, "device": "cpu",
                },
                "git": null, "found": files, "base": files,
            }),
        );
        journal
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Appends an event.
    pub(crate) fn add(&mut self, event: &str, mut fields: Value) {
        fields["schema"] = json!(1);
        fields["seq"] = json!(self.seq);
        fields["at"] = json!(now());
        fields["event"] = json!(event);
        let path = self.folder.join("journal.jsonl");
        let file = File::options().append(true).create(true).open(path);
        let line = format!("{fields}\n");
        file.and_then(|mut file| file.write_all(line.as_bytes()))
            .expect("a line");
        self.seq += 1;
    }

    /// Takes the session's lock, as the process does that runs it.
    pub(crate) fn hold(&mut self) {
        let path = self.folder.join("lock");
        fs::write(&path, "process 7 on elsewhere\n").expect("a lock");
        let file = File::options().read(true).write(true).open(path);
        let file = file.expect("a lock");
        file.lock().expect("nobody else has it");
        self.lock = Some(file);
    }

    /// Frees the lock, as the system does when that process ends.
    pub(crate) fn release(&mut self) {
        self.lock = None;
    }

    /// The changeable files as they are.
    pub(crate) fn stored(&self) -> Value {
        let stored = |name: &str| {
            let bytes = fs::read(self.root.join(name)).expect("a file");
            let hash: String = Sha256::digest(&bytes)
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            json!({"path": name, "hash": hash})
        };
        json!([stored("pkg/kernels.py"), stored("pkg/launch.py")])
    }

    /// A run begins.
    pub(crate) fn begin(&mut self, kind: &str) {
        let files = self.stored();
        let tried = (kind == "iteration").then(|| {
            json!({
                "optimization": "occupancy=4", "origin": {"by": "user"},
                "base": files, "candidate": files,
            })
        });
        let fields = json!({
            "run": self.run, "kind": kind, "iteration": self.rows, "pid": 7, "host": "elsewhere",
            "tried": tried, "device": {"id": "cpu", "name": "CPU"}, "limit": 600, "tileperf": "0",
        });
        self.add("run_started", fields);
    }

    pub(crate) fn stage(&mut self, stage: &str) {
        self.add("stage", json!({"run": self.run, "stage": stage}));
    }

    pub(crate) fn looked(&mut self, pairs: u32, decided: u32) {
        let fields = json!({"run": self.run, "pairs": pairs, "decided": decided, "of": 2});
        self.add("looked", fields);
    }

    pub(crate) fn tested(&mut self, failures: &Value) {
        let tests = json!({
            "variant": "candidate", "passed": ["tests/test_scale.py::test_op[3]"],
            "failures": failures, "skipped": [], "seconds": 0.5,
        });
        self.add("tested", json!({"run": self.run, "tests": tests}));
    }

    /// The measurement of a change that makes every configuration so much faster.
    fn measured(&mut self, change: f64, verdict: &str, reason: &str) -> Vec<Value> {
        let effect = change.ln_1p();
        let one = |(name, cost): (&str, f64)| {
            json!({
                "key": {"configuration": name, "backend": "cutile", "direction": "forward"},
                "weight": 1.0, "base": cost, "candidate": cost * (1.0 + change), "is_time": true,
                "verdict": {
                    "verdict": verdict, "reason": {"reason": reason},
                    "estimate": {
                        "effect": effect, "low": effect - 0.01, "high": effect + 0.01,
                        "level": 0.9875, "standard_error": 0.001, "pairs": 60, "blocks": 30,
                        "dropped": 0, "method": "bootstrap",
                    },
                },
            })
        };
        let costs = [self.latency / 2.0, self.latency * 2.0];
        let all: Vec<Value> = CONFIGURATIONS.into_iter().zip(costs).map(one).collect();
        self.add("measured", json!({"run": self.run, "configurations": all}));
        all
    }

    fn decided(&mut self, correctness: Value, why: Value, measured: &[Value], total: Value) {
        let keys: Vec<&Value> = measured.iter().map(|m| &m["key"]).collect();
        let judged: Vec<Value> = measured
            .iter()
            .map(|m| json!({"key": m["key"], "weight": 1.0, "verdict": m["verdict"]}))
            .collect();
        let fields = json!({
            "run": self.run,
            "candidate": {
                "correctness": correctness, "configurations": judged,
                "sets": {"common": keys, "changes": [], "unmeasured": []},
            },
            "decision": {
                "why": why, "total": total, "faster": keys, "slower": [], "perhaps_slower": [],
                "perhaps_faster": [], "undecided": [], "appeared": [],
            },
        });
        self.add("decided", fields);
    }

    fn ended(&mut self, correctness: &str, status: &str) {
        let optimization = if self.rows == 0 {
            "baseline"
        } else {
            "occupancy=4"
        };
        let row = json!({
            "iteration": self.rows, "optimization": optimization, "latency_ms": self.latency,
            "correctness": correctness, "status": status,
        });
        let end = json!({"ended": "completed"});
        let fields = json!({"run": self.run, "end": end, "row": row, "seconds": 12.0});
        self.add("run_ended", fields);
        self.run += 1;
        self.rows += 1;
    }

    /// A run ends without a result.
    pub(crate) fn ends(&mut self, end: Value) {
        let fields = json!({"run": self.run, "end": end, "row": null, "seconds": 1.0});
        self.add("run_ended", fields);
        self.run += 1;
    }

    /// The whole of iteration 0.
    pub(crate) fn baseline(&mut self) {
        self.begin("baseline");
        self.stage("correctness");
        self.tested(&json!([]));
        self.measured(0.004, "SAME", "within_one_percent");
        self.add("baseline_kept", json!({"run": self.run}));
        self.ended("PASS", "keep");
    }

    /// What follows when a change that began turns out 20 % faster.
    pub(crate) fn keep(&mut self) {
        self.tested(&json!([]));
        let measured = self.measured(-0.2, "FASTER", "clearly_faster");
        let effect = (-0.2_f64).ln_1p();
        let total =
            json!({"effect": effect, "low": effect - 0.01, "high": effect + 0.01, "p_faster": 0.0});
        let passed = json!({"correctness": "passed"});
        self.decided(passed, json!({"why": "large_gain"}), &measured, total);
        self.add("kept", json!({"run": self.run, "commit": null}));
        self.latency *= 0.8;
        self.ended("PASS", "keep");
    }

    /// What follows when the tests of a change that began fail.
    pub(crate) fn fail(&mut self, failures: &Value) {
        self.tested(failures);
        let tests: Vec<&Value> = (failures.as_array().into_iter().flatten())
            .map(|failure| &failure["test"])
            .collect();
        let failed = json!({"correctness": "failed", "tests": tests});
        let why = json!({"why": "incorrect", "tests": tests});
        self.decided(failed, why, &[], Value::Null);
        self.add("reverted", json!({"run": self.run}));
        self.ended("FAIL", "revert");
    }
}

/// Now, as the journal writes it.
fn now() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let since = since.expect("after 1970");
    let (days, seconds) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    // Days since 1970 to a date, by Hinnant's algorithm for dates after 0000-03-01.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60,
        since.subsec_millis()
    )
}
