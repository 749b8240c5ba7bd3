//! The checks of one part: run, shown as they go, counted.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use super::count::Count;
use crate::tool::{Done, Tool};

/// Lines of a failed program's output that are shown; its log has the rest.
const TAIL: usize = 40;

/// The checks of one part.
pub(super) struct Checks {
    /// Where logs go. Made when the first is written.
    folder: PathBuf,
    count: Count,
}

impl Checks {
    pub(super) fn new(folder: PathBuf) -> Self {
        // What an earlier run left would be taken for this one's.
        let _ = std::fs::remove_dir_all(&folder);
        Self {
            folder,
            count: Count::default(),
        }
    }

    pub(super) fn passed(&self) -> u32 {
        self.count.passed
    }

    pub(super) fn failed(&self) -> u32 {
        self.count.failed
    }

    /// Where the artefacts of this part go.
    pub(super) fn folder(&self) -> PathBuf {
        self.folder.clone()
    }

    /// Counts a failure that no program reported.
    pub(super) fn fail(&mut self, reason: &str) {
        self.count.failed += 1;
        println!("  FAILED {reason}");
    }

    /// Counts a check that this program has made itself.
    pub(super) fn check(&mut self, name: &str, failure: Option<String>) {
        match failure {
            None => {
                self.count.passed += 1;
                println!("  {name}: ok");
            }
            Some(reason) => self.fail(&format!("{name}: {reason}")),
        }
    }

    /// Runs a program that is one check. Returns what it said if it passed.
    ///
    /// # Errors
    /// No program can be started here.
    pub(super) fn step(&mut self, name: &str, tool: &Tool) -> anyhow::Result<Option<Done>> {
        self.counted(name, tool, |done| Count::one(done.success()))
    }

    /// Runs a program that is no check by itself, such as a download; failing counts all the same.
    ///
    /// # Errors
    /// No program can be started here.
    pub(super) fn set_up(&mut self, name: &str, tool: &Tool) -> anyhow::Result<Option<Done>> {
        self.counted(name, tool, |_| Count::default())
    }

    /// Runs a program whose output says how many checks it made. Returns what it said if all passed.
    ///
    /// # Errors
    /// No program can be started here.
    pub(super) fn counted(
        &mut self,
        name: &str,
        tool: &Tool,
        count: impl Fn(&Done) -> Count,
    ) -> anyhow::Result<Option<Done>> {
        print!("  {name} ... ");
        io::stdout().flush()?;
        let started = Instant::now();
        let log = self.folder.join(format!("{}.log", slug(name)));
        let done = tool.log_to(&log)?;
        let mut count = count(&done);
        if !done.success() && count.failed == 0 {
            count.failed = 1;
        }
        self.count.add(count);
        let seconds = started.elapsed().as_secs_f64();
        let ok = count.failed == 0;
        let word = if ok { "ok" } else { "FAILED" };
        let counts = match count.passed + count.failed {
            0 | 1 => String::new(),
            _ => format!(", {} passed, {} failed", count.passed, count.failed),
        };
        println!("{word} ({seconds:.1} s{counts})");
        if ok {
            return Ok(Some(done));
        }
        println!(
            "    it {}; its last lines, all of them in {}:",
            done.ended,
            log.display()
        );
        for line in done.tail(TAIL) {
            println!("    | {line}");
        }
        Ok(None)
    }
}

/// A file name from a title.
fn slug(title: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    let slug: String = title.chars().map(plain).collect();
    let words = slug.split('-').filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_become_file_names() {
        assert_eq!(slug("Neovim of Debian (forky)"), "neovim-of-debian-forky");
    }
}
