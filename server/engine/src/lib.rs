//! One workspace in memory: open documents, the index of everything on disk, settings, trust, and
//! the questions an editor or the command line asks of them. Knows no protocol.

mod counts;
mod document;
mod engine;
mod explain;
mod facts;
mod index;
mod links;
mod modules;
mod parses;
mod queries;
pub mod settings;
mod view;
mod watch;

pub use document::{Analyzed, Change, DocId};
pub use engine::{Engine, Event, State, Status, UnknownDocument};
pub use facts::FileFacts;
pub use links::{Use, UseKind};
pub use queries::{HoverText, Inlay, Lens, PerfTarget, WorkspaceSymbol};
pub use view::Location;
