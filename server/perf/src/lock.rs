//! Locks that the operating system frees when their holder dies, however it dies.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// A lock that is held until this is dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Who holds a lock, in their own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder(pub String);

impl Lock {
    /// Takes the lock `path`, or says who has it.
    ///
    /// # Errors
    /// [`Error::Io`] if the lock file cannot be made.
    pub fn take(path: &Path) -> Result<Result<Self, Holder>, Error> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|e| Error::io("make the folder", folder, e))?;
        }
        let failed = |error| Error::io("lock", path, error);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(failed)?;
        // Somebody who merely looks whether it is held has it for a moment.
        let mut taken = file.try_lock();
        for _ in 0..5 {
            if !matches!(taken, Err(TryLockError::WouldBlock)) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
            taken = file.try_lock();
        }
        match taken {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let _ = file.read_to_string(&mut holder);
                let holder = holder.trim();
                let unnamed = "another process";
                return Ok(Err(Holder(
                    if holder.is_empty() { unnamed } else { holder }.to_owned(),
                )));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        // Who holds it is a courtesy: without it the lock still holds.
        let _ = file.set_len(0);
        let _ = file.seek(SeekFrom::Start(0));
        let _ = writeln!(file, "process {} on {}", std::process::id(), host());
        Ok(Ok(Self { _file: file }))
    }

    /// Whether somebody holds the lock `path`, and who.
    pub fn holder(path: &Path) -> Option<Holder> {
        let mut file = OpenOptions::new().read(true).open(path).ok()?;
        match file.try_lock_shared() {
            Ok(()) => None,
            Err(_) => {
                let mut holder = String::new();
                let _ = file.read_to_string(&mut holder);
                Some(Holder(holder.trim().to_owned()))
            }
        }
    }
}

/// The lock of a device, shared by all tileperf processes of this user.
pub fn device_lock(state: &Path, device: &str) -> PathBuf {
    let name: String = device
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    state.join("locks").join(format!("device-{name}.lock"))
}

/// The machine's name.
pub fn host() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_taker_is_told_who_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = device_lock(folder.path(), "GPU-1/2:3");
        assert!(path.ends_with("locks/device-GPU-1-2-3.lock"));
        let lock = Lock::take(&path).unwrap().unwrap();
        let holder = Lock::take(&path).unwrap().unwrap_err();
        assert!(
            holder
                .0
                .starts_with(&format!("process {}", std::process::id()))
        );
        assert_eq!(Lock::holder(&path), Some(holder));
        drop(lock);
        assert_eq!(Lock::holder(&path), None);
        assert!(Lock::take(&path).unwrap().is_ok());
    }
}
