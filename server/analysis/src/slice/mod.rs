//! What a kernel needs of the workspace, as texts that can be executed on their own.
//!
//! cuTile's frontend compiles a function that Python has defined, so some of the user's code must
//! run, also half-typed code. A [`Slice`] has as little of it as possible: the kernel, the helpers,
//! constants, classes and imports that it reaches by name, in this file and in others of the
//! workspace. Everything else is blanked out and never executed. What is kept stands on its line and
//! column, so that places in errors and remarks are those of the user's file.
//!
//! A statement at the top of a file that is there for its effect is never part of a slice; a
//! compound one keeps only what binds needed names. A kernel inside a function is taken out of it:
//! the header becomes `if 1:`, and what the function's parameters would have been is
//! [`Slice::captured`].

mod canvas;
mod collect;
mod down;
mod imports;
mod module;
mod names;
mod nested;
mod pure;
mod render;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use tests::Written;

use serde::Serialize;
use smol_str::SmolStr;
use tileperf_syntax::{ParsedFile, Span};

use crate::eval::{Env, ModuleId};
use crate::model::{Fingerprint, Kernel};

/// A workspace whose files can be sliced. Implementations are pure lookups in a snapshot.
pub trait Workspace: Env {
    /// A file with its text; `None` for a module that is not known.
    fn source(&self, module: ModuleId) -> Option<Source<'_>>;
}

/// A file of the workspace.
#[derive(Debug, Clone)]
pub struct Source<'w> {
    /// Its dotted name, with as many parts as relative imports in it go up.
    pub name: SmolStr,
    /// Its path, as errors shall name it.
    pub path: SmolStr,
    /// Its text.
    pub text: &'w str,
    /// That text, parsed.
    pub file: &'w ParsedFile,
}

/// The part of the workspace that a kernel needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Slice {
    /// Its modules, the kernel's first.
    pub modules: Vec<ModuleText>,
    /// The name of the kernel's module.
    pub entry: SmolStr,
    /// The kernel's name at the top of that module.
    pub kernel: SmolStr,
    /// Names that functions around the kernel would have given values, which the slice does not.
    pub captured: Vec<SmolStr>,
    /// Calls that executing the slice makes and of which nobody knows what they do.
    pub runs: Vec<Runs>,
    /// Changes with anything that is kept; not with what stands between.
    pub fingerprint: Fingerprint,
}

impl Slice {
    /// Executing it defines things and computes constants, no more: it can be compiled while the
    /// user types.
    pub fn is_plain(&self) -> bool {
        self.runs.is_empty()
    }
}

/// A module of a slice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModuleText {
    /// The dotted name under which other modules of the slice import it.
    pub name: SmolStr,
    /// The file.
    pub path: SmolStr,
    /// Its text, all blanked out that is not needed.
    pub text: String,
}

/// Something at the top of a file that runs code, not only defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runs {
    /// The file.
    pub module: ModuleId,
    /// The place in the file.
    pub span: Span,
    /// What it is: "calls `open`".
    pub what: String,
}

/// Why there is no slice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unsliceable {
    /// Something that the kernel needs does not parse.
    Broken {
        /// The file.
        module: ModuleId,
        /// The top-level statement.
        span: Span,
    },
    /// The kernel stands where it cannot be taken out of: within this.
    Within(&'static str),
    /// There is no such kernel in the file, or no such file.
    Gone,
}

impl std::fmt::Display for Unsliceable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unsliceable::Broken { .. } => f.write_str("code that the kernel needs does not parse"),
            Unsliceable::Within(what) => {
                write!(
                    f,
                    "the kernel is defined within {what} and cannot be taken out"
                )
            }
            Unsliceable::Gone => f.write_str("the kernel is not there any more"),
        }
    }
}

/// The slice for a kernel of a file.
///
/// # Errors
/// There is none; see [`Unsliceable`].
pub fn slice(
    workspace: &dyn Workspace,
    module: ModuleId,
    kernel: &Kernel,
) -> Result<Slice, Unsliceable> {
    let collected = collect::collect(workspace, module, kernel)?;
    collected.slice()
}
