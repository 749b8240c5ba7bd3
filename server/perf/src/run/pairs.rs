//! Samples of two variants, taken in turns until each configuration is decided or the time is up.
//!
//! Where the benchmark is pytest's, one process for each variant runs every item once, untimed, and
//! then repeats items on request: A B B A within seconds, so that neither clocks nor temperature can
//! favour one side. Anything else gives one sample a run, and needs as many runs as there are samples.

mod process;
mod repeated;
mod sides;
mod whole_runs;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::error::Error;
use crate::plan::Probe;
use crate::readings::{Key, SetComparison};
use crate::stats::{Pair, Plan, Variant};

use super::execute::Bench;
use super::record::Ran;

/// Kept back from the iteration's time for deciding and cleaning up.
const RESERVE: Duration = Duration::from_secs(5);

/// The most looks that are taken under a plan.
pub type Looks = fn(Plan) -> usize;

/// What the loop wants to know while samples are taken.
pub trait Watcher {
    /// Makes `variant` the code in its root, before a process of it starts, and returns that root.
    ///
    /// # Errors
    /// Any; it ends the measuring.
    fn place(&mut self, variant: Variant) -> Result<PathBuf, Error>;

    /// A process of this variant starts.
    ///
    /// # Errors
    /// Any; it ends the measuring.
    fn warming(&mut self, variant: Variant) -> Result<(), Error>;

    /// Whether more pairs of this configuration are wanted, at a look.
    /// `repeated`: all pairs are from the same two processes.
    fn wants_more(
        &mut self,
        key: &Key,
        pairs: &[Pair],
        plan: Plan,
        repeated: bool,
        more: bool,
    ) -> bool;

    /// After a look at all: configurations that must be looked at again although each by itself is
    /// decided, because it may be so by chance among so many.
    fn open(&mut self, sets: &SetComparison) -> Vec<Key>;

    /// A look was taken: pairs so far, configurations decided, configurations in all.
    ///
    /// # Errors
    /// Any; it ends the measuring.
    fn looked(&mut self, pairs: usize, decided: usize, of: usize) -> Result<(), Error>;
}

/// Everything that was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    /// Pairs by configuration, in the order they were taken.
    pub pairs: BTreeMap<Key, Vec<Pair>>,
    /// Whether the costs of a configuration are milliseconds.
    pub is_time: BTreeMap<Key, bool>,
    /// How the two sides' configurations differ.
    pub sets: SetComparison,
    /// Under which plan they were looked at.
    pub plan: Plan,
    /// All pairs are from the same two processes.
    pub repeated: bool,
    /// What the recorder saw: base, candidate.
    pub ran: [Ran; 2],
}

impl Bench<'_> {
    /// Measures the two variants against each other, up to what `looks` allows. Where both get one
    /// process, that of `first` is started before the other: with it go the core and the memory that
    /// were free, so a comparison made again begins with the other side.
    ///
    /// # Errors
    /// As [`Bench::run`]; [`Error::WrongCode`] if other code ran; [`Error::Readings`] for output that
    /// cannot be read; whatever the watcher says.
    pub fn pairs(
        &self,
        probe: &dyn Probe,
        watcher: &mut dyn Watcher,
        looks: Looks,
        first: Variant,
    ) -> Result<Sampled, Error> {
        let sampled = match self.repeated(probe, watcher, looks, first)? {
            Some(sampled) => sampled,
            None => self.whole_runs(probe, watcher, looks)?,
        };
        Ok(sampled)
    }
}
