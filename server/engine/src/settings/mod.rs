//! Settings: one table, five layers, and for every value where it came from.
//!
//! The table ([`table::TABLE`]) is the only place that knows a setting. Validation, the typed
//! [`Settings`], `docs/settings.md` ([`markdown`]) and the configuration block of the VS Code
//! manifest ([`vscode_schema`]) come from it, so they cannot disagree.
//!
//! Layers, each overriding the ones before: defaults, the user's own `tileperf.toml`,
//! `pyproject.toml`, the workspace's `tileperf.toml`, the editor, the command line. A value replaces
//! the lower one whole; lists and maps are not merged, because then nothing could be taken away.
//!
//! A mistake costs only itself: a wrong key or value is reported and the lower layer's value stays;
//! a file that is no TOML is reported and counts as empty. Settings that say what to run are not
//! taken from the files of a workspace that is not trusted, and trust is never taken from them.
//!
//! All but [`load`] are pure functions from text to values.

mod check;
mod layer;
pub mod load;
mod markdown;
mod nearest;
mod problem;
mod raw;
mod resolve;
mod rules;
mod schema;
pub mod table;
mod value;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use tileperf_analysis::arch::{Arch, Nearest};
use tileperf_analysis::target::Version;

pub use layer::{Layer, LayerKind, editor_trust};
pub use markdown::markdown;
pub use problem::{Place, SettingsProblem};
pub use rules::Rules;
pub use schema::{restricted_configurations, vscode_schema};
pub use value::{KernelPerf, Value};

/// Every setting, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// What the editor is shown.
    pub surfaces: Surfaces,
    /// Which inlay hints there are.
    pub inlay_hints: InlayHints,
    /// Architectures to evaluate for, ascending, at least one; not all need be among
    /// [`Arch::EVALUATED`], see [`Settings::evaluated_archs`].
    pub archs: Vec<Arch>,
    /// The cuda-tile to assume instead of the installed one.
    pub cuda_tile: Option<Version>,
    /// Which rules are asked.
    pub rules: Rules,
    /// What the workspace index reads.
    pub index: Index,
    /// Where the tests of an operation are.
    pub tests: Tests,
    /// Whether changes on disk are followed.
    pub watch: bool,
    /// The Python whose packages count, as written.
    pub python_path: Option<String>,
    /// What is compiled in the background.
    pub compile: Compile,
    /// The experiment loop.
    pub perf: Perf,
    /// Environment variables for children.
    pub environment: BTreeMap<String, String>,
    /// Directories trusted by the user, as written; see [`Settings::trusts`].
    pub trust: Vec<String>,
    /// One value and origin for each row of the table, in its order.
    resolved: Vec<(Value, Origin)>,
}

/// Switches of everything that an editor shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Surfaces {
    /// The outline of a file.
    pub document_symbols: bool,
    /// Search for a kernel or an operation in the workspace.
    pub workspace_symbols: bool,
    /// Jump from a launch, registration or search to the kernel.
    pub definition: bool,
    /// Everything that uses a kernel.
    pub references: bool,
    /// Occurrences of a kernel's name in the file.
    pub document_highlight: bool,
    /// The card of a kernel, and explanations of `ct.` names.
    pub hover: bool,
    /// The line above a kernel.
    pub code_lens: bool,
    /// Hints at the end of lines.
    pub inlay_hints: bool,
    /// What the rules find.
    pub diagnostics: bool,
    /// What may make a kernel faster.
    pub playbook: bool,
}

/// Switches of single inlay hints, below [`Surfaces::inlay_hints`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InlayHints {
    /// Configurations per architecture at a generator.
    pub configurations: bool,
    /// The kernel behind a launch.
    pub resolved_kernel: bool,
    /// What the compiler made of each access.
    pub compiled: bool,
}

/// What is compiled in the background.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compile {
    /// Anything.
    pub enabled: bool,
    /// For which architectures, ascending, at least one; the first comes first.
    pub archs: Vec<Arch>,
}

/// What the workspace index reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// Globs of files and folders left out, relative to the workspace folder.
    pub exclude: Vec<String>,
    /// Bytes; larger files are left out.
    pub max_file_size: u64,
}

/// Where the tests of an operation are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tests {
    /// Paths relative to the workspace folder with `{op}` and perhaps `{suite}`.
    pub patterns: Vec<String>,
    /// Test files of single operations, beside what the patterns find.
    pub files: BTreeMap<String, Vec<String>>,
}

/// The experiment loop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Perf {
    /// The command that checks results.
    pub correctness: Vec<String>,
    /// The command that times.
    pub benchmark: Vec<String>,
    /// What single kernels do differently.
    pub kernels: BTreeMap<String, KernelPerf>,
    /// Weights by part of a configuration's id; each text is a positive number.
    pub weights: BTreeMap<String, String>,
    /// Variable and value that turn searches off; the first counts.
    pub search_switch: BTreeMap<String, String>,
    /// `auto`, `cpu`, an index or a UUID.
    pub device: Option<String>,
    /// `auto`, `trees` or `in-place`.
    pub place: Option<String>,
    /// Seconds.
    pub iteration_limit: u64,
    /// Repeat items inside one process.
    pub repeat: bool,
    /// Record what ran.
    pub record: bool,
    /// Runs of editors outlive them.
    pub detach: bool,
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// A settings file.
    File(
        /// Which one, and where in it.
        Place,
    ),
    /// The editor's settings.
    Editor,
    /// An argument of this command.
    CommandLine,
}

/// `default`, `pyproject.toml:12`, `editor`, `command line`.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::File(place) => place.fmt(f),
            Origin::Editor => f.write_str("editor"),
            Origin::CommandLine => f.write_str("command line"),
        }
    }
}

/// One line of `tileperf config show`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The setting, `hover.enable`.
    pub key: &'static str,
    /// Its value as TOML, or empty where none is set.
    pub value: String,
    /// Where it came from.
    pub origin: Origin,
}

impl Settings {
    /// Where the value of a setting came from; `None` if there is no such setting.
    pub fn origin(&self, key: &str) -> Option<&Origin> {
        let at = table::TABLE.iter().position(|setting| setting.key == key)?;
        self.resolved.get(at).map(|(_, origin)| origin)
    }

    /// Every setting with its value and origin, in the order of the documentation.
    pub fn rows(&self) -> Vec<Row> {
        table::TABLE
            .iter()
            .zip(&self.resolved)
            .map(|(setting, (value, origin))| Row {
                key: setting.key,
                value: value.to_toml(),
                origin: origin.clone(),
            })
            .collect()
    }

    /// The architectures to evaluate, each with its stand-in where it has one, none twice.
    pub fn evaluated_archs(&self) -> Vec<Nearest> {
        let mut seen = Vec::new();
        for arch in &self.archs {
            let nearest = Arch::nearest(arch.sm());
            if !seen
                .iter()
                .any(|other: &Nearest| other.arch == nearest.arch)
            {
                seen.push(nearest);
            }
        }
        seen
    }

    /// Whether the user's trust list names this folder or one above it.
    ///
    /// `root` is an absolute path with symbolic links resolved; `home` replaces a leading `~`.
    pub fn trusts(&self, root: &Path, home: Option<&Path>) -> bool {
        self.trust.iter().any(|listed| {
            let directory = match (listed.strip_prefix('~'), home) {
                (Some(""), Some(home)) => home.to_path_buf(),
                (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
                (Some(_), None) => return false,
                (None, _) => PathBuf::from(listed),
            };
            root.starts_with(directory)
        })
    }
}

/// What applies when nobody has set anything.
impl Default for Settings {
    fn default() -> Settings {
        Settings::resolve(&[], false).0
    }
}
