//! The lines of a Python text, as far as comments go: which one has a comment, and which one cannot
//! have any because a string or a `\` goes on behind its end.
//!
//! A text that is being typed need not parse, so this looks at characters, as Python's own tokenizer
//! does, and not at a tree.

/// A line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    /// Its first byte.
    pub(super) start: u32,
    /// The end of what stands on it, before the line end.
    pub(super) end: u32,
    /// Where the next one begins.
    pub(super) next: u32,
    /// Where its comment begins.
    pub(super) comment: Option<u32>,
    /// A string or a `\` goes on behind its end: a comment there would be none.
    pub(super) runs_on: bool,
    /// It begins within brackets.
    pub(super) nested: bool,
}

impl Line {
    /// Whether nothing but white space and a comment stands on it.
    pub(super) fn is_bare(&self, text: &str) -> bool {
        let end = self.comment.unwrap_or(self.end);
        let code = text.get(self.start as usize..end as usize).unwrap_or("");
        code.trim_start_matches('\u{feff}').trim().is_empty()
    }
}

/// The lines of a text, at least one.
pub(super) fn lines(text: &str) -> Vec<Line> {
    let mut scan = Scan {
        bytes: text.as_bytes(),
        at: 0,
        depth: 0,
        line: EMPTY,
        out: Vec::new(),
    };
    while let Some(byte) = scan.byte(0) {
        scan.step(byte);
    }
    // Behind a `\` or a string that goes on, there is no further line.
    let torn =
        scan.out.last().is_some_and(|last| last.runs_on) && scan.line.start as usize == scan.at;
    if !torn {
        scan.close(false);
    }
    scan.out
}

const EMPTY: Line = Line {
    start: 0,
    end: 0,
    next: 0,
    comment: None,
    runs_on: false,
    nested: false,
};

/// F-strings within f-strings are followed so deep.
const DEPTH: u32 = 8;

struct Scan<'t> {
    bytes: &'t [u8],
    at: usize,
    /// Brackets that are open.
    depth: u32,
    line: Line,
    out: Vec<Line>,
}

impl Scan<'_> {
    fn byte(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn step(&mut self, byte: u8) {
        match byte {
            b'\n' | b'\r' => self.close(false),
            b'\\' => match self.byte(1) {
                Some(b'\n' | b'\r') | None => {
                    self.at += 1;
                    self.close(true);
                }
                Some(_) => self.at += 1,
            },
            b'#' => {
                self.line.comment = Some(self.at as u32);
                while self.byte(0).is_some_and(|b| !matches!(b, b'\n' | b'\r')) {
                    self.at += 1;
                }
            }
            b'"' | b'\'' => self.string(byte, DEPTH),
            b'(' | b'[' | b'{' => {
                self.depth += 1;
                self.at += 1;
            }
            b')' | b']' | b'}' => {
                self.depth = self.depth.saturating_sub(1);
                self.at += 1;
            }
            _ => self.at += 1,
        }
    }

    /// Ends the line here, at its line end or at the end of the text.
    fn close(&mut self, runs_on: bool) {
        self.line.end = self.at as u32;
        self.at += match (self.byte(0), self.byte(1)) {
            (Some(b'\r'), Some(b'\n')) => 2,
            (Some(_), _) => 1,
            (None, _) => 0,
        };
        self.line.next = self.at as u32;
        self.line.runs_on = runs_on;
        self.out.push(self.line);
        self.line = Line {
            start: self.line.next,
            nested: self.depth > 0,
            ..EMPTY
        };
    }

    /// Goes behind the string that begins here, or to the end of its line if it does not end there.
    fn string(&mut self, quote: u8, depth: u32) {
        let formats = depth > 0 && self.has_prefix(b"fFtT");
        let triple = self.byte(1) == Some(quote) && self.byte(2) == Some(quote);
        self.at += if triple { 3 } else { 1 };
        let mut braces = 0_u32;
        while let Some(byte) = self.byte(0) {
            match byte {
                b'\\' => {
                    self.at += 1;
                    match self.byte(0) {
                        Some(b'\n' | b'\r') => self.close(true),
                        Some(_) => self.at += 1,
                        None => {}
                    }
                }
                b'\n' | b'\r' if triple => self.close(true),
                b'\n' | b'\r' => return,
                b'{' if formats && braces == 0 && self.byte(1) == Some(b'{') => self.at += 2,
                b'{' if formats => {
                    braces += 1;
                    self.at += 1;
                }
                b'}' if formats => {
                    braces = braces.saturating_sub(1);
                    self.at += 1;
                }
                // A string in a replacement field, since Python 3.12 with the same quotes as well.
                b'"' | b'\'' if braces > 0 => self.string(byte, depth - 1),
                _ if byte == quote && !triple => {
                    self.at += 1;
                    return;
                }
                _ if byte == quote
                    && self.byte(1) == Some(quote)
                    && self.byte(2) == Some(quote) =>
                {
                    self.at += 3;
                    return;
                }
                _ => self.at += 1,
            }
        }
        // The text ends within it.
        self.close(true);
    }

    /// Whether one of the letters is in the prefix of the string that begins here.
    fn has_prefix(&self, letters: &[u8]) -> bool {
        let before = self.bytes.get(..self.at).unwrap_or_default();
        let word = |b: &&u8| b.is_ascii_alphanumeric() || **b == b'_' || !b.is_ascii();
        let prefix: Vec<u8> = before
            .iter()
            .rev()
            .take_while(word)
            .take(3)
            .copied()
            .collect();
        prefix.len() <= 2 && prefix.iter().any(|b| letters.contains(b))
    }
}
