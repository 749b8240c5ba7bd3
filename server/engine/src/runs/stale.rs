//! Whether the present text is what was measured.
//!
//! The journal has a hash of every file that a change may touch. The present text is the editor's
//! where it has the file open, else the disk's. During a run base and candidate are both what is being
//! measured: in place, they take turns in the user's tree.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use tileperf_analysis::digest::sha256;
use tileperf_perf::Session;
use tileperf_perf::event::Stored;

use crate::DocId;
use crate::engine::Shared;
use crate::stamped::Stamp;

/// The mark that some editors put at the start of a file and do not send as part of its text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A file as it was last read.
#[derive(Debug, Clone)]
pub(super) struct OnDisk {
    stamp: Stamp,
    pub(super) bytes: Arc<[u8]>,
    hash: Arc<str>,
}

/// The files that notes depend on, read again only when they have changed.
#[derive(Debug, Default)]
pub(crate) struct Disk {
    files: HashMap<PathBuf, OnDisk>,
}

impl Disk {
    /// A file as it is; nothing if there is none.
    pub(super) fn read(&mut self, path: &Path) -> Option<OnDisk> {
        let file = self.look(path);
        if file.is_none() {
            self.files.remove(path);
        }
        file
    }

    fn look(&mut self, path: &Path) -> Option<OnDisk> {
        let stamp = Stamp::of(path).ok()?;
        if let Some(known) = self.files.get(path).filter(|known| known.stamp == stamp) {
            return Some(known.clone());
        }
        let bytes: Arc<[u8]> = std::fs::read(path).ok()?.into();
        let file = OnDisk {
            stamp,
            hash: sha256(&bytes).into(),
            bytes,
        };
        self.files.insert(path.to_owned(), file.clone());
        Some(file)
    }

    /// Forgets the files that nobody asks for any more.
    pub(super) fn keep_only(&mut self, used: impl Fn(&Path) -> bool) {
        self.files.retain(|path, _| used(path));
    }
}

impl OnDisk {
    /// When it was written last.
    pub(super) fn modified(&self) -> SystemTime {
        self.stamp.modified
    }

    /// Whether an editor's text of the file is what is on the disk.
    pub(super) fn is(&self, text: &str) -> bool {
        is_same(&self.bytes, text)
    }
}

/// Whether an editor's text of a file is what is on the disk now.
pub(super) fn is_on_disk(path: &Path, text: &str) -> bool {
    std::fs::read(path).is_ok_and(|bytes| is_same(&bytes, text))
}

/// The hash of what is on the disk now; nothing if there is no such file.
pub(super) fn hash_of(path: &Path) -> Option<String> {
    std::fs::read(path).ok().map(sha256)
}

/// The hash of a text of a file, as [`present`] gives it while that is its text.
pub(crate) fn hash_of_text(path: &Path, text: &str) -> String {
    let on_disk = std::fs::read(path).ok();
    let same = on_disk.filter(|bytes| is_same(bytes, text));
    same.map_or_else(|| sha256(text), sha256)
}

fn is_same(bytes: &[u8], text: &str) -> bool {
    let unmarked = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    text.as_bytes() == bytes || text.as_bytes() == unmarked
}

/// Why the present text below `root` is not what was measured; nothing if it is. `held`: a process
/// runs the session.
pub(super) fn why(
    shared: &Shared,
    disk: &mut Disk,
    root: &Path,
    session: &Session,
    held: bool,
) -> Option<String> {
    if !session.has_baseline() {
        return None;
    }
    let open = session.open_run().filter(|_| held);
    let candidate = open.and_then(|run| Some(&run.tried.as_ref()?.candidate));
    for measured in &session.base {
        let path = root.join(&measured.path);
        let present = present(shared, disk, &path);
        let fits = |stored: &Stored| stored.hash.as_deref() == present.as_deref();
        let tried = candidate.and_then(|files| files.iter().find(|f| f.path == measured.path));
        if !fits(measured) && !tried.is_some_and(fits) {
            let name = measured.path.file_name().unwrap_or_default();
            let name = name.to_string_lossy();
            return Some(match present {
                Some(_) => format!("{name} is not what was measured"),
                None => format!("{name} is not there any more"),
            });
        }
    }
    None
}

/// The hash of a file's present text.
pub(super) fn present(shared: &Shared, disk: &mut Disk, path: &Path) -> Option<Arc<str>> {
    let on_disk = disk.read(path);
    let doc = shared
        .docs
        .get(&DocId::file(path))
        .map(|doc| Arc::clone(&doc));
    match (doc, on_disk) {
        (Some(doc), Some(file)) => {
            let (_, text) = doc.text();
            Some(match file.is(text.as_str()) {
                true => file.hash,
                false => sha256(text.as_str()).into(),
            })
        }
        (Some(doc), None) => Some(sha256(doc.text().1.as_str()).into()),
        (None, file) => file.map(|file| file.hash),
    }
}
