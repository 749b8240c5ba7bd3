//! Why there is no GPU to measure on, and what is needed.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why there is no usable GPU.
///
/// The text names the reason; [`NoGpu::needed`] says what to do about it. [`NoGpu::explained`] has
/// both.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[non_exhaustive]
pub enum NoGpu {
    /// Neither libcuda nor libnvidia-ml can be loaded.
    #[error("there is no NVIDIA driver: neither libcuda nor libnvidia-ml can be loaded{}", if *.module { ", although the kernel has the NVIDIA module" } else { "" })]
    NoDriver {
        /// This process runs in a container.
        container: bool,
        /// The kernel has the NVIDIA module: the libraries are what is missing.
        module: bool,
    },
    /// The libcuda that the loader finds is the CUDA toolkit's stub, meant for linking.
    #[error("the libcuda that is found first is the stub of a CUDA toolkit, not the driver's")]
    StubLibrary,
    /// The driver's libraries are there, but no device is.
    #[error("the NVIDIA driver's library is there, but it finds no device{}", .why.clause())]
    NoDevice {
        /// As far as it can be seen.
        why: Why,
    },
    /// `CUDA_VISIBLE_DEVICES` leaves no device.
    #[error("CUDA_VISIBLE_DEVICES={visible:?} hides every GPU{}", present.map(|count| format!(" ({count} present)")).unwrap_or_default())]
    Hidden {
        /// The variable's value.
        visible: String,
        /// How many devices the machine has, if NVML tells.
        present: Option<u32>,
    },
    /// The driver is older than cuTile needs.
    #[error("the NVIDIA driver is too old: {}", found(.driver.as_deref(), .cuda.as_deref()))]
    DriverTooOld {
        /// `550.54.14`, if known.
        driver: Option<String>,
        /// `12.4`, if known.
        cuda: Option<String>,
    },
    /// The driver's libraries and the kernel module are of different versions.
    #[error("the NVIDIA driver's libraries and its kernel module are of different versions")]
    Mismatch,
    /// The driver waits for another part of the system, as boards with NVSwitch do.
    #[error("the GPUs are there, but the system is not ready to use them")]
    NotReady,
    /// No device reaches sm_80.
    #[error("cuTile needs compute capability 8.0 (sm_80) or newer: {}", .devices.join(", "))]
    DeviceTooOld {
        /// What there is.
        devices: Vec<String>,
    },
    /// There are only slices of partitioned cards.
    #[error("partitioned (MIG) cards only: {}", .devices.join(", "))]
    MigOnly {
        /// What there is.
        devices: Vec<String>,
    },
    /// The device does not answer any more.
    #[error("{device} does not answer any more: {what}")]
    Lost {
        /// Which.
        device: String,
        /// What NVML or CUDA says.
        what: String,
    },
    /// The administrator allows no program on it.
    #[error("{device} is in compute mode \"prohibited\": no program may use it")]
    Prohibited {
        /// Which.
        device: String,
    },
    /// Several devices, each unfit for a reason of its own.
    #[error("no GPU is usable: {}", .reasons.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    NoneFit {
        /// One reason for each kind.
        reasons: Vec<NoGpu>,
    },
    /// The wanted device is not among the visible ones.
    #[error("there is no GPU {wanted:?}; there is {}", list(.present))]
    Unknown {
        /// What was asked for.
        wanted: String,
        /// The visible devices.
        present: Vec<String>,
    },
    /// The beginning of a UUID fits several devices.
    #[error("{wanted:?} fits several GPUs: {}", .fitting.join(", "))]
    Ambiguous {
        /// What was asked for.
        wanted: String,
        /// What it fits.
        fitting: Vec<String>,
    },
    /// The driver has not answered within the time limit, or has not answered an earlier question.
    #[error("the NVIDIA driver has not answered for {seconds} s")]
    NoAnswer {
        /// The limit.
        seconds: u64,
    },
    /// Any other failure.
    #[error("{what}")]
    Failed {
        /// What failed, with the driver's number and name for it.
        what: String,
        /// What usually helps.
        hint: Option<String>,
    },
}

/// Why the driver finds no device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Why {
    /// The device files exist, but may not be opened.
    Denied {
        /// The files.
        files: Vec<PathBuf>,
    },
    /// A container that has the libraries, but no device files.
    Container,
    /// The kernel module is not loaded.
    NotLoaded,
    /// The kernel module is loaded, but nobody has made the device files.
    NoFiles,
    /// Nothing to see: no card, or one that the driver does not know.
    Absent,
}

impl Why {
    fn clause(&self) -> String {
        match self {
            Self::Denied { files } => format!(": {} cannot be opened", files_list(files)),
            Self::Container => ": this container has no /dev/nvidia* files".to_owned(),
            Self::NotLoaded => ": the kernel module is not loaded".to_owned(),
            Self::NoFiles => ": there are no /dev/nvidia* files".to_owned(),
            Self::Absent => String::new(),
        }
    }
}

impl NoGpu {
    /// What is needed, as an advice for people.
    pub fn needed(&self) -> String {
        let advice = match self {
            Self::NoDriver {
                container: true, ..
            }
            | Self::NoDevice {
                why: Why::Container,
            } => {
                "start the container with the GPUs (docker run --gpus all, NVIDIA Container Toolkit), \
                 on a machine with NVIDIA driver r580 or newer"
            }
            Self::NoDriver { module: true, .. } => {
                "install the driver's user-space libraries of the same version as the kernel module \
                 (on Debian and Ubuntu libcuda1 and libnvidia-ml1 or libnvidia-compute), or add their \
                 folder to the loader's path"
            }
            Self::NoDriver { .. } => {
                "a GPU of compute capability 8.0 or newer and NVIDIA driver r580 or newer; if they are \
                 there, add the folder of libcuda.so.1 to the loader's path"
            }
            Self::StubLibrary => {
                "take the toolkit's lib64/stubs folder out of LD_LIBRARY_PATH, or install the driver"
            }
            Self::NoDevice {
                why: Why::Denied { .. },
            } => {
                "permission to read and write the device files: join the group that owns them (often \
                 video or render), in a container pass the devices again (docker run --gpus all; a \
                 reload of systemd takes them away), in a Slurm job ask for a GPU (--gres=gpu:1)"
            }
            Self::NoDevice {
                why: Why::NotLoaded,
            } => {
                "load the module (sudo modprobe nvidia; dmesg says why it fails), for the running kernel"
            }
            Self::NoDevice { why: Why::NoFiles } => {
                "make the device files (sudo nvidia-modprobe -u -c 0, or run nvidia-smi once as root)"
            }
            Self::NoDevice { why: Why::Absent } => {
                "a GPU of compute capability 8.0 or newer; if one is in the machine, lspci and dmesg \
                 say what became of it"
            }
            Self::Hidden { .. } => {
                "unset CUDA_VISIBLE_DEVICES or name a device in it that exists (nvidia-smi -L lists \
                 them), then start tileperf again: CUDA reads it once per process"
            }
            Self::DriverTooOld { .. } => "NVIDIA driver r580 (CUDA 13.0) or newer",
            Self::Mismatch => {
                "restart the machine (or reload the nvidia modules) so that the module of the \
                 installed version is used; in a container restart the container too"
            }
            Self::NotReady => {
                "start nvidia-fabricmanager in the driver's version (systemctl status \
                 nvidia-fabricmanager), or wait until it has finished"
            }
            Self::DeviceTooOld { .. } => "a GPU of the Ampere generation or newer",
            Self::MigOnly { .. } => {
                "a whole card: slices share clock and power, so that a neighbour's load looks like a \
                 slower kernel (sudo nvidia-smi -mig 0 ends the partitioning)"
            }
            Self::Lost { .. } => {
                "reset the device (sudo nvidia-smi --gpu-reset -i N, nothing may use it) or restart \
                 the machine; dmesg has the Xid that says why"
            }
            Self::Prohibited { .. } => "sudo nvidia-smi -i N -c DEFAULT, or another device",
            Self::NoneFit { reasons } => {
                let advice: Vec<_> = reasons.iter().map(Self::needed).collect();
                return advice.join("; or ");
            }
            Self::Unknown { .. } | Self::Ambiguous { .. } => {
                "\"auto\", a number, a UUID or an unambiguous beginning of one"
            }
            Self::NoAnswer { .. } => {
                "look at dmesg for an Xid or a hung task; a wedged driver needs a device reset or a \
                 restart of the machine"
            }
            Self::Failed { hint, .. } => hint
                .as_deref()
                .unwrap_or("see whether nvidia-smi works; dmesg has the driver's messages"),
        };
        advice.to_owned()
    }

    /// The reason and what is needed, in one text.
    pub fn explained(&self) -> String {
        format!("{self}. Needed: {}.", self.needed())
    }
}

fn found(driver: Option<&str>, cuda: Option<&str>) -> String {
    match (driver, cuda) {
        (Some(driver), Some(cuda)) => format!("{driver} (CUDA {cuda})"),
        (Some(driver), None) => driver.to_owned(),
        (None, Some(cuda)) => format!("it offers CUDA {cuda}"),
        (None, None) => "it lacks functions of CUDA 11".to_owned(),
    }
}

fn list(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        _ => names.join(", "),
    }
}

fn files_list(files: &[PathBuf]) -> String {
    let files: Vec<_> = files.iter().map(|file| file.to_string_lossy()).collect();
    files.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each reason with words that its text and its advice must have.
    fn cases() -> Vec<(NoGpu, &'static str, &'static str)> {
        let device = || "NVIDIA H200 (sm_90, GPU-1)".to_owned();
        let no_device = |why| NoGpu::NoDevice { why };
        vec![
            (
                NoGpu::NoDriver {
                    container: false,
                    module: false,
                },
                "neither libcuda nor libnvidia-ml can be loaded",
                "driver r580 or newer",
            ),
            (
                NoGpu::NoDriver {
                    container: true,
                    module: true,
                },
                "although the kernel has the NVIDIA module",
                "--gpus all",
            ),
            (
                NoGpu::NoDriver {
                    container: false,
                    module: true,
                },
                "although the kernel has",
                "user-space libraries",
            ),
            (NoGpu::StubLibrary, "stub", "LD_LIBRARY_PATH"),
            (
                no_device(Why::Container),
                "no /dev/nvidia* files",
                "--gpus all",
            ),
            (
                no_device(Why::Denied {
                    files: vec!["/dev/nvidiactl".into(), "/dev/nvidia0".into()],
                }),
                "/dev/nvidiactl, /dev/nvidia0 cannot be opened",
                "permission",
            ),
            (
                no_device(Why::NotLoaded),
                "module is not loaded",
                "modprobe",
            ),
            (
                no_device(Why::NoFiles),
                "no /dev/nvidia* files",
                "nvidia-modprobe",
            ),
            (no_device(Why::Absent), "finds no device", "lspci"),
            (
                NoGpu::Hidden {
                    visible: "-1".to_owned(),
                    present: Some(2),
                },
                "CUDA_VISIBLE_DEVICES=\"-1\" hides every GPU (2 present)",
                "unset",
            ),
            (
                NoGpu::DriverTooOld {
                    driver: Some("550.54.14".to_owned()),
                    cuda: Some("12.4".to_owned()),
                },
                "550.54.14 (CUDA 12.4)",
                "r580",
            ),
            (
                NoGpu::DriverTooOld {
                    driver: None,
                    cuda: None,
                },
                "lacks functions",
                "r580",
            ),
            (NoGpu::Mismatch, "different versions", "restart"),
            (NoGpu::NotReady, "not ready", "nvidia-fabricmanager"),
            (
                NoGpu::DeviceTooOld {
                    devices: vec!["Tesla V100 (sm_70, GPU-2)".to_owned()],
                },
                "sm_80) or newer: Tesla V100 (sm_70",
                "Ampere",
            ),
            (
                NoGpu::MigOnly {
                    devices: vec![device()],
                },
                "(MIG)",
                "whole card",
            ),
            (
                NoGpu::Lost {
                    device: device(),
                    what: "it fell off the bus".to_owned(),
                },
                "GPU-1) does not answer any more: it fell off the bus",
                "gpu-reset",
            ),
            (
                NoGpu::Prohibited { device: device() },
                "prohibited",
                "-c DEFAULT",
            ),
            (
                NoGpu::NoneFit {
                    reasons: vec![NoGpu::Mismatch, NoGpu::NotReady],
                },
                "different versions; the GPUs are there",
                "or start nvidia-fabricmanager",
            ),
            (
                NoGpu::Unknown {
                    wanted: "7".to_owned(),
                    present: Vec::new(),
                },
                "no GPU \"7\"; there is none",
                "UUID",
            ),
            (
                NoGpu::Ambiguous {
                    wanted: "GPU-".to_owned(),
                    fitting: vec!["a".to_owned(), "b".to_owned()],
                },
                "fits several GPUs: a, b",
                "unambiguous",
            ),
            (NoGpu::NoAnswer { seconds: 30 }, "for 30 s", "dmesg"),
            (
                NoGpu::Failed {
                    what: "cuInit failed: 999".to_owned(),
                    hint: None,
                },
                "cuInit failed: 999",
                "nvidia-smi",
            ),
        ]
    }

    #[test]
    fn each_reason_says_what_is_wrong_and_what_is_needed() {
        for (reason, text, advice) in cases() {
            let explained = reason.explained();
            assert!(reason.to_string().contains(text), "{explained}");
            assert!(reason.needed().contains(advice), "{explained}");
            assert!(!explained.contains("  "), "doubled space: {explained}");
            assert!(!explained.contains(".."), "doubled stop: {explained}");
        }
    }

    #[test]
    fn a_reason_survives_a_record() {
        for (reason, ..) in cases() {
            let text = serde_json::to_string(&reason).unwrap();
            let back: NoGpu = serde_json::from_str(&text).unwrap();
            assert_eq!(back, reason, "{text}");
        }
    }
}
