//! What a session has left: its journal and the table.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Gym, PATIENCE};

impl Gym {
    /// The folders of the sessions, by name.
    pub fn sessions(&self) -> Vec<PathBuf> {
        let folders = fs::read_dir(self.root.join("sandbox/tileperf"));
        let mut found: Vec<PathBuf> = folders
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.join("journal.jsonl").is_file())
            .collect();
        found.sort();
        found
    }

    /// The folder of the only session.
    ///
    /// # Panics
    /// There is none, or more than one.
    pub fn session(&self) -> PathBuf {
        let mut sessions = self.sessions();
        assert_eq!(sessions.len(), 1, "{sessions:?}");
        sessions.remove(0)
    }

    /// The events of the last session; a line that is being written is not one yet.
    ///
    /// # Panics
    /// A line is no JSON.
    pub fn journal(&self) -> Vec<Value> {
        let Some(folder) = self.sessions().pop() else {
            return Vec::new();
        };
        let text = fs::read_to_string(folder.join("journal.jsonl")).unwrap_or_default();
        text.split_inclusive('\n')
            .filter(|line| line.ends_with('\n'))
            .map(|line| serde_json::from_str(line).expect("an event"))
            .collect()
    }

    /// Events of one kind in the last session.
    pub fn events(&self, kind: &str) -> Vec<Value> {
        let mut events = self.journal();
        events.retain(|event| event["event"] == kind);
        events
    }

    /// The last event of one kind.
    ///
    /// # Panics
    /// There is none.
    pub fn last(&self, kind: &str) -> Value {
        let found = self.events(kind).pop();
        found.unwrap_or_else(|| panic!("no {kind} in {:#?}", self.journal()))
    }

    /// Waits until the last session's journal says something.
    ///
    /// # Panics
    /// It does not within two minutes.
    pub fn wait_until(&self, what: &str, says: impl Fn(&Value) -> bool) {
        let began = Instant::now();
        while !self.journal().iter().any(&says) {
            assert!(
                began.elapsed() < PATIENCE,
                "waited for {what}: {:#?}",
                self.journal()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The table's rows, each with its five cells.
    ///
    /// # Panics
    /// The table is not of the form that other tools rely on.
    pub fn rows(&self) -> Vec<[String; 5]> {
        let text = self.read("sandbox/perf_results.md");
        let mut lines = text.lines();
        let header = "| iteration | optimization       | latency_ms | correctness | status |";
        let rule = "|----------:|:-------------------|-----------:|:------------|-------:|";
        assert_eq!(lines.next(), Some(header));
        assert_eq!(lines.next(), Some(rule));
        lines
            .map(|line| {
                let cells: Vec<String> = line.split('|').map(|c| c.trim().to_owned()).collect();
                let five = cells.get(1..6).filter(|_| cells.len() == 7);
                let five = five.unwrap_or_else(|| panic!("not five cells: {line}"));
                std::array::from_fn(|index| five[index].clone())
            })
            .collect()
    }

    /// The last row's iteration, correctness and status.
    ///
    /// # Panics
    /// There is no row.
    pub fn last_row(&self) -> String {
        let rows = self.rows();
        let [iteration, _, _, correctness, status] = rows.last().expect("a row");
        format!("{iteration} {correctness} {status}")
    }
}
