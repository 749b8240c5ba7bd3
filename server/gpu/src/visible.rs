//! What `CUDA_VISIBLE_DEVICES` leaves, as CUDA reads it.

use crate::gpu::Gpu;

/// The devices of `gpus` that CUDA shows with `CUDA_VISIBLE_DEVICES` set to `text`, in the order in
/// which it then numbers them.
///
/// As the driver r580 was seen to read it:
/// - a list either of numbers ([`Gpu::machine_index`]) or of UUIDs, as its first entry is;
/// - the first entry that names no device ends the list, so that `-1`, an empty text and an entry of
///   the other kind hide all that follows;
/// - a list that names a device twice shows none at all;
/// - a number is what C's `strtol` reads: `0abc` is 0;
/// - of a UUID an unambiguous beginning is enough, `GPU-` in capitals, the digits in any case, and what
///   follows the last digit is not looked at.
pub fn visible<'a>(text: &str, gpus: &'a [Gpu]) -> Vec<&'a Gpu> {
    let by_number = number_at(text, 0).is_some();
    let mut shown: Vec<&Gpu> = Vec::new();
    for entry in text.split(',') {
        let named = if by_number {
            number(entry)
                .and_then(|wanted| gpus.iter().find(|gpu| gpu.machine_index == Some(wanted)))
        } else {
            with_uuid(entry.trim(), gpus)
        };
        let Some(gpu) = named else {
            break;
        };
        if shown.iter().any(|earlier| earlier.uuid == gpu.uuid) {
            return Vec::new();
        }
        shown.push(gpu);
    }
    shown
}

/// The number among all devices that the `position`th entry of `text` gives, if it is a number.
pub(crate) fn number_at(text: &str, position: u32) -> Option<u32> {
    let position = usize::try_from(position).ok()?;
    number(text.split(',').nth(position)?)
}

/// The number at the beginning; a negative one names no device.
fn number(entry: &str) -> Option<u32> {
    let entry = entry.trim_start();
    let digits = entry.strip_prefix('+').unwrap_or(entry);
    let end = digits.find(|sign: char| !sign.is_ascii_digit());
    digits[..end.unwrap_or(digits.len())].parse().ok()
}

fn with_uuid<'a>(entry: &str, gpus: &'a [Gpu]) -> Option<&'a Gpu> {
    let (kind, wanted) = entry.split_at_checked("GPU-".len())?;
    if wanted.is_empty() {
        return None;
    }
    let mut fitting = gpus.iter().filter(|gpu| {
        gpu.uuid.strip_prefix(kind).is_some_and(|digits| {
            let pairs = digits.bytes().zip(wanted.bytes());
            kind.ends_with('-') && pairs.into_iter().all(|(a, b)| a.eq_ignore_ascii_case(&b))
        })
    });
    match (fitting.next(), fitting.next()) {
        (Some(one), None) => Some(one),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::tests::h200;

    #[test]
    fn the_variable_is_read_as_cuda_reads_it() {
        let cases: [(&str, &[u32]); 27] = [
            ("0", &[0]),
            ("2,0", &[2, 0]),
            (" 1 , 2 ", &[1, 2]),
            ("", &[]),
            ("-1", &[]),
            ("-1,0", &[]),
            ("0,-1,2", &[0]),
            ("0,,2", &[0]),
            (",0", &[]),
            ("0,", &[0]),
            ("0,9,2", &[0]),
            ("NoDevFiles", &[]),
            ("all", &[]),
            ("1,1", &[]),
            ("+0", &[0]),
            ("0x1", &[0]),
            ("1abc", &[1]),
            ("GPU-00000001-1111-2222-3333-444444444444", &[1]),
            ("GPU-00000001-1111-2222-3333-4444444444449", &[1]),
            ("GPU-00000002,GPU-00000000", &[2, 0]),
            ("GPU-00000002,0", &[2]),
            ("0,GPU-00000002", &[0]),
            ("GPU-00000002,GPU-00000002-1111", &[]),
            // Fits all three.
            ("GPU-0000", &[]),
            ("GPU-", &[]),
            ("gpu-00000001", &[]),
            // Without its kind it is a number for strtol: no device has that one here.
            ("00000009-1111-2222-3333-444444444444", &[]),
        ];
        let gpus: Vec<Gpu> = (0..3).map(h200).collect();
        let letters = Gpu {
            uuid: "GPU-abcdef00-1111-2222-3333-444444444444".to_owned(),
            ..h200(0)
        };
        assert_eq!(visible("GPU-ABC", &[letters]).len(), 1);
        for (text, expected) in cases {
            let shown: Vec<u32> = visible(text, &gpus).iter().map(|gpu| gpu.index).collect();
            assert_eq!(shown, expected, "{text:?}");
        }
    }

    #[test]
    fn numbers_count_all_devices_also_where_this_process_sees_fewer() {
        // This process was started with CUDA_VISIBLE_DEVICES=2,0.
        let mut gpus = vec![h200(2), h200(0)];
        gpus[0].index = 0;
        gpus[1].index = 1;
        let shown = visible("2", &gpus);
        assert_eq!(shown[0].uuid, h200(2).uuid);
        assert_eq!(visible("1", &gpus), Vec::<&Gpu>::new());
        assert_eq!(number_at("2, 0", 1), Some(0));
        assert_eq!(number_at("GPU-00000002", 0), None);
        assert_eq!(number_at("2", 1), None);
    }
}
