//! What a program printed, in bounded memory, and the same as it comes, line by line.
//!
//! A runaway test can print gigabytes. The beginning says what was run and the end says how it
//! failed, so those two are kept and the middle is counted.

use std::collections::VecDeque;

/// One of the two output streams of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// The beginning and the end of what was written to one stream.
#[derive(Clone, Debug)]
pub struct Captured {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    head_limit: usize,
    tail_limit: usize,
    dropped: u64,
}

impl Captured {
    /// An empty capture that keeps the first `head_limit` and the last `tail_limit` bytes.
    pub(crate) fn new(head_limit: usize, tail_limit: usize) -> Self {
        Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            head_limit,
            tail_limit,
            dropped: 0,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let to_head = bytes.len().min(self.head_limit - self.head.len());
        let (head, rest) = bytes.split_at(to_head);
        self.head.extend_from_slice(head);

        let rest_kept = &rest[rest.len().saturating_sub(self.tail_limit)..];
        let overflow = (self.tail.len() + rest_kept.len()).saturating_sub(self.tail_limit);
        self.tail.drain(..overflow);
        self.tail.extend(rest_kept);
        self.dropped += (overflow + rest.len() - rest_kept.len()) as u64;
    }

    /// Bytes that were written but not kept.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Bytes that were written altogether.
    #[must_use]
    pub fn total(&self) -> u64 {
        (self.head.len() + self.tail.len()) as u64 + self.dropped
    }

    /// Everything that was written, or `None` if some of it was dropped: half a JSON document must
    /// not be taken for a whole one.
    #[must_use]
    pub fn complete(&self) -> Option<Vec<u8>> {
        (self.dropped == 0).then(|| self.head.iter().chain(&self.tail).copied().collect())
    }

    /// What was kept, as text; between beginning and end stands how much was dropped. Bytes that are
    /// not UTF-8 become replacement characters.
    #[must_use]
    pub fn to_text(&self) -> String {
        if let Some(all) = self.complete() {
            return String::from_utf8_lossy(&all).into_owned();
        }
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        format!(
            "{}\n[{} bytes dropped]\n{}",
            String::from_utf8_lossy(&self.head),
            self.dropped,
            String::from_utf8_lossy(&tail)
        )
    }
}

/// Cuts a stream of bytes into lines for a callback.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    pending: Vec<u8>,
}

impl Lines {
    /// A line longer than this is handed on in pieces, so that output without line ends stays
    /// bounded too.
    const LONGEST: usize = 64 * 1024;

    /// Hands every line completed by `bytes` to `each`, without its line end.
    pub(crate) fn push(&mut self, bytes: &[u8], mut each: impl FnMut(&str)) {
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.pending.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.finish(&mut each);
            }
            while self.pending.len() > Self::LONGEST {
                let cut = char_boundary(&self.pending, Self::LONGEST);
                each(&String::from_utf8_lossy(&self.pending[..cut]));
                self.pending.drain(..cut);
            }
        }
    }

    /// Hands on what stands after the last line end, if anything does.
    pub(crate) fn finish(&mut self, mut each: impl FnMut(&str)) {
        if self.pending.is_empty() {
            return;
        }
        let line = self.pending.strip_suffix(b"\n").unwrap_or(&self.pending);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        each(&String::from_utf8_lossy(line));
        self.pending.clear();
    }
}

/// The last place at or before `limit` where no UTF-8 sequence is cut.
fn char_boundary(bytes: &[u8], limit: usize) -> usize {
    let continues = |at: &usize| bytes[*at] & 0b1100_0000 == 0b1000_0000;
    let earliest = limit.saturating_sub(3);
    (earliest..=limit)
        .rev()
        .find(|at| !continues(at))
        .unwrap_or(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(chunks: &[&[u8]]) -> Captured {
        let mut captured = Captured::new(4, 3);
        for chunk in chunks {
            captured.push(chunk);
        }
        captured
    }

    #[test]
    fn short_output_is_complete() {
        let all = captured(&[b"abc", b"defg"]);
        assert_eq!(all.complete().as_deref(), Some(&b"abcdefg"[..]));
        assert_eq!(all.to_text(), "abcdefg");
    }

    #[test]
    fn long_output_keeps_both_ends_however_it_is_cut() {
        let text = b"0123456789";
        for cut in 0..=text.len() {
            let (left, right) = text.split_at(cut);
            let both = captured(&[left, right]);
            assert_eq!(both.to_text(), "0123\n[3 bytes dropped]\n789");
            assert_eq!((both.total(), both.complete()), (10, None));
        }
    }

    fn lines(chunks: &[&[u8]]) -> Vec<String> {
        let (mut lines, mut seen) = (Lines::default(), Vec::new());
        for chunk in chunks {
            lines.push(chunk, |line| seen.push(line.to_owned()));
        }
        lines.finish(|line| seen.push(line.to_owned()));
        seen
    }

    #[test]
    fn lines_do_not_depend_on_how_reads_fell() {
        let text = "one\r\n\nzwei \u{1f600}\nlast".as_bytes();
        for cut in 0..=text.len() {
            let (left, right) = text.split_at(cut);
            assert_eq!(lines(&[left, right]), ["one", "", "zwei \u{1f600}", "last"]);
        }
    }

    #[test]
    fn a_line_without_end_comes_in_whole_characters() {
        let text = "x".to_owned() + &"\u{1f600}".repeat(40_000);
        let pieces = lines(&[text.as_bytes()]);
        assert_eq!(pieces.len(), 3);
        assert_eq!(pieces.concat(), text);
    }
}
