//! How many blocks of a compiled kernel an SM can hold at once, and what limits it.
//!
//! The rules are those of `cuda_occupancy.h` (CUDA 13.4) for compute capability 8.0 to 12.1. It is a
//! calculation from the limits of the architecture: the driver can leave less shared memory to
//! blocks, and a grid can be too small to fill any SM.

#[cfg(test)]
mod tests;

use std::fmt;

use super::Resources;
use crate::arch::{Arch, WARP_SIZE};

/// Registers are handed to a warp in units of this many.
const REGISTER_UNIT: u32 = 256;
/// Parts of an SM that have a register file of their own.
const SUB_PARTITIONS: u32 = 4;
/// Shared memory is handed to a block in units of this many bytes.
const SHARED_UNIT: u32 = 128;

/// What an SM runs out of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// Registers.
    Registers,
    /// Shared memory.
    Shared,
    /// Warps, and so threads.
    Warps,
    /// Blocks: no occupancy is higher.
    Blocks,
}

impl Limit {
    /// As it is said: `limited by registers`.
    pub fn word(self) -> &'static str {
        match self {
            Limit::Registers => "registers",
            Limit::Shared => "shared memory",
            Limit::Warps => "threads",
            Limit::Blocks => "blocks an SM can hold",
        }
    }
}

/// Resident blocks, from what one takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occupancy {
    /// For which architecture.
    pub arch: Arch,
    /// Warps of a block.
    pub warps: u32,
    /// Registers that a warp is given.
    pub registers_of_warp: u32,
    /// Bytes of shared memory that a block takes of the SM's, the driver's part included.
    pub shared_of_block: u32,
    /// Blocks for which there are registers.
    pub by_registers: u32,
    /// Blocks for which there is shared memory.
    pub by_shared: u32,
    /// Blocks for which there is room for warps.
    pub by_warps: u32,
}

impl Occupancy {
    /// Of a compiled kernel; nothing if it does not fix its threads.
    #[must_use]
    pub fn of(resources: &Resources, arch: Arch) -> Option<Occupancy> {
        let threads = resources.threads.filter(|threads| *threads > 0)?;
        let limits = arch.limits();
        let warps = threads.div_ceil(WARP_SIZE);
        let registers_of_warp =
            round_up(resources.registers.saturating_mul(WARP_SIZE), REGISTER_UNIT);
        let shared_of_block = round_up(resources.shared_of_sm(arch), SHARED_UNIT);
        // The check at launch takes it that a block's warps are spread evenly over the parts.
        let even = warps.next_multiple_of(SUB_PARTITIONS);
        let fits = registers_of_warp.saturating_mul(even) <= limits.registers_per_sm
            && resources.registers <= limits.registers_per_thread;
        let resident = (limits.registers_per_sm / SUB_PARTITIONS).checked_div(registers_of_warp);
        let by_registers = match resident {
            _ if !fits => 0,
            Some(warps_of_part) => warps_of_part * SUB_PARTITIONS / warps,
            None => u32::MAX,
        };
        let by_warps = match threads <= limits.threads_per_block {
            true => limits.warps_per_sm / warps,
            false => 0,
        };
        Some(Occupancy {
            arch,
            warps,
            registers_of_warp,
            shared_of_block,
            by_registers,
            by_shared: limits
                .shared_per_sm
                .checked_div(shared_of_block)
                .unwrap_or(u32::MAX),
            by_warps,
        })
    }

    /// Blocks that an SM can hold at once. 0: the kernel cannot be launched.
    #[must_use]
    pub fn blocks(&self) -> u32 {
        self.bounds()
            .iter()
            .map(|(_, blocks)| *blocks)
            .min()
            .unwrap_or(0)
    }

    /// What keeps an SM from holding more.
    #[must_use]
    pub fn limits(&self) -> Vec<Limit> {
        let blocks = self.blocks();
        let tight = self
            .bounds()
            .into_iter()
            .filter(|(_, bound)| *bound == blocks);
        tight.map(|(limit, _)| limit).collect()
    }

    /// In few words: `limited by registers and threads`.
    #[must_use]
    pub fn limited_by(&self) -> String {
        let words: Vec<&str> = self.limits().into_iter().map(Limit::word).collect();
        format!("limited by {}", words.join(" and "))
    }

    /// Resident warps of those an SM can hold, percent.
    #[must_use]
    pub fn percent_of_warps(&self) -> u32 {
        self.blocks() * self.warps * 100 / self.arch.limits().warps_per_sm
    }

    fn bounds(&self) -> [(Limit, u32); 4] {
        [
            (Limit::Registers, self.by_registers),
            (Limit::Shared, self.by_shared),
            (Limit::Warps, self.by_warps),
            (Limit::Blocks, self.arch.limits().blocks_per_sm),
        ]
    }

    /// The calculation, as a Markdown list.
    #[must_use]
    pub fn calculation(&self) -> String {
        let limits = self.arch.limits();
        let tight = self.limits();
        let line = |limit: Limit, text: String, blocks: u32| {
            let many = match blocks {
                u32::MAX => "any number of blocks".to_owned(),
                1 => "1 block".to_owned(),
                n => format!("{n} blocks"),
            };
            match tight.contains(&limit) {
                true => format!("- {text}: **{many}**\n"),
                false => format!("- {text}: {many}\n"),
            }
        };
        let registers = format!(
            "registers: {} of {} for each of {}",
            count(self.registers_of_warp),
            count(limits.registers_per_sm),
            warps(self.warps),
        );
        let shared = format!(
            "shared memory: {} of {}",
            kib(self.shared_of_block),
            kib(limits.shared_per_sm)
        );
        let threads = format!("warps: {} of {}", self.warps, limits.warps_per_sm);
        let mut out = line(Limit::Registers, registers, self.by_registers);
        out.push_str(&line(Limit::Shared, shared, self.by_shared));
        out.push_str(&line(Limit::Warps, threads, self.by_warps));
        let most = "the most that an SM holds".to_owned();
        out.push_str(&line(Limit::Blocks, most, limits.blocks_per_sm));
        out
    }
}

/// `2 CTAs/SM`.
impl fmt::Display for Occupancy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.blocks() {
            0 => f.write_str("does not fit an SM"),
            1 => f.write_str("1 CTA/SM"),
            n => write!(f, "{n} CTAs/SM"),
        }
    }
}

/// Bytes in words: `108 KiB`, `1.5 KiB`, `96 B`.
#[must_use]
pub fn kib(bytes: u32) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        _ if bytes.is_multiple_of(1024) => format!("{} KiB", bytes / 1024),
        _ => format!("{:.1} KiB", f64::from(bytes) / 1024.0),
    }
}

fn warps(count: u32) -> String {
    match count {
        1 => "1 warp".to_owned(),
        n => format!("{n} warps"),
    }
}

/// With commas: `65,536`.
fn count(number: u32) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Up to the next multiple; `u32::MAX` if there is none.
fn round_up(number: u32, unit: u32) -> u32 {
    number.checked_next_multiple_of(unit).unwrap_or(u32::MAX)
}
