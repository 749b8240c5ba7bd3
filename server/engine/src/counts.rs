//! How many configurations a space has, per architecture.

use serde::Serialize;
use tileperf_analysis::arch::Arch;
use tileperf_syntax::Span;

use crate::{DocId, Engine};

/// A count, or the range that it lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CountView {
    /// At least this many.
    pub min: u64,
    /// At most this many; nothing when there is no bound.
    pub max: Option<u64>,
}

impl Engine {
    /// The count of the space at `span` of a file for each architecture of the settings.
    pub fn counts(&self, _doc: &DocId, _span: Span) -> Vec<(Arch, CountView)> {
        Vec::new()
    }
}
