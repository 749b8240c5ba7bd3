//! One thing to try.

use tileperf_syntax::Span;

use crate::playbook::Principle;

/// One thing to try, by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// What it is.
    pub title: String,
    /// Where in the file.
    pub places: Vec<Span>,
    /// Why it may gain something in this kernel, in sentences without a full stop at the end.
    pub why: String,
    /// How it is tried.
    pub how: How,
    /// What others gained, with scope and source.
    pub gain: Option<String>,
    /// What it works by, if it is one of the playbook's principles.
    pub principle: Option<Principle>,
}

/// How something is tried.
#[derive(Debug, Clone, PartialEq)]
pub enum How {
    /// By these actions of the playbook, each by itself.
    Apply(Vec<Way>),
    /// By an edit that keeps the results, which is then tested and timed.
    Edit(String),
    /// By an edit that spoils the results, which is only timed and then taken back.
    Isolate(String),
}

/// One action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// The optimization's letter.
    pub id: &'static str,
    /// Its variant; empty if it has only one.
    pub variant: String,
    /// What came of it, if it was tried; then it is not proposed.
    pub tried: Option<String>,
}
