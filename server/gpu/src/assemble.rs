//! Puts together what CUDA, NVML and the system say: the devices, or the reason why there is none.

use crate::driver::{self, Cards, code_name};
use crate::gpu::{Gpu, State, arch};
use crate::no_gpu::{NoGpu, Why};
use crate::nvml::{self, Machine, Managed};
use crate::surroundings::{Files, Surroundings};
use crate::visible::{number_at, visible};

/// The variables of this process that change what CUDA shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Environment {
    /// `CUDA_VISIBLE_DEVICES`, if set.
    pub(crate) visible: Option<String>,
    /// `CUDA_DEVICE_ORDER=PCI_BUS_ID`: CUDA numbers as NVML does. Without it the fastest comes first.
    pub(crate) pci_order: bool,
}

impl Environment {
    pub(crate) fn of_this_process() -> Self {
        let visible = std::env::var_os("CUDA_VISIBLE_DEVICES");
        Self {
            visible: visible.map(|value| value.to_string_lossy().into_owned()),
            pci_order: std::env::var_os("CUDA_DEVICE_ORDER").is_some_and(|it| it == "PCI_BUS_ID"),
        }
    }
}

/// The devices, from whatever could be asked.
pub(crate) fn assemble(
    cards: Result<Cards, driver::Fault>,
    managed: Result<Machine, nvml::Fault>,
    environment: &Environment,
    look: impl FnOnce() -> Surroundings,
) -> Result<Vec<Gpu>, NoGpu> {
    match (cards, managed) {
        (Ok(cards), managed) if !cards.cards.is_empty() => {
            Ok(from_cuda(&cards, &managed, environment))
        }
        (Err(driver::Fault::NoLibrary), Ok(machine)) if !machine.devices.is_empty() => {
            from_nvml(&machine, environment)
        }
        // CUDA may also succeed with a count of zero.
        (cards, managed) => {
            let fault = cards.err().unwrap_or(driver::Fault::Call {
                call: "cuDeviceGetCount",
                code: NO_DEVICE,
            });
            Err(explain(&fault, &managed, environment, &look()))
        }
    }
}

const NO_DEVICE: i32 = 100;

fn from_cuda(
    cards: &Cards,
    managed: &Result<Machine, nvml::Fault>,
    environment: &Environment,
) -> Vec<Gpu> {
    let devices = managed.as_ref().map(|machine| &machine.devices[..]);
    let (devices, missing) = match devices {
        Ok(devices) => (devices, "NVML does not list this device"),
        Err(fault) => (&[][..], fault.clause()),
    };
    let missing = format!("clocks, temperature and other processes are unknown: {missing}");
    let entries = (0..).zip(&cards.cards);
    entries
        .map(|(index, card)| {
            let sliced = devices
                .iter()
                .find(|device| device.slices.contains(&uuid_text("MIG", card.uuid)));
            let whole = devices
                .iter()
                .find(|device| device.uuid == uuid_text("GPU", card.uuid));
            let device = sliced.or(whole);
            let mut state = device.map_or_else(State::default, |device| device.state.clone());
            // Without NVML the name still tells: `NVIDIA H200 MIG 1g.18gb`.
            let is_slice = sliced.is_some() || card.name.contains(" MIG ");
            if is_slice {
                state.mig = Some(true);
            }
            Gpu {
                index,
                machine_index: machine_index(index, device, environment),
                uuid: uuid_text(if is_slice { "MIG" } else { "GPU" }, card.uuid),
                name: card.name.clone(),
                arch: card.capability.map(|(major, minor)| arch(major, minor)),
                sms: card.sms,
                memory: card.memory,
                driver: managed
                    .as_ref()
                    .ok()
                    .and_then(|machine| machine.driver.clone()),
                cuda: Some(cards.version),
                state,
                notes: if device.is_some() {
                    Vec::new()
                } else {
                    vec![missing.clone()]
                },
            }
        })
        .collect()
}

/// The number that `CUDA_VISIBLE_DEVICES` counts by, of the device that this process has as `index`.
fn machine_index(index: u32, device: Option<&Managed>, environment: &Environment) -> Option<u32> {
    let Some(visible) = &environment.visible else {
        return Some(index);
    };
    number_at(visible, index).or_else(|| {
        let in_cudas_order = environment.pci_order;
        device.filter(|_| in_cudas_order).map(|device| device.index)
    })
}

/// Without libcuda: NVML's devices, less what the variable hides.
fn from_nvml(machine: &Machine, environment: &Environment) -> Result<Vec<Gpu>, NoGpu> {
    let note = "libcuda cannot be loaded here: the number of multiprocessors is unknown, and kernels \
                run only where a command finds it by itself";
    let all: Vec<Gpu> = machine
        .devices
        .iter()
        .map(|device| Gpu {
            index: device.index,
            machine_index: Some(device.index),
            uuid: device.uuid.clone(),
            name: device.name.clone(),
            arch: device.arch.clone(),
            sms: None,
            memory: device.memory,
            driver: machine.driver.clone(),
            // NVML reads it from libcuda, which is what is missing here: then it says 0.
            cuda: machine.cuda.filter(|version| *version > 0),
            state: device.state.clone(),
            notes: vec![note.to_owned()],
        })
        .collect();
    let Some(text) = &environment.visible else {
        return Ok(all);
    };
    let shown = visible(text, &all).into_iter().cloned();
    let shown: Vec<Gpu> = (0..)
        .zip(shown)
        .map(|(index, gpu)| Gpu { index, ..gpu })
        .collect();
    if shown.is_empty() {
        return Err(NoGpu::Hidden {
            visible: text.clone(),
            present: u32::try_from(all.len()).ok(),
        });
    }
    Ok(shown)
}

/// Why there is no device.
fn explain(
    fault: &driver::Fault,
    managed: &Result<Machine, nvml::Fault>,
    environment: &Environment,
    around: &Surroundings,
) -> NoGpu {
    let machine = managed.as_ref().ok();
    // NVML's word on the driver as a whole is more exact than an error number of cuInit.
    match managed {
        Err(nvml::Fault::Mismatch) => return NoGpu::Mismatch,
        Err(nvml::Fault::NotLoaded | nvml::Fault::Denied) => return no_device(around),
        _ => {}
    }
    if let Some(lost) = machine.and_then(lost) {
        return lost;
    }
    match fault {
        driver::Fault::NoLibrary if managed == &Err(nvml::Fault::NoLibrary) => NoGpu::NoDriver {
            container: around.container,
            module: around.module.is_some(),
        },
        driver::Fault::NoLibrary => no_device(around),
        driver::Fault::NoFunction(_) => NoGpu::DriverTooOld {
            driver: driver_version(machine, around),
            cuda: None,
        },
        driver::Fault::Call { call, code } => called(call, *code, machine, environment, around),
    }
}

fn called(
    call: &str,
    code: i32,
    machine: Option<&Machine>,
    environment: &Environment,
    around: &Surroundings,
) -> NoGpu {
    match code {
        34 => NoGpu::StubLibrary,
        NO_DEVICE | 101 => {
            let all_sliced = machine.is_some_and(|machine| {
                let mut devices = machine.devices.iter();
                !machine.devices.is_empty() && devices.all(|it| it.state.mig == Some(true))
            });
            match (&environment.visible, machine) {
                // A partitioned card without slices: CUDA shows nothing, whatever the variable says.
                (None, Some(machine)) if all_sliced => NoGpu::MigOnly {
                    devices: machine.devices.iter().map(|it| it.name.clone()).collect(),
                },
                (Some(visible), _) if around.files == Files::Open => NoGpu::Hidden {
                    visible: visible.clone(),
                    present: machine.and_then(|it| u32::try_from(it.devices.len()).ok()),
                },
                _ => no_device(around),
            }
        }
        36 => NoGpu::DriverTooOld {
            driver: driver_version(machine, around),
            cuda: None,
        },
        304 if around.files != Files::Open => no_device(around),
        802 => NoGpu::NotReady,
        803 => NoGpu::Mismatch,
        _ => NoGpu::Failed {
            what: format!("{call} failed with {} ({code})", code_name(code)),
            hint: hint(code).map(str::to_owned),
        },
    }
}

fn hint(code: i32) -> Option<&'static str> {
    match code {
        46 => Some("end the other program: the device is in exclusive mode, or busy"),
        214 => Some("reset the device or restart the machine: its memory had an error"),
        804 => Some(
            "take the cuda-compat libraries out of LD_LIBRARY_PATH (this device does not allow them) \
             and use driver r580 or newer",
        ),
        805 => Some("start the MPS daemon again, or unset CUDA_MPS_PIPE_DIRECTORY"),
        999 => Some(
            "load the nvidia_uvm module (sudo nvidia-modprobe -u), after a suspend reload it; else \
             restart the machine",
        ),
        _ => None,
    }
}

fn no_device(around: &Surroundings) -> NoGpu {
    let why = match &around.files {
        Files::Denied(files) => Why::Denied {
            files: files.clone(),
        },
        Files::Missing if around.container => Why::Container,
        Files::Missing if around.module.is_none() => Why::NotLoaded,
        Files::Missing => Why::NoFiles,
        Files::Open => Why::Absent,
    };
    NoGpu::NoDevice { why }
}

fn lost(machine: &Machine) -> Option<NoGpu> {
    let known = machine.devices.iter().find_map(|device| {
        let what = device.state.lost.clone()?;
        Some((format!("{} ({})", device.name, device.uuid), what))
    });
    let without_handle = || {
        let (index, what) = machine.lost.first()?;
        Some((format!("GPU {index}"), what.clone()))
    };
    let (device, what) = known.or_else(without_handle)?;
    Some(NoGpu::Lost { device, what })
}

fn driver_version(machine: Option<&Machine>, around: &Surroundings) -> Option<String> {
    machine
        .and_then(|machine| machine.driver.clone())
        .or_else(|| around.module.clone())
        .filter(|version| !version.is_empty())
}

/// `GPU-01234567-89ab-cdef-0123-456789abcdef`, as NVML writes it.
fn uuid_text(kind: &str, bytes: [u8; 16]) -> String {
    let mut text = kind.to_owned();
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 0 | 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

#[cfg(test)]
mod tests;
