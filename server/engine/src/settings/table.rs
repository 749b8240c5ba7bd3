//! The table of settings. A setting is one row here and one field of [`Settings`].

use tileperf_analysis::arch::Arch;

use super::Settings;
use super::value::Value;

/// One setting.
pub struct Setting {
    /// Its name in TOML files: kebab-case, dots between group and name. Editors that prefer
    /// camelCase derive theirs from it ([`Setting::editor_key`]).
    pub key: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// Who may set it.
    pub scope: Scope,
    /// The value that applies when nobody sets one. It passes validation.
    pub default: fn() -> Value,
    /// The user's documentation, Markdown; the first sentence is the summary.
    pub doc: &'static str,
    /// A line of TOML that sets it to something other than the default.
    pub example: &'static str,
    /// Writes a checked value of this setting's kind into its field.
    pub(super) apply: fn(&mut Settings, Value),
}

/// What values a setting takes. How each is checked stands in `Kind::read`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Flag,
    /// A whole number.
    Number {
        /// The smallest one.
        min: u64,
        /// The largest one.
        max: u64,
    },
    /// One of these words.
    Choice(
        /// The words.
        &'static [&'static str],
    ),
    /// Any text, or nothing.
    Text,
    /// A version of cuda-tile, or nothing.
    Version,
    /// A list of architectures.
    Archs,
    /// A list of globs.
    Globs,
    /// A list of test paths with placeholders.
    TestPatterns,
    /// For each operation a test file or a list of them.
    TestFiles,
    /// For each environment variable its value.
    Environment,
    /// A list of absolute directories.
    Directories,
    /// A command as a list of arguments.
    Command,
    /// For each part of a configuration's id a positive number.
    Weights,
    /// For each kernel its own settings of the experiment loop.
    Kernels,
    /// A list of rules.
    Rules,
    /// For each rule a severity.
    Severities,
}

/// Who may set a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every layer.
    Anywhere,
    /// Every layer, but files of the workspace only once the user trusts it.
    Trusted,
    /// Only the editor, which needs it before any file is read.
    Editor,
    /// Only the user's own settings file.
    User,
}

impl Setting {
    /// Its name in editors that write camelCase, with the prefix: `tileperf.inlayHints.enable`.
    pub fn editor_key(&self) -> String {
        let mut key = String::from("tileperf.");
        let mut upper = false;
        for c in self.key.chars() {
            match c {
                '-' => upper = true,
                _ if upper => {
                    key.push(c.to_ascii_uppercase());
                    upper = false;
                }
                _ => key.push(c),
            }
        }
        key
    }
}

/// The setting of this name.
pub fn find(key: &str) -> Option<&'static Setting> {
    TABLE.iter().find(|setting| setting.key == key)
}

/// The first setting of a group such as `inlay-hints`.
pub fn first_of_group(group: &str) -> Option<&'static Setting> {
    TABLE.iter().find(|setting| {
        setting
            .key
            .strip_prefix(group)
            .is_some_and(|rest| rest.starts_with('.'))
    })
}

const fn on() -> Value {
    Value::Flag(true)
}

const fn no_text() -> Value {
    Value::Text(None)
}

fn list(items: &[&str]) -> Value {
    Value::List(items.iter().map(|&item| item.to_owned()).collect())
}

/// Kind and field have to fit together; the test of all examples fails where they do not.
macro_rules! into {
    ($variant:ident, $($field:ident).+) => {
        |settings, value| {
            if let Value::$variant(value) = value {
                settings.$($field).+ = value;
            }
        }
    };
}

/// Every setting, in the order of the documentation.
pub static TABLE: &[Setting] = &[
    Setting {
        key: "archs",
        kind: Kind::Archs,
        scope: Scope::Anywhere,
        default: || Value::Archs(Arch::EVALUATED.to_vec()),
        doc: "The architectures to evaluate kernels for. Configuration counts, hints and findings \
              are given for each of them. Architectures outside the default list are answered as \
              their nearest relative, and it is said so.",
        example: "archs = [\"sm_90\", \"sm_100\"]",
        apply: into!(Archs, archs),
    },
    Setting {
        key: "cuda-tile",
        kind: Kind::Version,
        scope: Scope::Anywhere,
        default: || Value::Version(None),
        doc: "The version of cuda-tile to assume. Unset, it is the one installed in the project's \
              environment, else the newest known. Quote it: 1.10 without quotes is the number 1.1.",
        example: "cuda-tile = \"1.6\"",
        apply: into!(Version, cuda_tile),
    },
    Setting {
        key: "document-symbols.enable",
        kind: Kind::Flag,
        scope: Scope::Anywhere,
        default: on,
        doc: "Show kernels, registrations and spaces in the outline of a file. Turn it off where \
              another Python server fills the outline already.",
        example: "document-symbols.enable = false",
        apply: into!(Flag, surfaces.document_symbols),
    },
    Setting {
        key: "workspace-symbols.enable",
        kind: Kind::Flag,
        scope: Scope::Anywhere,
        default: on,
        doc: "Answer the search for symbols with the kernels and operations of the workspace.",
        example: "workspace-symbols.enable = false",
        apply: into!(Flag, surfaces.workspace_symbols),
    },
    Setting {
        key: "definition.enable",
        kind: Kind::Flag,
        scope: Scope::Anywhere,
        default: on,
        doc: "Jump from a launch, a registration, a search or a test to the kernel behind it.",
        example: "definition.enable = false",
        apply: into!(Flag, surfaces.definition),
    },
    Setting {
        key: "references.enable",
        kind: Kind::Flag,
        scope: Scope::Anywhere,
        default: on,
        doc: "List the launches, registrations, searches and tests of a kernel.",
        example: "references.enable = false",
        apply: into!(Flag, surfaces.references),
    },
    Setting {
        key: "document-highlight.enable",
        kind: Kind::Flag,
        scope: Scope::Anywhere,
        default: on,
        doc: "Highlight the other places of a kernel in the file when the cursor is on one.",
        example: "document-highlight.enable = false",
        apply: into!(Flag, surfaces.document_highlight),
    },
    Setting {
        key: "hover.enable",
        kind: Kind::Flag,
        scope: Scope::Anywhere,
        default: on,
        doc: "Show the card of a kernel and explanations of `ct.` names under the cursor.",
        example: "hover.enable = false",
        apply: into!(Flag, surfaces.hover),
    },
    Setting {
        key: "code-lens.enable",
        kind: Kind::Flag,
        scope: Scope::Anywhere,
        default: on,
        doc: "Show a line with launches, spaces and results above each kernel.",
        example: "code-lens.enable = false",
        apply: into!(Flag, surfaces.code_lens),
    },
    Setting {
        key: "inlay-hints.enable",
        kind: Kind::Flag,
        scope: Scope::Anywhere,
        default: on,
        doc: "Show hints at the end of lines. The settings below choose which.",
        example: "inlay-hints.enable = false",
        apply: into!(Flag, surfaces.inlay_hints),
    },
    Setting {
        key: "inlay-hints.configurations",
        kind: Kind::Flag,
        scope: Scope::Anywhere,
        default: on,
        doc: "Show at a generator of configurations how many it yields on each architecture.",
        example: "inlay-hints.configurations = false",
        apply: into!(Flag, inlay_hints.configurations),
    },
    Setting {
        key: "inlay-hints.resolved-kernel",
        kind: Kind::Flag,
        scope: Scope::Anywhere,
        default: on,
        doc: "Show at a launch which kernel it runs, where the name alone does not say it.",
        example: "inlay-hints.resolved-kernel = false",
        apply: into!(Flag, inlay_hints.resolved_kernel),
    },
    Setting {
        key: "inlay-hints.compiled",
        kind: Kind::Flag,
        scope: Scope::Anywhere,
        default: on,
        doc: "Show at each load, store and matrix multiplication what the compiler made of it.",
        example: "inlay-hints.compiled = false",
        apply: into!(Flag, inlay_hints.compiled),
    },
    Setting {
        key: "diagnostics.enable",
        kind: Kind::Flag,
        scope: Scope::Anywhere,
        default: on,
        doc: "Show what the rules find. `tileperf check` prints it whatever this says.",
        example: "diagnostics.enable = false",
        apply: into!(Flag, surfaces.diagnostics),
    },
    Setting {
        key: "playbook.enable",
        kind: Kind::Flag,
        scope: Scope::Anywhere,
        default: on,
        doc: "Offer the playbook's optimizations as code actions on a kernel. `tileperf actions` \
              lists them whatever this says.",
        example: "playbook.enable = false",
        apply: into!(Flag, surfaces.playbook),
    },
    Setting {
        key: "rules.select",
        kind: Kind::Rules,
        scope: Scope::Anywhere,
        default: || list(&["all"]),
        doc: "The rules that are asked, by code, by the beginning of a code (`TP1`) or by name. \
              `all` means every rule; docs/rules.md lists them.",
        example: "rules.select = [\"TP1\", \"TP2\", \"num-ctas-arch\"]",
        apply: into!(List, rules.select),
    },
    Setting {
        key: "rules.ignore",
        kind: Kind::Rules,
        scope: Scope::Anywhere,
        default: || list(&[]),
        doc: "Rules that are not asked although `rules.select` names them. A single place is better \
              silenced there, with a comment `# tileperf: ignore[name]`.",
        example: "rules.ignore = [\"narrow-search-space\"]",
        apply: into!(List, rules.ignore),
    },
    Setting {
        key: "rules.severity",
        kind: Kind::Severities,
        scope: Scope::Anywhere,
        default: || Value::Texts(Default::default()),
        doc: "How severe the findings of single rules are: `error`, `warning` or `hint`, by code, by \
              the beginning of a code or by name. The longest fitting one counts.",
        example: "rules.severity = { \"replace-hints-hot-path\" = \"error\" }",
        apply: into!(Texts, rules.severity),
    },
    Setting {
        key: "index.exclude",
        kind: Kind::Globs,
        scope: Scope::Anywhere,
        default: || list(&["**/.venv", "**/venv", "**/node_modules"]),
        doc: "Globs of files and folders that the index leaves out, relative to the workspace \
              folder. A folder that matches is not entered. What `.gitignore` names is left out \
              anyway.",
        example: "index.exclude = [\"third_party\", \"**/generated_*.py\"]",
        apply: into!(List, index.exclude),
    },
    Setting {
        key: "index.max-file-size",
        kind: Kind::Number {
            min: 1 << 10,
            max: 1 << 30,
        },
        scope: Scope::Anywhere,
        default: || Value::Number(8 << 20),
        doc: "The size in bytes above which the index leaves a file out. Open files of any size \
              are analysed.",
        example: "index.max-file-size = 1048576",
        apply: into!(Number, index.max_file_size),
    },
    Setting {
        key: "tests.patterns",
        kind: Kind::TestPatterns,
        scope: Scope::Anywhere,
        default: || {
            list(&[
                "tests/ops/test_{op}.py",
                "tests/suites/{suite}/test_{op}.py",
            ])
        },
        doc: "Where the tests of an operation are, relative to the workspace folder. `{op}` stands \
              for the operation's name, `{suite}` for the suite it belongs to. The default is \
              TileGym's layout.",
        example: "tests.patterns = [\"tests/test_{op}.py\"]",
        apply: into!(List, tests.patterns),
    },
    Setting {
        key: "tests.files",
        kind: Kind::TestFiles,
        scope: Scope::Anywhere,
        default: || Value::Lists(Default::default()),
        doc: "Test files of single operations, relative to the workspace folder, beside those that \
              `tests.patterns` finds.",
        example: "tests.files = { softmax = [\"tests/test_rows.py\"] }",
        apply: into!(Lists, tests.files),
    },
    Setting {
        key: "watch.enable",
        kind: Kind::Flag,
        scope: Scope::Anywhere,
        default: on,
        doc: "Follow changes on disk. Turned off, files that are not open are read once.",
        example: "watch.enable = false",
        apply: into!(Flag, watch),
    },
    Setting {
        key: "compile.enable",
        kind: Kind::Flag,
        scope: Scope::Anywhere,
        default: on,
        doc: "Compile the kernels of open files in the background, in a workspace that is trusted: \
              cuTile's frontend when typing pauses, machine code on open and on save. Commands such \
              as `tileperf compile` work whatever this says.",
        example: "compile.enable = false",
        apply: into!(Flag, compile.enabled),
    },
    Setting {
        key: "compile.archs",
        kind: Kind::Archs,
        scope: Scope::Anywhere,
        default: || Value::Archs(vec![Arch::Sm90]),
        doc: "The architectures that kernels are compiled for. No GPU is needed. Each costs the \
              time of its compile, from a fifth of a second to a minute a kernel. Unset, it is that \
              of this machine's GPU, if it has one; `tileperf config show` says so.",
        example: "compile.archs = [\"sm_90\", \"sm_100\"]",
        apply: into!(Archs, compile.archs),
    },
    Setting {
        key: "python.path",
        kind: Kind::Text,
        scope: Scope::Trusted,
        default: no_text,
        doc: "The Python interpreter of the project. Its packages tell which cuda-tile is \
              installed. Unset, it is the project's virtual environment, else the one on the path.",
        example: "python.path = \".venv/bin/python\"",
        apply: into!(Text, python_path),
    },
    Setting {
        key: "environment",
        kind: Kind::Environment,
        scope: Scope::Trusted,
        default: || Value::Texts(Default::default()),
        doc: "Environment variables for the programs that tileperf starts.",
        example: "environment = { CUDA_VISIBLE_DEVICES = \"1\" }",
        apply: into!(Texts, environment),
    },
    Setting {
        key: "perf.correctness",
        kind: Kind::Command,
        scope: Scope::Trusted,
        default: || {
            list(&[
                "{python}",
                "-m",
                "pytest",
                "{test_file}",
                "-k",
                "test_ and cutile and not test_perf",
                "-v",
            ])
        },
        doc: "The command that checks a kernel's results, as a list of arguments. Placeholders: \
              `{python}`, `{root}`, `{file}`, `{kernel}`, `{op}`, `{test_file}`, `{junit}`. pytest is \
              told to write a JUnit file; of any other command the exit code counts. The default is \
              TileGym's.",
        example: "perf.correctness = [\"{python}\", \"-m\", \"pytest\", \"tests/test_{op}.py\"]",
        apply: into!(List, perf.correctness),
    },
    Setting {
        key: "perf.benchmark",
        kind: Kind::Command,
        scope: Scope::Trusted,
        default: || {
            list(&[
                "{python}",
                "-m",
                "pytest",
                "{test_file}",
                "-k",
                "test_perf and cutile",
                "-v",
            ])
        },
        doc: "The command that times a kernel, with the placeholders of `perf.correctness`. It \
              reports by a `benchmark` property of its tests, by lines `Cutile: {...} ms`, or by \
              tables as Triton's `perf_report` prints them. Items of pytest are repeated in one \
              process. The default is TileGym's; `--print-record` is added where the project's \
              `conftest.py` knows it.",
        example: "perf.benchmark = [\"{python}\", \"bench/bench_{op}.py\"]",
        apply: into!(List, perf.benchmark),
    },
    Setting {
        key: "perf.kernels",
        kind: Kind::Kernels,
        scope: Scope::Trusted,
        default: || Value::Kernels(Default::default()),
        doc: "Settings of single kernels: `test-file`, `correctness`, `benchmark`, `files` (more \
              files that a change may touch) and `goal` (`0.30ms`, `1.2x`, `85%sol`). \
              `tileperf perf init` writes them.",
        example: "perf.kernels.scale_kernel = { test-file = \"tests/test_scale.py\", goal = \"1.2x\" }",
        apply: into!(Kernels, perf.kernels),
    },
    Setting {
        key: "perf.weights",
        kind: Kind::Weights,
        scope: Scope::Anywhere,
        default: || Value::Texts(Default::default()),
        doc: "What configurations count in the total, by a part of their id; 1 where none fits.",
        example: "perf.weights = { \"float32\" = 0.5 }",
        apply: into!(Texts, perf.weights),
    },
    Setting {
        key: "perf.search-switch",
        kind: Kind::Environment,
        scope: Scope::Trusted,
        default: || Value::Texts([("TILEGYM_DISABLE_AUTOTUNE".to_owned(), "1".to_owned())].into()),
        doc: "The environment variable that turns the project's searches off. A change to code that \
              searches has to pass its tests with and without it. The default is TileGym's.",
        example: "perf.search-switch = { MY_PROJECT_NO_TUNE = \"1\" }",
        apply: into!(Texts, perf.search_switch),
    },
    Setting {
        key: "perf.device",
        kind: Kind::Text,
        scope: Scope::Anywhere,
        default: || Value::Text(Some("auto".to_owned())),
        doc: "What to measure on: `auto` (the first usable GPU), a GPU's index or UUID, or `cpu` for \
              a project whose benchmarks run there.",
        example: "perf.device = \"1\"",
        apply: into!(Text, perf.device),
    },
    Setting {
        key: "perf.place",
        kind: Kind::Choice(&["auto", "trees", "in-place"]),
        scope: Scope::Anywhere,
        default: || Value::Text(Some("auto".to_owned())),
        doc: "Where base and candidate are run: in work trees of their own, so that you can type on, \
              or in place, where your files are exchanged meanwhile. `auto` takes trees where the \
              project's tests pass in them.",
        example: "perf.place = \"in-place\"",
        apply: into!(Text, perf.place),
    },
    Setting {
        key: "perf.iteration-limit",
        kind: Kind::Number { min: 5, max: 7200 },
        scope: Scope::Anywhere,
        default: || Value::Number(600),
        doc: "The seconds that one iteration may take, measuring included. Then everything that it \
              started is ended and it counts as a crash.",
        example: "perf.iteration-limit = 300",
        apply: into!(Number, perf.iteration_limit),
    },
    Setting {
        key: "perf.repeat",
        kind: Kind::Flag,
        scope: Scope::Anywhere,
        default: on,
        doc: "Repeat the items of a pytest benchmark inside one process. Turned off, each sample is \
              a run of the whole command.",
        example: "perf.repeat = false",
        apply: into!(Flag, perf.repeat),
    },
    Setting {
        key: "perf.record",
        kind: Kind::Flag,
        scope: Scope::Anywhere,
        default: on,
        doc: "Record in the project's processes which file was imported and what was launched. \
              Without it nothing proves that the code under test is what ran.",
        example: "perf.record = false",
        apply: into!(Flag, perf.record),
    },
    Setting {
        key: "perf.detach",
        kind: Kind::Flag,
        scope: Scope::Anywhere,
        default: || Value::Flag(false),
        doc: "Let runs that an editor starts go on when the editor ends or reloads. They can be \
              attached to, and `tileperf perf stop` ends them.",
        example: "perf.detach = true",
        apply: into!(Flag, perf.detach),
    },
    Setting {
        key: "server.path",
        kind: Kind::Text,
        scope: Scope::Editor,
        default: no_text,
        doc: "The tileperf program that the editor starts. Unset, it is the one that came with \
              the extension, else the one that `TILEPERF_SERVER_PATH` names, else the one on the path.",
        example: "server.path = \"/opt/tileperf/bin/tileperf\"",
        // The editor has acted on it before the server reads anything.
        apply: |_, _| {},
    },
    Setting {
        key: "trace.server",
        kind: Kind::Choice(&["off", "messages", "verbose"]),
        scope: Scope::Editor,
        default: || Value::Text(Some("off".to_owned())),
        doc: "How much of the conversation between editor and server the editor logs.",
        example: "trace.server = \"messages\"",
        // The editor's own.
        apply: |_, _| {},
    },
    Setting {
        key: "trust",
        kind: Kind::Directories,
        scope: Scope::User,
        default: || list(&[]),
        doc: "Folders whose code may be compiled and run, with everything below them. Absolute, or \
              beginning with `~`. Editors ask for trust themselves; this is for the command line.",
        example: "trust = [\"~/src/my-kernels\"]",
        apply: into!(List, trust),
    },
];
