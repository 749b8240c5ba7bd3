//! The cuTile things of a file and how they hang together: kernels, launches, registrations,
//! searches, configuration spaces, hint replacements.
//!
//! [`FileModel::build`] works on one file. What leads out of it (an imported kernel, a launch whose
//! kernel a caller elsewhere passes) stays symbolic as [`Candidate`] paths; the engine, which sees
//! every file, follows them.

mod build;
mod by_target;
mod fingerprint;
mod guard;
mod names;
mod scan;
mod spaces;
#[cfg(test)]
mod tests;
mod value;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::Serialize;
use smol_str::SmolStr;
use tileperf_syntax::Span;

pub use build::{ItemScan, ModelCache};
pub use by_target::ByTarget;
pub use fingerprint::function_fingerprint;

/// Which kernel of a workspace: branches and factories can define one name several times.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct KernelId {
    /// The file as the engine names it.
    pub file: SmolStr,
    /// `Class.method`, `factory.<locals>.kernel` or the plain name.
    pub qualified: SmolStr,
    /// 0 for the first definition of that name in the file, in source order.
    pub ordinal: u32,
}

/// Changes with a kernel's code and that of the functions it calls; not with comments, layout or
/// place. Written as 16 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Fingerprint(pub u64);

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The n-th access (load, store, gather, scatter, mma, atomic) of a kernel: a line that moves with
/// edits keeps its number.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct SiteId {
    /// The kernel.
    pub kernel: KernelId,
    /// Zero-based, in source order.
    pub access: u32,
}

/// A function compiled by cuTile for the GPU.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Kernel {
    /// Its bare name.
    pub name: SmolStr,
    /// `Class.method`, `factory.<locals>.kernel` or the plain name.
    pub qualified: SmolStr,
    /// 0 for the first definition of that qualified name in the file.
    pub ordinal: u32,
    /// The identifier after `def`.
    pub name_span: Span,
    /// From `def` to the end of the body.
    pub span: Span,
    /// The kernel decorator's expression, or the call that wraps the function.
    pub decorator_span: Span,
    /// The topmost decorator's expression, else `def`: what a lens stands above.
    pub top: Span,
    /// Hints fixed at the decorator.
    pub hints: Vec<Hint>,
    /// Its parameters.
    pub params: Vec<KernelParam>,
    /// Loads, stores and the like in its own body, in source order: the index is
    /// [`SiteId::access`].
    pub accesses: Vec<Access>,
    /// Of its code.
    pub fingerprint: Fingerprint,
    /// The facts are those of the last text that parsed.
    pub stale: bool,
}

/// A place in a kernel of which the compiler says what it became.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Access {
    /// What it does.
    pub kind: AccessKind,
    /// The whole call.
    pub span: Span,
}

/// What an access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[allow(missing_docs)] // cuTile's own words.
pub enum AccessKind {
    Load,
    Store,
    Gather,
    Scatter,
    Mma,
    Atomic,
}

impl AccessKind {
    /// By the function's name in `cuda.tile`.
    fn of(name: &str) -> Option<AccessKind> {
        Some(match name {
            "load" => AccessKind::Load,
            "store" => AccessKind::Store,
            "gather" => AccessKind::Gather,
            "scatter" => AccessKind::Scatter,
            "mma" | "mma_scaled" | "matmul" => AccessKind::Mma,
            name if name.starts_with("atomic_") => AccessKind::Atomic,
            _ => return None,
        })
    }

    /// The word for several of them, and for one.
    pub fn word(self, count: usize) -> &'static str {
        match (self, count) {
            (AccessKind::Load, 1) => "load",
            (AccessKind::Load, _) => "loads",
            (AccessKind::Store, 1) => "store",
            (AccessKind::Store, _) => "stores",
            (AccessKind::Gather, 1) => "gather",
            (AccessKind::Gather, _) => "gathers",
            (AccessKind::Scatter, 1) => "scatter",
            (AccessKind::Scatter, _) => "scatters",
            (AccessKind::Mma, _) => "mma",
            (AccessKind::Atomic, 1) => "atomic",
            (AccessKind::Atomic, _) => "atomics",
        }
    }
}

/// A keyword of the kernel decorator.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hint {
    /// `occupancy`, `num_ctas`, `opt_level`, ...
    pub name: SmolStr,
    /// The value as written.
    pub text: String,
    /// Where the value stands.
    pub span: Span,
}

/// A parameter of a kernel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelParam {
    /// Its name.
    pub name: SmolStr,
    /// Where the name stands.
    pub span: Span,
    /// Its annotation makes it a compile-time constant.
    pub constant: bool,
    /// The annotation as written.
    pub annotation: Option<String>,
}

/// What a launch, search or hint replacement may refer to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub enum Candidate {
    /// A kernel of this file, by index into [`FileModel::kernels`].
    Local(usize),
    /// Something imported, by absolute dotted path.
    Imported(SmolStr),
    /// What calling something imported returns.
    Returned(SmolStr),
    /// What callers elsewhere pass for a parameter of a function of this file.
    Param {
        /// The function, by module-level name or `Class.method`.
        function: SmolStr,
        /// The parameter's name.
        name: SmolStr,
        /// Its place among the arguments a caller writes.
        place: usize,
    },
}

/// Which function launches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum LaunchApi {
    /// `cuda.tile.launch(stream, grid, kernel, args)`.
    Launch,
    /// JAX: `cutile_call(grid, kernel, args)`.
    CutileCall,
}

/// A call that launches a kernel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Launch {
    /// Which function.
    pub api: LaunchApi,
    /// The whole call.
    pub span: Span,
    /// The function's name in the call.
    pub callee_span: Span,
    /// The kernel argument as written.
    pub kernel_text: String,
    /// The identifier in the kernel argument to jump from; the whole argument if it has none.
    pub kernel_span: Span,
    /// The kernels it may be.
    pub candidates: Vec<Candidate>,
    /// The function that launches, qualified; empty at module level.
    pub function: SmolStr,
    /// The facts are those of the last text that parsed.
    pub stale: bool,
}

/// An implementation registered for an op.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Registration {
    /// The `register_impl(...)` call.
    pub span: Span,
    /// The op's name.
    pub op: Option<SmolStr>,
    /// Where the op's name stands.
    pub op_span: Span,
    /// The backend, if literal.
    pub backend: Option<SmolStr>,
    /// The function registered.
    pub function: Option<SmolStr>,
    /// Where that function's name stands: at its definition or in the call.
    pub function_span: Span,
    /// Kernels that the function launches, itself or through functions of this file.
    pub kernels: Vec<Candidate>,
    /// The facts are those of the last text that parsed.
    pub stale: bool,
}

/// Which function searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchApi {
    /// `cuda.tile.tune.exhaustive_search`.
    ExhaustiveSearch,
    /// `cuda.tile_experimental.autotune_launch`, deprecated.
    AutotuneLaunch,
}

impl SearchApi {
    /// The function's name.
    pub fn name(self) -> &'static str {
        match self {
            SearchApi::ExhaustiveSearch => "exhaustive_search",
            SearchApi::AutotuneLaunch => "autotune_launch",
        }
    }
}

/// A call that times a kernel over a space of configurations.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Search {
    /// Which function.
    pub api: SearchApi,
    /// The whole call.
    pub span: Span,
    /// The function's name in the call.
    pub callee_span: Span,
    /// The space argument as written.
    pub space_text: String,
    /// Where it stands.
    pub space_span: Span,
    /// The identifier in it to jump from.
    pub space_ident: Option<Span>,
    /// What the space is.
    pub spaces: Vec<SpaceRef>,
    /// The kernel argument as written.
    pub kernel_text: String,
    /// The identifier in the kernel argument to jump from.
    pub kernel_span: Span,
    /// The kernels it may be.
    pub candidates: Vec<Candidate>,
    /// The function that searches, qualified; empty at module level.
    pub function: SmolStr,
    /// When it runs.
    pub context: HintContext,
    /// The facts are those of the last text that parsed.
    pub stale: bool,
}

/// Where a search's space comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub enum SpaceRef {
    /// A space of this file, by index into [`FileModel::spaces`].
    Local(usize),
    /// A function or list of another module, by absolute dotted path.
    Imported(SmolStr),
}

/// A function or list that gives the configurations of a search.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Space {
    /// The function's or variable's name; empty for a list written in the call.
    pub name: SmolStr,
    /// The name at its definition, or the list.
    pub name_span: Span,
    /// The definition or list.
    pub span: Span,
    /// What it is.
    pub kind: SpaceKind,
    /// The facts are those of the last text that parsed.
    pub stale: bool,
}

/// What gives the configurations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum SpaceKind {
    /// A function that yields them.
    Generator,
    /// A function that returns them.
    Function,
    /// A list or comprehension.
    List,
}

/// When a kernel is remade with other hints, or a space is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HintContext {
    /// Only on a cache miss.
    Guarded,
    /// At every call.
    Hot,
    /// Once, when the module is imported.
    Module,
    /// Memoised by a cache of its own.
    Cached,
}

/// A kernel remade with other hints.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HintUse {
    /// The whole call.
    pub span: Span,
    /// The function's name in the call.
    pub callee_span: Span,
    /// The kernel as written.
    pub kernel_text: String,
    /// The identifier to jump from.
    pub kernel_span: Span,
    /// The kernels it may be.
    pub candidates: Vec<Candidate>,
    /// When it runs.
    pub context: HintContext,
    /// The facts are those of the last text that parsed.
    pub stale: bool,
}

/// What other files can refer to by a module-level name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Export {
    /// Kernels that the name can be.
    pub kernels: Vec<Candidate>,
    /// Kernels that calling it returns.
    pub returns: Vec<Candidate>,
    /// The space that it is, by index.
    pub space: Option<usize>,
    /// A function definition of that name: its name's place and the whole.
    pub function: Option<(Span, Span)>,
}

/// A call that passes a kernel to a function of another module.
#[derive(Debug, Clone, PartialEq)]
pub struct PassedKernel {
    /// The function, by absolute dotted path.
    pub callee: SmolStr,
    /// The keyword, if given so.
    pub keyword: Option<SmolStr>,
    /// The place among the positional arguments.
    pub place: usize,
    /// The kernels it may be.
    pub kernels: Vec<Candidate>,
}

/// Everything cuTile in a file.
#[derive(Debug, Clone, Default)]
pub struct FileModel {
    /// Kernels in source order.
    pub kernels: Vec<Kernel>,
    /// Launches in source order.
    pub launches: Vec<Launch>,
    /// Registrations in source order.
    pub registrations: Vec<Registration>,
    /// Searches in source order.
    pub searches: Vec<Search>,
    /// Spaces of this file that this file searches; others may as well.
    pub spaces: Vec<Space>,
    /// Hint replacements in source order.
    pub hint_uses: Vec<HintUse>,
    /// Module-level names that other files may follow.
    pub exports: FxHashMap<SmolStr, Export>,
    /// Kernels handed to functions of other modules.
    pub passed: Vec<PassedKernel>,
    /// Names by which this file knows cuTile's module, for explaining `ct.*`.
    pub imports: FxHashMap<SmolStr, SmolStr>,
    /// The file imports `cuda.tile`.
    pub uses_cutile: bool,
}

impl FileModel {
    /// Whether there is anything to show.
    pub fn is_empty(&self) -> bool {
        self.kernels.is_empty()
            && self.launches.is_empty()
            && self.registrations.is_empty()
            && self.searches.is_empty()
            && self.hint_uses.is_empty()
            && self.spaces.is_empty()
    }
}

/// A shared model.
pub type SharedModel = Arc<FileModel>;
