//! What was read of files, kept until one of them changes: a lightbulb asks again at every move of the
//! cursor.

use std::collections::HashMap;
use std::hash::Hash;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use parking_lot::Mutex;

/// A file as it was when it was looked at. One that is replaced by another of the same size within the
/// clock's step is told by its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) path: PathBuf,
    pub(crate) modified: SystemTime,
    pub(crate) size: u64,
    inode: u64,
}

impl Stamp {
    /// A file as it is.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let metadata = path.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("not a file"));
        }
        Ok(Self {
            path: path.to_owned(),
            modified: metadata.modified()?,
            size: metadata.len(),
            inode: metadata.ino(),
        })
    }
}

/// What was read last, and of which files.
#[derive(Debug)]
pub(crate) struct Stamped<K, V>(Mutex<HashMap<K, (Vec<Stamp>, V)>>);

impl<K, V> Default for Stamped<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, V: Clone> Stamped<K, V> {
    /// What these files say; they are read if any has changed, come or gone.
    pub(crate) fn get(&self, key: K, files: Vec<Stamp>, read: impl FnOnce(&[Stamp]) -> V) -> V {
        if let Some((of, known)) = self.0.lock().get(&key)
            && *of == files
        {
            return known.clone();
        }
        // Not under the lock: who asks for something else need not wait.
        let value = read(&files);
        self.0.lock().insert(key, (files, value.clone()));
        value
    }

    /// What was read last, however old.
    pub(crate) fn last(&self, key: &K) -> Option<V> {
        self.0.lock().get(key).map(|(_, known)| known.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn files_are_read_again_only_when_they_have_changed() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&a, "1").unwrap();
        let known: Stamped<&str, String> = Stamped::default();
        let mut reads = 0;
        let mut get = |key| {
            let files = [&a, &b].into_iter();
            let files = files.filter_map(|path| Stamp::of(path).ok()).collect();
            known.get(key, files, |files| {
                reads += 1;
                let texts = files.iter().map(|file| fs::read_to_string(&file.path));
                texts.map(Result::unwrap).collect()
            })
        };
        assert_eq!((get("x"), get("x")), ("1".to_owned(), "1".to_owned()));
        // As an editor saves: another file of the same size in its place.
        fs::write(folder.path().join("new"), "2").unwrap();
        fs::rename(folder.path().join("new"), &a).unwrap();
        assert_eq!(get("x"), "2");
        fs::write(&b, "3").unwrap();
        assert_eq!((get("x"), get("x")), ("23".to_owned(), "23".to_owned()));
        fs::remove_file(&a).unwrap();
        assert_eq!((get("x"), get("y")), ("3".to_owned(), "3".to_owned()));
        assert_eq!(reads, 5);
        assert_eq!(known.last(&"x").as_deref(), Some("3"));
        assert_eq!(known.last(&"z"), None);
        assert!(Stamp::of(folder.path()).is_err());
    }
}
