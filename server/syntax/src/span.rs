//! Byte ranges, the one currency of positions inside the server.
//!
//! Editors speak lines and UTF-16 units, people speak lines and columns; both are converted at the
//! edges ([`crate::Text`]). Everything in between is a half-open range of bytes.

use serde::Serialize;

/// A half-open range of bytes, `start..end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span from two byte offsets; files over 4 GiB are refused long before this.
    pub fn new(start: usize, end: usize) -> Self {
        Self {
            start: start as u32,
            end: end.max(start) as u32,
        }
    }

    /// The span moved forward by `base` bytes: item-relative to file-absolute.
    #[must_use]
    pub fn shift(self, base: u32) -> Self {
        Self {
            start: self.start + base,
            end: self.end + base,
        }
    }

    /// The span moved by `by` bytes in either direction.
    #[must_use]
    pub fn moved(self, by: i64) -> Self {
        Self {
            start: (i64::from(self.start) + by) as u32,
            end: (i64::from(self.end) + by) as u32,
        }
    }

    /// Whether `offset` lies inside or at the end: a cursor after the last letter is on the word.
    pub fn touches(self, offset: usize) -> bool {
        (self.start as usize) <= offset && offset <= self.end as usize
    }

    /// Whether `other` lies wholly inside.
    pub fn contains(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The length in bytes.
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether the span holds no byte.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// As a standard range, for slicing.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}
