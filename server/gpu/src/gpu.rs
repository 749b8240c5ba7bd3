//! One GPU as plain data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::no_gpu::NoGpu;

/// The oldest driver API that cuTile runs on, as `cuDriverGetVersion` counts: 13.0, which came with
/// driver r580 (cuda-tile's own loader refuses older ones).
pub const OLDEST_CUDA: u32 = 13_000;

/// The oldest compute capability that cuTile compiles for.
const OLDEST_ARCH: u32 = 80;

/// A GPU and its state at the moment of asking. What neither library told is absent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gpu {
    /// Its number in this process, as CUDA counts.
    pub index: u32,
    /// Its number if nothing were hidden, which is what `CUDA_VISIBLE_DEVICES` counts by. None where
    /// this process's own variable hides the numbering.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_index: Option<u32>,
    /// `GPU-` and 36 characters; `MIG-...` for a slice of a partitioned card. As the value of
    /// `CUDA_VISIBLE_DEVICES` it shows a child exactly this device.
    pub uuid: String,
    /// `NVIDIA H200`.
    pub name: String,
    /// `sm_90`, from the compute capability.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arch: Option<String>,
    /// Multiprocessors; only CUDA tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sms: Option<u32>,
    /// Memory in bytes that a program can use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// `580.159.04`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// The driver API's version: 1000 x major + 10 x minor, so 13000 for CUDA 13.0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cuda: Option<u32>,
    /// What changes from moment to moment, and settings.
    #[serde(default)]
    pub state: State,
    /// What could not be asked, and why, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The state of a GPU at the moment of asking, from NVML.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct State {
    /// Multiprocessor clock now, MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sm_clock_mhz: Option<u32>,
    /// Highest multiprocessor clock, MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_sm_clock_mhz: Option<u32>,
    /// Memory clock now, MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_clock_mhz: Option<u32>,
    /// Highest memory clock, MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_memory_clock_mhz: Option<u32>,
    /// Memory in use by anybody, bytes, the driver's reserve included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_used: Option<u64>,
    /// Power drawn now, watts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_w: Option<f64>,
    /// The power limit in force, watts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_limit_w: Option<f64>,
    /// Temperature of the chip, degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_c: Option<u32>,
    /// The driver stays loaded while nobody uses the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persistence: Option<bool>,
    /// Why the clocks are lower than they could be, in words; empty if nothing holds them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttle: Option<Vec<String>>,
    /// `default`, `exclusive process` or `prohibited`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compute_mode: Option<String>,
    /// The card is partitioned into slices (Multi-Instance GPU).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mig: Option<bool>,
    /// The device does not answer any more: why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
}

impl Gpu {
    /// `NVIDIA H200 (sm_90, GPU-...)`: the device for people.
    pub fn label(&self) -> String {
        match &self.arch {
            Some(arch) => format!("{} ({arch}, {})", self.name, self.uuid),
            None => format!("{} ({})", self.name, self.uuid),
        }
    }

    /// The facts by name, as a record shows them: `temperature` is `34 C`. The names stay the same;
    /// what is unknown is left out.
    pub fn facts(&self) -> BTreeMap<String, String> {
        let state = &self.state;
        let entries = [
            ("multiprocessors", self.sms.map(|count| count.to_string())),
            ("memory", self.memory.map(gib)),
            ("memory used", state.memory_used.map(gib)),
            ("driver", self.driver.clone()),
            ("CUDA", self.cuda.map(cuda_version)),
            ("SM clock", of(state.sm_clock_mhz, state.max_sm_clock_mhz)),
            (
                "memory clock",
                of(state.memory_clock_mhz, state.max_memory_clock_mhz),
            ),
            ("power", state.power_w.map(watts)),
            ("power limit", state.power_limit_w.map(watts)),
            (
                "temperature",
                state.temperature_c.map(|degrees| format!("{degrees} C")),
            ),
            ("persistence", state.persistence.map(on)),
            (
                "throttle",
                state.throttle.as_ref().map(|reasons| match reasons[..] {
                    [] => "none".to_owned(),
                    _ => reasons.join(", "),
                }),
            ),
            ("compute mode", state.compute_mode.clone()),
            ("MIG", state.mig.map(on)),
            ("lost", state.lost.clone()),
        ];
        entries
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect()
    }

    /// Why no kernel can be measured on it, if so.
    pub fn unfit(&self) -> Option<NoGpu> {
        if let Some(what) = &self.state.lost {
            return Some(NoGpu::Lost {
                device: self.label(),
                what: what.clone(),
            });
        }
        if self.state.mig == Some(true) {
            return Some(NoGpu::MigOnly {
                devices: vec![self.label()],
            });
        }
        if self.cuda.is_some_and(|version| version < OLDEST_CUDA) {
            return Some(NoGpu::DriverTooOld {
                driver: self.driver.clone(),
                cuda: self.cuda.map(cuda_version),
            });
        }
        let arch = self
            .arch
            .as_deref()
            .and_then(|arch| arch.strip_prefix("sm_"));
        let arch: Option<u32> = arch.and_then(|number| number.parse().ok());
        if arch.is_some_and(|number| number < OLDEST_ARCH) {
            return Some(NoGpu::DeviceTooOld {
                devices: vec![self.label()],
            });
        }
        if self.state.compute_mode.as_deref() == Some(PROHIBITED) {
            return Some(NoGpu::Prohibited {
                device: self.label(),
            });
        }
        None
    }
}

/// The compute mode in which no program may use a device.
pub(crate) const PROHIBITED: &str = "prohibited";

/// `13.0` from 13000.
pub(crate) fn cuda_version(version: u32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

/// `sm_90` from (9, 0).
pub(crate) fn arch(major: u32, minor: u32) -> String {
    format!("sm_{major}{minor}")
}

fn gib(bytes: u64) -> String {
    let gib = bytes as f64 / f64::from(1 << 30);
    format!("{gib:.1} GiB")
}

fn of(now: Option<u32>, most: Option<u32>) -> Option<String> {
    match (now, most) {
        (Some(now), Some(most)) => Some(format!("{now} of {most} MHz")),
        (Some(now), None) => Some(format!("{now} MHz")),
        (None, Some(most)) => Some(format!("at most {most} MHz")),
        (None, None) => None,
    }
}

fn watts(watts: f64) -> String {
    format!("{watts:.0} W")
}

fn on(on: bool) -> String {
    if on { "on" } else { "off" }.to_owned()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A healthy device for tests: the `index`th H200.
    pub(crate) fn h200(index: u32) -> Gpu {
        Gpu {
            index,
            machine_index: Some(index),
            uuid: format!("GPU-{index:08x}-1111-2222-3333-444444444444"),
            name: "NVIDIA H200".to_owned(),
            arch: Some("sm_90".to_owned()),
            sms: Some(132),
            memory: Some(150_000_000_000),
            driver: Some("580.159.04".to_owned()),
            cuda: Some(13_000),
            state: State::default(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn facts_are_for_people_and_leave_out_what_is_unknown() {
        let mut gpu = h200(0);
        gpu.state = State {
            sm_clock_mhz: Some(345),
            max_sm_clock_mhz: Some(1980),
            max_memory_clock_mhz: Some(3201),
            power_limit_w: Some(700.0),
            temperature_c: Some(34),
            persistence: Some(true),
            throttle: Some(vec!["idle".to_owned()]),
            mig: Some(false),
            ..State::default()
        };
        let facts = gpu.facts();
        let facts: Vec<_> = facts.iter().map(|(k, v)| format!("{k}: {v}")).collect();
        assert_eq!(
            facts,
            [
                "CUDA: 13.0",
                "MIG: off",
                "SM clock: 345 of 1980 MHz",
                "driver: 580.159.04",
                "memory: 139.7 GiB",
                "memory clock: at most 3201 MHz",
                "multiprocessors: 132",
                "persistence: on",
                "power limit: 700 W",
                "temperature: 34 C",
                "throttle: idle",
            ]
        );
    }

    #[test]
    fn a_device_is_unfit_for_the_gravest_of_its_reasons() {
        type Change = fn(&mut Gpu);
        let cases: [(&str, Change); 6] = [
            ("", |_| ()),
            ("DeviceTooOld", |gpu| gpu.arch = Some("sm_75".to_owned())),
            ("", |gpu| gpu.arch = Some("sm_120".to_owned())),
            ("DriverTooOld", |gpu| gpu.cuda = Some(12_080)),
            ("Prohibited", |gpu| {
                gpu.state.compute_mode = Some(PROHIBITED.to_owned());
            }),
            ("Lost", |gpu| {
                gpu.state.lost = Some("fell off the bus".to_owned());
                gpu.state.mig = Some(true);
            }),
        ];
        for (expected, change) in cases {
            let mut gpu = h200(0);
            change(&mut gpu);
            let unfit = gpu.unfit().map(|reason| format!("{reason:?}"));
            let kind = unfit.as_deref().unwrap_or_default();
            let kind = kind.split_whitespace().next().unwrap_or_default();
            assert_eq!(kind, expected, "{gpu:?}");
        }
    }
}
