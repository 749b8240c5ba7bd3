//! What NVML (libnvidia-ml, the library of `nvidia-smi`) tells about the devices.

use std::sync::OnceLock;

use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{Clock, ComputeMode, TemperatureSensor};
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, Nvml};

use crate::gpu::{PROHIBITED, State, arch};

/// What NVML tells of the whole machine, whatever `CUDA_VISIBLE_DEVICES` says.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Machine {
    /// `580.159.04`.
    pub(crate) driver: Option<String>,
    /// As `cuDriverGetVersion` counts, but of the libcuda that NVML finds by itself.
    pub(crate) cuda: Option<u32>,
    /// By PCI address.
    pub(crate) devices: Vec<Managed>,
    /// Devices that gave no handle because they do not answer any more: number and reason.
    pub(crate) lost: Vec<(u32, String)>,
}

/// A device as NVML tells it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Managed {
    /// By PCI address, which is CUDA's order only with `CUDA_DEVICE_ORDER=PCI_BUS_ID`.
    pub(crate) index: u32,
    /// With its `GPU-`.
    pub(crate) uuid: String,
    pub(crate) name: String,
    pub(crate) arch: Option<String>,
    pub(crate) memory: Option<u64>,
    pub(crate) state: State,
    /// UUIDs of the slices of a partitioned card, with their `MIG-`.
    pub(crate) slices: Vec<String>,
}

/// Why NVML tells nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// No libnvidia-ml can be loaded.
    NoLibrary,
    /// The kernel module is not there.
    NotLoaded,
    /// Library and kernel module differ in version.
    Mismatch,
    /// The device files may not be used.
    Denied,
    /// Anything else, in NVML's words.
    Other(String),
}

impl Fault {
    /// For a note.
    pub(crate) fn clause(&self) -> &str {
        match self {
            Self::NoLibrary => "libnvidia-ml cannot be loaded",
            Self::NotLoaded => "it finds no kernel module",
            Self::Mismatch => "its version is not the kernel module's",
            Self::Denied => "it may not use the device files",
            Self::Other(words) => words,
        }
    }
}

impl From<NvmlError> for Fault {
    fn from(error: NvmlError) -> Self {
        match error {
            NvmlError::LibloadingError(_)
            | NvmlError::LibraryNotFound
            | NvmlError::FailedToLoadSymbol(_) => Self::NoLibrary,
            NvmlError::DriverNotLoaded => Self::NotLoaded,
            NvmlError::LibRmVersionMismatch => Self::Mismatch,
            NvmlError::NoPermission | NvmlError::OperatingSystem => Self::Denied,
            other => Self::Other(other.to_string()),
        }
    }
}

/// NVML, kept open once it could be opened: opening it looks up hundreds of functions. A failure is not
/// kept, a driver may be installed while the server runs.
pub(crate) fn nvml() -> Result<&'static Nvml, Fault> {
    static NVML: OnceLock<Nvml> = OnceLock::new();
    if let Some(nvml) = NVML.get() {
        return Ok(nvml);
    }
    let nvml = Nvml::init()?;
    Ok(NVML.get_or_init(|| nvml))
}

/// The handle for a device or for the card that a slice is on.
pub(crate) fn handle(nvml: &'static Nvml, uuid: &str) -> Result<Device<'static>, NvmlError> {
    let device = nvml.device_by_uuid(uuid)?;
    if device.mig_is_mig_device_handle().unwrap_or(false) {
        return device.mig_parent_device();
    }
    Ok(device)
}

/// Every device of the machine.
pub(crate) fn all() -> Result<Machine, Fault> {
    let nvml = nvml()?;
    let mut machine = Machine {
        driver: nvml.sys_driver_version().ok(),
        cuda: nvml
            .sys_cuda_driver_version()
            .ok()
            .and_then(|version| u32::try_from(version).ok()),
        ..Machine::default()
    };
    for index in 0..nvml.device_count()? {
        match nvml.device_by_index(index).and_then(|it| read(&it, index)) {
            Ok(managed) => machine.devices.push(managed),
            Err(error) if is_lost(&error) => machine.lost.push((index, error.to_string())),
            // A device that belongs to others, in a container or a job.
            Err(error) => tracing::debug!(index, %error, "NVML gives no handle"),
        }
    }
    Ok(machine)
}

/// Collects answers, and whether one of them was that the device is gone.
#[derive(Default)]
struct Answers {
    lost: Option<String>,
}

impl Answers {
    /// The answer, or none where the device does not tell.
    fn take<T>(&mut self, answer: Result<T, NvmlError>) -> Option<T> {
        match answer {
            Ok(value) => Some(value),
            Err(error) if is_lost(&error) => {
                self.lost.get_or_insert_with(|| error.to_string());
                None
            }
            // Most devices lack something: a GeForce has no persistence under Windows, a Jetson no
            // power limit.
            Err(error) => {
                tracing::trace!(%error, "NVML does not tell");
                None
            }
        }
    }
}

fn is_lost(error: &NvmlError) -> bool {
    matches!(error, NvmlError::GpuLost | NvmlError::ResetRequired)
}

fn read(device: &Device<'_>, index: u32) -> Result<Managed, NvmlError> {
    let mut answers = Answers::default();
    let capability = answers.take(device.cuda_compute_capability());
    let memory = answers.take(device.memory_info());
    let mig = answers
        .take(device.mig_mode())
        .map(|mode| mode.current != 0);
    let mut state = State {
        sm_clock_mhz: answers.take(device.clock_info(Clock::SM)),
        max_sm_clock_mhz: answers.take(device.max_clock_info(Clock::SM)),
        memory_clock_mhz: answers.take(device.clock_info(Clock::Memory)),
        max_memory_clock_mhz: answers.take(device.max_clock_info(Clock::Memory)),
        memory_used: memory.as_ref().map(|memory| memory.used),
        power_w: answers.take(device.power_usage()).map(watts),
        power_limit_w: answers.take(device.enforced_power_limit()).map(watts),
        temperature_c: answers.take(device.temperature(TemperatureSensor::Gpu)),
        persistence: answers.take(device.is_in_persistent_mode()),
        throttle: answers.take(device.current_throttle_reasons()).map(words),
        compute_mode: answers.take(device.compute_mode()).map(mode),
        mig,
        lost: None,
    };
    state.lost = answers.lost;
    Ok(Managed {
        index,
        uuid: device.uuid()?,
        name: device.name()?,
        arch: capability.and_then(|of| {
            let (major, minor) = (of.major.try_into().ok()?, of.minor.try_into().ok()?);
            Some(arch(major, minor))
        }),
        memory: memory.map(|memory| memory.total),
        slices: if mig == Some(true) {
            slices(device)
        } else {
            Vec::new()
        },
        state,
    })
}

fn slices(device: &Device<'_>) -> Vec<String> {
    let most = device.mig_device_count().unwrap_or(0);
    (0..most)
        .filter_map(|index| device.mig_device_by_index(index).ok()?.uuid().ok())
        .collect()
}

/// NVML counts milliwatts.
fn watts(milliwatts: u32) -> f64 {
    f64::from(milliwatts) / 1000.0
}

fn mode(mode: ComputeMode) -> String {
    let name = match mode {
        ComputeMode::Default => "default",
        ComputeMode::ExclusiveThread => "exclusive thread",
        ComputeMode::ExclusiveProcess => "exclusive process",
        ComputeMode::Prohibited => PROHIBITED,
    };
    name.to_owned()
}

/// What holds the clocks down, in words.
fn words(reasons: ThrottleReasons) -> Vec<String> {
    let names = [
        (ThrottleReasons::GPU_IDLE, "idle"),
        (
            ThrottleReasons::APPLICATIONS_CLOCKS_SETTING,
            "application clocks",
        ),
        (ThrottleReasons::SW_POWER_CAP, "power limit"),
        (ThrottleReasons::HW_SLOWDOWN, "hardware slowdown"),
        (ThrottleReasons::SYNC_BOOST, "sync boost with another GPU"),
        (ThrottleReasons::SW_THERMAL_SLOWDOWN, "temperature"),
        (
            ThrottleReasons::HW_THERMAL_SLOWDOWN,
            "temperature (hardware)",
        ),
        (
            ThrottleReasons::HW_POWER_BRAKE_SLOWDOWN,
            "power brake of the server",
        ),
        (ThrottleReasons::DISPLAY_CLOCK_SETTING, "display clocks"),
    ];
    names
        .into_iter()
        .filter(|(reason, _)| reasons.contains(*reason))
        .map(|(_, name)| name.to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throttle_reasons_are_said_in_words() {
        let reasons = ThrottleReasons::SW_POWER_CAP | ThrottleReasons::SW_THERMAL_SLOWDOWN;
        assert_eq!(words(reasons), ["power limit", "temperature"]);
        assert_eq!(words(ThrottleReasons::NONE), Vec::<String>::new());
        assert_eq!(words(ThrottleReasons::all()).len(), 9);
    }

    #[test]
    fn a_lost_device_is_told_apart_from_a_missing_feature() {
        let mut answers = Answers::default();
        assert_eq!(answers.take(Ok(7)), Some(7));
        assert_eq!(answers.take::<u32>(Err(NvmlError::NotSupported)), None);
        assert_eq!(answers.lost, None);
        assert_eq!(answers.take::<u32>(Err(NvmlError::GpuLost)), None);
        assert_eq!(answers.take::<u32>(Err(NvmlError::ResetRequired)), None);
        let lost = answers.lost.unwrap();
        assert!(lost.contains("fallen") || lost.contains("fell"), "{lost}");
    }
}
