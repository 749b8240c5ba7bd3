//! From the setting `perf.device` to a probe.

use std::sync::OnceLock;

use tileperf_gpu::{Clock, Use};
use tileperf_perf::plan::{CpuProbe, Device, Probe};

/// The probe of a device as a session's plan names it: `cpu`, `auto`, a GPU's index or UUID.
/// `commands_see`: the `CUDA_VISIBLE_DEVICES` that the project's own environment sets.
pub(super) fn probe(device: &str, commands_see: Option<&str>) -> Box<dyn Probe> {
    match device {
        "cpu" => Box::new(CpuProbe),
        selector => Box::new(GpuProbe {
            selector: selector.to_owned(),
            commands_see: commands_see.map(str::to_owned),
            chosen: OnceLock::new(),
            clock: OnceLock::new(),
        }),
    }
}

struct GpuProbe {
    selector: String,
    commands_see: Option<String>,
    /// The UUID: a run stays with the device that it began on.
    chosen: OnceLock<String>,
    clock: OnceLock<Option<Clock>>,
}

impl Probe for GpuProbe {
    fn look(&self) -> Result<Device, String> {
        let advice = "benchmarks that run on the processor are measured with perf.device = \"cpu\"";
        let failed = |no: tileperf_gpu::NoGpu| format!("{}; {advice}", no.explained());
        let gpu = match self.chosen.get() {
            Some(uuid) => tileperf_gpu::device(uuid).map_err(failed)?,
            None => {
                let gpus = tileperf_gpu::devices().map_err(failed)?;
                let commands_see = self.commands_see.as_deref();
                tileperf_gpu::choose(&self.selector, &gpus, commands_see)
                    .map_err(failed)?
                    .clone()
            }
        };
        if let Some(unfit) = gpu.unfit() {
            return Err(failed(unfit));
        }
        let uuid = self.chosen.get_or_init(|| gpu.uuid.clone());
        self.clock.get_or_init(|| Clock::of(uuid));
        let mut facts = gpu.facts();
        let others = match tileperf_gpu::others(uuid) {
            Ok(others) => (others.into_iter())
                .filter(|other| other.kind == Use::Compute)
                .map(|other| other.to_string())
                .collect(),
            Err(why) => {
                facts.insert("other processes".to_owned(), format!("unknown: {why}"));
                Vec::new()
            }
        };
        Ok(Device {
            id: uuid.clone(),
            name: gpu.name.clone(),
            arch: gpu.arch.clone(),
            index: Some(gpu.index),
            facts,
            others,
        })
    }

    fn clock_mhz(&self) -> Option<f64> {
        let clock = self.clock.get()?.as_ref()?;
        clock.sm_clock_mhz().map(f64::from)
    }
}
