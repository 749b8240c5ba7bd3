//! Writes journals as the loop would: numbers are made up, verdicts and decisions are the rules'.

use std::collections::BTreeMap;

use crate::event::{
    Entry, Event, Failure, GitStart, Measured, Origin, RunEnd, RunKind, SCHEMA, Stage, Stored,
    Tests, Tried,
};
use crate::plan::{Device, Place, Plan};
use crate::readings::{Change, Direction, Key, SetComparison};
use crate::records::{self, Row, Status};
use crate::session::{Session, total_latency};
use crate::stats::{Estimate, Method, Noise, Variant};
use crate::verdict::{
    Candidate, Correctness, Decision, Evidence, Identity, decide, decide_fix, judge,
};

/// A configuration of the made-up benchmark.
#[derive(Debug, Clone)]
pub(super) struct Config {
    pub(super) id: String,
    /// Its cost at iteration 0.
    pub(super) cost: f64,
    pub(super) is_time: bool,
}

/// Three shapes of one benchmark, in milliseconds.
pub(super) fn times() -> Vec<Config> {
    [("1024", 0.2131), ("4096", 0.8204), ("16384", 3.1877)]
        .map(|(shape, cost)| Config {
            id: format!("tests/ops/test_scale.py::Test_Scale::test_perf[cutile-{shape}-float16]"),
            cost,
            is_time: true,
        })
        .to_vec()
}

/// Two rows of a table of bandwidths.
pub(super) fn rates() -> Vec<Config> {
    [("N=1024", 1871.0), ("N=8192", 3012.0)]
        .map(|(row, rate): (&str, f64)| Config {
            id: format!("softmax-GBps[{row}]"),
            cost: 1.0 / rate,
            is_time: false,
        })
        .to_vec()
}

/// A journal in the making.
pub(super) struct Journal {
    entries: Vec<Entry>,
    plan: Plan,
    configs: Vec<Config>,
    runs: u32,
    rows: u32,
    minute: u32,
    version: u32,
}

/// A change of a configuration: its effect on the log scale and half its interval.
pub(super) type Effect = (f64, f64);

impl Journal {
    pub(super) fn new(configs: Vec<Config>, edit: impl FnOnce(&mut Plan)) -> Self {
        let mut plan = crate::plan::tests::plan();
        edit(&mut plan);
        let mut journal = Journal {
            entries: Vec::new(),
            plan: plan.clone(),
            configs,
            runs: 0,
            rows: 0,
            minute: 0,
            version: 0,
        };
        let base = journal.files(0);
        journal.add(Event::SetUp {
            session: "scale_kernel-20261129".to_owned(),
            root: "/repo".into(),
            plan: Box::new(plan),
            git: Some(GitStart {
                branch: Some("main".to_owned()),
                commit: "0123456789abcdef0123456789abcdef01234567".to_owned(),
                session_branch: "cutile-perf-scale_kernel-20261129".to_owned(),
            }),
            found: base.clone(),
            base,
        });
        journal
    }

    pub(super) fn session(&self) -> Session {
        Session::fold(&self.entries).expect("begins with a setup")
    }

    pub(super) fn add(&mut self, event: Event) {
        self.minute += 1;
        self.entries.push(Entry {
            schema: SCHEMA,
            seq: self.entries.len() as u64,
            at: format!(
                "2026-11-29T{:02}:{:02}:00.000Z",
                10 + self.minute / 60,
                self.minute % 60
            ),
            event,
        });
    }

    fn files(&self, version: u32) -> Vec<Stored> {
        (self.plan.files.iter())
            .map(|path| Stored {
                path: path.clone(),
                hash: Some(format!("{version:064x}")),
                executable: false,
            })
            .collect()
    }

    fn begin(&mut self, kind: RunKind, tried: Option<Tried>) -> u32 {
        let run = self.runs;
        self.runs += 1;
        self.minute += 1;
        let facts = [
            ("driver", "580.65.06".to_owned()),
            ("sm clock", "1980 MHz".to_owned()),
            ("temperature", format!("{} C", 31 + run)),
        ];
        self.add(Event::RunStarted {
            run,
            kind,
            iteration: match kind {
                RunKind::Baseline | RunKind::Check | RunKind::Experiment => 0,
                RunKind::Iteration => self.rows,
            },
            pid: 4711,
            host: "node-17".to_owned(),
            tried,
            device: Box::new(Device {
                id: "GPU-5f1c2a".to_owned(),
                name: "NVIDIA H200".to_owned(),
                arch: Some("sm_90".to_owned()),
                index: Some(0),
                facts: facts.map(|(name, value)| (name.to_owned(), value)).into(),
                others: Vec::new(),
            }),
            limit: 600,
            tileperf: "0.1.0".to_owned(),
        });
        run
    }

    pub(super) fn end(&mut self, run: u32, end: RunEnd, row: Option<Row>) {
        if row.is_some() {
            self.rows += 1;
        }
        self.add(Event::RunEnded {
            run,
            end,
            row,
            seconds: 38.2 + f64::from(run),
        });
    }

    fn placed(&mut self, run: u32) {
        self.add(Event::Placed {
            run,
            place: Place::Trees,
            why: None,
        });
        self.add(Event::Stage {
            run,
            stage: Stage::Correctness,
            note: None,
        });
    }

    fn tested(&mut self, run: u32, variant: Variant, failures: Vec<Failure>) {
        let passed = ["test_op[8]", "test_op[1024]"].map(str::to_owned).to_vec();
        self.add(Event::Tested {
            run,
            tests: Tests {
                variant,
                search_off: false,
                passed,
                failures,
                skipped: vec!["test_op[fp8]".to_owned()],
                seconds: 4.5,
            },
        });
    }

    /// Iteration 0, timed against itself.
    pub(super) fn baseline(&mut self) {
        let run = self.begin(RunKind::Baseline, None);
        self.placed(run);
        self.tested(run, Variant::Base, Vec::new());
        let noise = (self.configs.iter())
            .map(|config| {
                let estimate = estimate((0.0004, 0.0018), 30);
                let noise = Noise {
                    estimate,
                    per_pair: 0.0043,
                    bias: 0.0,
                    detectable: 0.0021,
                    between: 0.0012,
                    draws: 3,
                };
                (key(&config.id), noise)
            })
            .collect();
        self.add(Event::Noise { run, noise });
        let effects = vec![(0.0004, 0.0018); self.configs.len()];
        let measured = self.measured(&effects);
        self.add(Event::Measured {
            run,
            configurations: measured.clone(),
            versions: BTreeMap::new(),
        });
        self.add(Event::BaselineKept { run });
        let latency = total_latency(&measured, |m| f64::midpoint(m.base, m.candidate));
        let row = Row {
            iteration: 0,
            optimization: "baseline".to_owned(),
            latency_ms: latency.unwrap_or(f64::NAN),
            correctness: match self.plan.fix {
                true => records::Correctness::Fail,
                false => records::Correctness::Pass,
            },
            status: Status::Keep,
        };
        self.end(run, RunEnd::Completed, Some(row));
    }

    /// A baseline that is refused.
    pub(super) fn no_baseline(&mut self, why: &str) {
        let run = self.begin(RunKind::Baseline, None);
        let why = why.to_owned();
        self.end(run, RunEnd::Refused { why }, None);
    }

    /// A change that begins; its run.
    pub(super) fn try_change(&mut self, optimization: &str) -> u32 {
        self.version += 1;
        let tried = Tried {
            optimization: optimization.to_owned(),
            origin: match self.version % 3 {
                0 => Origin::Agent {
                    name: "tuner".to_owned(),
                },
                1 => Origin::User,
                _ => Origin::Playbook {
                    id: "H".to_owned(),
                    variant: "exp2".to_owned(),
                },
            },
            proposed: self.version % 3 == 2,
            base: self.session().base,
            candidate: self.files(self.version),
            environment: BTreeMap::new(),
            ignored: Vec::new(),
        };
        let run = self.begin(RunKind::Iteration, Some(tried));
        self.placed(run);
        let reason = "compiled code is not known".to_owned();
        let identity = Identity::Unknown { reason };
        self.add(Event::Compared { run, identity });
        run
    }

    fn measured(&self, effects: &[Effect]) -> Vec<Measured> {
        let session = self.session();
        (self.configs.iter().zip(effects))
            .map(|(config, effect)| {
                let key = key(&config.id);
                let base = session.current().and_then(|r| {
                    let measured = r.measured.iter().find(|m| m.key == key)?;
                    Some(measured.candidate)
                });
                let base = base.unwrap_or(config.cost);
                let pairs = if effect.1 > 0.004 { 120 } else { 30 };
                let evidence = Evidence {
                    estimate: estimate(*effect, pairs),
                    detectable: session.noise(&key).map_or(0.002, |n| n.detectable),
                    more: false,
                    floor: None,
                };
                Measured {
                    key,
                    weight: 1.0,
                    base,
                    candidate: base * effect.0.exp(),
                    is_time: config.is_time,
                    verdict: judge(&evidence),
                }
            })
            .collect()
    }

    /// An experiment with these effects and failing tests.
    pub(super) fn experiment(&mut self, name: &str, effects: &[Effect], failures: Vec<Failure>) {
        let base = self.session().base;
        let tried = Tried {
            optimization: name.to_owned(),
            origin: Origin::User,
            proposed: false,
            base: base.clone(),
            candidate: base,
            environment: BTreeMap::new(),
            ignored: Vec::new(),
        };
        let run = self.begin(RunKind::Experiment, Some(tried));
        let tests = failures.iter().map(|f| f.test.clone()).collect();
        self.tested(run, Variant::Candidate, failures);
        let measured = self.measured(effects);
        self.add(Event::Measured {
            run,
            configurations: measured.clone(),
            versions: BTreeMap::new(),
        });
        let mut candidate = Candidate {
            correctness: Correctness::Passed,
            configurations: measured.iter().map(Measured::judged).collect(),
            sets: SetComparison {
                common: measured.iter().map(|m| m.key.clone()).collect(),
                changes: Vec::new(),
                unmeasured: Vec::new(),
            },
            against_start: None,
        };
        let decision = decide(&candidate);
        candidate.correctness = Correctness::Failed { tests };
        self.add(Event::Found {
            run,
            candidate: Box::new(candidate),
            decision: Box::new(decision),
        });
        self.end(run, RunEnd::Completed, None);
    }

    /// A change that passes its tests and is timed: what the rules say.
    pub(super) fn timed(&mut self, optimization: &str, effects: &[Effect]) -> u32 {
        self.timed_with(optimization, effects, Vec::new())
    }

    /// Likewise, with configurations that only one side has.
    pub(super) fn timed_with(
        &mut self,
        optimization: &str,
        effects: &[Effect],
        changes: Vec<(Key, Change)>,
    ) -> u32 {
        let run = self.try_change(optimization);
        self.tested(run, Variant::Candidate, Vec::new());
        let measured = self.measured(effects);
        self.add(Event::Measured {
            run,
            configurations: measured.clone(),
            versions: BTreeMap::new(),
        });
        let candidate = Candidate {
            correctness: Correctness::Passed,
            configurations: measured.iter().map(Measured::judged).collect(),
            sets: SetComparison {
                common: measured.iter().map(|m| m.key.clone()).collect(),
                changes,
                unmeasured: Vec::new(),
            },
            against_start: None,
        };
        let decision = decide(&candidate);
        let ratio = total_latency(&measured, |m| m.candidate / m.base);
        self.decided(run, candidate, decision, ratio.unwrap_or(1.0));
        run
    }

    /// A change with wrong results.
    pub(super) fn wrong(&mut self, optimization: &str, failure: Failure) {
        let run = self.try_change(optimization);
        let tests = vec![failure.test.clone()];
        self.tested(run, Variant::Candidate, vec![failure]);
        let candidate = Candidate {
            correctness: Correctness::Failed { tests },
            configurations: Vec::new(),
            sets: SetComparison::default(),
            against_start: None,
        };
        let decision = decide(&candidate);
        self.decided(run, candidate, decision, 1.0);
    }

    /// The first right code of a session that corrects.
    pub(super) fn fixed(&mut self, optimization: &str) {
        let run = self.try_change(optimization);
        self.tested(run, Variant::Candidate, Vec::new());
        let effects = vec![(0.31, 0.002); self.configs.len()];
        let configurations = self.measured(&effects);
        self.add(Event::Measured {
            run,
            configurations,
            versions: BTreeMap::new(),
        });
        let candidate = Candidate {
            correctness: Correctness::Passed,
            configurations: Vec::new(),
            sets: SetComparison::default(),
            against_start: None,
        };
        let decision = decide_fix(&candidate.correctness);
        self.decided(run, candidate, decision, 0.31f64.exp());
    }

    fn decided(&mut self, run: u32, candidate: Candidate, decision: Decision, ratio: f64) {
        let session = self.session();
        let tried = session.runs[run as usize].tried.as_ref();
        let row = Row {
            iteration: self.rows,
            optimization: tried.expect("a change").optimization.clone(),
            latency_ms: session.latency().unwrap_or(f64::NAN) * ratio,
            correctness: match candidate.correctness {
                Correctness::Passed => records::Correctness::Pass,
                _ => records::Correctness::Fail,
            },
            status: decision.status(),
        };
        let keeps = decision.keeps();
        self.add(Event::Decided {
            run,
            candidate: Box::new(candidate),
            decision: Box::new(decision),
        });
        self.add(match keeps {
            true => Event::Kept {
                run,
                commit: Some(format!("{:02x}c0ffee{run:032x}", 0xa0 + run)),
            },
            false => Event::Reverted { run },
        });
        self.end(run, RunEnd::Completed, Some(row));
    }

    /// A change that breaks its process.
    pub(super) fn crashed(&mut self, optimization: &str, why: &str) {
        let run = self.try_change(optimization);
        let row = Row {
            iteration: self.rows,
            optimization: optimization.to_owned(),
            latency_ms: self.session().latency().unwrap_or(f64::NAN),
            correctness: records::Correctness::Fail,
            status: Status::Crash,
        };
        self.add(Event::Reverted { run });
        let why = why.to_owned();
        self.end(run, RunEnd::Crashed { why }, Some(row));
    }

    /// Takes a kept iteration back; what the files are after that is given by its version.
    pub(super) fn undone(&mut self, iteration: u32, version: u32) {
        let base = self.files(version);
        self.add(Event::Undone {
            iteration,
            commit: Some(format!("{:040x}", 0xdead_u64)),
            base,
        });
    }
}

/// The key of a configuration.
pub(super) fn key(id: &str) -> Key {
    Key {
        configuration: id.into(),
        backend: "cutile".into(),
        direction: Direction::Forward,
    }
}

fn estimate((effect, half): Effect, pairs: usize) -> Estimate {
    Estimate {
        effect,
        low: effect - half,
        high: effect + half,
        level: 0.9875,
        standard_error: half / 2.6,
        pairs,
        blocks: pairs / 2,
        dropped: usize::from(pairs > 30),
        method: Method::Bootstrap,
    }
}
