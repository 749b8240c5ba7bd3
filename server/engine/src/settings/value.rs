//! Values that have passed validation.

use std::collections::BTreeMap;

use serde_json::json;
use tileperf_analysis::arch::Arch;
use tileperf_analysis::target::Version;

/// A checked value of a setting. Which variant a setting has follows from its
/// [`Kind`](super::table::Kind).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// On or off.
    Flag(bool),
    /// A number that cannot be negative.
    Number(u64),
    /// A text, or nothing set.
    Text(Option<String>),
    /// A version, or nothing set.
    Version(Option<Version>),
    /// Architectures, ascending, none twice.
    Archs(Vec<Arch>),
    /// Texts in order.
    List(Vec<String>),
    /// A list of texts for each name.
    Lists(BTreeMap<String, Vec<String>>),
    /// A text for each name.
    Texts(BTreeMap<String, String>),
    /// Settings for each kernel.
    Kernels(BTreeMap<String, KernelPerf>),
}

/// What the experiment loop does differently for one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct KernelPerf {
    /// Its test file, relative to the workspace folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_file: Option<String>,
    /// Its correctness command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correctness: Option<Vec<String>>,
    /// Its benchmark command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub benchmark: Option<Vec<String>>,
    /// More files that a change may touch, relative to the workspace folder.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// What to reach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
}

impl Value {
    /// The value as JSON; `null` where nothing is set.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Value::Flag(value) => json!(value),
            Value::Number(value) => json!(value),
            Value::Text(value) => json!(value),
            Value::Version(value) => json!(value),
            Value::Archs(value) => json!(value),
            Value::List(value) => json!(value),
            Value::Lists(value) => json!(value),
            Value::Texts(value) => json!(value),
            Value::Kernels(value) => json!(value),
        }
    }

    /// The value as it would stand after `key =` in TOML; empty where nothing is set.
    pub fn to_toml(&self) -> String {
        toml_of(&self.to_json())
    }
}

/// JSON and TOML write strings, numbers and lists alike; maps become inline tables.
fn toml_of(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Null => String::new(),
        serde_json::Value::Array(items) => {
            let items: Vec<String> = items.iter().map(toml_of).collect();
            format!("[{}]", items.join(", "))
        }
        serde_json::Value::Object(entries) if entries.is_empty() => "{}".to_owned(),
        serde_json::Value::Object(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(name, value)| format!("{} = {}", toml_key(name), toml_of(value)))
                .collect();
            format!("{{ {} }}", entries.join(", "))
        }
        scalar => scalar.to_string(),
    }
}

fn toml_key(name: &str) -> String {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !name.is_empty() && name.bytes().all(bare) {
        name.to_owned()
    } else {
        json!(name).to_string()
    }
}
