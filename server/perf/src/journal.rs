//! The append-only file that a session's whole truth is in.
//!
//! One JSON object a line, flushed to the disk before anything that it announces is done. A line
//! that was cut off by a crash is the only kind of damage an append can leave; the next writer cuts
//! it off and the readers skip it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::event::{Entry, Event, SCHEMA};

/// Writes events. Whoever has one also holds the session's lock.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    next: u64,
}

impl Journal {
    /// Opens a journal for appending, made if there is none, and reads what it holds.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Journal`] for a line in its middle that is no event.
    pub fn open(path: &Path) -> Result<(Self, Vec<Entry>), Error> {
        let failed = |error| Error::io("open the journal", path, error);
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .map_err(failed)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(failed)?;
        let whole = memchr::memrchr(b'\n', &text).map_or(0, |i| i + 1);
        if whole < text.len() {
            file.set_len(whole as u64).map_err(failed)?;
            file.sync_data().map_err(failed)?;
            text.truncate(whole);
        }
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        let entries = parse(path, &text)?;
        let next = entries.last().map_or(0, |e| e.seq + 1);
        let journal = Self {
            file,
            path: path.to_owned(),
            next,
        };
        Ok((journal, entries))
    }

    /// Appends an event. When this returns, it is on the disk.
    ///
    /// # Errors
    /// [`Error::Io`], a full disk for one. Then nothing of it counts.
    pub fn append(&mut self, event: Event) -> Result<Entry, Error> {
        let entry = Entry {
            schema: SCHEMA,
            seq: self.next,
            at: crate::clock::now(),
            event,
        };
        let before = self.file.metadata().map(|m| m.len()).unwrap_or(0);
        let written = serde_json::to_vec(&entry)
            .and_then(|line| {
                // JSON has no infinity: what cannot be read back must not be written.
                serde_json::from_slice::<Entry>(&line)?;
                Ok(line)
            })
            .map_err(io::Error::other)
            .and_then(|mut line| {
                line.push(b'\n');
                self.file.write_all(&line)?;
                self.file.sync_data()
            });
        if let Err(error) = written {
            // Half a line would be cut off by the next start anyway.
            let _ = self.file.set_len(before);
            return Err(Error::io("write to the journal", &self.path, error));
        }
        self.next += 1;
        Ok(entry)
    }
}

/// Reads a journal that somebody else may be writing.
///
/// # Errors
/// As [`Journal::open`].
pub fn read(path: &Path) -> Result<Vec<Entry>, Error> {
    let text = std::fs::read(path).map_err(|e| Error::io("read the journal", path, e))?;
    let whole = memchr::memrchr(b'\n', &text).map_or(0, |i| i + 1);
    parse(path, &text[..whole])
}

fn parse(path: &Path, text: &[u8]) -> Result<Vec<Entry>, Error> {
    (text.split(|b| *b == b'\n'))
        .enumerate()
        .filter(|(_, line)| !line.is_empty())
        .map(|(number, line)| {
            serde_json::from_slice(line).map_err(|error| Error::Journal {
                path: path.to_owned(),
                line: number + 1,
                why: error.to_string(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(text: &str) -> Event {
        Event::Note {
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_line_that_was_cut_off_is_as_if_never_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let (mut journal, entries) = Journal::open(&path).unwrap();
        assert!(entries.is_empty());
        journal.append(note("one")).unwrap();
        journal.append(note("two")).unwrap();
        let whole = std::fs::read(&path).unwrap();
        let second = memchr::memchr(b'\n', &whole).unwrap() + 1;
        // Killed at any byte: the first event is there, the second is there or not, and the next
        // one is appended to a journal that reads well.
        for cut in second..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let (mut journal, entries) = Journal::open(&path).unwrap();
            let kept = if cut == whole.len() { 2 } else { 1 };
            assert_eq!(entries.len(), kept, "{cut}");
            assert_eq!(read(&path).unwrap(), entries);
            let entry = journal.append(note("three")).unwrap();
            assert_eq!(entry.seq, kept as u64);
            let again = read(&path).unwrap();
            assert_eq!(again.last(), Some(&entry));
        }
    }

    #[test]
    fn what_could_not_be_read_back_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let (mut journal, _) = Journal::open(&path).unwrap();
        let ended = |seconds| Event::RunEnded {
            run: 0,
            end: crate::event::RunEnd::Completed,
            row: None,
            seconds,
        };
        for broken in [f64::NAN, f64::INFINITY] {
            assert!(journal.append(ended(broken)).is_err());
        }
        journal.append(ended(1.0)).unwrap();
        assert_eq!(read(&path).unwrap().len(), 1);
    }

    #[test]
    fn damage_in_the_middle_is_said_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let (mut journal, _) = Journal::open(&path).unwrap();
        journal.append(note("one")).unwrap();
        std::fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap()
            .write_all(b"{}\n")
            .unwrap();
        let error = Journal::open(&path).unwrap_err().to_string();
        assert!(error.contains("line 2"), "{error}");
    }
}
