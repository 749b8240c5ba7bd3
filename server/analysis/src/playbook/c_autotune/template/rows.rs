//! What is tried of each kind of matrix multiplication, by kind of architecture.
//!
//! Few, by what TileGym's guides found to matter: tiles of 64 to 256 where tensor memory holds the
//! accumulator (sm_100), up to 128 and one of 256 on sm_90, less where operands come from registers.
//! Tiles of 128 by 256 are not among those of sm_90: with tileiras 13.4.92 such a float16 product spills
//! (1,808 bytes of stack), and on an H200 it took 3 to 20 times as long as the best of five shapes.
//! Two accumulators leave room for smaller tiles only, and so do short sequences and small matrices of a
//! group. Blocks of a cluster share operands only where the tensor cores read them from shared memory,
//! and pay on cards of the data centre since sm_100.

use super::Template;

/// Tile of rows, columns and the sum, occupancy, blocks that share operands.
pub(in crate::playbook) type Row = (i64, i64, i64, i64, i64);

impl Template {
    /// What is tried on the n-th kind of architecture: sm_100, sm_90, sm_120, sm_80.
    pub(in crate::playbook::c_autotune) fn rows(self, kind: usize) -> &'static [Row] {
        let table = match self {
            Template::PersistentMatmul => PERSISTENT,
            Template::Attention | Template::FusedMatmul => SEVERAL,
            Template::VariableLengthAttention => VARIABLE,
            Template::Fp8Matmul => FP8,
            Template::GroupedGemm => GROUPED,
            Template::DualGemm => DUAL,
            _ => ONE,
        };
        table[kind.min(table.len() - 1)]
    }
}

/// One product, a block a tile.
const ONE: [&[Row]; 4] = [
    &[
        (128, 128, 64, 1, 1),
        (128, 128, 64, 2, 1),
        (64, 128, 64, 2, 1),
        (128, 256, 64, 1, 1),
        (128, 128, 64, 1, 2),
        (256, 128, 64, 1, 2),
        (128, 256, 64, 1, 2),
        (256, 256, 64, 1, 2),
    ],
    &[
        (128, 128, 64, 1, 1),
        (128, 128, 64, 2, 1),
        (128, 64, 64, 2, 1),
        (64, 128, 64, 2, 1),
        (64, 256, 64, 1, 1),
        (64, 64, 64, 4, 1),
    ],
    &[
        (128, 128, 64, 1, 1),
        (128, 64, 64, 1, 1),
        (128, 64, 64, 2, 1),
        (64, 128, 64, 2, 1),
        (64, 64, 64, 2, 1),
    ],
    &[
        (128, 128, 32, 1, 1),
        (128, 128, 64, 1, 1),
        (128, 64, 32, 2, 1),
        (64, 128, 32, 2, 1),
        (64, 64, 64, 2, 1),
        (64, 64, 32, 4, 1),
    ],
];

/// One product, blocks that take one tile after the other: fewer of them at once.
const PERSISTENT: [&[Row]; 4] = [
    &[
        (128, 128, 64, 1, 1),
        (128, 128, 64, 2, 1),
        (64, 128, 128, 2, 1),
        (128, 256, 64, 1, 1),
        (128, 128, 128, 1, 1),
        (256, 128, 64, 1, 2),
        (128, 256, 64, 1, 2),
        (256, 256, 64, 1, 2),
    ],
    &[
        (128, 128, 64, 1, 1),
        (128, 128, 64, 2, 1),
        (64, 256, 64, 1, 1),
        (128, 64, 128, 1, 1),
        (64, 128, 64, 2, 1),
        (64, 64, 64, 2, 1),
    ],
    &[
        (128, 128, 32, 1, 1),
        (128, 64, 64, 1, 1),
        (128, 64, 64, 2, 1),
        (64, 128, 64, 2, 1),
        (64, 64, 64, 2, 1),
    ],
    &[
        (128, 128, 32, 1, 1),
        (128, 128, 64, 1, 1),
        (128, 64, 32, 2, 1),
        (64, 128, 32, 2, 1),
        (64, 64, 64, 2, 1),
        (64, 64, 32, 4, 1),
    ],
];

/// Products in a row.
const SEVERAL: [&[Row]; 4] = [
    &[
        (128, 128, 64, 1, 1),
        (128, 128, 64, 2, 1),
        (64, 64, 64, 2, 1),
        (128, 64, 64, 2, 1),
        (256, 128, 64, 1, 1),
        (128, 128, 64, 1, 2),
        (256, 128, 64, 1, 2),
    ],
    &[
        (128, 128, 64, 1, 1),
        (128, 64, 64, 1, 1),
        (128, 64, 64, 2, 1),
        (64, 128, 64, 1, 1),
        (64, 64, 64, 2, 1),
        (64, 32, 64, 2, 1),
    ],
    &[
        (128, 64, 64, 1, 1),
        (64, 128, 64, 1, 1),
        (64, 64, 64, 1, 1),
        (64, 64, 64, 2, 1),
    ],
    &[
        (128, 64, 32, 1, 1),
        (64, 64, 32, 1, 1),
        (64, 64, 32, 2, 1),
        (64, 32, 32, 2, 1),
    ],
];

/// Sequences, most of them shorter than the longest: no tiles of 256.
const VARIABLE: [&[Row]; 4] = [
    &[
        (128, 128, 64, 1, 1),
        (128, 128, 64, 2, 1),
        (128, 64, 64, 2, 1),
        (64, 128, 64, 2, 1),
        (64, 64, 64, 4, 1),
        (128, 128, 64, 1, 2),
        (128, 64, 64, 1, 2),
    ],
    &[
        (128, 128, 64, 1, 1),
        (128, 64, 64, 1, 1),
        (128, 64, 64, 2, 1),
        (64, 128, 64, 1, 1),
        (64, 64, 64, 2, 1),
        (64, 64, 64, 4, 1),
    ],
    &[
        (128, 64, 64, 1, 1),
        (64, 128, 64, 1, 1),
        (64, 64, 64, 1, 1),
        (64, 64, 64, 2, 1),
    ],
    &[
        (128, 64, 32, 1, 1),
        (64, 64, 32, 1, 1),
        (64, 64, 32, 2, 1),
        (64, 32, 32, 2, 1),
    ],
];

/// Matrices of many sizes.
const GROUPED: [&[Row]; 4] = [
    &[
        (128, 128, 64, 1, 1),
        (128, 128, 64, 2, 1),
        (64, 128, 64, 1, 1),
        (64, 128, 64, 2, 1),
        (128, 64, 64, 2, 1),
        (64, 64, 128, 2, 1),
        (128, 128, 64, 1, 2),
    ],
    &[
        (128, 128, 64, 1, 1),
        (128, 128, 64, 2, 1),
        (64, 128, 64, 1, 1),
        (64, 128, 64, 2, 1),
        (128, 64, 64, 2, 1),
        (64, 64, 128, 2, 1),
    ],
    LITTLE_120,
    LITTLE_80,
];

/// What little room there is on sm_120, for small matrices of a group and for two accumulators.
const LITTLE_120: &[Row] = &[
    (128, 64, 64, 1, 1),
    (64, 128, 64, 1, 1),
    (64, 64, 64, 1, 1),
    (64, 64, 64, 2, 1),
    (64, 64, 32, 2, 1),
];

/// The same on sm_80.
const LITTLE_80: &[Row] = &[
    (128, 64, 32, 1, 1),
    (64, 128, 32, 1, 1),
    (64, 64, 32, 1, 1),
    (64, 64, 32, 2, 1),
    (64, 64, 64, 1, 1),
];

/// Two accumulators.
const DUAL: [&[Row]; 4] = [
    &[
        (128, 128, 64, 1, 1),
        (128, 64, 64, 1, 1),
        (128, 64, 64, 2, 1),
        (64, 128, 64, 1, 1),
        (64, 128, 64, 2, 1),
        (64, 64, 128, 2, 1),
        (128, 128, 64, 1, 2),
        (256, 128, 64, 1, 2),
    ],
    &[
        (128, 128, 64, 1, 1),
        (128, 64, 64, 1, 1),
        (128, 64, 64, 2, 1),
        (64, 128, 64, 1, 1),
        (64, 128, 64, 2, 1),
        (64, 64, 128, 1, 1),
    ],
    LITTLE_120,
    LITTLE_80,
];

/// Columns and sum are as the scales have them; only rows and hints are chosen.
const FP8: [&[Row]; 4] = [
    &[
        (64, 128, 128, 1, 1),
        (64, 128, 128, 2, 1),
        (128, 128, 128, 1, 1),
        (128, 128, 128, 2, 1),
        (256, 128, 128, 1, 1),
        (128, 128, 128, 1, 2),
        (256, 128, 128, 1, 2),
    ],
    &[
        (32, 128, 128, 2, 1),
        (64, 128, 128, 1, 1),
        (64, 128, 128, 2, 1),
        (64, 128, 128, 4, 1),
        (128, 128, 128, 1, 1),
        (128, 128, 128, 2, 1),
    ],
    &[
        (64, 128, 128, 1, 1),
        (64, 128, 128, 2, 1),
        (128, 128, 128, 1, 1),
        (128, 128, 128, 2, 1),
    ],
    &[
        (32, 128, 128, 2, 1),
        (64, 128, 128, 1, 1),
        (64, 128, 128, 2, 1),
        (128, 128, 128, 1, 1),
    ],
];
