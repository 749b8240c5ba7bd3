//! `kill -9` at random instants: whatever dies, nothing of the user's is lost, and the next start
//! finishes or undoes what was going on.
//!
//! Each trial drives a session up to one command, kills that command's process or one of its children
//! at an instant that a seed has chosen, and looks at tree, branch, index and journal. Then it goes on
//! as the user would, to the end of the session.

use std::fmt::Write as _;
use std::fs;
use std::time::{Duration, Instant};

use serde_json::Value;
use tileperf_tests::gym::{Gym, Harness, KERNEL, Started};
use tileperf_tests::process::{children, kill};
use tileperf_tests::random::Random;

use crate::{begin, seed, trials};

/// Trials of every day; the evidence makes two hundred.
const TRIALS: u32 = 10;

/// What is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    SetUp,
    Baseline,
    Keep,
    Revert,
    Wrong,
    Undo,
    Finish,
    FinishCommits,
    Abandon,
}

/// Most of the time goes into runs, most of the danger is where branch and files change.
const STEPS: [Step; 12] = [
    Step::SetUp,
    Step::Baseline,
    Step::Keep,
    Step::Keep,
    Step::Revert,
    Step::Revert,
    Step::Wrong,
    Step::Undo,
    Step::Undo,
    Step::Finish,
    Step::FinishCommits,
    Step::Abandon,
];

/// Where the project lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Setting {
    Trees,
    InPlace,
    NoGit,
    Pytest,
}

const SETTINGS: [Setting; 8] = [
    Setting::Trees,
    Setting::Trees,
    Setting::Trees,
    Setting::InPlace,
    Setting::InPlace,
    Setting::NoGit,
    Setting::NoGit,
    Setting::Pytest,
];

const FASTER: (&str, &str) = ("SMALL = 40", "SMALL = 20");
const FASTER_STILL: (&str, &str) = ("LARGE = 80", "LARGE = 40");
const SLOWER: (&str, &str) = ("LARGE = 80", "LARGE = 161");
const WRONG: (&str, &str) = ("offset = 0", "offset = 1");

/// The user's other work, which must come through everything.
const OTHERS: [(&str, &str); 3] = [
    ("staged.txt", "staged, and changed since\n"),
    ("notes.txt", "not added\n"),
    ("mine.secret", "ignored\n"),
];

impl Setting {
    fn make(self) -> Option<Gym> {
        match self {
            Setting::Trees => Gym::new(Harness::Model),
            Setting::Pytest => Gym::new(Harness::Pytest),
            Setting::InPlace => Gym::with_settings(Harness::Model, "perf.place = \"in-place\"\n"),
            Setting::NoGit => Gym::without_git(Harness::Model, ""),
        }
    }

    fn has_git(self) -> bool {
        self != Setting::NoGit
    }
}

#[test]
fn killed_at_random_instants() {
    let mut killed = Tally::default();
    let trials = trials(TRIALS);
    let mut number = 0;
    // One that was over before it was killed proves nothing and is tried again.
    while killed.count < trials {
        let mut random = Random::new(seed() + number);
        number += 1;
        let Some(trial) = Trial::new(&mut random) else {
            return;
        };
        trial.run(&mut random, &mut killed);
    }
    println!(
        "{} killed of {number} tries: {}",
        killed.count,
        killed.sentence()
    );
}

/// What was killed, for the record.
#[derive(Debug, Default)]
struct Tally {
    count: u32,
    what: std::collections::BTreeMap<String, u32>,
}

impl Tally {
    fn add(&mut self, what: &str) {
        self.count += 1;
        *self.what.entry(what.to_owned()).or_default() += 1;
    }

    fn sentence(&self) -> String {
        let mut text = String::new();
        for (what, count) in &self.what {
            let _ = write!(text, "{what} {count}, ");
        }
        text.trim_end_matches(", ").to_owned()
    }
}

struct Trial {
    gym: Gym,
    step: Step,
    setting: Setting,
    /// The kernel before everything.
    start: String,
    /// The index's difference from the commit.
    staged: String,
}

impl Trial {
    fn new(random: &mut Random) -> Option<Self> {
        let step = STEPS[random.below(STEPS.len())];
        let setting = SETTINGS[random.below(SETTINGS.len())];
        let gym = setting.make()?;
        if setting.has_git() {
            gym.write("staged.txt", "staged\n");
            gym.git(&["add", "staged.txt"]);
        }
        for (name, text) in OTHERS {
            gym.write(name, text);
        }
        let mut trial = Self {
            start: gym.kernel(),
            gym,
            step,
            setting,
            staged: String::new(),
        };
        trial.staged = trial.index();
        Some(trial)
    }

    fn index(&self) -> String {
        match self.setting.has_git() {
            true => self.gym.git(&["diff", "--cached"]),
            false => String::new(),
        }
    }

    /// Everything up to the step; gives its command, and the kernel as it is when that starts.
    fn prepare(&self) -> (&'static [&'static str], String) {
        let gym = &self.gym;
        match self.step {
            Step::SetUp => return (&["setup", "--yes"], gym.kernel()),
            Step::Baseline => {
                gym.perf_ok(&["setup", "--yes"]);
                // An edit that waits for its turn.
                gym.edit(&[FASTER]);
                return (&["baseline"], gym.kernel());
            }
            _ => begin(gym),
        }
        let command: &[&str] = match self.step {
            Step::Keep => {
                gym.edit(&[FASTER]);
                &["iterate"]
            }
            Step::Revert => {
                gym.edit(&[SLOWER]);
                &["iterate"]
            }
            Step::Wrong => {
                gym.edit(&[WRONG]);
                &["iterate"]
            }
            _ => {
                gym.edit(&[FASTER]);
                gym.perf_ok(&["iterate"]);
                match self.step {
                    Step::Undo => &["undo"],
                    Step::Finish => &["finish"],
                    Step::FinishCommits => &["finish", "--commits"],
                    _ => &["abandon"],
                }
            }
        };
        (command, gym.kernel())
    }

    fn run(&self, random: &mut Random, tally: &mut Tally) {
        let (command, edited) = self.prepare();
        let gym = &self.gym;
        let before = gym.journal().len();
        let started = gym.start(command);
        let whom = self.strike(&started, before, random);
        let done = started.wait();
        let Some(whom) = whom else { return };
        if whom == "tileperf" && done.code.is_some() {
            // It was over at that very moment.
            return;
        }
        tally.add(whom);
        let context = format!("{self} killed: {whom}\n{done}");
        gym.wait_until_quiet();
        self.check_nothing_lost(&edited, &context);
        self.go_on(command, &edited, &context);
    }

    /// Kills at the instant that chance wants; says what. `None`: it was over before.
    fn strike(
        &self,
        started: &Started,
        before: usize,
        random: &mut Random,
    ) -> Option<&'static str> {
        let whom = ["tileperf", "tileperf", "tileperf", "a child", "everything"][random.below(5)];
        let is_run = matches!(
            self.step,
            Step::Baseline | Step::Keep | Step::Revert | Step::Wrong
        );
        // Half of the time at any instant; else soon after an event, where things are done.
        let began = Instant::now();
        let delay = if random.below(2) == 0 {
            let longest = if is_run { 2_000_000 } else { 60_000 };
            Duration::from_micros(random.below(longest) as u64)
        } else {
            let events = random.below(if is_run { 16 } else { 2 });
            while self.gym.journal().len() < before + events {
                if !started.is_running() || began.elapsed() > Duration::from_secs(60) {
                    return None;
                }
                std::thread::sleep(Duration::from_micros(200));
            }
            Duration::from_micros(random.below(15_000) as u64)
        };
        std::thread::sleep(delay);
        if !started.is_running() {
            return None;
        }
        let offspring = children(started.id());
        match whom {
            "tileperf" => started.kill(),
            "a child" => kill(*offspring.get(random.below(offspring.len().max(1)))?),
            _ => {
                started.kill();
                offspring.into_iter().for_each(kill);
            }
        }
        Some(whom)
    }

    /// What must hold right after the kill, before anything has put it in order.
    fn check_nothing_lost(&self, edited: &str, context: &str) {
        let gym = &self.gym;
        let kernel = gym.kernel();
        let kept = self.kept_copies();
        // In place, a variant stands in the user's tree; never half a file, and never the only copy.
        let known = kernel == self.start || kernel == edited;
        assert!(
            known,
            "the kernel is none of its versions: {kernel}\n{context}"
        );
        let safe = kernel == *edited || kept.iter().any(|copy| copy == edited);
        let ended = matches!(self.step, Step::SetUp | Step::Baseline);
        assert!(
            safe || ended && kernel == *edited,
            "the edit is gone\n{context}"
        );
        for (name, text) in OTHERS {
            assert_eq!(gym.read(name), text, "{name}\n{context}");
        }
        let entries = gym.journal();
        let orderly = entries.iter().enumerate().all(|(n, e)| e["seq"] == n);
        assert!(orderly, "the journal is out of order\n{context}");
    }

    /// The versions that the session's store holds.
    fn kept_copies(&self) -> Vec<String> {
        let mut copies = Vec::new();
        for session in self.gym.sessions() {
            let objects = fs::read_dir(session.join("objects"));
            for object in objects.into_iter().flatten().flatten() {
                copies.extend(fs::read_to_string(object.path()));
            }
        }
        copies
    }

    /// Goes on as a user would who sees that it was interrupted, to the end of the session.
    fn go_on(&self, command: &[&str], edited: &str, context: &str) {
        let gym = &self.gym;
        let again = match self.step {
            Step::SetUp => {
                // It may have got so far that there is a session.
                let alive = gym.perf(&["resume"]).code == Some(0);
                if !alive {
                    gym.perf_ok(command);
                }
                gym.perf(&["baseline"])
            }
            Step::Baseline => gym.perf(&["baseline"]),
            Step::Keep | Step::Revert | Step::Wrong => {
                let resumed = gym.perf(&["resume"]);
                assert_eq!(resumed.code, Some(0), "resume: {resumed}\n{context}");
                self.check_in_order(context);
                let tried = gym.kernel() == *edited;
                let done = gym.perf(command);
                // Kept or taken back already: there is nothing to try.
                if tried && self.step != Step::Keep {
                    assert_eq!(gym.kernel(), self.start, "{done}\n{context}");
                }
                done
            }
            _ => gym.perf(command),
        };
        let fine = match self.step {
            Step::Keep => matches!(again.code, Some(0 | 1)),
            Step::Revert | Step::Wrong => again.code == Some(1),
            // It may have been done, or be over.
            Step::Finish | Step::FinishCommits | Step::Abandon | Step::Undo => {
                again.code == Some(0)
                    || again.stderr.contains("there is no session")
                    || again.stderr.contains("no iteration is kept")
            }
            _ => again.code == Some(0),
        };
        assert!(fine, "again: {again}\n{context}");
        self.check_in_order(&format!("{again}\n{context}"));
        match self.step {
            Step::Finish | Step::FinishCommits => self.check_finished(edited, context),
            Step::Abandon => self.check_abandoned(context),
            Step::Undo => {
                assert_eq!(gym.kernel(), self.start, "{again}\n{context}");
                self.finish(FASTER_STILL, context);
            }
            // A change whose process was killed counts as one that broke.
            Step::Keep if gym.last("run_ended")["end"]["ended"] == "crashed" => {
                assert_eq!(gym.kernel(), self.start, "{again}\n{context}");
                self.finish(FASTER_STILL, context);
            }
            Step::Keep => {
                assert_eq!(gym.kernel(), *edited, "{again}\n{context}");
                self.finish(FASTER_STILL, context);
            }
            Step::SetUp | Step::Revert | Step::Wrong => self.finish(FASTER, context),
            Step::Baseline => {
                assert_eq!(gym.kernel(), *edited, "{again}\n{context}");
                self.finish(FASTER_STILL, context);
            }
        }
    }

    /// One more change is kept and the session finished.
    fn finish(&self, change: (&str, &str), context: &str) {
        let gym = &self.gym;
        gym.edit(&[change]);
        let wanted = gym.kernel();
        let kept = gym.perf(&["iterate"]);
        assert_eq!(kept.code, Some(0), "one more: {kept}\n{context}");
        let finished = gym.perf(&["finish"]);
        assert_eq!(finished.code, Some(0), "finish: {finished}\n{context}");
        self.check_finished(&wanted, context);
    }

    fn check_finished(&self, wanted: &str, context: &str) {
        let gym = &self.gym;
        assert_eq!(gym.kernel(), wanted, "{context}");
        if self.setting.has_git() {
            let committed = gym.git(&["show", &format!("main:{KERNEL}")]);
            assert_eq!(committed, wanted.trim_end(), "{context}");
            self.check_back(context);
        }
    }

    fn check_abandoned(&self, context: &str) {
        assert_eq!(self.gym.kernel(), self.start, "{context}");
        if self.setting.has_git() {
            assert_eq!(
                self.gym.git(&["rev-list", "--count", "main"]),
                "1",
                "{context}"
            );
            self.check_back(context);
        }
    }

    /// On the branch of the beginning, with everything else as it was.
    fn check_back(&self, context: &str) {
        let gym = &self.gym;
        assert_eq!(
            gym.git(&["symbolic-ref", "--short", "HEAD"]),
            "main",
            "{context}"
        );
        let status = ["AM staged.txt", "?? notes.txt"];
        assert_eq!(gym.status(), status, "{context}");
        let trees = gym.git(&["worktree", "list", "--porcelain"]);
        assert_eq!(trees.matches("worktree ").count(), 1, "{trees}\n{context}");
    }

    /// What must hold whenever tileperf has brought order into things.
    fn check_in_order(&self, context: &str) {
        let gym = &self.gym;
        let status = gym.perf(&["status", "--format", "json"]);
        assert_eq!(status.code, Some(0), "{status}\n{context}");
        for line in status.stdout.lines() {
            let session: Value = serde_json::from_str(line).expect("an object");
            assert!(session["running"].is_null(), "{session}\n{context}");
        }
        let open = gym
            .journal()
            .into_iter()
            .fold(0, |open, e| match e["event"].as_str() {
                Some("run_started") => open + 1,
                Some("run_ended") => open - 1,
                _ => open,
            });
        assert_eq!(open, 0, "a run is open\n{context}");
        for (name, text) in OTHERS {
            assert_eq!(gym.read(name), text, "{name}\n{context}");
        }
        if !self.setting.has_git() {
            return;
        }
        assert_eq!(
            self.index(),
            self.staged,
            "the index is not as it was\n{context}"
        );
        let check = gym.git_output(&["fsck", "--strict", "--no-dangling"]);
        assert!(check.status.success(), "{check:?}\n{context}");
        let locks = fs::read_dir(gym.root().join(".git"))
            .into_iter()
            .flatten()
            .flatten();
        let locks: Vec<_> = locks
            .map(|entry| entry.file_name())
            .filter(|name| name.to_string_lossy().ends_with(".lock"))
            .collect();
        assert!(locks.is_empty(), "{locks:?} are left\n{context}");
    }
}

impl std::fmt::Display for Trial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let journal: Vec<String> = (self.gym.journal().iter())
            .map(|e| {
                let stage = e["stage"]
                    .as_str()
                    .map(|s| format!("({s})"))
                    .unwrap_or_default();
                format!("{}{stage}", e["event"].as_str().unwrap_or_default())
            })
            .collect();
        write!(
            f,
            "{:?} {:?}: {}",
            self.step,
            self.setting,
            journal.join(" ")
        )
    }
}
