//! Changing Python text: the one place where edits are made.
//!
//! An edit names bytes and what replaces them; everything it does not name stays as it is, comments,
//! quotes, indentation and line ends included. Fixes and optimizations only ever produce edits.

use tileperf_syntax::Span;

pub mod arguments;
pub mod autotune;
#[cfg(test)]
mod tests;

/// Bytes and what replaces them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    /// What is replaced; empty for an insertion.
    pub span: Span,
    /// By this.
    pub text: String,
}

/// Two edits of one change touch the same text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap;

impl std::fmt::Display for Overlap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("two edits change the same text")
    }
}

impl std::error::Error for Overlap {}

/// Applies edits, in whatever order they come. Insertions at one place keep their order.
///
/// # Errors
/// Two edits overlap, or one is outside the text: nothing is applied then.
pub fn apply(text: &str, edits: &[TextEdit]) -> Result<String, Overlap> {
    let mut ordered: Vec<&TextEdit> = edits.iter().collect();
    ordered.sort_by_key(|e| (e.span.start, e.span.end));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in ordered {
        let range = edit.span.range();
        let before = text.get(at..range.start).ok_or(Overlap)?;
        text.get(range.clone()).ok_or(Overlap)?;
        out.push_str(before);
        out.push_str(&edit.text);
        at = range.end;
    }
    out.push_str(text.get(at..).ok_or(Overlap)?);
    Ok(out)
}

/// Collects the edits of one change of a text.
#[derive(Debug, Clone)]
pub struct Edits<'t> {
    text: &'t str,
    edits: Vec<TextEdit>,
}

impl<'t> Edits<'t> {
    /// Of a text (an item's or a file's: spans are in the same).
    pub fn new(text: &'t str) -> Self {
        Self {
            text,
            edits: Vec::new(),
        }
    }

    /// The line end that the text uses.
    pub fn newline(&self) -> &'static str {
        newline(self.text)
    }

    /// What stands at a place.
    pub fn source(&self, span: Span) -> &'t str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// The white space before a byte, if nothing else stands before it on its line.
    pub fn own_line(&self, at: u32) -> Option<&'t str> {
        let indent = indent(self.text, at);
        let start = line_start(self.text, at) as usize;
        (start + indent.len() == at as usize).then_some(indent)
    }

    /// Puts a text in the place of another.
    #[must_use]
    pub fn replace(mut self, span: Span, text: impl Into<String>) -> Self {
        // A part of the text itself may have that line end already.
        let text = text.into().replace("\r\n", "\n");
        let text = text.replace('\n', self.newline());
        self.edits.push(TextEdit { span, text });
        self
    }

    /// Inserts before a byte.
    #[must_use]
    pub fn insert(self, at: u32, text: impl Into<String>) -> Self {
        self.replace(Span { start: at, end: at }, text)
    }

    /// Inserts whole lines before the line on which `at` stands, indented like it. The lines given
    /// are relative to that indentation and have no line end of their own.
    #[must_use]
    pub fn lines_before(self, at: u32, lines: &[&str]) -> Self {
        let start = line_start(self.text, at);
        let indent = indent(self.text, at).to_owned();
        let mut block = String::new();
        for line in lines {
            if !line.is_empty() {
                block.push_str(&indent);
                block.push_str(line);
            }
            block.push('\n');
        }
        self.insert(start, block)
    }

    /// Inserts whole lines after the line on which `at` stands, indented as `like`'s line.
    #[must_use]
    pub fn lines_after(self, at: u32, like: u32, lines: &[&str]) -> Self {
        let end = line_end(self.text, at);
        let indent = indent(self.text, like).to_owned();
        let at_end = end as usize >= self.text.len();
        let ends = self.text[..end as usize].ends_with('\n');
        let mut block = String::new();
        if at_end && !ends {
            block.push('\n');
        }
        for line in lines {
            if !line.is_empty() {
                block.push_str(&indent);
                block.push_str(line);
            }
            block.push('\n');
        }
        if at_end && !ends {
            block.pop();
        }
        self.insert(end, block)
    }

    /// Takes whole lines away: those that the span touches.
    #[must_use]
    pub fn delete_lines(self, span: Span) -> Self {
        let start = line_start(self.text, span.start);
        let end = line_end(self.text, span.end.max(span.start));
        self.replace(Span { start, end }, "")
    }

    /// Takes an element of a comma-separated list away, with one of the commas beside it.
    #[must_use]
    pub fn delete_element(self, span: Span) -> Self {
        let text = self.text;
        let after = &text[span.end as usize..];
        let blank = after.len() - after.trim_start().len();
        if after[blank..].starts_with(',') {
            let rest = &after[blank + 1..];
            let spaces = rest.len() - rest.trim_start_matches([' ', '\t']).len();
            let end = span.end as usize + blank + 1 + spaces;
            return self.replace(Span::new(span.start as usize, end), "");
        }
        let before = text[..span.start as usize].trim_end();
        let start = before.strip_suffix(',').map_or(before, str::trim_end).len();
        let start = if before.ends_with(',') {
            start
        } else {
            span.start as usize
        };
        self.replace(Span::new(start, span.end as usize), "")
    }

    /// The edits.
    pub fn finish(self) -> Vec<TextEdit> {
        self.edits
    }
}

/// The line end that a text uses.
pub fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if at > 0 && text.as_bytes()[at - 1] == b'\r' => "\r\n",
        _ => "\n",
    }
}

/// Where the line begins on which a byte stands.
pub fn line_start(text: &str, at: u32) -> u32 {
    let at = (at as usize).min(text.len());
    text.as_bytes()[..at]
        .iter()
        .rposition(|b| *b == b'\n')
        .map_or(0, |i| i as u32 + 1)
}

/// Where the line ends on which a byte stands, its line end included.
pub fn line_end(text: &str, at: u32) -> u32 {
    let at = (at as usize).min(text.len());
    text.as_bytes()[at..]
        .iter()
        .position(|b| *b == b'\n')
        .map_or(text.len(), |i| at + i + 1) as u32
}

/// The white space before the code of the line on which a byte stands.
pub fn indent(text: &str, at: u32) -> &str {
    let line = &text[line_start(text, at) as usize..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}
