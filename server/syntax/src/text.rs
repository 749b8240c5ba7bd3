//! A document's text with its line starts, and the conversions between bytes, editor positions and
//! human line/column numbers.
//!
//! Line ends are the protocol's: `\n`, `\r\n` and a lone `\r`. An editor that counts only `\n`
//! differs from it just in files with lone carriage returns, which Python itself splits on as well.

use std::sync::Arc;

use crate::Span;

/// The unit in which an editor counts characters within a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units, the protocol's default.
    Utf16,
}

/// A zero-based position as an editor gives it; `character` is in units of an [`Encoding`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Position {
    /// Zero-based line.
    pub line: u32,
    /// Zero-based offset in the line.
    pub character: u32,
}

#[derive(Debug, Default)]
struct Inner {
    text: String,
    /// Byte offset of each line's first byte; never empty.
    lines: Vec<u32>,
}

/// An immutable text, cheap to clone; an edit makes a new one (in place when nobody else holds it).
#[derive(Debug, Clone)]
pub struct Text(Arc<Inner>);

impl Text {
    /// Takes a text; line starts are computed once.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let mut lines = vec![0];
        push_line_starts(text.as_bytes(), 0, &mut lines);
        Self(Arc::new(Inner { text, lines }))
    }

    /// The whole text.
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.0.text.len()
    }

    /// Whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.0.text.is_empty()
    }

    /// The text of a span, clamped to the text and to character boundaries.
    pub fn slice(&self, span: Span) -> &str {
        let start = self.floor_char(span.start as usize);
        let end = self.floor_char(span.end as usize).max(start);
        &self.0.text[start..end]
    }

    /// Number of lines; a text that ends in a line end has an empty last line.
    pub fn line_count(&self) -> usize {
        self.0.lines.len()
    }

    /// Replaces `range` by `new`. Offsets beyond the text or inside a character are clamped down.
    pub fn replace(&mut self, range: std::ops::Range<usize>, new: &str) {
        let start = self.floor_char(range.start);
        let end = self.floor_char(range.end).max(start);
        if Arc::get_mut(&mut self.0).is_none() {
            self.0 = Arc::new(Inner {
                text: self.0.text.clone(),
                lines: self.0.lines.clone(),
            });
        }
        let Some(inner) = Arc::get_mut(&mut self.0) else {
            return;
        };
        inner.text.replace_range(start..end, new);
        // A line break can be made or undone at the seam (`\r` meeting `\n`), so the rescan covers
        // one byte more on each side; lines before stay, lines after are shifted.
        let keep = inner
            .lines
            .partition_point(|&l| (l as usize) < start.max(1));
        let tail = inner.lines.partition_point(|&l| l as usize <= end + 1);
        let delta = new.len() as i64 - (end - start) as i64;
        let shifted: Vec<u32> = inner.lines[tail..]
            .iter()
            .map(|&l| (i64::from(l) + delta) as u32)
            .collect();
        inner.lines.truncate(keep.max(1));
        let from = *inner.lines.last().unwrap_or(&0) as usize;
        let to = (start + new.len() + 1).min(inner.text.len());
        let mut fresh = std::mem::take(&mut inner.lines);
        push_line_starts(&inner.text.as_bytes()[..to], from, &mut fresh);
        // `\r` as the last byte looked at may be half of `\r\n`.
        if fresh.last() == Some(&(to as u32))
            && inner.text.as_bytes().get(to.wrapping_sub(1)) == Some(&b'\r')
            && inner.text.as_bytes().get(to) == Some(&b'\n')
        {
            fresh.pop();
        }
        let last = *fresh.last().unwrap_or(&0);
        fresh.extend(shifted.into_iter().filter(|&l| l > last));
        inner.lines = fresh;
    }

    /// The zero-based line that holds byte `offset`.
    pub fn line_of(&self, offset: usize) -> usize {
        self.0
            .lines
            .partition_point(|&l| l as usize <= offset)
            .saturating_sub(1)
    }

    /// The span of a zero-based line without its line end; an empty span past the last line.
    pub fn line_span(&self, line: usize) -> Span {
        let Some(&start) = self.0.lines.get(line) else {
            return Span::new(self.len(), self.len());
        };
        let next = self
            .0
            .lines
            .get(line + 1)
            .map_or(self.len(), |&l| l as usize);
        let mut end = next;
        let bytes = self.0.text.as_bytes();
        while end > start as usize && matches!(bytes[end - 1], b'\n' | b'\r') {
            end -= 1;
        }
        Span::new(start as usize, end)
    }

    /// Byte offset to editor position. Offsets past the end give the end.
    pub fn position(&self, offset: usize, encoding: Encoding) -> Position {
        let offset = self.floor_char(offset);
        let line = self.line_of(offset);
        let head = &self.0.text[self.0.lines[line] as usize..offset];
        let character = match encoding {
            Encoding::Utf8 => head.len(),
            Encoding::Utf16 if head.is_ascii() => head.len(),
            Encoding::Utf16 => head.encode_utf16().count(),
        };
        Position {
            line: line as u32,
            character: character as u32,
        }
    }

    /// Editor position to byte offset. A character past the line's end means the line's end, a line
    /// past the last one the text's end (as the protocol says); one inside a character means its
    /// start.
    pub fn offset(&self, position: Position, encoding: Encoding) -> usize {
        if position.line as usize >= self.line_count() {
            return self.len();
        }
        let span = self.line_span(position.line as usize);
        let line = &self.0.text[span.range()];
        let wanted = position.character as usize;
        let within = match encoding {
            _ if line.is_ascii() => wanted.min(line.len()),
            Encoding::Utf8 => {
                let mut at = wanted.min(line.len());
                while !line.is_char_boundary(at) {
                    at -= 1;
                }
                at
            }
            Encoding::Utf16 => {
                let mut units = 0;
                let mut at = line.len();
                for (i, c) in line.char_indices() {
                    if units + c.len_utf16() > wanted {
                        at = i;
                        break;
                    }
                    units += c.len_utf16();
                }
                at
            }
        };
        span.start as usize + within
    }

    /// One-based line and column, columns in code points, as the command line prints them.
    pub fn line_column(&self, offset: usize) -> (u32, u32) {
        let offset = self.floor_char(offset);
        let line = self.line_of(offset);
        let head = &self.0.text[self.0.lines[line] as usize..offset];
        (line as u32 + 1, head.chars().count() as u32 + 1)
    }

    fn floor_char(&self, offset: usize) -> usize {
        let mut at = offset.min(self.len());
        while !self.0.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

/// Appends the start of every line that begins after `from` within `bytes`.
fn push_line_starts(bytes: &[u8], from: usize, lines: &mut Vec<u32>) {
    for at in memchr::memchr2_iter(b'\n', b'\r', &bytes[from..]) {
        let at = from + at;
        if bytes[at] == b'\r' && bytes.get(at + 1) == Some(&b'\n') {
            continue;
        }
        lines.push(at as u32 + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn positions_in_both_encodings() {
        let text = Text::new("a = '😀é'\r\nb\rc\n\tend");
        let end_of_emoji = text.as_str().find('é').unwrap();
        assert_eq!(
            text.position(end_of_emoji, Encoding::Utf16),
            Position {
                line: 0,
                character: 7
            }
        );
        assert_eq!(
            text.position(end_of_emoji, Encoding::Utf8),
            Position {
                line: 0,
                character: 9
            }
        );
        assert_eq!(text.line_column(end_of_emoji), (1, 7));
        assert_eq!(text.line_count(), 4);
        // Inside the surrogate pair: the character's start.
        assert_eq!(
            text.offset(
                Position {
                    line: 0,
                    character: 6
                },
                Encoding::Utf16
            ),
            5
        );
        // Past the end of a line and of the text.
        assert_eq!(
            text.offset(
                Position {
                    line: 1,
                    character: 99
                },
                Encoding::Utf16
            ),
            15
        );
        assert_eq!(
            text.offset(
                Position {
                    line: 99,
                    character: 0
                },
                Encoding::Utf8
            ),
            text.len()
        );
    }

    proptest! {
        #[test]
        fn an_edit_equals_a_fresh_text(
            before in "[ab\r\n😀é]{0,40}", new in "[ab\r\n😀]{0,8}", a in 0usize..60, b in 0usize..60,
        ) {
            let mut text = Text::new(before);
            let (a, b) = (text.floor_char(a), text.floor_char(b));
            text.replace(a.min(b)..a.max(b), &new);
            let fresh = Text::new(text.as_str());
            prop_assert_eq!(&text.0.lines, &fresh.0.lines);
            for offset in 0..=text.len() {
                let floor = text.floor_char(offset);
                for encoding in [Encoding::Utf8, Encoding::Utf16] {
                    let position = text.position(offset, encoding);
                    let line_end = text.line_span(position.line as usize).end as usize;
                    prop_assert_eq!(text.offset(position, encoding), floor.min(line_end));
                }
            }
        }
    }
}
