//! What bounds a kernel's time: memory, arithmetic, or both alike.
//!
//! [`classify`] estimates the arithmetic intensity of one block from the kernel's body: FLOP of
//! matrix products from the extents of their tiles, of the rest from operations on each element,
//! against the bytes of what is loaded and stored, each as often as its loops run. What blocks share
//! in the cache is not seen, and what is not known is assumed and said: the answer orders a list of
//! things to try, it proves nothing.

mod amount;
mod cost;
mod count;
mod helpers;
#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;
use serde::Serialize;
use smol_str::SmolStr;

use crate::body::Device;
use cost::Walk;

/// FLOP per byte up to which memory bounds a kernel.
const MEMORY: f64 = 10.0;

/// FLOP per byte from which arithmetic does.
const COMPUTE: f64 = 50.0;

/// What bounds a kernel's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Less than 10 FLOP per byte.
    MemoryBound,
    /// In between.
    Balanced,
    /// More than 50 FLOP per byte.
    ComputeBound,
    /// Too little of the kernel is understood.
    Unknown,
}

impl Class {
    /// As people say it.
    pub fn name(self) -> &'static str {
        match self {
            Class::MemoryBound => "memory-bound",
            Class::Balanced => "balanced",
            Class::ComputeBound => "compute-bound",
            Class::Unknown => "unknown",
        }
    }

    /// At the beginning of a sentence.
    fn title(self) -> &'static str {
        match self {
            Class::MemoryBound => "Memory-bound",
            Class::Balanced => "Balanced",
            Class::ComputeBound => "Compute-bound",
            Class::Unknown => "Unknown",
        }
    }

    fn of(intensity: f64) -> Class {
        if intensity < MEMORY {
            Class::MemoryBound
        } else if intensity <= COMPUTE {
            Class::Balanced
        } else {
            Class::ComputeBound
        }
    }
}

/// What is known of a kernel beside its text, from a launch.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Constants by parameter.
    pub constants: FxHashMap<SmolStr, i64>,
    /// Bytes of an element by array parameter.
    pub element_bytes: FxHashMap<SmolStr, u32>,
}

/// A kernel's class and how it was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Classification {
    /// What bounds it.
    pub class: Class,
    /// FLOP per byte.
    pub intensity: Option<f64>,
    /// FLOP of one block.
    pub flops: f64,
    /// Bytes that one block loads and stores.
    pub bytes: f64,
    /// What that is made of, the largest parts first: `128 x 64 elements of x, loaded 16 times`.
    pub parts: Vec<String>,
    /// What was assumed: `BLOCK = 128`.
    pub assumed: Vec<String>,
    /// The class is the same whatever is assumed within reason.
    pub certain: bool,
    /// Why the class is unknown, if it is.
    pub reason: Option<&'static str>,
}

/// Extents and bytes that are tried in place of the assumed ones, to see whether they matter.
const OTHERWISE: [Assumptions; 2] = [
    Assumptions {
        extent: 32.0,
        bytes: 4.0,
        rounds: 4.0,
    },
    Assumptions {
        extent: 256.0,
        bytes: 1.0,
        rounds: 128.0,
    },
];

/// What is taken for that which nobody knows.
#[derive(Debug, Clone, Copy)]
struct Assumptions {
    /// The extent of a tile.
    extent: f64,
    /// Of an element.
    bytes: f64,
    /// Of a loop.
    rounds: f64,
}

impl Default for Assumptions {
    fn default() -> Assumptions {
        Assumptions {
            extent: 128.0,
            bytes: 2.0,
            rounds: 16.0,
        }
    }
}

/// Classifies a kernel. `helper` gives the device functions of the same file by name.
pub fn classify<'a>(
    device: &Device<'a>,
    known: &Known,
    helper: &dyn Fn(&str) -> Option<Device<'a>>,
) -> Classification {
    let total = |assumptions| Walk::new(device, known, helper, assumptions).run();
    let found = total(Assumptions::default());
    let intensity = found.intensity();
    let class = intensity.map_or(Class::Unknown, Class::of);
    let same = |assumptions| total(assumptions).intensity().map(Class::of) == Some(class);
    let certain =
        intensity.is_some() && (found.assumed.is_empty() || OTHERWISE.into_iter().all(same));
    Classification {
        class,
        intensity,
        flops: found.flops,
        bytes: found.bytes,
        parts: found.parts(),
        reason: found.reason(),
        assumed: found.assumed,
        certain,
    }
}

impl Classification {
    /// The class and its derivation, for a hover: Markdown.
    pub fn text(&self) -> String {
        let Some(intensity) = self.intensity else {
            let reason = self.reason.unwrap_or("too little of it is understood");
            return format!("**What bounds it: unknown**, {reason}\n");
        };
        let mut text = format!(
            "**{}** by an estimate: about {} FLOP/byte ({} FLOP and {} bytes in one block)\n",
            self.class.title(),
            amount::rounded(intensity),
            amount::short(self.flops),
            amount::short(self.bytes),
        );
        for part in &self.parts {
            text.push_str(&format!("\n- {part}"));
        }
        text.push('\n');
        if !self.assumed.is_empty() {
            let matters = if self.certain {
                "which hardly matters"
            } else {
                "which decides"
            };
            text.push_str(&format!(
                "\nAssumed, {matters}: {}\n",
                self.assumed.join(", ")
            ));
        }
        text
    }
}
