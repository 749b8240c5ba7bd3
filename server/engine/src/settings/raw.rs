//! Values as they were written, before anyone knows whether they make sense.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// One `name = value`, with the line it stands on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    /// One name or several joined by dots, as written.
    pub(super) name: String,
    /// The line of the name, from 1, if it stands in a file.
    pub(super) line: Option<u32>,
    /// What it is set to.
    pub(super) value: Raw,
}

/// A value of any of the notations.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Raw {
    Flag(bool),
    /// In 64 bits; what does not fit is a `Float`.
    Number(i64),
    /// As written: `1.6` must not become `1.6000000001` in a message.
    Float(String),
    Text(String),
    List(Vec<Raw>),
    Table(Vec<Entry>),
    /// From the command line, where nothing but the setting itself tells a text from a list.
    Bare(String),
    /// TOML has dates.
    Date(String),
    /// JSON's `null`: not set.
    Absent,
}

impl Raw {
    /// What it is, for messages: `the string "no"`.
    pub(super) fn describe(&self) -> String {
        match self {
            Raw::Flag(value) => value.to_string(),
            Raw::Number(value) => format!("the number {value}"),
            Raw::Float(text) => format!("the number {text}"),
            Raw::Text(text) | Raw::Bare(text) => format!("the string {}", quoted(text)),
            Raw::List(_) => "a list".to_owned(),
            Raw::Table(_) => "a table".to_owned(),
            Raw::Date(text) => format!("the date {text}"),
            Raw::Absent => "nothing".to_owned(),
        }
    }
}

/// The text in double quotes, shortened where it is long: messages stay one line.
pub(super) fn quoted(text: &str) -> String {
    const SHOWN: usize = 60;
    let mut short: String = text.chars().take(SHOWN).collect();
    if text.chars().nth(SHOWN).is_some() {
        short.push('…');
    }
    format!("{short:?}")
}

/// The entries of a TOML table, in the order of the file.
pub(super) fn from_toml(table: &DeTable<'_>, lines: &Lines) -> Vec<Entry> {
    let mut entries: Vec<(usize, Entry)> = table
        .iter()
        .map(|(name, value)| {
            let start = name.span().start;
            let entry = Entry {
                name: name.get_ref().clone().into_owned(),
                line: Some(lines.line_of(start)),
                value: toml_value(value, lines),
            };
            (start, entry)
        })
        .collect();
    entries.sort_by_key(|&(start, _)| start);
    entries.into_iter().map(|(_, entry)| entry).collect()
}

fn toml_value(value: &Spanned<DeValue<'_>>, lines: &Lines) -> Raw {
    match value.get_ref() {
        DeValue::Boolean(value) => Raw::Flag(*value),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(value) => Raw::Number(value),
            Err(_) => Raw::Float(number.as_str().to_owned()),
        },
        DeValue::Float(number) => Raw::Float(number.as_str().to_owned()),
        DeValue::String(text) => Raw::Text(text.clone().into_owned()),
        DeValue::Datetime(date) => Raw::Date(date.to_string()),
        DeValue::Array(items) => {
            Raw::List(items.iter().map(|item| toml_value(item, lines)).collect())
        }
        DeValue::Table(table) => Raw::Table(from_toml(table, lines)),
    }
}

/// The value of a `key=value` argument: lists, tables and strings as TOML writes them, since no shell
/// has a form for a command; everything else as it stands.
pub(super) fn argument(text: &str) -> Raw {
    let bare = || Raw::Bare(text.to_owned());
    if !text.starts_with(['[', '{', '"']) {
        return bare();
    }
    let document = format!("value = {text}");
    match DeTable::parse(&document) {
        Ok(table) => {
            let mut entries = from_toml(table.get_ref(), &Lines::of(&document));
            entries.pop().map_or_else(bare, |entry| entry.value)
        }
        // A glob may begin with a bracket, too.
        Err(_) => bare(),
    }
}

/// The entries of a JSON object.
pub(super) fn from_json(object: &serde_json::Map<String, serde_json::Value>) -> Vec<Entry> {
    object
        .iter()
        .map(|(name, value)| Entry {
            name: name.clone(),
            line: None,
            value: json_value(value),
        })
        .collect()
}

fn json_value(value: &serde_json::Value) -> Raw {
    match value {
        serde_json::Value::Null => Raw::Absent,
        serde_json::Value::Bool(value) => Raw::Flag(*value),
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(value) => Raw::Number(value),
            None => Raw::Float(number.to_string()),
        },
        serde_json::Value::String(text) => Raw::Text(text.clone()),
        serde_json::Value::Array(items) => Raw::List(items.iter().map(json_value).collect()),
        serde_json::Value::Object(object) => Raw::Table(from_json(object)),
    }
}

/// Offsets of line starts, to turn the parser's byte offsets into lines and columns.
pub(super) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    pub(super) fn of(text: &str) -> Lines {
        let after_newlines = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        Lines {
            starts: std::iter::once(0).chain(after_newlines).collect(),
        }
    }

    /// The line of a byte offset, from 1.
    pub(super) fn line_of(&self, offset: usize) -> u32 {
        let line = self.starts.partition_point(|&start| start <= offset);
        u32::try_from(line).unwrap_or(u32::MAX)
    }
}
