//! The probe on the machine that the tests run on: with a GPU its facts are checked, without one the
//! typed reason.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use tileperf_gpu::{Clock, Gpu, NoGpu, choose, device, devices, others};

#[test]
fn there_are_devices_or_a_reason() {
    let start = Instant::now();
    let answer = devices();
    assert!(start.elapsed() < Duration::from_secs(40));
    match answer {
        Ok(gpus) => assert!(!gpus.is_empty()),
        Err(reason) => {
            println!("{}", reason.explained());
            let driver = Path::new("/proc/driver/nvidia/version").exists();
            if !driver && !Path::new("/dev/nvidiactl").exists() && !Path::new("/dev/dxg").exists() {
                let expected = matches!(reason, NoGpu::NoDriver { .. } | NoGpu::NoDevice { .. })
                    || reason == NoGpu::StubLibrary;
                assert!(expected, "{reason:?}");
            }
            // The same answer for every question.
            assert_eq!(device("GPU-0").unwrap_err(), reason);
        }
    }
}

#[test]
fn an_unknown_device_has_no_clock_and_nobody_on_it() {
    let nowhere = "GPU-00000000-0000-0000-0000-000000000000";
    assert!(Clock::of(nowhere).is_none());
    let refused = others(nowhere).unwrap_err();
    assert!(refused.starts_with("NVML"), "{refused}");
}

#[test]
fn the_facts_of_each_device_are_plausible() {
    let Ok(gpus) = devices() else {
        println!("skipped: no GPU here");
        return;
    };
    let uuids: BTreeSet<&str> = gpus.iter().map(|gpu| gpu.uuid.as_str()).collect();
    assert_eq!(uuids.len(), gpus.len());
    for (position, gpu) in gpus.iter().enumerate() {
        println!("{}: {:#?}", gpu.label(), gpu.facts());
        assert_eq!(gpu.index as usize, position);
        check(gpu);
    }
    match choose("auto", &gpus, None) {
        Ok(chosen) => assert_eq!(choose(&chosen.uuid, &gpus, None), Ok(chosen)),
        Err(reason) => assert!(gpus.iter().all(|gpu| gpu.unfit().is_some()), "{reason}"),
    }
}

fn check(gpu: &Gpu) {
    assert_eq!(gpu.uuid.len(), 40, "{}", gpu.uuid);
    assert!(gpu.name.len() > 3);
    let arch = gpu.arch.as_deref().unwrap_or_default();
    assert!(arch.starts_with("sm_"), "{arch}");
    assert!(gpu.memory.is_some_and(|bytes| bytes > 1 << 30));
    assert!(gpu.cuda.is_none_or(|version| version >= 11_000));
    assert!(gpu.sms.is_none_or(|count| (1..1000).contains(&count)));
    let state = &gpu.state;
    if let (Some(now), Some(most)) = (state.sm_clock_mhz, state.max_sm_clock_mhz) {
        assert!(0 < now && now <= most, "{now} of {most} MHz");
    }
    assert!(state.temperature_c.is_none_or(|degrees| degrees < 120));
    assert!(
        state
            .power_limit_w
            .is_none_or(|watts| (5.0..5000.0).contains(&watts))
    );
    if let Some(clock) = Clock::of(&gpu.uuid) {
        let now = clock.sm_clock_mhz();
        assert_eq!(now.is_some(), state.sm_clock_mhz.is_some());
    }
    let ours = std::process::id();
    let others = others(&gpu.uuid).unwrap_or_default();
    assert!(others.iter().all(|other| other.pid != ours), "{others:?}");
}
