//! The generated parts of package.json, the manifest of the VS Code extension.
//!
//! The settings are written down once, in the engine's table. Only their block and the list of
//! restricted ones are replaced; the rest of the file is written by hand.

use serde_json::{Value, json};
use tileperf_engine::settings;

/// The order in which the schema of a setting is read best; other keys follow by name.
const KEYS: [&str; 16] = [
    "title",
    "properties",
    "type",
    "enum",
    "items",
    "pattern",
    "patternErrorMessage",
    "minimum",
    "maximum",
    "minItems",
    "uniqueItems",
    "additionalProperties",
    "default",
    "scope",
    "order",
    "markdownDescription",
];

/// The manifest with its generated parts brought up to date, formatted as prettier does.
///
/// # Errors
/// The manifest has no such parts, or is not formatted with two spaces.
pub(crate) fn updated(text: &str) -> Result<String, String> {
    let restricted = json!(settings::restricted_configurations());
    let text = replace(text, "      \"restrictedConfigurations\": ", &restricted)?;
    replace(&text, "    \"configuration\": ", &settings::vscode_schema())
}

/// Replaces the value that follows `key`, a line's beginning, with `value`.
fn replace(text: &str, key: &str, value: &Value) -> Result<String, String> {
    let missing = || format!("package.json has no line that begins with `{key}`");
    let start = text.find(&format!("\n{key}")).ok_or_else(missing)? + 1 + key.len();
    let indent = key.len() - key.trim_start().len();
    // The closing bracket is the first thing in that column again.
    let closing = |line: &str| {
        let rest = line.strip_prefix(&" ".repeat(indent));
        rest.is_some_and(|rest| rest.starts_with(['}', ']']))
    };
    let mut end = start;
    for line in text[start..].split_inclusive('\n') {
        if closing(line) {
            end += indent + 1;
            let mut new = text[..start].to_owned();
            write(&mut new, value, indent);
            new.push_str(&text[end..]);
            return Ok(new);
        }
        end += line.len();
    }
    Err(format!(
        "package.json: the value of `{}` does not end",
        key.trim()
    ))
}

/// Writes JSON with two spaces, one element a line.
fn write(out: &mut String, value: &Value, indent: usize) {
    let new_line = |out: &mut String, indent: usize| {
        out.push('\n');
        out.push_str(&" ".repeat(indent));
    };
    match value {
        Value::Object(map) if !map.is_empty() => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, value)| (value["order"].as_u64(), rank(key), *key));
            out.push('{');
            for (n, (key, value)) in entries.into_iter().enumerate() {
                out.push_str(if n == 0 { "" } else { "," });
                new_line(out, indent + 2);
                out.push_str(&format!("{}: ", json!(key)));
                write(out, value, indent + 2);
            }
            new_line(out, indent);
            out.push('}');
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                out.push_str(if n == 0 { "" } else { "," });
                new_line(out, indent + 2);
                write(out, item, indent + 2);
            }
            new_line(out, indent);
            out.push(']');
        }
        plain => out.push_str(&plain.to_string()),
    }
}

fn rank(key: &str) -> usize {
    KEYS.iter().position(|k| *k == key).unwrap_or(KEYS.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_named_value_is_replaced() {
        let text = "{\n  \"a\": [\n    1\n  ],\n  \"b\": {}\n}\n";
        let new = replace(text, "  \"a\": ", &json!({"scope": "x", "type": ["y"]})).unwrap();
        assert_eq!(
            new,
            "{\n  \"a\": {\n    \"type\": [\n      \"y\"\n    ],\n    \"scope\": \"x\"\n  },\n  \"b\": {}\n}\n"
        );
        assert!(replace(text, "  \"c\": ", &json!(1)).is_err());
    }

    #[test]
    fn settings_keep_the_order_of_the_table() {
        let mut out = String::new();
        write(&mut out, &json!({"a": {"order": 1}, "b": {"order": 0}}), 0);
        assert!(out.find("\"b\"") < out.find("\"a\""), "{out}");
    }
}
