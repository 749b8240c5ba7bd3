//! Layers upon one another: what applies, where it came from, and what was wrong.

use super::layer::{Layer, LayerKind};
use super::nearest::nearest_setting;
use super::problem::{Place, SettingsProblem};
use super::raw::{Entry, Raw};
use super::table::{self, Scope, Setting, TABLE};
use super::value::Value;
use super::{Index, InlayHints, Origin, Settings, Surfaces, Tests};

/// A file that is all wrong should not fill the editor.
const PROBLEMS_PER_LAYER: usize = 20;

impl Settings {
    /// The settings that follow from these layers, and everything wrong with them.
    ///
    /// Layers may come in any order; of two of one kind the later wins. `trusted` says whether the
    /// user trusts the workspace: without it, its files cannot say what to run.
    pub fn resolve(layers: &[Layer], trusted: bool) -> (Settings, Vec<SettingsProblem>) {
        let mut resolved: Vec<(Value, Origin)> = TABLE
            .iter()
            .map(|setting| ((setting.default)(), Origin::Default))
            .collect();
        let mut ordered: Vec<&Layer> = layers.iter().collect();
        ordered.sort_by_key(|layer| layer.kind);

        let mut problems = Vec::new();
        for layer in ordered {
            let mut reading = Reading {
                layer,
                trusted,
                resolved: &mut resolved,
                problems: layer.problems.clone(),
            };
            reading.walk("", "", &layer.entries);
            problems.extend(shortened(reading.problems, layer));
        }

        let mut settings = Settings::blank();
        for (setting, (value, _)) in TABLE.iter().zip(&resolved) {
            (setting.apply)(&mut settings, value.clone());
        }
        settings.resolved = resolved;
        (settings, problems)
    }

    /// Every field empty, to be filled from the table.
    fn blank() -> Settings {
        Settings {
            surfaces: Surfaces::default(),
            inlay_hints: InlayHints::default(),
            archs: Vec::new(),
            cuda_tile: None,
            rules: Default::default(),
            index: Index::default(),
            tests: Tests::default(),
            watch: false,
            python_path: None,
            compile: Default::default(),
            perf: Default::default(),
            environment: Default::default(),
            trust: Vec::new(),
            resolved: Vec::new(),
        }
    }
}

fn shortened(mut problems: Vec<SettingsProblem>, layer: &Layer) -> Vec<SettingsProblem> {
    let more = problems.len().saturating_sub(PROBLEMS_PER_LAYER);
    if more > 0 {
        problems.truncate(PROBLEMS_PER_LAYER);
        problems.push(SettingsProblem {
            key: None,
            place: place_of(layer, None),
            message: format!("{more} more problems {}", whereabouts(layer, None)),
        });
    }
    problems
}

/// One layer being read into the values.
struct Reading<'a> {
    layer: &'a Layer,
    trusted: bool,
    resolved: &'a mut Vec<(Value, Origin)>,
    problems: Vec<SettingsProblem>,
}

impl Reading<'_> {
    /// Reads entries below a group. `canonical` is the group's name in the table, `written` the one
    /// that stands in the layer.
    fn walk(&mut self, canonical: &str, written: &str, entries: &[Entry]) {
        for entry in entries {
            let written = join(written, &entry.name);
            let name = match self.layer.kind {
                LayerKind::Editor => kebab(&entry.name),
                _ => entry.name.clone(),
            };
            let canonical = join(canonical, &name);
            if entry.value == Raw::Absent {
                continue;
            }
            if let Some(at) = TABLE.iter().position(|setting| setting.key == canonical) {
                self.set(at, &written, entry);
                continue;
            }
            match (&entry.value, table::first_of_group(&canonical)) {
                // A table that is no group is walked too: what is below it is what was meant.
                (Raw::Table(inner), _) if !inner.is_empty() => {
                    self.walk(&canonical, &written, inner);
                }
                (Raw::Table(_), Some(_)) => {}
                (_, Some(first)) => {
                    let example = self.shown(first);
                    self.report(&written, entry.line, |key, place| {
                        format!(
                            "`{key}` {place} is a group of settings, write for instance `{example}`"
                        )
                    });
                }
                (_, None) => self.unknown(&canonical, &written, entry.line),
            }
        }
    }

    fn set(&mut self, at: usize, written: &str, entry: &Entry) {
        let setting = &TABLE[at];
        if let Some(reason) = refusal(setting.scope, self.layer.kind, self.trusted) {
            self.report(written, entry.line, |key, place| {
                format!("`{key}` {place} is ignored: {reason}")
            });
            return;
        }
        match setting.kind.read(&entry.value) {
            Ok(value) => self.resolved[at] = (value, origin_of(self.layer, entry.line)),
            Err(error) => self.report(written, entry.line, |key, place| {
                format!("`{key}` {place} {error}: ignored")
            }),
        }
    }

    fn unknown(&mut self, canonical: &str, written: &str, line: Option<u32>) {
        // Nobody is sent from a name that does not exist to one that is refused.
        let may_set = |setting: &Setting| refusal(setting.scope, self.layer.kind, true).is_none();
        let suggestion = match nearest_setting(canonical, may_set) {
            Some(setting) => format!(", did you mean `{}`?", self.shown(setting)),
            None => "; `tileperf config show` lists all settings".to_owned(),
        };
        self.report(written, line, |key, place| {
            format!("unknown setting `{key}` {place}{suggestion}")
        });
    }

    fn report(
        &mut self,
        written: &str,
        line: Option<u32>,
        message: impl FnOnce(&str, &str) -> String,
    ) {
        let key = match self.layer.kind {
            LayerKind::Editor => format!("tileperf.{written}"),
            _ => written.to_owned(),
        };
        self.problems.push(SettingsProblem {
            message: message(&key, &whereabouts(self.layer, line)),
            key: Some(key),
            place: place_of(self.layer, line),
        });
    }

    /// A setting's name as one would write it in this layer.
    fn shown(&self, setting: &Setting) -> String {
        match self.layer.kind {
            LayerKind::Editor => setting.editor_key(),
            _ => setting.key.to_owned(),
        }
    }
}

/// Why this layer may not set a setting of this scope, if it may not.
fn refusal(scope: Scope, layer: LayerKind, trusted: bool) -> Option<&'static str> {
    match scope {
        Scope::Anywhere => None,
        Scope::Trusted if layer.is_workspace_file() && !trusted => {
            Some("it decides what is run, and this workspace is not trusted")
        }
        Scope::Trusted => None,
        Scope::Editor if layer == LayerKind::Editor => None,
        Scope::Editor => Some("only the editor's settings can set it"),
        Scope::User if layer == LayerKind::User => None,
        Scope::User => Some("only the user's own tileperf.toml can set it"),
    }
}

fn origin_of(layer: &Layer, line: Option<u32>) -> Origin {
    match (layer.kind, place_of(layer, line)) {
        (LayerKind::CommandLine, _) => Origin::CommandLine,
        (_, Some(place)) => Origin::File(place),
        (_, None) => Origin::Editor,
    }
}

fn place_of(layer: &Layer, line: Option<u32>) -> Option<Place> {
    let file = layer.file.clone()?;
    Some(Place { file, line })
}

/// `in pyproject.toml:12`, `in the editor's settings`, `on the command line`.
fn whereabouts(layer: &Layer, line: Option<u32>) -> String {
    match (layer.kind, place_of(layer, line)) {
        (LayerKind::CommandLine, _) => "on the command line".to_owned(),
        (_, Some(place)) => format!("in {place}"),
        (_, None) => "in the editor's settings".to_owned(),
    }
}

fn join(group: &str, name: &str) -> String {
    if group.is_empty() {
        name.to_owned()
    } else {
        format!("{group}.{name}")
    }
}

/// `inlayHints` as the table writes it.
fn kebab(name: &str) -> String {
    let mut kebab = String::with_capacity(name.len() + 2);
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            kebab.push('-');
            kebab.push(c.to_ascii_lowercase());
        } else {
            kebab.push(c);
        }
    }
    kebab
}
