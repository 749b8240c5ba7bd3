//! Line ends and `$Id$`, converted exactly as git does it (gitattributes(5), "End-of-line
//! conversion").
//!
//! libgit2 converts too, but not always alike: it leaves every file alone whose last version has a
//! carriage return anywhere, git only one that has CRLF and is text. A commit made by the one and
//! looked at by the other would show a whole file as changed. A test compares this with git over all
//! settings.

use git2::{AttrCheckFlags, AttrValue, ErrorCode};
use std::path::Path;

use crate::error::Error;
use crate::repo::Repo;

/// How the text of one file is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    /// `None`: line ends are never touched.
    pub(crate) ends: Option<Ends>,
    /// `$Id$` is filled in on the way out.
    pub(crate) ident: bool,
}

/// How line ends are converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    /// Only if it looks like text, and has not been stored with CRLF before.
    auto: bool,
    /// The work tree has CRLF.
    crlf: bool,
}

impl Repo {
    /// What attributes and settings say of the file `path`.
    pub(crate) fn text_of(&self, path: &Path) -> Result<Text, Error> {
        let attribute = |name: &str| {
            self.git
                .get_attr_bytes(path, name, AttrCheckFlags::FILE_THEN_INDEX)
                .map(AttrValue::from_bytes)
                .map_err(|error| self.attribute_error(error))
        };
        let ident = attribute("ident")? == AttrValue::True;
        let (mut text, eol) = (attribute("text")?, attribute("eol")?);
        if !decides(text) {
            // Its name before git 1.7.2.
            text = attribute("crlf")?;
        }
        let autocrlf = self.setting("core.autocrlf")?;
        let crlf_by_default = match autocrlf.as_str() {
            "input" => false,
            text if is_true(text) => true,
            _ => match self.setting("core.eol")?.as_str() {
                "crlf" => true,
                "lf" => false,
                _ => cfg!(windows),
            },
        };
        let ends = |auto, crlf| Some(Ends { auto, crlf });
        let (auto, input) = match text {
            AttrValue::False => return Ok(Text { ends: None, ident }),
            AttrValue::String("auto") => (true, false),
            AttrValue::String("input") => (false, true),
            AttrValue::True => (false, false),
            _ => {
                let ends = match eol {
                    AttrValue::String("crlf") => ends(false, true),
                    AttrValue::String("lf") => ends(false, false),
                    _ if is_true(&autocrlf) => ends(true, true),
                    _ if autocrlf == "input" => ends(true, false),
                    _ => None,
                };
                return Ok(Text { ends, ident });
            }
        };
        let ends = match eol {
            AttrValue::String("crlf") => ends(auto, true),
            AttrValue::String("lf") => ends(auto, false),
            _ => ends(auto, crlf_by_default && !input),
        };
        Ok(Text { ends, ident })
    }

    fn setting(&self, name: &str) -> Result<String, Error> {
        let config = self.git.config().and_then(|config| config.get_string(name));
        match config {
            Ok(text) => Ok(text.to_ascii_lowercase()),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(String::new()),
            Err(error) => Err(Error::while_("cannot read the git configuration")(error)),
        }
    }
}

impl Text {
    /// As the repository keeps `bytes`; `present` is what the index has of the file.
    pub(crate) fn inward(self, bytes: &[u8], present: impl FnOnce() -> Option<Vec<u8>>) -> Vec<u8> {
        let mut bytes = bytes.to_owned();
        if let Some(ends) = self.ends {
            let kept = || present().is_some_and(|p| Looks::of(&p).is_text_with_crlf());
            let looks = Looks::of(&bytes);
            if looks.crlf > 0 && !(ends.auto && (looks.is_binary() || kept())) {
                bytes = without_cr(&bytes);
            }
        }
        if self.ident { unfilled(&bytes) } else { bytes }
    }

    /// As a work tree has the `stored` bytes; `None` if that takes git itself.
    pub(crate) fn outward(self, stored: &[u8]) -> Option<Vec<u8>> {
        if self.ident && stored.windows(3).any(|three| three == b"$Id") {
            return None;
        }
        let Some(ends) = self.ends.filter(|ends| ends.crlf) else {
            return Some(stored.to_owned());
        };
        let looks = Looks::of(stored);
        let mixed = looks.crlf > 0 || looks.lone_cr > 0;
        if looks.lone_lf == 0 || ends.auto && (mixed || looks.is_binary()) {
            return Some(stored.to_owned());
        }
        let mut bytes = Vec::with_capacity(stored.len() + looks.lone_lf);
        let mut last = 0;
        for &byte in stored {
            if byte == b'\n' && last != b'\r' {
                bytes.push(b'\r');
            }
            bytes.push(byte);
            last = byte;
        }
        Some(bytes)
    }
}

/// What git counts to tell text from anything else.
struct Looks {
    crlf: usize,
    lone_cr: usize,
    lone_lf: usize,
    nul: bool,
    printable: usize,
    other: usize,
}

impl Looks {
    fn of(bytes: &[u8]) -> Self {
        let mut this = Self {
            crlf: 0,
            lone_cr: 0,
            lone_lf: 0,
            nul: false,
            printable: 0,
            other: 0,
        };
        let mut rest = bytes.iter().copied().peekable();
        while let Some(byte) = rest.next() {
            match byte {
                b'\r' if rest.next_if_eq(&b'\n').is_some() => this.crlf += 1,
                b'\r' => this.lone_cr += 1,
                b'\n' => this.lone_lf += 1,
                0 => {
                    this.nul = true;
                    this.other += 1;
                }
                // Backspace, tabulator, form feed, escape.
                8 | 9 | 12 | 27 | 32..=126 | 128..=255 => this.printable += 1,
                _ => this.other += 1,
            }
        }
        // The end-of-file mark of DOS.
        if bytes.last() == Some(&26) {
            this.other -= 1;
        }
        this
    }

    fn is_binary(&self) -> bool {
        self.nul || self.lone_cr > 0 || self.printable / 128 < self.other
    }

    fn is_text_with_crlf(&self) -> bool {
        self.crlf > 0 && !self.is_binary()
    }
}

/// Every CRLF as LF; other carriage returns stay.
fn without_cr(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for (at, &byte) in bytes.iter().enumerate() {
        if byte != b'\r' || bytes.get(at + 1) != Some(&b'\n') {
            out.push(byte);
        }
    }
    out
}

/// Every `$Id: ...$` on one line as `$Id$`.
fn unfilled(bytes: &[u8]) -> Vec<u8> {
    const START: &[u8] = b"$Id:";
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = rest.windows(START.len()).position(|part| part == START) {
        let after = &rest[at + START.len()..];
        let end = after.iter().position(|&byte| byte == b'$' || byte == b'\n');
        match end {
            Some(end) if after[end] == b'$' => {
                out.extend_from_slice(&rest[..at]);
                out.extend_from_slice(b"$Id$");
                rest = &after[end + 1..];
            }
            _ => {
                out.extend_from_slice(&rest[..at + START.len()]);
                rest = after;
            }
        }
    }
    out.extend_from_slice(rest);
    out
}

fn decides(value: AttrValue<'_>) -> bool {
    matches!(
        value,
        AttrValue::True | AttrValue::False | AttrValue::String("auto" | "input")
    )
}

fn is_true(text: &str) -> bool {
    matches!(text, "true" | "yes" | "on" | "1")
}
