//! What is known of a space's configurations: searches that were recorded while a kernel was tested and
//! benchmarked, and what compiling them showed. What may be dropped from a space is told by these alone.

use smol_str::SmolStr;

use crate::arch::Arch;
use crate::eval::{Config, Known};

/// A configuration counts as good where it takes at most this many times what the best takes.
const GOOD: f64 = 1.05;
/// A space is judged by searches of at least so many different arguments.
const LEAST: usize = 2;

/// A search that a process of the loop made.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// What it ran on.
    pub arch: Arch,
    /// What the kernel was searched with, its constants left out; equal texts are equal arguments.
    /// Nothing if that was not recorded.
    pub arguments: Option<String>,
    /// It was made by the benchmark: its shapes are those that matter. Those of tests may be small.
    pub is_benchmark: bool,
    /// What was measured, the best included.
    pub measured: Vec<Timed>,
}

/// A configuration as a search measured it.
#[derive(Debug, Clone, PartialEq)]
pub struct Timed {
    /// Its fields in any order; a plain value has one without a name.
    pub fields: Vec<(SmolStr, Known)>,
    /// Its mean, in microseconds.
    pub mean_us: f64,
    /// Half of the mean's 95 % confidence interval, in microseconds; 0 if unknown.
    pub error_us: f64,
}

/// A space that was compiled as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Compiled {
    /// For which architecture.
    pub arch: Arch,
    /// For which arguments, as they are shown.
    pub signature: String,
    /// The configurations' fields, and what became of each.
    pub configs: Vec<(Vec<(SmolStr, Known)>, Code)>,
}

/// What a configuration became.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Code {
    /// Machine code: equal texts are equal code.
    Machine(String),
    /// Nothing: the compiler refuses it.
    Refused,
}

impl Compiled {
    /// What a configuration became; nothing if it was not compiled.
    pub(super) fn code(&self, config: &Config) -> Option<&Code> {
        let own = self.configs.iter().find(|(fields, _)| is(fields, config));
        own.map(|(_, code)| code)
    }
}

impl Search {
    /// What the best configuration took, in microseconds.
    fn best(&self) -> Option<f64> {
        let times = self.measured.iter().map(|timed| timed.mean_us);
        times.filter(|us| *us > 0.0).min_by(f64::total_cmp)
    }

    /// How many times what the best took a configuration takes at least. Nothing if it was not measured:
    /// one that failed here may be the best elsewhere.
    fn times(&self, config: &Config) -> Option<f64> {
        let timed = self.measured.iter().find(|timed| timed.is(config))?;
        Some((timed.mean_us - timed.error_us) / self.best()?)
    }
}

impl Timed {
    fn is(&self, config: &Config) -> bool {
        is(&self.fields, config)
    }
}

/// Whether these are a configuration's fields, in any order.
fn is(fields: &[(SmolStr, Known)], config: &Config) -> bool {
    let has = |(name, value): &(SmolStr, Known)| {
        let own = fields.iter().find(|(own, _)| own == name);
        own.is_some_and(|(_, own)| own == value)
    };
    fields.len() == config.fields.len() && config.fields.iter().all(has)
}

/// How many times what the best took a configuration took at least, in every search that measured it.
/// Nothing if it was good in one of them, or was not measured on enough different arguments.
pub(super) fn never_good(config: &Config, searches: &[&Search]) -> Option<f64> {
    let mut arguments: Vec<&str> = Vec::new();
    let mut least = f64::INFINITY;
    for search in searches {
        let Some(times) = search.times(config) else {
            continue;
        };
        if times <= GOOD {
            return None;
        }
        least = least.min(times);
        let own = search.arguments.as_deref();
        let own = own.filter(|own| search.is_benchmark && !arguments.contains(own));
        arguments.extend(own);
    }
    (arguments.len() >= LEAST && least.is_finite()).then_some(least)
}

/// On how many different arguments benchmarks searched.
pub(super) fn arguments(searches: &[&Search]) -> usize {
    let own = searches.iter().filter(|search| search.is_benchmark);
    let mut all: Vec<&str> = own.filter_map(|s| s.arguments.as_deref()).collect();
    all.sort_unstable();
    all.dedup();
    all.len()
}
