//! The protocol's framing, written a second time: a test that shared the server's own code would
//! not notice its mistakes.

use std::io::{self, BufRead, Read};

use serde_json::Value;

/// The bytes of one message.
pub fn frame(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// The next message; `None` at the end of the stream.
///
/// # Errors
/// Anything but a well-formed message.
pub fn read(input: &mut impl BufRead) -> io::Result<Option<Value>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return if length.is_none() {
                Ok(None)
            } else {
                Err(invalid("a message cut short"))
            };
        }
        match line.strip_suffix("\r\n") {
            Some("") => break,
            Some(header) => {
                let value = header.strip_prefix("Content-Length: ");
                length = value.and_then(|value| value.parse::<u64>().ok());
                if length.is_none() {
                    return Err(invalid(header));
                }
            }
            None => return Err(invalid(&line)),
        }
    }
    let length = length.ok_or_else(|| invalid("a message without length"))?;
    let mut body = Vec::new();
    input.by_ref().take(length).read_to_end(&mut body)?;
    Ok(Some(serde_json::from_slice(&body)?))
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("on the server's output: {what}"),
    )
}
