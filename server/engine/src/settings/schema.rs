//! The configuration block of the VS Code manifest, from the table.

use serde_json::{Map, Value as Json, json};
use tileperf_analysis::arch::Arch;

use super::table::{Kind, Scope, Setting, TABLE};

/// `contributes.configuration` of the manifest.
///
/// The user's own trust list is not in it: editors have workspace trust of their own.
pub fn vscode_schema() -> Json {
    let mut properties = Map::new();
    for (order, setting) in shown().enumerate() {
        let mut property = shape(setting.kind);
        property.insert("default".to_owned(), (setting.default)().to_json());
        property.insert("scope".to_owned(), json!(scope(setting.scope)));
        property.insert("order".to_owned(), json!(order));
        property.insert("markdownDescription".to_owned(), json!(setting.doc));
        properties.insert(setting.editor_key(), Json::Object(property));
    }
    json!({ "title": "tileperf", "properties": properties })
}

/// `capabilities.untrustedWorkspaces.restrictedConfigurations` of the manifest: settings that VS
/// Code withholds from us when a workspace that is not trusted sets them.
pub fn restricted_configurations() -> Vec<String> {
    shown()
        .filter(|setting| setting.scope == Scope::Trusted)
        .map(Setting::editor_key)
        .collect()
}

fn shown() -> impl Iterator<Item = &'static Setting> {
    TABLE.iter().filter(|setting| setting.scope != Scope::User)
}

/// VS Code never takes a `machine` setting from a workspace, and a restricted one only if trusted.
fn scope(scope: Scope) -> &'static str {
    match scope {
        Scope::Anywhere => "resource",
        Scope::Trusted => "machine-overridable",
        Scope::Editor | Scope::User => "machine",
    }
}

fn shape(kind: Kind) -> Map<String, Json> {
    let strings = json!({ "type": "string" });
    let shape = match kind {
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Number { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Choice(words) => json!({ "type": "string", "enum": words }),
        Kind::Text => json!({ "type": ["string", "null"] }),
        Kind::Version => json!({
            "type": ["string", "null"],
            "pattern": r"^\d+(\.\d+){0,2}",
            "patternErrorMessage": "A version such as 1.6",
        }),
        Kind::Archs => json!({
            "type": "array",
            "items": { "type": "string", "enum": Arch::ALL.map(Arch::name) },
            "minItems": 1,
            "uniqueItems": true,
        }),
        Kind::Command => json!({ "type": "array", "items": strings, "minItems": 1 }),
        Kind::Weights => json!({
            "type": "object",
            "additionalProperties": { "type": "number", "exclusiveMinimum": 0 },
        }),
        Kind::Kernels => json!({
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "properties": {
                    "test-file": strings,
                    "correctness": { "type": "array", "items": strings },
                    "benchmark": { "type": "array", "items": strings },
                    "files": { "type": "array", "items": strings },
                    "goal": strings,
                },
                "additionalProperties": false,
            },
        }),
        Kind::Severities => json!({
            "type": "object",
            "additionalProperties": { "type": "string", "enum": ["error", "warning", "hint"] },
        }),
        Kind::Globs | Kind::Directories | Kind::Rules => {
            json!({ "type": "array", "items": strings })
        }
        Kind::TestPatterns => json!({
            "type": "array",
            "items": { "type": "string", "pattern": r"\{op\}" },
        }),
        Kind::TestFiles => json!({
            "type": "object",
            "additionalProperties": {
                "anyOf": [strings, { "type": "array", "items": { "type": "string" } }],
            },
        }),
        Kind::Environment => json!({ "type": "object", "additionalProperties": strings }),
    };
    match shape {
        Json::Object(shape) => shape,
        _ => Map::new(),
    }
}
