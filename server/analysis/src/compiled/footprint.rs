//! What counts of a compiled kernel when it is compared with what it was: resources, and which accesses
//! and multiplications use the accelerators. Fit for a file that is read by people.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{CompiledFacts, Kind, Occupancy};

/// The numbers of one compile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Footprint {
    /// 32-bit registers of a thread.
    pub registers: u32,
    /// Bytes of stack of a thread.
    pub stack: u32,
    /// Bytes of static shared memory of a block.
    pub shared: u32,
    /// Threads of a block.
    pub threads: Option<u32>,
    /// Blocks of a cluster.
    pub cluster: u32,
    /// Blocks that an SM holds at once.
    pub ctas_per_sm: Option<u32>,
    /// Loads and stores by TMA. It and the following are missing where the compiler says nothing.
    pub tma: Option<u32>,
    /// Loads and stores without.
    pub plain: Option<u32>,
    /// Multiplications that tensor cores could have done.
    pub fma: Option<u32>,
    /// Multiplications on tensor cores, by generation of instructions: `SM90`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tensor_cores: BTreeMap<String, u32>,
}

/// What has become of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Drift {
    /// What is worse, in words.
    pub lost: Vec<String>,
    /// What is better.
    pub gained: Vec<String>,
    /// What is neither.
    pub other: Vec<String>,
}

impl Footprint {
    /// Of a compile; `None` if there is no machine code.
    #[must_use]
    pub fn of(facts: &CompiledFacts) -> Option<Footprint> {
        let machine = facts.machine()?;
        let resources = &machine.resources;
        let mut out = Footprint {
            registers: resources.registers,
            stack: resources.stack,
            shared: resources.shared,
            threads: resources.threads,
            cluster: resources.cluster,
            ctas_per_sm: Occupancy::of(resources, facts.arch).map(|o| o.blocks()),
            tma: None,
            plain: None,
            fma: None,
            tensor_cores: BTreeMap::new(),
        };
        let Some(remarks) = &machine.remarks else {
            return Some(out);
        };
        let (mut tma, mut plain, mut fma) = (0, 0, 0);
        for remark in remarks.iter().map(|placed| &placed.remark) {
            match &remark.kind {
                Kind::Tma { .. } => tma += remark.count,
                Kind::Plain { .. } => plain += remark.count,
                Kind::Fma { .. } => fma += remark.count,
                Kind::TensorCore { instruction, .. } => {
                    *out.tensor_cores.entry(instruction.clone()).or_default() += remark.count;
                }
                Kind::Hint { .. } | Kind::Other { .. } => {}
            }
        }
        (out.tma, out.plain, out.fma) = (Some(tma), Some(plain), Some(fma));
        Some(out)
    }

    /// What has become of it. TMA and tensor cores are lost where others took their place, or where
    /// none are left: an access that is gone is no loss. More registers or shared memory alone are none
    /// either, as long as as many blocks fit an SM.
    #[must_use]
    pub fn drift(&self, now: &Footprint) -> Drift {
        let mut out = Drift::default();
        out.judge("bytes of stack", self.stack, now.stack, Better::Less);
        if let (Some(was), Some(is)) = (self.ctas_per_sm, now.ctas_per_sm) {
            out.judge("CTAs/SM", was, is, Better::More);
        }
        let ways = (self.tma.zip(self.plain)).zip(now.tma.zip(now.plain));
        if let Some((was, is)) = ways {
            out.accelerated("TMA", was, is);
        }
        let cores = |of: &Footprint| Some((of.tensor_cores.values().sum::<u32>(), of.fma?));
        if let (Some(was), Some(is)) = (cores(self), cores(now)) {
            out.accelerated("tensor cores", was, is);
        }
        out.generation(self, now);
        let rest = [
            ("registers", Some(self.registers), Some(now.registers)),
            (
                "bytes of shared memory",
                Some(self.shared),
                Some(now.shared),
            ),
            ("threads", self.threads, now.threads),
            ("blocks a cluster", Some(self.cluster), Some(now.cluster)),
        ];
        for (what, was, is) in rest {
            if let (Some(was), Some(is)) = (was, is)
                && was != is
            {
                out.other.push(format!("{is} {what}, was {was}"));
            }
        }
        out
    }

    /// The newest generation of tensor cores that is used, as a number.
    fn newest(&self) -> Option<u32> {
        let digits = |name: &String| {
            let digits: String = name.chars().filter(char::is_ascii_digit).collect();
            digits.parse().ok()
        };
        self.tensor_cores.keys().filter_map(digits).max()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Better {
    Less,
    More,
}

impl Drift {
    /// Nothing has changed.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.lost.is_empty() && self.gained.is_empty() && self.other.is_empty()
    }

    fn judge(&mut self, what: &str, was: u32, is: u32, better: Better) {
        if was == is {
            return;
        }
        let list = match (is > was) == (better == Better::More) {
            true => &mut self.gained,
            false => &mut self.lost,
        };
        list.push(format!("{is} {what}, was {was}"));
    }

    /// Operations with an accelerator and without, before and now.
    fn accelerated(&mut self, what: &str, was: (u32, u32), is: (u32, u32)) {
        let words = format!(
            "{what} for {} of {}, was {} of {}",
            is.0,
            is.0 + is.1,
            was.0,
            was.0 + was.1
        );
        let list = match (is.0.cmp(&was.0), is.1.cmp(&was.1)) {
            (std::cmp::Ordering::Equal, std::cmp::Ordering::Equal) => return,
            (std::cmp::Ordering::Less, std::cmp::Ordering::Greater) => &mut self.lost,
            (std::cmp::Ordering::Less, _) if is.0 == 0 => &mut self.lost,
            (std::cmp::Ordering::Greater, std::cmp::Ordering::Less) => &mut self.gained,
            (std::cmp::Ordering::Greater, _) if was.0 == 0 => &mut self.gained,
            _ => &mut self.other,
        };
        list.push(words);
    }

    fn generation(&mut self, before: &Footprint, now: &Footprint) {
        let (Some(was), Some(is)) = (before.newest(), now.newest()) else {
            return;
        };
        self.judge(
            "is the newest generation of tensor cores used",
            was,
            is,
            Better::More,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn footprint(change: impl FnOnce(&mut Footprint)) -> Footprint {
        let mut out = Footprint {
            registers: 128,
            stack: 0,
            shared: 1024,
            threads: Some(128),
            cluster: 1,
            ctas_per_sm: Some(4),
            tma: Some(3),
            plain: Some(1),
            fma: Some(0),
            tensor_cores: BTreeMap::from([("SM90".to_owned(), 2)]),
        };
        change(&mut out);
        out
    }

    #[test]
    fn what_is_worse_is_told_from_what_is_only_different() {
        type Change = fn(&mut Footprint);
        let cases: &[(Change, &str, &str)] = &[
            (|_| {}, "", ""),
            (|f| f.stack = 64, "64 bytes of stack, was 0", ""),
            (|f| f.ctas_per_sm = Some(2), "2 CTAs/SM, was 4", ""),
            (|f| f.ctas_per_sm = Some(5), "", "5 CTAs/SM, was 4"),
            (|f| f.ctas_per_sm = None, "", ""),
            (|f| f.registers = 130, "", "other: 130 registers, was 128"),
            (
                |f| (f.tma, f.plain) = (Some(2), Some(2)),
                "TMA for 2 of 4, was 3 of 4",
                "",
            ),
            // An access less.
            (|f| f.tma = Some(2), "", "other: TMA for 2 of 3, was 3 of 4"),
            // None is left.
            (|f| f.tma = Some(0), "TMA for 0 of 1, was 3 of 4", ""),
            (
                |f| (f.tma, f.plain) = (Some(4), Some(0)),
                "",
                "TMA for 4 of 4, was 3 of 4",
            ),
            // The compiler says nothing.
            (|f| (f.tma, f.plain, f.fma) = (None, None, None), "", ""),
            (
                |f| {
                    f.tensor_cores.clear();
                    f.fma = Some(2);
                },
                "tensor cores for 0 of 2, was 2 of 2",
                "",
            ),
            (
                |f| f.tensor_cores = BTreeMap::from([("SM80".to_owned(), 2)]),
                "80 is the newest generation of tensor cores used, was 90",
                "",
            ),
        ];
        for (number, (change, lost, gained)) in cases.iter().enumerate() {
            let drift = footprint(|_| {}).drift(&footprint(change));
            assert_eq!(drift.lost.join("; "), *lost, "{number}");
            let other = drift.other.iter().map(|words| format!("other: {words}"));
            let rest: Vec<String> = drift.gained.iter().cloned().chain(other).collect();
            assert_eq!(rest.join("; "), *gained, "{number}");
            assert_eq!(drift.is_none(), lost.is_empty() && gained.is_empty());
            // Looked at from the other side, a loss is a gain.
            let back = footprint(change).drift(&footprint(|_| {}));
            assert_eq!(back.lost.len(), drift.gained.len(), "{number}");
            assert_eq!(back.gained.len(), drift.lost.len(), "{number}");
        }
    }
}
