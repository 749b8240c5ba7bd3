//! Typing, as single-character edits all over a file.
//!
//! Each burst types something at a random place and takes it back, so the text is the same after it
//! and every server sees the same edits in the same order.

use serde_json::{Value, json};

/// Words that are no names: nobody types on at their end.
const KEYWORDS: [&str; 24] = [
    "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif",
    "else", "except", "for", "from", "if", "import", "in", "is", "not", "or", "pass", "return",
    "while",
];

/// What is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Three letters at the end of a name, then three backspaces.
    Name,
    /// A digit at the end of a number, then a backspace.
    Number,
    /// A new line, then a backspace.
    NewLine,
    /// `(` and `)` behind a name, then two backspaces: between them the text does not parse.
    Call,
}

impl Kind {
    /// In the order of a round of bursts and of the report.
    pub(super) const ALL: [Kind; 4] = [Kind::Name, Kind::Number, Kind::NewLine, Kind::Call];

    pub(super) fn title(self) -> &'static str {
        match self {
            Kind::Name => "a name",
            Kind::Number => "a number",
            Kind::NewLine => "a new line",
            Kind::Call => "a call's brackets",
        }
    }

    fn typed(self) -> &'static [&'static str] {
        match self {
            Kind::Name => &["t", "m", "p"],
            Kind::Number => &["7"],
            Kind::NewLine => &["\n"],
            Kind::Call => &["(", ")"],
        }
    }
}

/// One change of a document, in the protocol's form.
#[derive(Debug, Clone)]
pub(crate) struct Edit {
    pub(crate) kind: Kind,
    pub(crate) change: Value,
}

/// `bursts` bursts, the kinds in turn; the same for the same `seed`.
pub(crate) fn script(text: &str, bursts: usize, seed: u64) -> Vec<Edit> {
    let lines: Vec<&str> = text.split('\n').collect();
    let mut random = Random(seed);
    let mut out = Vec::new();
    for kind in Kind::ALL.into_iter().cycle().take(bursts) {
        // A text without any such place would be a mistake of this program.
        let place = (0..100_000).find_map(|_| {
            let line = random.below(lines.len());
            Some((line, column(lines[line], kind, &mut random)?))
        });
        if let Some((line, column)) = place {
            burst(kind, line, column, &mut out);
        }
    }
    out
}

/// So many places at which a cursor may stand in code, the same for the same `seed`.
pub(super) fn places(text: &str, count: usize, seed: u64) -> Vec<Value> {
    let lines: Vec<&str> = text.split('\n').collect();
    let mut random = Random(seed);
    let tries = (0..100 * count).filter_map(|_| {
        let line = random.below(lines.len());
        let column = column(lines[line], Kind::Name, &mut random)?;
        Some(json!({"line": line, "character": column}))
    });
    tries.take(count).collect()
}

fn burst(kind: Kind, line: usize, column: usize, out: &mut Vec<Edit>) {
    let position = |line: usize, character: usize| json!({"line": line, "character": character});
    let mut edit = |start: Value, end: Value, text: &str| {
        let change = json!({"range": {"start": start, "end": end}, "text": text});
        out.push(Edit { kind, change });
    };
    let typed = kind.typed();
    for (i, text) in typed.iter().enumerate() {
        let at = position(line, column + i);
        edit(at.clone(), at, text);
    }
    for i in (0..typed.len()).rev() {
        let end = if kind == Kind::NewLine {
            position(line + 1, 0)
        } else {
            position(line, column + i + 1)
        };
        edit(position(line, column + i), end, "");
    }
}

/// A column of an indented line of code at which one may type, if the line has any.
fn column(line: &str, kind: Kind, random: &mut Random) -> Option<usize> {
    let code = line.trim_start();
    let prose = !line.is_ascii() || code.starts_with('#') || code.contains(['"', '\'']);
    if !line.starts_with("    ") || code.is_empty() || prose {
        return None;
    }
    if kind == Kind::NewLine {
        return Some(line.len());
    }
    let mut places = Vec::new();
    let mut start = 0;
    for part in line.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_') {
        let word = part.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '_');
        let fits = match (word.chars().next(), kind) {
            (None, _) => false,
            (Some(_), Kind::Number) => word.chars().all(|c| c.is_ascii_digit()),
            (Some(first), _) => !first.is_ascii_digit() && !KEYWORDS.contains(&word),
        };
        if fits {
            places.push(start + word.len());
        }
        start += part.len();
    }
    (!places.is_empty()).then(|| places[random.below(places.len())])
}

/// Knuth's generator for 64 bits: good enough to scatter edits, the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "import m\n\ndef f(x):\n    # no 1\n    y = m.load(x, 16)\n    return y\n";

    /// Applies a script the slow way.
    fn apply(text: &str, edits: &[Edit]) -> Vec<String> {
        let mut texts = vec![text.to_owned()];
        for edit in edits {
            let text = &texts[texts.len() - 1];
            let offset = |key: &str| {
                let at = &edit.change["range"][key];
                let line = at["line"].as_u64().unwrap() as usize;
                let before: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
                before + at["character"].as_u64().unwrap() as usize
            };
            let mut next = text.clone();
            next.replace_range(
                offset("start")..offset("end"),
                edit.change["text"].as_str().unwrap(),
            );
            texts.push(next);
        }
        texts
    }

    #[test]
    fn bursts_change_one_character_at_a_time_and_leave_the_text_as_it_was() {
        let edits = script(TEXT, 40, 1);
        assert_eq!(edits.len(), 10 * (6 + 2 + 2 + 4));
        let texts = apply(TEXT, &edits);
        assert_eq!(texts.last().map(String::as_str), Some(TEXT));
        assert!(
            texts
                .windows(2)
                .all(|w| w[0].len().abs_diff(w[1].len()) == 1)
        );
    }

    #[test]
    fn names_and_numbers_are_typed_where_they_stand() {
        let mut random = Random(7);
        for _ in 0..50 {
            assert_eq!(
                column("    y = m.load(x1, 16)", Kind::Number, &mut random),
                Some(21)
            );
            let at = column("    return y", Kind::Name, &mut random);
            assert_eq!(at, Some(12));
        }
        assert_eq!(column("    # no 1", Kind::Number, &mut random), None);
        assert_eq!(column("x = 1", Kind::Number, &mut random), None);
    }
}
