//! What the system around the driver shows, to tell apart why there is no device.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

/// Looked at only when no device was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Surroundings {
    /// A container's marks are there.
    pub(crate) container: bool,
    /// The version of the loaded kernel module, empty if it does not say.
    pub(crate) module: Option<String>,
    /// The device files.
    pub(crate) files: Files,
}

/// The device files that the driver's libraries open.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Files {
    /// There are none.
    #[default]
    Missing,
    /// These cannot be opened for reading and writing.
    Denied(Vec<PathBuf>),
    /// All can be opened.
    Open,
}

/// Looks around in `/proc`, `/dev` and at the marks of containers.
pub(crate) fn look() -> Surroundings {
    Surroundings {
        container: is_container(),
        module: fs::read_to_string("/proc/driver/nvidia/version")
            .ok()
            .map(|text| module_version(&text)),
        files: files(Path::new("/dev")),
    }
}

fn is_container() -> bool {
    let marks = ["/.dockerenv", "/run/.containerenv", "/.singularity.d"];
    marks.iter().any(|mark| Path::new(mark).exists())
        || std::env::var_os("KUBERNETES_SERVICE_HOST").is_some()
        || fs::read_to_string("/proc/1/cgroup").is_ok_and(|text| {
            let kinds = ["docker", "kubepods", "containerd", "lxc"];
            kinds.iter().any(|kind| text.contains(kind))
        })
}

/// `580.159.04` from `NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release ...`.
fn module_version(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let is_version = |word: &&str| {
        word.contains('.')
            && word
                .chars()
                .all(|sign| sign.is_ascii_digit() || sign == '.')
    };
    line.split_whitespace()
        .find(is_version)
        .unwrap_or_default()
        .to_owned()
}

/// `nvidiactl` and `nvidia0` and so on, in `folder`.
fn files(folder: &Path) -> Files {
    let Ok(entries) = fs::read_dir(folder) else {
        return Files::Missing;
    };
    let is_device = |name: &str| {
        let rest = name.strip_prefix("nvidia");
        rest.is_some_and(|rest| {
            rest == "ctl" || (!rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
        })
    };
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(is_device))
        .map(|entry| entry.path())
        .collect();
    if found.is_empty() {
        return Files::Missing;
    }
    found.sort();
    // Opening is the only test that also sees what a container's device rules forbid.
    found.retain(|file| {
        OpenOptions::new()
            .read(true)
            .write(true)
            .open(file)
            .is_err()
    });
    match found[..] {
        [] => Files::Open,
        _ => Files::Denied(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_modules_version_is_found_in_both_wordings() {
        let cases = [
            (
                "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\nGCC",
                "580.159.04",
            ),
            (
                "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6 22:20:39 UTC 2023",
                "535.54.03",
            ),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(module_version(text), expected, "{text}");
        }
    }

    #[test]
    fn device_files_are_told_from_others() {
        let folder = std::env::temp_dir().join(format!("tileperf-gpu-{}", std::process::id()));
        fs::create_dir_all(folder.join("nvidia-caps")).unwrap();
        fs::write(folder.join("nvidia-uvm"), "").unwrap();
        assert_eq!(files(&folder), Files::Missing);
        fs::write(folder.join("nvidiactl"), "").unwrap();
        assert_eq!(files(&folder), Files::Open);
        // A folder cannot be opened for writing, not even by root.
        fs::create_dir_all(folder.join("nvidia0")).unwrap();
        assert_eq!(files(&folder), Files::Denied(vec![folder.join("nvidia0")]));
        fs::remove_dir_all(&folder).unwrap();
    }
}
