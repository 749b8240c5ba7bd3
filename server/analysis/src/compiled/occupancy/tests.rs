use super::*;

/// Registers of a thread, threads, bytes of shared memory without the driver's part, and the
/// blocks that `cudaOccMaxActiveBlocksPerMultiprocessor` of CUDA 13.4 answers on `ARCHS`.
const KNOWN: [(u32, u32, u32, [u32; 9]); 15] = [
    (128, 256, 0, [2, 2, 2, 2, 2, 2, 2, 2, 2]),
    (255, 128, 0, [2, 2, 2, 2, 2, 2, 2, 2, 2]),
    (255, 256, 0, [1, 1, 1, 1, 1, 1, 1, 1, 1]),
    (168, 384, 0, [1, 1, 1, 1, 1, 1, 1, 1, 1]),
    (255, 384, 0, [0, 0, 0, 0, 0, 0, 0, 0, 0]),
    (40, 32, 0, [32, 16, 16, 24, 32, 32, 32, 24, 24]),
    (33, 128, 0, [12, 12, 12, 12, 12, 12, 12, 12, 12]),
    (64, 128, 49_152, [3, 2, 3, 2, 4, 4, 4, 4, 2]),
    (6, 32, 0, [32, 16, 16, 24, 32, 32, 32, 24, 24]),
    (32, 1024, 0, [2, 1, 1, 1, 2, 2, 2, 1, 1]),
    (90, 256, 98_668, [1, 1, 1, 1, 2, 2, 2, 2, 1]),
    (100, 128, 229_604, [0, 0, 0, 0, 1, 1, 1, 1, 0]),
    (64, 128, 3_073, [8, 8, 8, 8, 8, 8, 8, 8, 8]),
    (72, 96, 20_000, [7, 4, 7, 4, 9, 9, 9, 9, 4]),
    (65, 160, 0, [5, 5, 5, 5, 5, 5, 5, 5, 5]),
];

const ARCHS: [Arch; 9] = [
    Arch::Sm80,
    Arch::Sm86,
    Arch::Sm87,
    Arch::Sm89,
    Arch::Sm90,
    Arch::Sm100,
    Arch::Sm103,
    Arch::Sm110,
    Arch::Sm120,
];

fn resources(registers: u32, threads: u32, shared: u32) -> Resources {
    Resources {
        registers,
        stack: 0,
        shared,
        threads: Some(threads),
        cluster: 1,
    }
}

#[test]
fn blocks_are_those_of_cuda() {
    for (registers, threads, shared, expected) in KNOWN {
        for (arch, blocks) in ARCHS.into_iter().zip(expected) {
            let counted = match arch >= Arch::Sm90 {
                true => shared + 1024,
                false => shared,
            };
            let known = Occupancy::of(&resources(registers, threads, counted), arch).unwrap();
            let said = known.calculation();
            assert_eq!(
                known.blocks(),
                blocks,
                "{arch} {registers} {threads}\n{said}"
            );
        }
    }
}

#[test]
fn what_limits_is_named() {
    for (registers, threads, shared, limits) in [
        (128, 256, 0, vec![Limit::Registers]),
        (64, 128, 60_000, vec![Limit::Shared]),
        (32, 1024, 0, vec![Limit::Registers, Limit::Warps]),
        (6, 32, 0, vec![Limit::Blocks]),
    ] {
        let known = Occupancy::of(&resources(registers, threads, shared), Arch::Sm90).unwrap();
        assert_eq!(known.limits(), limits);
    }
    let none = Resources {
        threads: None,
        ..resources(1, 1, 0)
    };
    assert_eq!(Occupancy::of(&none, Arch::Sm90), None);
    let huge = resources(u32::MAX, u32::MAX, u32::MAX);
    assert_eq!(Occupancy::of(&huge, Arch::Sm90).unwrap().blocks(), 0);
}

#[test]
fn the_calculation_in_words() {
    let known = Occupancy::of(&resources(128, 256, 108 * 1024), Arch::Sm90).unwrap();
    assert_eq!(known.to_string(), "2 CTAs/SM");
    assert_eq!(known.limited_by(), "limited by registers and shared memory");
    assert_eq!(known.percent_of_warps(), 25);
    assert_eq!(
        known.calculation(),
        "- registers: 4,096 of 65,536 for each of 8 warps: **2 blocks**\n\
         - shared memory: 108 KiB of 228 KiB: **2 blocks**\n\
         - warps: 8 of 64: 8 blocks\n\
         - the most that an SM holds: 32 blocks\n"
    );
    assert_eq!(
        (kib(96), kib(1536)),
        ("96 B".to_owned(), "1.5 KiB".to_owned())
    );
}
