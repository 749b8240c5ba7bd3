//! Settings as users get them wrong and right: each case is a few layers and what comes of them.

mod mistakes;
mod sources;
mod trust;

use std::collections::HashSet;
use std::path::Path;

use serde_json::json;
use tileperf_analysis::arch::Arch;
use tileperf_analysis::target::Version;

use super::table::{self, Scope, TABLE};
use super::*;

fn pyproject(text: &str) -> Layer {
    Layer::pyproject("pyproject.toml", text)
}

fn tileperf(text: &str) -> Layer {
    Layer::tileperf_toml("tileperf.toml", text)
}

fn user(text: &str) -> Layer {
    Layer::user("~/.config/tileperf/tileperf.toml", text)
}

fn messages(layers: &[Layer], trusted: bool) -> Vec<String> {
    let (_, problems) = Settings::resolve(layers, trusted);
    problems.iter().map(ToString::to_string).collect()
}

fn resolved(layers: &[Layer]) -> Settings {
    let (settings, problems) = Settings::resolve(layers, false);
    assert_eq!(problems, [], "no problem was expected");
    settings
}

fn row(settings: &Settings, key: &str) -> (String, String) {
    let row = settings.rows().into_iter().find(|row| row.key == key);
    let row = row.unwrap_or_else(|| panic!("no row {key}"));
    (row.value, row.origin.to_string())
}

#[test]
fn the_table_is_well_formed() {
    let keys: HashSet<&str> = TABLE.iter().map(|setting| setting.key).collect();
    assert_eq!(keys.len(), TABLE.len(), "a key occurs twice");
    for setting in TABLE {
        assert!(
            table::first_of_group(setting.key).is_none(),
            "{} is a setting and a group",
            setting.key
        );
        assert!(
            setting
                .key
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'.')),
            "{} is not kebab-case",
            setting.key
        );
        assert!(
            setting.doc.ends_with('.'),
            "{}: {}",
            setting.key,
            setting.doc
        );
        assert_eq!(
            table::find(setting.key).map(|found| found.key),
            Some(setting.key)
        );
    }
}

/// Each example is valid, differs from the default, reaches its field, and no other setting's.
#[test]
fn every_example_is_read_and_reaches_its_own_field() {
    let default = Settings::default();
    let fields = |settings: &Settings| Settings {
        resolved: Vec::new(),
        ..settings.clone()
    };
    let mut seen: Vec<Settings> = Vec::new();
    for setting in TABLE
        .iter()
        .filter(|setting| setting.scope != Scope::Editor)
    {
        let layer = match setting.scope {
            Scope::User => user(setting.example),
            _ => tileperf(setting.example),
        };
        let (settings, problems) = Settings::resolve(&[layer], true);
        assert_eq!(problems, [], "{}", setting.key);
        let (value, _) = row(&settings, setting.key);
        assert_ne!(value, row(&default, setting.key).0, "{}", setting.key);
        let fields = fields(&settings);
        assert!(
            !seen.contains(&fields),
            "{} sets a field of another",
            setting.key
        );
        assert_ne!(
            fields,
            super::Settings {
                resolved: Vec::new(),
                ..default.clone()
            }
        );
        seen.push(fields);
    }
}

/// What `config show` prints can be put back into a file.
#[test]
fn shown_values_are_valid_toml() {
    let shown: String = TABLE
        .iter()
        .filter(|setting| setting.scope != Scope::Editor && setting.scope != Scope::User)
        .map(|setting| (setting.key, (setting.default)().to_toml()))
        .filter(|(_, value)| !value.is_empty())
        .map(|(key, value)| format!("{key} = {value}\n"))
        .collect();
    let (settings, problems) = Settings::resolve(&[tileperf(&shown)], true);
    assert_eq!(problems, []);
    assert_eq!(settings.archs, Settings::default().archs);
}

#[test]
fn defaults() {
    let settings = Settings::default();
    assert_eq!(settings.archs, Arch::EVALUATED);
    assert_eq!(settings.cuda_tile, None);
    assert!(settings.surfaces.hover && settings.surfaces.inlay_hints && settings.watch);
    assert_eq!(
        settings.tests.patterns,
        [
            "tests/ops/test_{op}.py",
            "tests/suites/{suite}/test_{op}.py"
        ]
    );
    assert_eq!(settings.index.max_file_size, 8 * 1024 * 1024);
    assert_eq!(
        row(&settings, "hover.enable"),
        ("true".into(), "default".into())
    );
    assert_eq!(
        row(&settings, "cuda-tile"),
        (String::new(), "default".into())
    );
}

#[test]
fn the_stronger_layer_wins_whatever_the_order() {
    let layers = [
        Layer::command_line(&["cuda-tile=1.10"]),
        Layer::editor(&json!({"tileperf": {"cudaTile": "1.5", "hover": {"enable": false}}})),
        tileperf("cuda-tile = '1.4'\ncode-lens.enable = false\n"),
        pyproject(
            "[project]\nname = 'x'\n\n[tool.tileperf]\ncuda-tile = '1.3'\narchs = ['sm_90']\n",
        ),
        user("cuda-tile = '1.2'\n[inlay-hints]\nenable = false\n"),
    ];
    let mut backwards = layers.to_vec();
    backwards.reverse();
    for layers in [layers.to_vec(), backwards] {
        let settings = resolved(&layers);
        assert_eq!(settings.cuda_tile, Some(Version::new(1, 10, 0)));
        for (key, value, origin) in [
            ("cuda-tile", "\"1.10\"", "command line"),
            ("hover.enable", "false", "editor"),
            ("code-lens.enable", "false", "tileperf.toml:2"),
            ("archs", "[\"sm_90\"]", "pyproject.toml:6"),
            (
                "inlay-hints.enable",
                "false",
                "~/.config/tileperf/tileperf.toml:3",
            ),
            ("watch.enable", "true", "default"),
        ] {
            assert_eq!(row(&settings, key), (value.to_owned(), origin.to_owned()));
            assert_eq!(settings.origin(key).unwrap().to_string(), origin);
        }
    }
    assert_eq!(Settings::default().origin("nonsense"), None);
}

#[test]
fn architectures_that_stand_in_for_one_another_are_evaluated_once() {
    let settings = resolved(&[tileperf("archs = ['sm_88', 'sm_86', 'sm_87', 'sm_110']")]);
    let shown: Vec<String> = settings
        .evaluated_archs()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(shown, ["sm_86", "sm_110: as sm_100, nearest family"]);
}

#[test]
fn the_manifest_block() {
    let schema = vscode_schema();
    let properties = schema["properties"].as_object().unwrap();
    assert_eq!(properties.len(), TABLE.len() - 1, "all but trust");
    assert_eq!(
        properties["tileperf.inlayHints.resolvedKernel"]["type"],
        "boolean"
    );
    assert_eq!(
        properties["tileperf.inlayHints.resolvedKernel"]["default"],
        true
    );
    assert_eq!(properties["tileperf.archs"]["items"]["enum"][0], "sm_80");
    assert_eq!(properties["tileperf.server.path"]["scope"], "machine");
    assert_eq!(
        properties["tileperf.python.path"]["scope"],
        "machine-overridable"
    );
    assert_eq!(
        restricted_configurations(),
        [
            "tileperf.python.path",
            "tileperf.environment",
            "tileperf.perf.correctness",
            "tileperf.perf.benchmark",
            "tileperf.perf.kernels",
            "tileperf.perf.searchSwitch",
        ]
    );
}

#[test]
fn the_document_is_up_to_date() {
    let committed = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/settings.md"
    ));
    assert!(
        committed == markdown(),
        "docs/settings.md is not what the table says: run `cargo xtask docs`"
    );
}
