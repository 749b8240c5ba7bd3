//! How many configurations a space has, per architecture.

use tileperf_analysis::arch::Arch;
use tileperf_analysis::views::counts::Count;
use tileperf_syntax::Span;

use crate::{DocId, Engine};

impl Engine {
    /// The count of the space at `span` of a file for each architecture of the settings.
    pub fn counts(&self, _doc: &DocId, _span: Span) -> Vec<(Arch, Count)> {
        Vec::new()
    }
}
