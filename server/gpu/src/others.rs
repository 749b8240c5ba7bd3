//! Who else uses a device.

use std::collections::BTreeMap;
use std::fs;

use nvml_wrapper::enums::device::UsedGpuMemory;
use nvml_wrapper::struct_wrappers::device::ProcessInfo;
use serde::{Deserialize, Serialize};

use crate::nvml;

/// Another process that uses the device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Other {
    /// Its number, as the machine counts.
    pub pid: u32,
    /// The program's name where it may be read: no arguments, which can hold secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Device memory that it uses, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// What for.
    pub kind: Use,
}

/// What a process uses a device for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Use {
    /// A CUDA context: its kernels compete with the measured ones.
    Compute,
    /// Drawing only, as a desktop does.
    Graphics,
}

impl std::fmt::Display for Other {
    /// `python3 (4711, 1210 MiB)`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.name.as_deref().unwrap_or("a process");
        write!(f, "{name} ({}", self.pid)?;
        if let Some(memory) = self.memory {
            write!(f, ", {} MiB", memory >> 20)?;
        }
        if self.kind == Use::Graphics {
            f.write_str(", graphics")?;
        }
        f.write_str(")")
    }
}

/// See [`crate::others`].
pub(crate) fn others(uuid: &str) -> Result<Vec<Other>, String> {
    let nvml = nvml::nvml().map_err(|fault| format!("NVML: {}", fault.clause()))?;
    let device = nvml::handle(nvml, uuid).map_err(|error| format!("NVML: {error}"))?;
    let graphics = device.running_graphics_processes().unwrap_or_default();
    let compute = device
        .running_compute_processes()
        .map_err(|error| format!("NVML: {error}"))?;
    let listed = merge(&graphics, &compute);
    let others = listed.into_iter().filter(|other| !is_ours(other.pid));
    Ok(others
        .map(|other| Other {
            name: name(other.pid).or_else(|| {
                let path = nvml.sys_process_name(other.pid, 256).ok()?;
                file_name(&path)
            }),
            ..other
        })
        .collect())
}

/// One entry a process, by number. Who computes and draws counts as computing.
fn merge(graphics: &[ProcessInfo], compute: &[ProcessInfo]) -> Vec<Other> {
    let mut by_pid: BTreeMap<u32, Other> = BTreeMap::new();
    let kinds = [(Use::Graphics, graphics), (Use::Compute, compute)];
    for (kind, processes) in kinds {
        for process in processes {
            let memory = match process.used_gpu_memory {
                UsedGpuMemory::Used(bytes) => Some(bytes),
                UsedGpuMemory::Unavailable => None,
            };
            let other = Other {
                pid: process.pid,
                name: None,
                memory,
                kind,
            };
            let earlier = by_pid.insert(process.pid, other);
            if let (Some(earlier), Some(now)) = (earlier, by_pid.get_mut(&process.pid)) {
                now.memory = now.memory.max(earlier.memory);
            }
        }
    }
    by_pid.into_values().collect()
}

/// The process is this one or a descendant of it.
fn is_ours(pid: u32) -> bool {
    let us = std::process::id();
    let mut at = pid;
    // Parents are asked one after the other while processes come and go: a number that is used again
    // could make a circle.
    for _ in 0..128 {
        if at == us {
            return true;
        }
        match parent(at) {
            Some(parent) if parent > 1 => at = parent,
            _ => return false,
        }
    }
    false
}

fn parent(pid: u32) -> Option<u32> {
    parent_in(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The fourth field; the second is a name in parentheses that may hold anything.
fn parent_in(stat: &str) -> Option<u32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

fn name(pid: u32) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim_end().to_owned())
}

/// NVML gives the command line's beginning, on some systems with arguments.
fn file_name(path: &str) -> Option<String> {
    let program = path.split_whitespace().next()?;
    let name = program.rsplit(['/', '\\']).next()?;
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: u32, used_gpu_memory: UsedGpuMemory) -> ProcessInfo {
        ProcessInfo {
            pid,
            used_gpu_memory,
            gpu_instance_id: None,
            compute_instance_id: None,
        }
    }

    #[test]
    fn a_process_is_listed_once_and_computing_counts_more() {
        let graphics = [
            process(9, UsedGpuMemory::Used(5 << 20)),
            process(7, UsedGpuMemory::Unavailable),
        ];
        let compute = [
            process(9, UsedGpuMemory::Used(3 << 20)),
            process(8, UsedGpuMemory::Unavailable),
        ];
        let merged = merge(&graphics, &compute);
        let merged: Vec<String> = merged.iter().map(ToString::to_string).collect();
        assert_eq!(
            merged,
            [
                "a process (7, graphics)",
                "a process (8)",
                "a process (9, 5 MiB)"
            ]
        );
    }

    #[test]
    fn the_parent_is_found_behind_any_name() {
        assert_eq!(parent_in("12 (a) b) S 1 (2) 3) R 77 12 12"), Some(77));
        assert_eq!(parent_in("12 (python3) S 4 12 12 0"), Some(4));
        assert_eq!(parent_in(""), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn our_own_tree_is_told_from_others() {
        assert!(is_ours(std::process::id()));
        let above = parent(std::process::id()).unwrap();
        assert!(!is_ours(above));
        assert!(!is_ours(1));
        assert!(!is_ours(u32::MAX));
        assert!(name(std::process::id()).is_some_and(|name| !name.is_empty()));
    }

    #[test]
    fn a_name_has_no_arguments() {
        let cases = [
            ("/usr/bin/python3 --token=x", Some("python3")),
            ("C:\\tools\\app.exe", Some("app.exe")),
            ("", None),
            ("/", None),
        ];
        for (path, expected) in cases {
            assert_eq!(file_name(path).as_deref(), expected, "{path}");
        }
    }
}
