//! What a git work tree says, without running anything of it.
//!
//! Everything here goes through libgit2, which starts no hook, filter or LFS process, so it is safe
//! on a workspace that nobody has trusted yet. Two things follow, and both are typed errors instead
//! of wrong answers:
//! - A repository with a feature that libgit2 does not have (SHA-256 objects, reftable, ...) or that belongs to another user is [`Error::Refused`], with the reason.
//! - A file whose `.gitattributes` name a filter (LFS, git-crypt, ...) has other bytes in the
//!   repository than in the work tree, and libgit2 cannot convert between them. Asking for its status
//!   or content is [`Error::Filtered`]: that step needs the user's own git.
//!
//! A [`Repo`] reads the repository anew at every question and caches nothing that another git
//! process could change. It only ever reads.

mod content;
mod error;
mod files;
mod repo;

pub use error::{Error, Refusal};
pub use files::FileStatus;
pub use repo::{Head, Operation, Repo};
