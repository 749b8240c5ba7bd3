//! Messages on a byte stream: `Content-Length` headers, and finding the way back after garbage.
//!
//! The reader never trusts a length and never gives up: whatever arrives, the memory it takes is
//! bounded and the next well-formed message is found. It is a plain blocking reader because it
//! runs on a thread of its own; standard input cannot be read without blocking anyway.

use std::io::{self, BufRead, Read};

/// The longest message body taken. An editor sends a whole file as one message, so this bounds the
/// size of a file; longer ones are answered by an error.
pub(super) const BODY_LIMIT: u64 = 64 << 20;
/// The longest header line looked at. Of a longer line only the end is kept: that is where the next
/// message's header is when the previous message was longer than it said.
const LINE_LIMIT: usize = 4096;
/// Header lines of one message; the protocol knows two.
const HEADER_LIMIT: usize = 32;
const LENGTH_HEADER: &[u8] = b"content-length:";

/// One thing read from the stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// A message body of exactly the announced length.
    Body(Vec<u8>),
    /// Bytes that are no message; reading goes on behind them.
    Broken(FrameError),
}

/// Why bytes are no message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum FrameError {
    /// A header block without a length, or bytes that are no header.
    #[error("a message without a Content-Length header")]
    NoLength,
    /// A length that is no number.
    #[error("a Content-Length that is no number")]
    BadLength,
    /// A message over [`BODY_LIMIT`].
    #[error("a message of {0} bytes; at most {BODY_LIMIT} are accepted")]
    TooLong(u64),
    /// The stream ended within a message.
    #[error("the input ended within a message")]
    Cut,
}

/// Reads frames.
#[derive(Debug)]
pub(super) struct FrameReader<R> {
    input: R,
    /// Garbage was reported and no whole message seen since: report it once, not per line.
    lost: bool,
}

impl<R: BufRead> FrameReader<R> {
    /// Reads frames from `input`.
    pub(super) fn new(input: R) -> Self {
        Self { input, lost: false }
    }

    /// The next frame; `None` at the end of the stream.
    ///
    /// # Errors
    /// The stream cannot be read.
    pub(super) fn next(&mut self) -> io::Result<Option<Frame>> {
        loop {
            let length = match self.read_header()? {
                Header::End => return Ok(None),
                Header::Length(length) if length <= BODY_LIMIT => length,
                // The body is not skipped by its length, which may be a lie that would swallow all
                // that follows; the search for the next header passes over it just as well.
                Header::Length(length) => match self.report(FrameError::TooLong(length)) {
                    Some(frame) => return Ok(Some(frame)),
                    None => continue,
                },
                Header::Broken(error) => match self.report(error) {
                    Some(frame) => return Ok(Some(frame)),
                    None => continue,
                },
            };
            // Grows with what arrives, so that an announced length alone costs nothing.
            let mut body = Vec::with_capacity(length.min(64 << 10) as usize);
            self.input.by_ref().take(length).read_to_end(&mut body)?;
            if (body.len() as u64) < length {
                return Ok(self.report(FrameError::Cut));
            }
            self.lost = false;
            return Ok(Some(Frame::Body(body)));
        }
    }

    /// Tells the caller to treat what follows as garbage: the last body was no message, so its
    /// length may have been wrong.
    pub(super) fn distrust(&mut self) {
        self.lost = true;
    }

    fn report(&mut self, error: FrameError) -> Option<Frame> {
        let first = !std::mem::replace(&mut self.lost, true);
        first.then_some(Frame::Broken(error))
    }

    fn read_header(&mut self) -> io::Result<Header> {
        let mut length = None;
        let mut garbage = false;
        for _ in 0..HEADER_LIMIT {
            let Some(line) = self.read_line()? else {
                let clean = length.is_none() && !garbage;
                return Ok(if clean || self.lost {
                    Header::End
                } else {
                    Header::Broken(FrameError::Cut)
                });
            };
            if line.is_empty() {
                match length {
                    Some(Ok(length)) => return Ok(Header::Length(length)),
                    Some(Err(error)) => return Ok(Header::Broken(error)),
                    None if garbage => return Ok(Header::Broken(FrameError::NoLength)),
                    // A stray blank line between messages.
                    None => continue,
                }
            }
            match find_length(&line) {
                Some(found) => length = Some(found),
                None => garbage = true,
            }
        }
        Ok(Header::Broken(FrameError::NoLength))
    }

    /// One line without its end, or the last [`LINE_LIMIT`] bytes of a longer one.
    fn read_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let mut any = false;
        loop {
            let (used, ended) = {
                let bytes = match self.input.fill_buf() {
                    Ok(bytes) => bytes,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => return Err(error),
                };
                if bytes.is_empty() {
                    return Ok(any.then_some(line));
                }
                let end = bytes.iter().position(|&b| b == b'\n');
                let used = end.map_or(bytes.len(), |end| end + 1);
                line.extend_from_slice(&bytes[..end.unwrap_or(used)]);
                (used, end.is_some())
            };
            any = true;
            self.input.consume(used);
            if line.len() > LINE_LIMIT {
                line.drain(..line.len() - LINE_LIMIT);
            }
            if ended {
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                return Ok(Some(line));
            }
        }
    }
}

enum Header {
    Length(u64),
    Broken(FrameError),
    End,
}

/// The value of the last length header in a line. Usually the line is that header; behind a body
/// that was longer than announced, it follows the rest of that body on the same line.
fn find_length(line: &[u8]) -> Option<Result<u64, FrameError>> {
    let at = line
        .windows(LENGTH_HEADER.len())
        .rposition(|window| window.eq_ignore_ascii_case(LENGTH_HEADER))?;
    let value = std::str::from_utf8(&line[at + LENGTH_HEADER.len()..]).ok();
    Some(
        value
            .and_then(|value| value.trim().parse().ok())
            .ok_or(FrameError::BadLength),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(bytes: &[u8]) -> Vec<Frame> {
        // A tiny buffer, so that every boundary falls somewhere.
        let mut reader = FrameReader::new(io::BufReader::with_capacity(7, bytes));
        std::iter::from_fn(|| reader.next().unwrap()).collect()
    }

    fn body(text: &str) -> Frame {
        Frame::Body(text.as_bytes().to_vec())
    }

    #[test]
    fn reads_messages_with_any_spelling_of_the_headers() {
        let input = b"Content-Length: 2\r\n\r\n{}\
            content-length:4\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\nnull\
            \r\nContent-Type: x\nContent-Length: 0\n\n";
        assert_eq!(frames(input), [body("{}"), body("null"), body("")]);
    }

    #[test]
    fn finds_the_next_message_after_garbage() {
        let good = "Content-Length: 2\r\n\r\n{}";
        for (garbage, error) in [
            ("hello\r\n\r\n", FrameError::NoLength),
            ("Content-Length: x\r\n\r\n", FrameError::BadLength),
            ("Content-Length: -1\r\n\r\n", FrameError::BadLength),
            (
                "Content-Length: 99999999999\r\n\r\n{\"a\":1}",
                FrameError::TooLong(99_999_999_999),
            ),
            (
                "Content-Type: x\r\n\r\n{\"a\":1}\r\n\r\nmore\r\n\r\n",
                FrameError::NoLength,
            ),
        ] {
            let input = format!("{garbage}{good}{good}");
            let expected = [Frame::Broken(error), body("{}"), body("{}")];
            assert_eq!(frames(input.as_bytes()), expected, "{garbage:?}");
        }
    }

    #[test]
    fn a_body_longer_than_announced_costs_one_message_at_most() {
        let input = "Content-Length: 2\r\n\r\n{\"a\":1}Content-Length: 2\r\n\r\n{}";
        assert_eq!(frames(input.as_bytes()), [body("{\""), body("{}")]);
    }

    #[test]
    fn a_line_without_end_is_bounded_and_passed_over() {
        let mut input = vec![b'x'; 3 * LINE_LIMIT];
        input.extend_from_slice(b"Content-Length: 2\r\n\r\n{}");
        assert_eq!(frames(&input), [body("{}")]);

        let many = "X-Header: 1\r\n".repeat(10_000) + "\r\nContent-Length: 2\r\n\r\n{}";
        assert_eq!(
            frames(many.as_bytes()),
            [Frame::Broken(FrameError::NoLength), body("{}")]
        );
    }

    #[test]
    fn a_cut_message_is_reported() {
        assert_eq!(
            frames(b"Content-Length: 5\r\n\r\n{}"),
            [Frame::Broken(FrameError::Cut)]
        );
        assert_eq!(frames(b"Content-Le"), [Frame::Broken(FrameError::Cut)]);
        assert_eq!(frames(b""), []);
    }
}
