//! What `CUDA_VISIBLE_DEVICES` leaves, as CUDA reads it.

use crate::gpu::Gpu;

/// The devices of `gpus` that CUDA shows with `CUDA_VISIBLE_DEVICES` set to `text`, in the order in
/// which it then numbers them.
///
/// A list of numbers ([`Gpu::machine_index`]) or of UUIDs, of which an unambiguous beginning is enough.
/// The first entry that names no device ends the list, which is why `-1` and an empty text hide all. A
/// list that names a device twice shows none.
pub fn visible<'a>(text: &str, gpus: &'a [Gpu]) -> Vec<&'a Gpu> {
    let mut shown: Vec<&Gpu> = Vec::new();
    for entry in text.split(',') {
        let Some(gpu) = named(entry.trim(), gpus) else {
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
    text.split(',').nth(position)?.trim().parse().ok()
}

fn named<'a>(entry: &str, gpus: &'a [Gpu]) -> Option<&'a Gpu> {
    if let Ok(number) = entry.parse::<u32>() {
        return gpus.iter().find(|gpu| gpu.machine_index == Some(number));
    }
    match fitting(entry, gpus)[..] {
        [one] => Some(one),
        _ => None,
    }
}

/// The devices whose UUID begins with `start`, which has to begin with `GPU-` or `MIG-` itself.
pub(crate) fn fitting<'a>(start: &str, gpus: &'a [Gpu]) -> Vec<&'a Gpu> {
    if !is_uuid_start(start) {
        return Vec::new();
    }
    gpus.iter()
        .filter(|gpu| {
            let beginning = gpu.uuid.get(..start.len());
            beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(start))
        })
        .collect()
}

fn is_uuid_start(text: &str) -> bool {
    ["GPU-", "MIG-"].iter().any(|kind| {
        text.get(..kind.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(kind))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::tests::h200;

    #[test]
    fn the_variable_is_read_as_cuda_reads_it() {
        let cases: [(&str, &[u32]); 17] = [
            ("0", &[0]),
            ("2,0", &[2, 0]),
            (" 1 , 2 ", &[1, 2]),
            ("", &[]),
            ("-1", &[]),
            ("0,-1,2", &[0]),
            ("0,,2", &[0]),
            ("0,9,2", &[0]),
            ("NoDevFiles", &[]),
            ("none", &[]),
            ("1,1", &[]),
            ("GPU-00000001-1111-2222-3333-444444444444", &[1]),
            ("GPU-00000002", &[2]),
            ("GPU-00000002,0", &[2, 0]),
            // Fits all three.
            ("GPU-0000", &[]),
            ("GPU-ffff", &[]),
            // Too long to be a beginning.
            ("GPU-00000001-1111-2222-3333-4444444444445", &[]),
        ];
        let gpus: Vec<Gpu> = (0..3).map(h200).collect();
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
