//! One source of settings each: a file's text, the editor's JSON, the command line's arguments.

use toml::de::{DeTable, DeValue};

use super::problem::{Place, SettingsProblem};
use super::raw::{self, Entry, Lines};

/// The sources of settings, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayerKind {
    /// The user's own `tileperf/tileperf.toml` in the configuration folder.
    User,
    /// `[tool.tileperf]` of the workspace's `pyproject.toml`.
    Pyproject,
    /// The workspace's `tileperf.toml`.
    TileperfToml,
    /// What the language client sends.
    Editor,
    /// `key=value` arguments.
    CommandLine,
}

impl LayerKind {
    /// Whether whoever wrote the workspace wrote these settings.
    pub fn is_workspace_file(self) -> bool {
        matches!(self, LayerKind::Pyproject | LayerKind::TileperfToml)
    }
}

/// What one source says, read but not yet checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    pub(super) kind: LayerKind,
    /// The file's name as it is shown, for the layers that are files.
    pub(super) file: Option<String>,
    pub(super) entries: Vec<Entry>,
    pub(super) problems: Vec<SettingsProblem>,
}

impl Layer {
    /// The user's own settings file, shown as `file`.
    pub fn user(file: impl Into<String>, text: &str) -> Layer {
        Layer::toml(LayerKind::User, file.into(), text)
    }

    /// A workspace's `pyproject.toml`, of which only `[tool.tileperf]` counts.
    pub fn pyproject(file: impl Into<String>, text: &str) -> Layer {
        Layer::toml(LayerKind::Pyproject, file.into(), text)
    }

    /// A workspace's `tileperf.toml`.
    pub fn tileperf_toml(file: impl Into<String>, text: &str) -> Layer {
        Layer::toml(LayerKind::TileperfToml, file.into(), text)
    }

    /// What a language client sent as `initializationOptions` or in `didChangeConfiguration`.
    ///
    /// The settings may stand below `tileperf`, as VS Code nests them, or at the top; names may be
    /// `inlayHints` or `inlay-hints`, nested or joined by dots. `null` means not set.
    pub fn editor(json: &serde_json::Value) -> Layer {
        let mut layer = Layer::new(LayerKind::Editor, None);
        match json {
            serde_json::Value::Object(top) => match top.get("tileperf") {
                Some(serde_json::Value::Object(nested)) => layer.entries = raw::from_json(nested),
                _ => {
                    layer.entries = raw::from_json(top);
                    // Answered by `editor_trust`; it is no setting.
                    layer.entries.retain(|entry| entry.name != TRUSTED);
                }
            },
            serde_json::Value::Null => {}
            _ => layer.problems.push(SettingsProblem {
                key: None,
                place: None,
                message: "the editor's settings for tileperf are ignored: they are no object"
                    .to_owned(),
            }),
        }
        layer
    }

    /// `key=value` arguments. A value is read the way its setting needs: `archs=sm_90,sm_100`; lists,
    /// tables and strings may be written as in TOML.
    pub fn command_line<S: AsRef<str>>(arguments: &[S]) -> Layer {
        let mut layer = Layer::new(LayerKind::CommandLine, None);
        for argument in arguments {
            let argument = argument.as_ref();
            match argument.split_once('=') {
                Some((key, value)) if !key.trim().is_empty() => layer.entries.push(Entry {
                    name: key.trim().to_owned(),
                    line: None,
                    value: raw::argument(value.trim()),
                }),
                _ => layer.problems.push(SettingsProblem {
                    key: None,
                    place: None,
                    message: format!(
                        "{} on the command line is no setting: write key=value",
                        raw::quoted(argument)
                    ),
                }),
            }
        }
        layer
    }

    /// A file that could not be read; it counts as empty and the reason is reported.
    pub fn unreadable(kind: LayerKind, file: impl Into<String>, reason: &str) -> Layer {
        let file = file.into();
        let mut layer = Layer::new(kind, Some(file.clone()));
        layer.problems.push(SettingsProblem {
            key: None,
            message: format!("{file} cannot be read, its settings are ignored: {reason}"),
            place: Some(Place { file, line: None }),
        });
        layer
    }

    /// Which source this is.
    pub fn kind(&self) -> LayerKind {
        self.kind
    }

    fn new(kind: LayerKind, file: Option<String>) -> Layer {
        Layer {
            kind,
            file,
            entries: Vec::new(),
            problems: Vec::new(),
        }
    }

    fn toml(kind: LayerKind, file: String, text: &str) -> Layer {
        let mut layer = Layer::new(kind, Some(file.clone()));
        let lines = Lines::of(text);
        let document = match DeTable::parse(text) {
            Ok(document) => document,
            Err(error) => {
                let line = error.span().map(|span| lines.line_of(span.start));
                let place = Place { file, line };
                layer.problems.push(SettingsProblem {
                    key: None,
                    message: format!(
                        "{place} is not valid TOML, the settings of this file are ignored: {}",
                        error.message().trim().replace('\n', "; ")
                    ),
                    place: Some(place),
                });
                return layer;
            }
        };
        if kind != LayerKind::Pyproject {
            layer.entries = raw::from_toml(document.get_ref(), &lines);
            return layer;
        }
        let tool = document
            .get_ref()
            .get("tool")
            .and_then(|tool| tool.get_ref().as_table());
        let Some(section) = tool.and_then(|tool| tool.get("tileperf")) else {
            return layer;
        };
        match section.get_ref() {
            DeValue::Table(table) => layer.entries = raw::from_toml(table, &lines),
            _ => {
                let place = Place {
                    file,
                    line: Some(lines.line_of(section.span().start)),
                };
                layer.problems.push(SettingsProblem {
                    key: None,
                    message: format!("`tool.tileperf` in {place} must be a table: ignored"),
                    place: Some(place),
                });
            }
        }
        layer
    }
}

/// The member of `initializationOptions` by which an editor passes on its workspace trust.
const TRUSTED: &str = "trusted";

/// Whether the editor says that the user trusts this workspace; `None` if it does not say.
///
/// Read only from the top of `initializationOptions`, which the extension itself builds, and never
/// from the settings below `tileperf`, which can come from a file of the workspace.
pub fn editor_trust(initialization_options: &serde_json::Value) -> Option<bool> {
    initialization_options.get(TRUSTED)?.as_bool()
}
