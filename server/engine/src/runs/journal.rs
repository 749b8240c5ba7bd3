//! One journal that somebody else may be writing: read as it grows, never twice.
//!
//! A journal of a long session is megabytes, and it is looked at several times a second while a run
//! goes on. So only what is behind the last whole line is read. A journal that was cut, replaced or
//! written anew is noticed and read from its beginning.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

use jiff::Timestamp;
use tileperf_perf::Session;
use tileperf_perf::event::{Entry, Event, Tests};

/// What of a journal is read, and what it adds up to.
#[derive(Debug, Default)]
pub(super) struct Followed {
    /// The session; none before the first whole line.
    pub(super) session: Option<Session>,
    /// What the session does not keep.
    pub(super) aside: Aside,
    /// Counts readings that found something.
    pub(super) revision: u64,
    /// Why the journal cannot be read, for people.
    pub(super) damage: Option<String>,
    stamp: Option<Stamp>,
    /// Bytes taken in, up to the end of a line.
    read: u64,
    next: u64,
}

/// What of the events is shown and not kept in a [`Session`].
#[derive(Debug, Default, Clone)]
pub(super) struct Aside {
    /// Seconds that the last run may take.
    pub(super) limit: u64,
    /// A few words on its stage.
    pub(super) note: Option<String>,
    /// When its last tests ended.
    pub(super) tested: Option<SystemTime>,
    /// When measurements ended, by run.
    pub(super) measured: Vec<(u32, String)>,
    /// When something last happened.
    pub(super) last: Option<Timestamp>,
}

/// Tells whether a file may have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    file: u64,
    len: u64,
    modified: (i64, i64),
}

impl Followed {
    /// Takes in what is new. A journal that cannot be read keeps what was known of it.
    pub(super) fn refresh(&mut self, path: &Path) {
        match self.look(path) {
            Ok(()) => {}
            Err(error) => self.damage = Some(format!("{}: {error}", path.display())),
        }
    }

    fn look(&mut self, path: &Path) -> io::Result<()> {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        let stamp = Stamp {
            file: metadata.ino(),
            len: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        };
        if self.stamp == Some(stamp) {
            return Ok(());
        }
        let same_file = self.stamp.is_none_or(|old| old.file == stamp.file);
        if !same_file || stamp.len < self.read {
            self.forget();
        }
        let taken = match self.take_in(&mut file, true) {
            Ok(true) => Ok(()),
            // Written anew with other content: what was read is not its beginning.
            _ => {
                self.forget();
                self.take_in(&mut file, false).map(|_| ())
            }
        };
        self.stamp = Some(stamp);
        taken
    }

    fn forget(&mut self) {
        *self = Self {
            revision: self.revision + 1,
            ..Self::default()
        };
    }

    /// Reads on. False if what follows does not continue what was read.
    fn take_in(&mut self, file: &mut File, strictly: bool) -> io::Result<bool> {
        file.seek(SeekFrom::Start(self.read))?;
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        let Some(end) = memchr::memrchr(b'\n', &text) else {
            return Ok(true);
        };
        for line in text[..end].split(|byte| *byte == b'\n') {
            if !line.is_empty() {
                let entry: Entry = serde_json::from_slice(line)?;
                if strictly && entry.seq != self.next {
                    return Ok(false);
                }
                self.apply(&entry);
            }
            self.read += line.len() as u64 + 1;
        }
        self.revision += 1;
        self.damage = None;
        Ok(true)
    }

    fn apply(&mut self, entry: &Entry) {
        self.next = entry.seq + 1;
        match &mut self.session {
            None => self.session = Session::fold(std::slice::from_ref(entry)),
            Some(session) => session.apply(entry),
        }
        let at = entry.at.parse::<Timestamp>().ok();
        let aside = &mut self.aside;
        aside.last = at.or(aside.last);
        match &entry.event {
            Event::RunStarted { limit, .. } => {
                aside.limit = *limit;
                aside.note = None;
                aside.tested = None;
            }
            Event::Stage { note, .. } => aside.note.clone_from(note),
            Event::Tested {
                tests: Tests { failures, .. },
                ..
            } if !failures.is_empty() => aside.tested = at.map(SystemTime::from),
            Event::Measured { run, .. } => aside.measured.push((*run, entry.at.clone())),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const SET_UP: &str = r#"{"schema":1,"seq":0,"at":"2026-11-29T10:00:00Z","event":"set_up","session":"s","root":"/r","plan":{"kernel":"k","file":"k.py","op":null,"files":["k.py"],"test_file":null,"correctness":[],"benchmark":[],"python":"python","place":"auto","repeat":true,"record":true,"limit":600,"device":"cpu"},"git":null,"found":[],"base":[]}"#;

    fn started(seq: u64, limit: u64) -> String {
        format!(
            r#"{{"schema":1,"seq":{seq},"at":"2026-11-29T10:00:01Z","event":"run_started","run":0,"kind":"baseline","iteration":0,"pid":1,"host":"h","tried":null,"device":{{"id":"cpu","name":"CPU"}},"limit":{limit},"tileperf":"0"}}"#
        )
    }

    fn append(path: &Path, text: &str) {
        let mut file = File::options()
            .append(true)
            .create(true)
            .open(path)
            .unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn a_journal_is_read_as_it_grows_whatever_the_cuts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let whole = format!("{SET_UP}\n{}\n", started(1, 60));
        for cut in (1..whole.len()).step_by(37) {
            let _ = std::fs::remove_file(&path);
            let mut followed = Followed::default();
            append(&path, &whole[..cut]);
            followed.refresh(&path);
            append(&path, &whole[cut..]);
            followed.refresh(&path);
            assert_eq!(followed.damage, None, "{cut}");
            let session = followed.session.unwrap();
            assert_eq!((session.runs.len(), followed.aside.limit), (1, 60), "{cut}");
        }
    }

    #[test]
    fn a_journal_that_was_cut_or_replaced_is_read_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let mut followed = Followed::default();
        append(&path, &format!("{SET_UP}\n{}\n", started(1, 60)));
        followed.refresh(&path);
        let before = followed.revision;
        // The append failed after it was read, and was taken back.
        std::fs::write(&path, format!("{SET_UP}\n")).unwrap();
        followed.refresh(&path);
        assert!(followed.revision > before);
        assert!(followed.session.as_ref().unwrap().runs.is_empty());
        // Another session of that name, longer than the first.
        let other = SET_UP.replace(r#""kernel":"k""#, r#""kernel":"another""#);
        let text = format!("{other}\n{}\n{}\n", started(1, 5), started(2, 7));
        std::fs::write(&path, text).unwrap();
        followed.refresh(&path);
        assert_eq!(followed.session.as_ref().unwrap().plan.kernel, "another");
        assert_eq!(followed.aside.limit, 7);
    }

    #[test]
    fn damage_is_said_and_what_was_known_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let mut followed = Followed::default();
        append(&path, &format!("{SET_UP}\n"));
        followed.refresh(&path);
        append(&path, "{}\n");
        followed.refresh(&path);
        assert!(followed.damage.unwrap().contains("journal.jsonl"));
        assert!(followed.session.is_some());
    }
}
