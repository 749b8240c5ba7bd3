//! What a compiled kernel takes of the machine.

use serde::{Deserialize, Serialize};

use crate::arch::Arch;

/// What a kernel takes, as `cuobjdump -res-usage` reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// 32-bit registers of a thread.
    pub registers: u32,
    /// Bytes of stack of a thread. More than 0 means that values are kept in memory.
    pub stack: u32,
    /// Bytes of static shared memory of a block; see [`Resources::shared_of_sm`].
    pub shared: u32,
    /// Threads of a block, if fixed at compile time, which cuTile's always are.
    pub threads: Option<u32>,
    /// Blocks of a cluster; 1 without clusters.
    pub cluster: u32,
}

impl Resources {
    /// Bytes of an SM's shared memory that one resident block takes. The driver keeps 1 KiB of each
    /// block; from sm_90 on the compiler counts it in [`shared`](Self::shared), before it does not.
    #[must_use]
    pub fn shared_of_sm(&self, arch: Arch) -> u32 {
        let limits = arch.limits();
        let reserved = limits.shared_per_sm - limits.shared_per_block;
        if arch >= Arch::Sm90 {
            self.shared.max(reserved)
        } else {
            self.shared.saturating_add(reserved)
        }
    }
}
