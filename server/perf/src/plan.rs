//! What a session works on and with: plain data, decided at setup and kept in its first event.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::verdict::Goal;

/// The longest that one iteration may take, in seconds: ten minutes, measuring included.
pub const ITERATION_SECONDS: u64 = 600;

/// What a session works on and with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The kernel's name as the file has it (`A.scale` for one in a class).
    pub kernel: SmolStr,
    /// The kernel's file, relative to the root.
    pub file: PathBuf,
    /// The op it implements, where it is registered for one.
    pub op: Option<SmolStr>,
    /// The files that a change may touch, the kernel's first, relative to the root.
    pub files: Vec<PathBuf>,
    /// The test file, where one was found, relative to the root.
    pub test_file: Option<PathBuf>,
    /// The correctness command with placeholders, see [`crate::command`].
    pub correctness: Vec<String>,
    /// The benchmark command with placeholders.
    pub benchmark: Vec<String>,
    /// The interpreter that `{python}` stands for.
    pub python: PathBuf,
    /// Environment variables for both commands.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// The variable and value that turn searches off (`DISABLE_CUTILE_TUNE=1`), where the project
    /// has such a switch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_switch: Option<(String, String)>,
    /// Weights by part of a configuration's id; 1 where none matches.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub weights: BTreeMap<String, f64>,
    /// What to reach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<Goal>,
    /// Go on after small gains.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub go_on: bool,
    /// The session corrects wrong results: speed is not compared with the wrong original.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fix: bool,
    /// Where to run the variants.
    pub place: PlaceChoice,
    /// Repeat benchmark items inside one process where the command is pytest's.
    pub repeat: bool,
    /// Record what was launched, and from which file.
    pub record: bool,
    /// The longest that one iteration may take, in seconds.
    pub limit: u64,
    /// The device to measure on, see [`Device::id`].
    pub device: String,
    /// The kernel's class (`memory-bound`, `balanced`, `compute-bound`, `unknown`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
}

/// Where to run the variants, as asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlaceChoice {
    /// In trees of their own where that works, else in place.
    #[default]
    Auto,
    /// In trees of their own only.
    Trees,
    /// In the user's tree only.
    InPlace,
}

/// Where the variants are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Base and candidate each in a work tree of their own: typing on is safe.
    Trees,
    /// In the user's tree, whose files are exchanged meanwhile.
    InPlace,
}

/// What is measured on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// A GPU's UUID, or `cpu`: names the lock, and a day's noise.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// `sm_90`; none for a CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arch: Option<String>,
    /// Index among the visible devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// More facts for the record: driver, clocks, temperature, memory, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, String>,
    /// Other processes that use it at this moment, for a warning.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
}

impl Device {
    /// The processor itself, for projects whose "kernels" run there.
    pub fn cpu() -> Self {
        Self {
            id: "cpu".to_owned(),
            name: "CPU".to_owned(),
            arch: None,
            index: None,
            facts: BTreeMap::new(),
            others: Vec::new(),
        }
    }
}

/// Looks at the device while a run goes on. Given by whoever knows devices.
pub trait Probe: Send + Sync {
    /// The device as it is now.
    ///
    /// # Errors
    /// What is wrong with it and what to do, for people.
    fn look(&self) -> Result<Device, String>;

    /// The present SM clock in MHz, if the device tells. Called before and after each sample: cheap.
    fn clock_mhz(&self) -> Option<f64>;
}

/// The processor: no clock, nobody else.
#[derive(Debug, Clone, Copy, Default)]
pub struct CpuProbe;

impl Probe for CpuProbe {
    fn look(&self) -> Result<Device, String> {
        Ok(Device::cpu())
    }

    fn clock_mhz(&self) -> Option<f64> {
        None
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A plan for tests.
    pub(crate) fn plan() -> Plan {
        Plan {
            kernel: "scale_kernel".into(),
            file: "src/gym/ops/scale.py".into(),
            op: Some("scale".into()),
            files: vec!["src/gym/ops/scale.py".into()],
            test_file: Some("tests/ops/test_scale.py".into()),
            correctness: crate::command::default_correctness(),
            benchmark: crate::command::default_benchmark(true),
            python: "/venv/bin/python".into(),
            environment: BTreeMap::new(),
            search_switch: None,
            weights: BTreeMap::new(),
            goal: None,
            go_on: false,
            fix: false,
            place: PlaceChoice::Auto,
            repeat: true,
            record: true,
            limit: ITERATION_SECONDS,
            device: "cpu".to_owned(),
            class: None,
        }
    }
}
