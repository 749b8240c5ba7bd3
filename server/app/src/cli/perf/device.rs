//! From the setting `perf.device` to a probe.

use tileperf_perf::plan::{CpuProbe, Device, Probe};

/// The probe of a device as a session's plan names it.
pub(super) fn probe(device: &str) -> Box<dyn Probe> {
    match device {
        "cpu" => Box::new(CpuProbe),
        other => Box::new(NoGpu(other.to_owned())),
    }
}

/// No device: says what is needed.
struct NoGpu(String);

impl Probe for NoGpu {
    fn look(&self) -> Result<Device, String> {
        Err(format!(
            "no usable GPU was found for perf.device = {:?}; measuring needs an NVIDIA driver and a \
             GPU of sm_80 or newer. Benchmarks that run on the processor are measured with \
             perf.device = \"cpu\"",
            self.0
        ))
    }

    fn clock_mhz(&self) -> Option<f64> {
        None
    }
}
