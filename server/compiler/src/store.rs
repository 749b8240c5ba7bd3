//! What was compiled before, on disk: the next start of an editor, and another window, need not wait
//! for it again.
//!
//! A key is the program without its lines, the architecture, the compiler and the level of
//! optimization. Places are kept as "the n-th of the bytecode" and become lines again with the
//! bytecode of the moment. The oldest entries go when it grows too large. Nothing in it is precious:
//! an entry that cannot be read or written is as good as none.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tileperf_analysis::arch::Arch;
use tileperf_analysis::digest::hex;

use crate::bytecode;
use crate::cubin::Cubin;
use crate::remarks::{Remark, Remarks, Site};

/// Changes when entries of before mean something else.
const LAYOUT: &str = "1";
/// Bytes, unless said otherwise.
const DEFAULT_LIMIT: u64 = 512 << 20;
/// How often the size is looked at: on the first write, then on every one of so many.
const EVERY: u32 = 16;

/// Which program for what.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key(String);

impl Key {
    /// `compiler` is [`Tileiras::identity`](crate::tileiras::Tileiras::identity).
    #[must_use]
    pub fn of(bytecode: &[u8], arch: Arch, compiler: &str, opt_level: u8) -> Self {
        let mut hash = Sha256::new();
        hash.update(bytecode::program_hash(bytecode));
        hash.update(format!("\n{LAYOUT}\n{arch}\n{compiler}\n{opt_level}"));
        Self(hex(&hash.finalize()[..20]))
    }
}

/// What is kept of a compile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Entry {
    /// It compiled.
    Compiled {
        /// What was read from the file.
        cubin: Cubin,
        /// What the compiler said.
        remarks: Option<Remarks>,
        /// How long it took.
        seconds: f64,
    },
    /// The compiler refused it.
    Refused {
        /// In its words.
        message: String,
        /// The place that it named.
        place: Option<Site>,
    },
}

/// An entry as it is written: for each of its sites, the number of that place in the bytecode.
#[derive(Serialize, Deserialize)]
struct Written {
    entry: Entry,
    places: Vec<Option<usize>>,
}

/// The cache of a folder.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    limit: u64,
    writes: AtomicU32,
    /// The last write failed, and that was said.
    fails: AtomicBool,
}

impl Store {
    /// The cache below tileperf's cache folder. Nothing is touched before the first write.
    #[must_use]
    pub fn in_cache(cache: &Path) -> Self {
        Self::with_limit(&cache.join("compiled"), DEFAULT_LIMIT)
    }

    /// A cache that keeps at most so many bytes.
    #[must_use]
    pub fn with_limit(folder: &Path, limit: u64) -> Self {
        Self {
            folder: folder.to_owned(),
            limit,
            writes: AtomicU32::new(0),
            fails: AtomicBool::new(false),
        }
    }

    /// What is known of a program, at the places of this bytecode of it.
    #[must_use]
    pub fn get(&self, key: &Key, bytecode: &[u8]) -> Option<Entry> {
        let path = self.path(key, "json");
        let text = fs::read(&path).ok()?;
        let written: Written = serde_json::from_slice(&text).ok()?;
        // Used is young. Of no consequence if the folder is read-only.
        if let Ok(file) = fs::File::options().append(true).open(&path) {
            let _ = file.set_modified(SystemTime::now());
        }
        let places = bytecode::places(bytecode);
        let mut numbers = written.places.into_iter();
        let place = |_: Site| places.get(numbers.next()??).cloned();
        Some(with_sites(written.entry, place))
    }

    /// The compiled file of a program, if it is still there.
    #[must_use]
    pub fn cubin(&self, key: &Key) -> Option<Vec<u8>> {
        fs::read(self.path(key, "cubin")).ok()
    }

    /// Keeps what came out. A failure to write is logged, once until it works again: a full disk costs
    /// time, not results.
    pub fn put(&self, key: &Key, bytecode: &[u8], entry: &Entry, cubin: Option<&[u8]>) {
        let Err(error) = self.write(key, bytecode, entry, cubin) else {
            self.fails.store(false, Ordering::Relaxed);
            return;
        };
        if !self.fails.swap(true, Ordering::Relaxed) {
            tracing::warn!(folder = %self.folder.display(), %error, "compiles cannot be kept");
        }
    }

    fn write(
        &self,
        key: &Key,
        bytecode: &[u8],
        entry: &Entry,
        cubin: Option<&[u8]>,
    ) -> std::io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let places = bytecode::places(bytecode);
        let mut numbers = Vec::new();
        let entry = with_sites(entry.clone(), |site| {
            numbers.push(places.iter().position(|place| *place == site));
            Some(site)
        });
        let written = Written {
            entry,
            places: numbers,
        };
        // The file first: an entry promises it.
        if let Some(cubin) = cubin {
            self.persist(key, "cubin", cubin)?;
        }
        self.persist(key, "json", &serde_json::to_vec(&written)?)?;
        if self
            .writes
            .fetch_add(1, Ordering::Relaxed)
            .is_multiple_of(EVERY)
        {
            self.shrink()?;
        }
        Ok(())
    }

    /// Whole or not at all: another window may read at this moment.
    fn persist(&self, key: &Key, extension: &str, bytes: &[u8]) -> std::io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(bytes)?;
        file.persist(self.path(key, extension))?;
        Ok(())
    }

    fn path(&self, key: &Key, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", key.0))
    }

    /// Removes the files that were not used for longest, down to nine tenths of the limit.
    fn shrink(&self) -> std::io::Result<()> {
        let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.folder)?.flatten() {
            // One that goes away meanwhile is what was wanted.
            if let Ok(data) = entry.metadata() {
                files.push((data.modified()?, data.len(), entry.path()));
            }
        }
        let mut total: u64 = files.iter().map(|(_, size, _)| size).sum();
        if total <= self.limit {
            return Ok(());
        }
        files.sort();
        for (_, size, path) in files {
            if total <= self.limit / 10 * 9 {
                break;
            }
            let _ = fs::remove_file(path);
            total = total.saturating_sub(size);
        }
        Ok(())
    }
}

/// The entry with every site replaced, in a fixed order.
fn with_sites(mut entry: Entry, mut replace: impl FnMut(Site) -> Option<Site>) -> Entry {
    match &mut entry {
        Entry::Refused { place, .. } => *place = place.take().and_then(replace),
        Entry::Compiled { remarks, .. } => {
            let all = remarks.iter_mut().flat_map(|remarks| &mut remarks.all);
            for Remark { site, .. } in all {
                *site = site.take().and_then(&mut replace);
            }
        }
    }
    entry
}

#[cfg(test)]
mod tests;
