//! One YAML document of the compiler's, before its meaning.
//!
//! Documents are cut apart by their first lines and read one by one, so that a damaged one costs
//! itself only, and a repeated one is read once.

use std::collections::HashSet;

use saphyr_parser::{Event, Parser};

use super::Site;

/// A remark as written.
#[derive(Debug, Default)]
pub(super) struct Document {
    /// `Passed`, `Failure`, or what else stands after the exclamation mark.
    pub(super) tag: String,
    pub(super) pass: String,
    pub(super) name: String,
    pub(super) site: Option<Site>,
    args: Vec<(String, String)>,
}

/// The documents of a file, each once; `None` for one that cannot be read.
pub(super) fn documents(yaml: &str) -> impl Iterator<Item = Option<Document>> {
    let mut seen = HashSet::new();
    split(yaml).filter(move |text| seen.insert(*text)).map(read)
}

/// Cuts before every line that begins with `---`.
fn split(yaml: &str) -> impl Iterator<Item = &str> {
    let mut rest = yaml;
    let pieces = std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let next = rest.match_indices("\n---").next();
        let (piece, after) = rest.split_at(next.map_or(rest.len(), |(at, _)| at + 1));
        rest = after;
        Some(piece)
    });
    pieces.filter(|piece| !piece.trim().is_empty())
}

/// Where in a document a scalar stands.
enum Within {
    Top,
    Place,
    Args,
}

/// Follows the events of a document: keys and values alternate in each of its three maps.
fn read(text: &str) -> Option<Document> {
    let mut document = Document::default();
    let mut place = Place::default();
    let mut within = Within::Top;
    let mut key: Option<String> = None;
    for event in Parser::new_from_str(text) {
        match event.ok()?.0 {
            Event::MappingStart(_, tag) => {
                if let Some(tag) = tag {
                    document.tag = tag.suffix.clone();
                }
                if key.take().as_deref() == Some("DebugLoc") {
                    within = Within::Place;
                }
            }
            Event::MappingEnd => {
                key = None;
                if matches!(within, Within::Place) {
                    within = Within::Top;
                }
            }
            Event::SequenceStart(..) if key.take().as_deref() == Some("Args") => {
                within = Within::Args;
            }
            Event::SequenceEnd => within = Within::Top,
            Event::Scalar(value, ..) => match key.take() {
                None => key = Some(value.into_owned()),
                Some(key) => match within {
                    Within::Top => document.set(&key, value.into_owned()),
                    Within::Place => place.set(&key, &value),
                    Within::Args => document.args.push((key, value.into_owned())),
                },
            },
            Event::Alias(_) => return None,
            _ => {}
        }
    }
    document.site = place.site();
    (!document.name.is_empty()).then_some(document)
}

#[derive(Default)]
struct Place {
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
}

impl Place {
    fn set(&mut self, key: &str, value: &str) {
        match key {
            "File" => self.file = Some(value.to_owned()),
            "Line" => self.line = value.parse().ok(),
            "Column" => self.column = value.parse().ok(),
            _ => {}
        }
    }

    /// The compiler writes `<unknown>` and line 0 where it knows no place.
    fn site(self) -> Option<Site> {
        Some(Site {
            file: self.file?,
            line: self.line.filter(|&line| line > 0)?,
            column: self.column?,
        })
    }
}

impl Document {
    fn set(&mut self, key: &str, value: String) {
        match key {
            "Pass" => self.pass = value,
            "Name" => self.name = value,
            _ => {}
        }
    }

    /// The first argument of this name.
    pub(super) fn detail(&self, name: &str) -> Option<&str> {
        let found = self.args.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// What it says beside its number and its words, each once.
    pub(super) fn further_details(&self) -> Vec<(String, String)> {
        let mut details: Vec<(String, String)> = Vec::new();
        for detail in &self.args {
            let told = matches!(detail.0.as_str(), "RemarkId" | "Remark");
            if !told && !details.contains(detail) {
                details.push(detail.clone());
            }
        }
        details
    }

    /// The reasons, each once, without the place that is put in front of them.
    pub(super) fn reasons(&self) -> Vec<String> {
        let reasons = self.args.iter().filter(|(name, _)| name == "Reason");
        let mut reasons: Vec<String> = reasons
            .map(|(_, reason)| without_place(reason).to_owned())
            .collect();
        reasons.sort();
        reasons.dedup();
        reasons
    }

    /// `[64, 128]` as numbers.
    pub(super) fn shape(&self) -> Vec<u32> {
        let shape = self.detail("Shape").unwrap_or_default();
        let numbers = shape.trim_matches(['[', ']']).split(',');
        numbers.filter_map(|n| n.trim().parse().ok()).collect()
    }
}

/// `loc("file":7:8): words` or `loc(callsite(...)): words` as `words`.
fn without_place(reason: &str) -> &str {
    let Some(place) = reason.strip_prefix("loc(") else {
        return reason;
    };
    let (mut depth, mut quoted) = (1, false);
    for (at, c) in place.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return place[at + 1..].trim_start_matches(':').trim_start();
        }
    }
    reason
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_before_reasons_are_taken_off() {
        for (reason, expected) in [
            ("loc(\"/a/k.py\":7:8): only zero", "only zero"),
            ("loc(\"/a (1)/k.py\":7:8): only (zero): x", "only (zero): x"),
            ("loc(callsite(\"a\" at \"b\":1:2)): why", "why"),
            ("loc(unknown): why", "why"),
            ("loc(\"a: why", "loc(\"a: why"),
            ("why", "why"),
        ] {
            assert_eq!(without_place(reason), expected);
        }
    }
}
