//! Which of the visible GPUs to measure on.

use crate::gpu::Gpu;
use crate::no_gpu::NoGpu;
use crate::visible::visible;

/// Chooses one of `gpus` (from [`devices`](crate::devices)).
///
/// `selector`: `auto` for the first fit one, a number as the commands count, a UUID or an unambiguous
/// beginning of one. `commands_see`: the `CUDA_VISIBLE_DEVICES` that the measured commands get, where
/// it differs from this process's own; none where they inherit it.
///
/// To be sure that a command runs on the chosen device, set its `CUDA_VISIBLE_DEVICES` to the
/// device's UUID: numbers depend on `CUDA_DEVICE_ORDER`.
///
/// # Errors
/// The selector names no device, several, or one that is unfit; or none is fit.
pub fn choose<'a>(
    selector: &str,
    gpus: &'a [Gpu],
    commands_see: Option<&str>,
) -> Result<&'a Gpu, NoGpu> {
    let shown: Vec<&Gpu> = match commands_see {
        Some(text) => visible(text, gpus),
        None => gpus.iter().collect(),
    };
    if let (Some(text), []) = (commands_see, &shown[..]) {
        return Err(NoGpu::Hidden {
            visible: text.to_owned(),
            present: u32::try_from(gpus.len()).ok(),
        });
    }
    let selector = selector.trim();
    if selector.eq_ignore_ascii_case("auto") || selector.is_empty() {
        return first_fit(&shown);
    }
    let chosen = named(selector, &shown)?;
    match chosen.unfit() {
        None => Ok(chosen),
        Some(reason) => Err(reason),
    }
}

/// There is no such device among these.
pub(crate) fn unknown<'a>(wanted: &str, present: impl IntoIterator<Item = &'a Gpu>) -> NoGpu {
    NoGpu::Unknown {
        wanted: wanted.to_owned(),
        present: present.into_iter().map(Gpu::label).collect(),
    }
}

fn named<'a>(selector: &str, shown: &[&'a Gpu]) -> Result<&'a Gpu, NoGpu> {
    let unknown = || unknown(selector, shown.iter().copied());
    if let Ok(number) = selector.parse::<usize>() {
        return shown.get(number).copied().ok_or_else(unknown);
    }
    let fitting: Vec<&Gpu> = shown
        .iter()
        .copied()
        .filter(|gpu| begins_with(&gpu.uuid, selector))
        .collect();
    match fitting[..] {
        [one] => Ok(one),
        [] => Err(unknown()),
        _ => Err(NoGpu::Ambiguous {
            wanted: selector.to_owned(),
            fitting: fitting.iter().map(|gpu| gpu.label()).collect(),
        }),
    }
}

/// `start` begins with the kind (`GPU-`, `MIG-`) and is not longer than the UUID; in any case.
fn begins_with(uuid: &str, start: &str) -> bool {
    let beginning = uuid.get(..start.len());
    start.len() >= "GPU-".len()
        && beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(start))
}

fn first_fit<'a>(shown: &[&'a Gpu]) -> Result<&'a Gpu, NoGpu> {
    let mut reasons: Vec<NoGpu> = Vec::new();
    for gpu in shown {
        match gpu.unfit() {
            None => return Ok(gpu),
            Some(reason) => add(&mut reasons, reason),
        }
    }
    Err(match reasons.len() {
        0 => unknown("auto", shown.iter().copied()),
        1 => reasons.remove(0),
        _ => NoGpu::NoneFit { reasons },
    })
}

/// Adds `reason`, joined with an earlier one of its kind: eight old cards are one reason.
fn add(reasons: &mut Vec<NoGpu>, reason: NoGpu) {
    for earlier in reasons.iter_mut() {
        match (earlier, &reason) {
            (NoGpu::DeviceTooOld { devices: all }, NoGpu::DeviceTooOld { devices })
            | (NoGpu::MigOnly { devices: all }, NoGpu::MigOnly { devices }) => {
                all.extend(devices.iter().cloned());
                return;
            }
            (earlier, reason) if earlier == reason => return,
            _ => {}
        }
    }
    reasons.push(reason);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::State;
    use crate::gpu::tests::h200;

    fn old(index: u32) -> Gpu {
        Gpu {
            arch: Some("sm_70".to_owned()),
            name: "Tesla V100".to_owned(),
            ..h200(index)
        }
    }

    fn sliced(index: u32) -> Gpu {
        Gpu {
            state: State {
                mig: Some(true),
                ..State::default()
            },
            ..h200(index)
        }
    }

    fn old_driver(index: u32) -> Gpu {
        Gpu {
            cuda: Some(12_040),
            ..h200(index)
        }
    }

    #[test]
    fn a_device_is_chosen_by_order_number_or_uuid() {
        let uuid = h200(2).uuid;
        let upper = uuid.to_uppercase();
        let gpus = [old(0), sliced(1), h200(2), h200(3)];
        let cases: [(&str, Option<&str>, u32); 12] = [
            ("auto", None, 2),
            ("", None, 2),
            ("AUTO", None, 2),
            ("3", None, 3),
            (" 3 ", None, 3),
            (&uuid, None, 2),
            (&upper, None, 2),
            ("GPU-00000003", None, 3),
            ("gpu-00000003", None, 3),
            ("auto", Some("3,2"), 3),
            ("1", Some("3,2"), 2),
            ("GPU-00000002", Some("3,2"), 2),
        ];
        for (selector, see, expected) in cases {
            let chosen = choose(selector, &gpus, see).unwrap();
            assert_eq!(chosen.index, expected, "{selector:?} {see:?}");
        }
    }

    #[test]
    fn a_refusal_says_why() {
        let cases: [(&str, &[Gpu], Option<&str>, &str); 14] = [
            ("4", &[h200(0)], None, "no GPU \"4\"; there is NVIDIA H200"),
            ("-1", &[h200(0)], None, "no GPU \"-1\""),
            ("gpu0", &[h200(0)], None, "no GPU \"gpu0\""),
            ("GPU-9", &[h200(0)], None, "no GPU \"GPU-9\""),
            ("GPU-0", &[h200(0), h200(1)], None, "fits several GPUs"),
            ("auto", &[h200(0)], Some(""), "CUDA_VISIBLE_DEVICES=\"\""),
            ("0", &[h200(0)], Some("-1"), "hides every GPU (1 present)"),
            ("GPU-00000001", &[h200(0), h200(1)], Some("0"), "no GPU"),
            ("0", &[old(0)], None, "sm_80) or newer: Tesla V100 (sm_70"),
            ("auto", &[old(0), old(1)], None, "GPU-00000001"),
            ("0", &[sliced(0), h200(1)], None, "(MIG)"),
            (
                "auto",
                &[sliced(0), old(1)],
                None,
                "no GPU is usable: partitioned",
            ),
            (
                "auto",
                &[old_driver(0), old_driver(1)],
                None,
                "the NVIDIA driver is too old: 580.159.04 (CUDA 12.4)",
            ),
            ("auto", &[], None, "there is none"),
        ];
        for (selector, gpus, see, expected) in cases {
            let refused = choose(selector, gpus, see).unwrap_err().to_string();
            assert!(
                refused.contains(expected),
                "{selector:?} {see:?}: {refused}"
            );
        }
    }
}
