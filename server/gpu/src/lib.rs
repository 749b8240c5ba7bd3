//! What the device says: which GPUs there are, what state they are in, who else uses them.
//!
//! A measurement is worth what is known about the machine at that moment. This crate reads it from
//! NVIDIA's two libraries, both loaded while running so that the program starts anywhere:
//! - **libcuda** (the driver API) says which devices a kernel can run on, in the order in which CUDA
//!   numbers them, with compute capability and multiprocessors. No context is created: this process
//!   takes no device memory and appears in no list of processes.
//! - **libnvidia-ml** (NVML, what `nvidia-smi` uses) says clocks, temperature, limits, other
//!   processes.
//!
//! If one is missing, the other still gives the device, with fewer facts and a note. If no device can
//! be used, [`NoGpu`] says why and what is needed.
//!
//! **What cannot be bounded.** Loading a library runs its initialisers, and a wedged driver keeps the
//! caller inside a system call that not even SIGKILL ends. So [`devices`], [`device`] and [`others`]
//! ask on a thread of their own and give up after [`PATIENCE`] with [`NoGpu::NoAnswer`]; the thread
//! stays behind, further questions are refused until it returns, and the *exit* of this process may
//! then have to wait for the driver as well. [`Clock`] asks in the calling thread, because a thread
//! switch would cost more than the answer. While the process lives it keeps the device files open,
//! which keeps the driver initialised and a `nvidia-smi --gpu-reset` from working.

mod assemble;
mod choose;
mod clock;
mod driver;
mod gpu;
mod no_gpu;
mod nvml;
mod others;
mod surroundings;
mod visible;
mod within;

use std::time::Duration;

pub use choose::choose;
pub use clock::Clock;
pub use gpu::{Gpu, OLDEST_CUDA, State};
pub use no_gpu::{NoGpu, Why};
pub use others::{Other, Use};
pub use visible::visible;

use assemble::{Environment, assemble};
use within::within;

/// How long a device may take to answer. A machine that keeps no driver loaded initialises each of
/// its devices on the first question, which takes seconds.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The GPUs that CUDA shows to this process, in CUDA's order, as they are now.
///
/// What `CUDA_VISIBLE_DEVICES` hides is left out, as CUDA leaves it out. Devices that are too old or
/// otherwise unfit are in: [`choose`] refuses them. CUDA reads its variables once per process, so that
/// a device hidden at the first call stays hidden.
///
/// # Errors
/// No device at all, with the reason.
pub fn devices() -> Result<Vec<Gpu>, NoGpu> {
    within(PATIENCE, || {
        let environment = Environment::of_this_process();
        let cards = driver::cards();
        let managed = nvml::all();
        assemble(cards, managed, &environment, surroundings::look)
    })?
}

/// One device as it is now, by the UUID that [`devices`] gave.
///
/// # Errors
/// No device at all, or [`NoGpu::Unknown`] if this one is gone, or [`NoGpu::Lost`].
pub fn device(uuid: &str) -> Result<Gpu, NoGpu> {
    let gpus = devices()?;
    let Some(gpu) = gpus.iter().find(|gpu| gpu.uuid == uuid) else {
        return Err(choose::unknown(uuid, &gpus));
    };
    match gpu.unfit() {
        Some(lost @ NoGpu::Lost { .. }) => Err(lost),
        _ => Ok(gpu.clone()),
    }
}

/// The other processes that use the device at this moment: not this process nor a descendant of it.
///
/// An empty list does not prove that nobody is there: from inside a container NVML may not tell what
/// runs outside. Where it gives the machine's numbers for the container's processes, those have no name
/// here, and ours are not recognised.
///
/// # Errors
/// NVML is missing, does not know the device or does not tell; a reason for people.
pub fn others(uuid: &str) -> Result<Vec<Other>, String> {
    let uuid = uuid.to_owned();
    within(PATIENCE, move || others::others(&uuid)).map_err(|late| late.to_string())?
}
