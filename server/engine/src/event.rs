//! What the engine does on its own and tells whoever listens.

use std::sync::Arc;

use crate::DocId;
use crate::runs::RunNote;

/// What the engine is doing, for a status line.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// No file mentions cuTile: nothing is indexed and nothing shown.
    Dormant,
    /// The workspace is being read.
    Indexing,
    /// The workspace is read.
    Ready,
}

/// The engine's state in numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    /// What it is doing.
    pub state: State,
    /// Python files that mention cuTile.
    pub files: usize,
    /// Python files known.
    pub known_files: usize,
    /// Kernels in them.
    pub kernels: usize,
    /// Wall time of the last full index, in seconds.
    pub index_seconds: f64,
}

/// Something a listener may want to act on.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The state or the counts changed.
    Status(Status),
    /// What is shown at kernels may have changed in documents that were not edited.
    Refresh,
    /// What is known of a kernel's experiments changed.
    Run(Arc<RunNote>),
    /// Something else is known of the compiled code of a document's kernels.
    Compiled(DocId),
    /// Why nothing is compiled; none if it is again.
    Toolchain(Option<String>),
    /// Something a person should read: a settings mistake, a file that cannot be watched.
    Message(String),
}
