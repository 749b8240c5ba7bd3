//! Prints as JSON everything that the device probe finds, and what asking costs.
//!
//! `probe` tells all. `probe visible` tells only which devices this process is shown and how the
//! variable is read here, to compare the two under different values of `CUDA_VISIBLE_DEVICES`.

use std::time::Instant;

use serde_json::{Value, json};
use tileperf_gpu::{Clock, Gpu, choose, device, devices, others};

fn main() {
    let only_visible = std::env::args()
        .nth(1)
        .is_some_and(|word| word == "visible");
    let told = if only_visible { shown() } else { everything() };
    println!("{told:#}");
}

fn shown() -> Value {
    let shown = match devices() {
        Ok(gpus) => json!(gpus.iter().map(|gpu| &gpu.uuid).collect::<Vec<_>>()),
        Err(reason) => json!({ "no_gpu": reason, "text": reason.explained() }),
    };
    json!({ "CUDA_VISIBLE_DEVICES": std::env::var("CUDA_VISIBLE_DEVICES").ok(), "shown": shown })
}

fn everything() -> Value {
    let start = Instant::now();
    let first = devices();
    let first_ms = milliseconds(start);
    match first {
        Ok(gpus) => {
            let start = Instant::now();
            let again = devices().is_ok();
            let again_ms = milliseconds(start);
            json!({
                "devices": gpus.iter().map(details).collect::<Vec<_>>(),
                "auto": choose("auto", &gpus, None).map(Gpu::label).map_err(|it| it.explained()),
                "first_call_ms": first_ms,
                "second_call": { "worked": again, "ms": again_ms },
            })
        }
        Err(reason) => json!({
            "no_gpu": reason,
            "text": reason.explained(),
            "first_call_ms": first_ms,
        }),
    }
}

fn details(gpu: &Gpu) -> Value {
    json!({
        "gpu": gpu,
        "facts": gpu.facts(),
        "unfit": gpu.unfit().map(|reason| reason.explained()),
        "others": others(&gpu.uuid),
        "again": device(&gpu.uuid).is_ok(),
        "clock": clock(gpu),
    })
}

/// The clock and what asking for it costs: the median and the longest of many questions.
fn clock(gpu: &Gpu) -> Value {
    let Some(clock) = Clock::of(&gpu.uuid) else {
        return Value::Null;
    };
    let mut costs: Vec<f64> = (0..1000)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(clock.sm_clock_mhz());
            milliseconds(start) * 1000.0
        })
        .collect();
    costs.sort_by(f64::total_cmp);
    json!({
        "sm_clock_mhz": clock.sm_clock_mhz(),
        "question_us": { "median": costs[costs.len() / 2], "longest": costs.last() },
    })
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1000.0
}
