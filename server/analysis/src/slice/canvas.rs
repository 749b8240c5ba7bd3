//! A text from which parts are kept in place.

use tileperf_syntax::Span;

/// What nothing was kept of. No Python text has it.
const BLANK: u8 = 0;

/// A text of which nothing is kept yet.
pub(super) struct Canvas<'t> {
    text: &'t str,
    out: Vec<u8>,
    /// What was kept, in the order of keeping.
    pieces: Vec<&'t str>,
}

impl<'t> Canvas<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let blank = |byte: u8| if byte == b'\n' { byte } else { BLANK };
        Self {
            text,
            out: text.bytes().map(blank).collect(),
            pieces: Vec::new(),
        }
    }

    /// The text of a place; empty if it is none.
    pub(super) fn source(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or("")
    }

    /// Keeps a part.
    pub(super) fn keep(&mut self, start: usize, end: usize) {
        let piece = self.source(start, end);
        self.write(start, piece);
        if !piece.trim().is_empty() {
            self.pieces.push(piece);
        }
    }

    /// Keeps a statement or an expression.
    pub(super) fn keep_span(&mut self, span: Span) {
        self.keep(span.start as usize, span.end as usize);
    }

    /// Keeps of a part only what joins its lines.
    pub(super) fn keep_joints(&mut self, start: usize, end: usize) {
        let part = self.source(start, end);
        for (at, _) in part.match_indices('\\') {
            let rest = &part[at + 1..];
            if rest.starts_with('\n') || rest.starts_with("\r\n") {
                self.write(start + at, "\\");
            }
        }
    }

    /// Writes something of our own, where there is room for it.
    pub(super) fn write(&mut self, at: usize, text: &str) {
        if let Some(room) = self.out.get_mut(at..at + text.len()) {
            room.copy_from_slice(text.as_bytes());
        }
    }

    /// What was kept, piece by piece.
    pub(super) fn pieces(&self) -> &[&'t str] {
        &self.pieces
    }

    /// The text: what was kept on its line and column, up to the last line that has something.
    pub(super) fn finish(self) -> String {
        let mut text = Vec::with_capacity(self.out.len() / 4);
        let mut waiting = 0;
        for line in self.out.split_inclusive(|byte| *byte == b'\n') {
            if line.iter().all(|byte| matches!(*byte, BLANK | b'\n')) {
                waiting += 1;
                continue;
            }
            text.extend(std::iter::repeat_n(b'\n', waiting));
            waiting = 0;
            let shown = |byte: &u8| if *byte == BLANK { b' ' } else { *byte };
            text.extend(line.iter().map(shown));
        }
        // Whole characters were kept, so nothing is lost here.
        String::from_utf8_lossy(&text).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_stays_in_its_place() {
        let text = "a = 'ü'; b = 2\r\n\nc = '''\n\n'''\nd\n";
        let mut canvas = Canvas::new(text);
        canvas.keep(10, 15);
        assert_eq!(canvas.finish(), "          b = 2 \n");
        let mut canvas = Canvas::new(text);
        canvas.keep(18, 30);
        assert_eq!(canvas.finish(), "\n\nc = '''\n\n'''\n");
    }

    #[test]
    fn places_that_are_none_do_no_harm() {
        let mut canvas = Canvas::new("é\n");
        canvas.keep(1, 2);
        canvas.keep(0, 99);
        canvas.write(2, "if 1:");
        assert_eq!(canvas.finish(), "");
    }
}
