//! What a git work tree says, and the few changes that tileperf makes to one.
//!
//! Everything here goes through libgit2, which starts no hook, filter or LFS process, so reading is
//! safe on a workspace that nobody has trusted yet. Two things follow, and both are typed errors
//! instead of wrong answers:
//! - A repository with a feature that libgit2 does not have (SHA-256 objects, reftable, ...) or that belongs to another user is [`Error::Refused`], with the reason.
//! - A file whose `.gitattributes` name a filter (LFS, git-crypt, ...) has other bytes in the
//!   repository than in the work tree, and libgit2 cannot convert between them. Asking for its status
//!   or content is [`Error::Filtered`]. What writes takes a [`GitProgram`], a way to run the user's
//!   own git that the caller lends, and uses it for such files only.
//!
//! **Writing** follows one rule: the user's work is never lost. A file is overwritten only if it still
//! is what the caller expected ([`swap_files`]); a branch moves only if it still is where the caller
//! has seen it; the index is changed under git's own lock, in the entries of the named files only; and
//! nothing here ever checks out by force in the user's tree. No hook is run and no commit is signed.
//! An operation that fails leaves branch, index and files as they were. One that was killed can be
//! repeated with the same arguments.
//!
//! A [`Repo`] reads the repository anew at every question and caches nothing that another git
//! process could change.

mod branch;
mod checkout;
mod commit;
mod content;
mod convert;
mod disk;
mod ending;
mod eol;
mod error;
mod exclude;
mod files;
mod gaps;
mod lock;
mod program;
mod read;
mod recover;
mod repo;
mod undo;
mod version;
mod worktree;

pub use branch::{Started, is_branch_name};
pub use checkout::Brought;
pub use commit::{Identity, NewCommit};
pub use disk::{read_file, swap_files};
pub use ending::Finish;
pub use error::{Error, Refusal};
pub use files::FileStatus;
pub use gaps::Gap;
pub use program::{GitOutput, GitProgram, NoGit};
pub use read::{ChangedFile, Untracked};
pub use repo::{Head, Operation, Repo};
pub use undo::Undo;
pub use version::{BlobId, CommitId, Content, Difference, FileVersion, Swap};
pub use worktree::Worktree;
