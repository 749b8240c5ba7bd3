//! The folder of a session: journal, file versions, what each run left, and the table.
//!
//! ```text
//! sandbox/perf_results.md                   the table of the session that ran last
//! sandbox/tileperf/<session>/journal.jsonl  the truth
//! sandbox/tileperf/<session>/lock           held by whoever runs the session
//! sandbox/tileperf/<session>/objects/<hash> versions of the changeable files
//! sandbox/tileperf/<session>/runs/003/      patch, logs, JUnit files of a run
//! sandbox/tileperf/<session>/perf_results.md
//! ```

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use tileperf_analysis::digest::sha256;
use tileperf_vcs::{Content, FileVersion, Swap};

use crate::error::Error;
use crate::event::Stored;
use crate::records::{self, Row};

/// Where everything of ours is, relative to a root.
pub const FOLDER: &str = "sandbox/tileperf";
/// The table that people read, relative to a root.
pub const TABLE: &str = "sandbox/perf_results.md";

/// A session's folder.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
    folder: PathBuf,
}

impl Store {
    /// The folder of `session` under `root`. Nothing is made yet.
    pub fn new(root: &Path, session: &str) -> Self {
        Self {
            root: root.to_owned(),
            folder: root.join(FOLDER).join(session),
        }
    }

    /// The sessions under `root` that have a journal, oldest name first.
    pub fn sessions(root: &Path) -> Vec<String> {
        let Ok(entries) = fs::read_dir(root.join(FOLDER)) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .flatten()
            .filter(|e| e.path().join("journal.jsonl").is_file())
            .filter_map(|e| e.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }

    /// The root of the tree the session works in.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The session's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The journal.
    pub fn journal(&self) -> PathBuf {
        self.folder.join("journal.jsonl")
    }

    /// The lock of whoever runs the session.
    pub fn lock(&self) -> PathBuf {
        self.folder.join("lock")
    }

    /// The folder of a run; made if there is none.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn run_folder(&self, run: u32) -> Result<PathBuf, Error> {
        let folder = self.folder.join("runs").join(format!("{run:03}"));
        make_folder(&folder)?;
        Ok(folder)
    }

    /// Makes the folder of the session.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn create(&self) -> Result<(), Error> {
        make_folder(&self.folder.join("objects"))
    }

    /// Keeps a version of a file, flushed to the disk.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn keep(&self, file: &FileVersion) -> Result<Stored, Error> {
        let Some(content) = &file.content else {
            return Ok(Stored {
                path: file.path.clone(),
                hash: None,
                executable: false,
            });
        };
        let hash = sha256(&content.bytes);
        let path = self.object(&hash);
        if !path.is_file() {
            write_durably(&path, &content.bytes)?;
        }
        Ok(Stored {
            path: file.path.clone(),
            hash: Some(hash),
            executable: content.executable,
        })
    }

    /// Gives a version back.
    ///
    /// # Errors
    /// [`Error::Io`] if it is not there or is damaged.
    pub fn get(&self, stored: &Stored) -> Result<FileVersion, Error> {
        let Some(expected) = &stored.hash else {
            return Ok(FileVersion::absent(&stored.path));
        };
        let path = self.object(expected);
        let bytes = fs::read(&path).map_err(|e| Error::io("read", &path, e))?;
        if sha256(&bytes) != *expected {
            let damaged = std::io::Error::other("its content is not what was stored");
            return Err(Error::io("read", &path, damaged));
        }
        Ok(FileVersion::new(
            &stored.path,
            Content {
                bytes,
                executable: stored.executable,
            },
        ))
    }

    /// The exchange of `from` for `to`, file by file; both name the same paths.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn swaps(&self, from: &[Stored], to: &[Stored]) -> Result<Vec<Swap>, Error> {
        let mut swaps = Vec::new();
        for new in to {
            let Some(old) = from.iter().find(|f| f.path == new.path) else {
                continue;
            };
            if old != new {
                swaps.push(Swap {
                    path: new.path.clone(),
                    expected: self.get(old)?.content,
                    new: self.get(new)?.content,
                });
            }
        }
        Ok(swaps)
    }

    /// Writes the table, in the session's folder and where people look for it.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write_table(&self, rows: &[Row]) -> Result<(), Error> {
        let text = records::render(rows);
        let own = self.folder.join("perf_results.md");
        write_durably(&own, text.as_bytes())?;
        write_durably(&self.root.join(TABLE), text.as_bytes())
    }

    fn object(&self, hash: &str) -> PathBuf {
        self.folder.join("objects").join(hash)
    }
}

pub(crate) fn make_folder(folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(|e| Error::io("make the folder", folder, e))
}

/// Writes a file so that after a crash it has the old content or the new one.
pub(crate) fn write_durably(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let failed = |error| Error::io("write", path, error);
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = PathBuf::from(name);
    let written = File::create(&new)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_data()
        })
        .and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written.map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_come_back_as_they_were_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path(), "s");
        store.create().unwrap();
        let files = [
            FileVersion::new("a.py", Content::plain("x = 1\r\n")),
            FileVersion::new("b.sh", Content::executable([0, 255])),
            FileVersion::absent("c.py"),
        ];
        for file in &files {
            let stored = store.keep(file).unwrap();
            assert_eq!(&store.get(&stored).unwrap(), file);
        }
        let stored = store.keep(&files[0]).unwrap();
        let object = store.object(stored.hash.as_ref().unwrap());
        fs::write(object, "x = 2\r\n").unwrap();
        let error = store.get(&stored).unwrap_err().to_string();
        assert!(error.contains("not what was stored"), "{error}");
    }
}
