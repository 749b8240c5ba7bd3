//! The GPU architectures cuTile compiles for, and the limits the rules check against.
//!
//! Everything here is a property of the *architecture*, never of a product: SM counts, clocks and
//! bandwidth differ between two boards of one architecture and are asked of the device.
//!
//! Where the facts come from:
//! - the list of targets: `tileiras --help` of CUDA 13.4 (`--gpu-name`);
//! - limits per SM, TMA and cluster support: the compute-capability tables of the CUDA programming
//!   guide, read in their machine-readable form (`cuda/__device/arch_traits.h` of CCCL 13.3 and
//!   `cuda_occupancy.h` of the CUDA 13.5 runtime, which agree with one another);
//! - the tensor-core generation: the `Tensor-core SM..` remark that `tileiras` 13.4 gives for one
//!   f16 matrix multiplication compiled for each of the targets;
//! - what `num_ctas=2` does: the same kernel's `.text` and its `CTA_PER_CLUSTER` attribute.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One compilation target of cuTile, ordered by compute capability.
///
/// Written and parsed as `sm_90`; serialized the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[allow(missing_docs)] // The names say it all; `name` and `family` have the words.
pub enum Arch {
    Sm80,
    Sm86,
    Sm87,
    Sm88,
    Sm89,
    Sm90,
    Sm100,
    Sm103,
    Sm107,
    Sm110,
    Sm120,
    Sm121,
}

/// The marketing generation an architecture belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// A100, GA10x, Orin: sm_80 to sm_88.
    Ampere,
    /// L4, L40, RTX 40: sm_89.
    Ada,
    /// H100, H200, GH200: sm_90.
    Hopper,
    /// B200, B300, Thor, RTX 50, GB10: sm_100, sm_103, sm_110, sm_120, sm_121.
    Blackwell,
    /// sm_107.
    Rubin,
}

impl Family {
    /// The name as NVIDIA writes it.
    pub fn name(self) -> &'static str {
        match self {
            Family::Ampere => "Ampere",
            Family::Ada => "Ada Lovelace",
            Family::Hopper => "Hopper",
            Family::Blackwell => "Blackwell",
            Family::Rubin => "Rubin",
        }
    }
}

/// The tensor-core instructions that cuTile's compiler picks for an f16 matrix multiplication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TensorCores {
    /// `mma.sync`, operands in registers. Ampere and Ada, and again sm_120 and sm_121.
    Sm80,
    /// `wgmma`, operands in shared memory.
    Sm90,
    /// `tcgen05`, accumulator in tensor memory.
    Sm100,
    /// The Rubin generation; the remark calls it SM107.
    Sm107,
}

/// What one streaming multiprocessor offers, and what one block may take of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// 32-bit registers in the register file of an SM.
    pub registers_per_sm: u32,
    /// 32-bit registers one thread can have.
    pub registers_per_thread: u32,
    /// Bytes of shared memory of an SM.
    pub shared_per_sm: u32,
    /// Bytes of shared memory one block can have: what the SM has less the kilobyte that the
    /// driver reserves for each block.
    pub shared_per_block: u32,
    /// Threads resident on an SM.
    pub threads_per_sm: u32,
    /// Threads of one block.
    pub threads_per_block: u32,
    /// Blocks (CTAs) resident on an SM: no occupancy is higher.
    pub blocks_per_sm: u32,
    /// Warps resident on an SM.
    pub warps_per_sm: u32,
}

/// Threads of a warp, on every architecture so far.
pub const WARP_SIZE: u32 = 32;

const KIB: u32 = 1024;
/// The driver keeps this much shared memory for itself in every block, since sm_80.
const RESERVED_SHARED: u32 = KIB;

impl Arch {
    /// Every target, oldest first.
    pub const ALL: [Arch; 12] = [
        Arch::Sm80,
        Arch::Sm86,
        Arch::Sm87,
        Arch::Sm88,
        Arch::Sm89,
        Arch::Sm90,
        Arch::Sm100,
        Arch::Sm103,
        Arch::Sm107,
        Arch::Sm110,
        Arch::Sm120,
        Arch::Sm121,
    ];

    /// The targets whose branches are evaluated one by one; the others are answered as their
    /// nearest relative among these ([`Arch::nearest`]).
    pub const EVALUATED: [Arch; 8] = [
        Arch::Sm80,
        Arch::Sm86,
        Arch::Sm89,
        Arch::Sm90,
        Arch::Sm100,
        Arch::Sm103,
        Arch::Sm120,
        Arch::Sm121,
    ];

    /// The number after `sm_`.
    pub fn sm(self) -> u32 {
        match self {
            Arch::Sm80 => 80,
            Arch::Sm86 => 86,
            Arch::Sm87 => 87,
            Arch::Sm88 => 88,
            Arch::Sm89 => 89,
            Arch::Sm90 => 90,
            Arch::Sm100 => 100,
            Arch::Sm103 => 103,
            Arch::Sm107 => 107,
            Arch::Sm110 => 110,
            Arch::Sm120 => 120,
            Arch::Sm121 => 121,
        }
    }

    /// The target with this number, if cuTile has it.
    pub fn from_sm(sm: u32) -> Option<Arch> {
        Arch::ALL.into_iter().find(|arch| arch.sm() == sm)
    }

    /// What `torch.cuda.get_device_capability()` returns on it: (major, minor).
    pub fn capability(self) -> (u32, u32) {
        (self.sm() / 10, self.sm() % 10)
    }

    /// The target of a compute capability, if cuTile has it.
    pub fn from_capability(major: u32, minor: u32) -> Option<Arch> {
        (minor < 10)
            .then(|| major.checked_mul(10)?.checked_add(minor))
            .flatten()
            .and_then(Arch::from_sm)
    }

    /// The name as `tileiras`, `ByTarget` and this program write it.
    pub fn name(self) -> &'static str {
        match self {
            Arch::Sm80 => "sm_80",
            Arch::Sm86 => "sm_86",
            Arch::Sm87 => "sm_87",
            Arch::Sm88 => "sm_88",
            Arch::Sm89 => "sm_89",
            Arch::Sm90 => "sm_90",
            Arch::Sm100 => "sm_100",
            Arch::Sm103 => "sm_103",
            Arch::Sm107 => "sm_107",
            Arch::Sm110 => "sm_110",
            Arch::Sm120 => "sm_120",
            Arch::Sm121 => "sm_121",
        }
    }

    /// The generation it belongs to.
    pub fn family(self) -> Family {
        match self {
            Arch::Sm80 | Arch::Sm86 | Arch::Sm87 | Arch::Sm88 => Family::Ampere,
            Arch::Sm89 => Family::Ada,
            Arch::Sm90 => Family::Hopper,
            Arch::Sm100 | Arch::Sm103 | Arch::Sm110 | Arch::Sm120 | Arch::Sm121 => {
                Family::Blackwell
            }
            Arch::Sm107 => Family::Rubin,
        }
    }

    /// Limits of one SM and of one block.
    pub fn limits(self) -> Limits {
        // Per row: shared memory of an SM in KiB, resident threads, resident blocks.
        let (shared_kib, threads, blocks) = match self {
            Arch::Sm80 => (164, 2048, 32),
            Arch::Sm86 | Arch::Sm88 => (100, 1536, 16),
            Arch::Sm87 => (164, 1536, 16),
            Arch::Sm89 => (100, 1536, 24),
            Arch::Sm90 | Arch::Sm100 | Arch::Sm103 => (228, 2048, 32),
            Arch::Sm107 => (228, 1024, 16),
            Arch::Sm110 => (228, 1536, 24),
            Arch::Sm120 | Arch::Sm121 => (100, 1536, 24),
        };
        Limits {
            registers_per_sm: 65_536,
            registers_per_thread: 255,
            shared_per_sm: shared_kib * KIB,
            shared_per_block: shared_kib * KIB - RESERVED_SHARED,
            threads_per_sm: threads,
            threads_per_block: 1024,
            blocks_per_sm: blocks,
            warps_per_sm: threads / WARP_SIZE,
        }
    }

    /// Whether loads and stores can become TMA copies. Below sm_90 `allow_tma=False` still changes
    /// code: in a loop it turns asynchronous copies into plain loads.
    pub fn has_tma(self) -> bool {
        self >= Arch::Sm90
    }

    /// Whether blocks can be grouped into clusters. Below sm_90 `num_ctas` compiles and changes
    /// nothing: the code is the same, byte for byte.
    pub fn has_clusters(self) -> bool {
        self >= Arch::Sm90
    }

    /// Whether `num_ctas` greater than 1 is worth a try: a cluster exists, and the tensor cores
    /// read operands from shared memory, which its blocks can share. sm_120 and sm_121 do build a
    /// cluster of that size, but multiply from registers. An expectation, not a measurement.
    pub fn gains_from_clusters(self) -> bool {
        self.has_clusters() && self.tensor_cores() >= TensorCores::Sm90
    }

    /// Whether 8-bit floats (`float8_e4m3fn`, `float8_e5m2`) compile. Ada's hardware has them, but
    /// cuTile's compiler asks for sm_90.
    pub fn has_fp8(self) -> bool {
        self >= Arch::Sm90
    }

    /// Whether block-scaled multiplication and its 4- and 8-bit scale types compile.
    pub fn has_block_scaled(self) -> bool {
        self >= Arch::Sm100
    }

    /// The tensor-core instructions chosen for an f16 matrix multiplication.
    pub fn tensor_cores(self) -> TensorCores {
        match self {
            Arch::Sm80 | Arch::Sm86 | Arch::Sm87 | Arch::Sm88 | Arch::Sm89 => TensorCores::Sm80,
            Arch::Sm90 => TensorCores::Sm90,
            Arch::Sm100 | Arch::Sm103 | Arch::Sm110 => TensorCores::Sm100,
            Arch::Sm107 => TensorCores::Sm107,
            Arch::Sm120 | Arch::Sm121 => TensorCores::Sm80,
        }
    }

    /// The evaluated target that stands in for the architecture numbered `sm`, known or not.
    ///
    /// Candidates are those of the same major capability, else those of the nearest lower one, else
    /// the oldest; among them the closest that is not newer, else the closest. sm_110 is the
    /// exception that a number cannot tell: its tensor cores are those of sm_100.
    pub fn nearest(sm: u32) -> Nearest {
        let arch = if sm == 110 {
            Arch::Sm100
        } else {
            let same_major = |arch: &Arch| arch.sm() / 10 == sm / 10;
            let not_newer = |arch: &Arch| arch.sm() <= sm;
            let mut evaluated = Arch::EVALUATED.iter();
            evaluated
                .clone()
                .rfind(|arch| same_major(arch) && not_newer(arch))
                .or_else(|| evaluated.clone().find(|arch| same_major(arch)))
                .or_else(|| evaluated.rfind(|arch| not_newer(arch)))
                .copied()
                .unwrap_or(Arch::Sm80)
        };
        Nearest {
            requested: sm,
            arch,
        }
    }
}

/// The answer of [`Arch::nearest`], which knows whether it is exact so that the caller can say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Nearest {
    /// The number that was asked for.
    pub requested: u32,
    /// The evaluated target to use instead.
    pub arch: Arch,
}

impl Nearest {
    /// Whether the target asked for is itself evaluated.
    pub fn is_exact(self) -> bool {
        self.requested == self.arch.sm()
    }
}

/// `sm_90`, or `sm_87: as sm_86, nearest family` when another target stands in.
impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_exact() {
            write!(f, "{}", self.arch)
        } else {
            write!(f, "sm_{}: as {}, nearest family", self.requested, self.arch)
        }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A text that names no target of cuTile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownArch {
    /// The text as it was given.
    pub text: String,
    /// The number in it, if it has the form of a target (`sm_75`), for [`Arch::nearest`].
    pub sm: Option<u32>,
}

impl fmt::Display for UnknownArch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a target of cuTile; known are ", self.text)?;
        for (at, arch) in Arch::ALL.iter().enumerate() {
            write!(f, "{}{arch}", if at == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownArch {}

/// Reads the number of `sm_90`, `sm_90a`, `sm_100f`, `90`, `9.0`; `None` for anything else.
///
/// The suffixes are nvcc's for architecture-specific and family-specific code; cuTile has neither,
/// but people write them.
pub fn parse_sm(text: &str) -> Option<u32> {
    let text = text.trim();
    if let Some((major, minor)) = text.split_once('.') {
        let (major, minor): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
        return (minor < 10)
            .then(|| major.checked_mul(10)?.checked_add(minor))
            .flatten();
    }
    let digits = match text.strip_prefix("sm_") {
        Some(rest) => rest.strip_suffix(['a', 'f']).unwrap_or(rest),
        None => text,
    };
    // `parse` would also take a leading plus sign.
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        digits.parse().ok()
    } else {
        None
    }
}

impl FromStr for Arch {
    type Err = UnknownArch;

    fn from_str(text: &str) -> Result<Arch, UnknownArch> {
        let sm = parse_sm(text);
        sm.and_then(Arch::from_sm).ok_or_else(|| UnknownArch {
            text: text.trim().to_owned(),
            sm,
        })
    }
}

impl TryFrom<String> for Arch {
    type Error = UnknownArch;

    fn try_from(text: String) -> Result<Arch, UnknownArch> {
        text.parse()
    }
}

impl From<Arch> for String {
    fn from(arch: Arch) -> String {
        arch.name().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_reads_back_what_it_writes() {
        for arch in Arch::ALL {
            assert_eq!(arch.name().parse(), Ok(arch));
            assert_eq!(arch.name(), format!("sm_{}", arch.sm()));
            let (major, minor) = arch.capability();
            assert_eq!(Arch::from_capability(major, minor), Some(arch));
            assert_eq!(format!("{major}.{minor}").parse(), Ok(arch));
            let json = serde_json::to_string(&arch).unwrap();
            assert_eq!(json, format!("\"{arch}\""));
            assert_eq!(serde_json::from_str::<Arch>(&json).unwrap(), arch);
        }
        assert!(Arch::ALL.is_sorted());
        assert!(Arch::EVALUATED.is_sorted());
    }

    #[test]
    fn writings_of_one_target() {
        for (text, sm) in [
            ("sm_90a", Some(90)),
            (" sm_100f ", Some(100)),
            ("90", Some(90)),
            ("12.1", Some(121)),
            ("sm_75", Some(75)),
            ("sm_", None),
            ("sm90", None),
            ("sm_+90", None),
            ("+90", None),
            ("9.0.1", None),
            ("9.12", None),
            ("", None),
            ("99999999999", None),
        ] {
            assert_eq!(parse_sm(text), sm, "{text}");
        }
        let unknown = "sm_75".parse::<Arch>().unwrap_err();
        assert_eq!(unknown.sm, Some(75));
        assert_eq!(
            unknown.to_string(),
            "`sm_75` is not a target of cuTile; known are sm_80, sm_86, sm_87, sm_88, sm_89, sm_90, \
             sm_100, sm_103, sm_107, sm_110, sm_120, sm_121"
        );
    }

    #[test]
    fn stand_ins() {
        for (sm, said) in [
            (90, "sm_90"),
            (121, "sm_121"),
            (87, "sm_87: as sm_86, nearest family"),
            (88, "sm_88: as sm_86, nearest family"),
            (107, "sm_107: as sm_103, nearest family"),
            (110, "sm_110: as sm_100, nearest family"),
            (101, "sm_101: as sm_100, nearest family"),
            (95, "sm_95: as sm_90, nearest family"),
            (130, "sm_130: as sm_121, nearest family"),
            (75, "sm_75: as sm_80, nearest family"),
            (0, "sm_0: as sm_80, nearest family"),
        ] {
            assert_eq!(Arch::nearest(sm).to_string(), said);
        }
        for arch in Arch::EVALUATED {
            assert!(Arch::nearest(arch.sm()).is_exact());
        }
    }

    #[test]
    fn limits_agree_with_one_another() {
        for arch in Arch::ALL {
            let limits = arch.limits();
            assert_eq!(
                limits.warps_per_sm * WARP_SIZE,
                limits.threads_per_sm,
                "{arch}"
            );
            assert_eq!(
                limits.shared_per_sm - limits.shared_per_block,
                1024,
                "{arch}"
            );
            assert!(limits.threads_per_block <= limits.threads_per_sm, "{arch}");
        }
        let kib = |arch: Arch| {
            let limits = arch.limits();
            (limits.shared_per_sm / 1024, limits.shared_per_block / 1024)
        };
        assert_eq!(kib(Arch::Sm80), (164, 163));
        assert_eq!(kib(Arch::Sm89), (100, 99));
        assert_eq!(kib(Arch::Sm100), (228, 227));
        assert_eq!(kib(Arch::Sm121), (100, 99));
    }

    #[test]
    fn what_num_ctas_is_good_for() {
        let gaining: Vec<u32> = Arch::ALL
            .into_iter()
            .filter(|arch| arch.gains_from_clusters())
            .map(Arch::sm)
            .collect();
        assert_eq!(gaining, [90, 100, 103, 107, 110]);
        assert!(Arch::Sm120.has_clusters() && Arch::Sm120.has_tma());
        assert!(!Arch::Sm89.has_clusters() && !Arch::Sm89.has_tma() && !Arch::Sm89.has_fp8());
    }
}
