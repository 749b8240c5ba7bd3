//! One workspace in memory: open documents, the index of everything on disk, settings, trust, and
//! the questions an editor or the command line asks of them. Knows no protocol.

mod compiled;
mod counts;
mod custom_plan;
mod document;
mod engine;
mod event;
mod explain;
mod facts;
mod findings;
mod index;
mod links;
mod modules;
mod parses;
mod playbook;
mod queries;
pub mod runs;
pub mod settings;
mod snapshot;
mod stamped;
mod view;
mod watch;
mod words;

pub use compiled::{
    AskGpu, Compared, CompileState, CompiledRow, CompilerVersions, Depth, FileVersion, LocalGpu,
    Order, Sameness, SignatureChoice, SignatureChoices, Signatures, SpaceBegun, SpaceListener,
    SpaceRow,
};
pub use custom_plan::CustomPlan;
pub use document::{Analyzed, Change, DocId};
pub use engine::{Engine, UnknownDocument};
pub use event::{Event, State, Status};
pub use facts::FileFacts;
pub use findings::{CheckedFile, CheckedWorkspace, JudgedFile, rule_url};
pub use index::NOT_UTF8;
pub use links::{Use, UseKind};
pub use playbook::{KernelActions, Offered, OtherFile};
pub use queries::{FailureAt, HoverText, Inlay, Lens, PerfTarget, WorkspaceSymbol};
pub use runs::RunNote;
pub use view::Location;
