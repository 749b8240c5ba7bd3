//! Open documents: one ordered writer each, analysis on demand.
//!
//! An edit changes the text at once, in arrival order, and costs microseconds. Whoever first needs
//! to know what the text means, a request or the background worker, brings the analysis up to date;
//! everyone else gets the same result. In a burst only the last text is analysed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use serde::Serialize;
use smol_str::SmolStr;
use tileperf_analysis::compiled::Judgements;
use tileperf_analysis::model::{FileModel, ModelCache};
use tileperf_analysis::rules::{self, Checked, Finding, RuleCache};
use tileperf_analysis::target::Target;
use tileperf_syntax::{Edit, Encoding, FileParser, ParsedFile, Position, Text};

/// Names a document: the absolute path of a `file:` one, the whole URI of an `untitled:` one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct DocId(Arc<str>);

impl DocId {
    /// A file by absolute path.
    pub fn file(path: &Path) -> Self {
        Self(path.to_string_lossy().into())
    }

    /// A document that is not on disk, by its URI.
    pub fn untitled(uri: &str) -> Self {
        Self(uri.into())
    }

    /// What [`as_str`](Self::as_str) has given.
    pub(crate) fn named(name: &str) -> Self {
        Self(name.into())
    }

    /// As text: a path or a URI.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path, if it is a file.
    pub fn path(&self) -> Option<PathBuf> {
        (!self.0.starts_with("untitled:")).then(|| PathBuf::from(&*self.0))
    }
}

/// A change as editors send it. Without a range the whole text is replaced.
#[derive(Debug, Clone)]
pub struct Change {
    /// Start and end in the text before the change.
    pub range: Option<(Position, Position)>,
    /// What is put there.
    pub text: String,
}

/// A document's text and what it means.
#[derive(Debug, Clone)]
pub struct Analyzed {
    /// The editor's version.
    pub version: i32,
    /// The text of that version.
    pub text: Text,
    /// Its items.
    pub parsed: Arc<ParsedFile>,
    /// What they mean.
    pub model: Arc<FileModel>,
}

struct Writer {
    version: i32,
    text: Text,
    /// What changed since the analysis last looked: old text and the edit that covers it all.
    since: Option<Edit>,
}

struct Analysis {
    parser: FileParser,
    cache: ModelCache,
    current: Option<Arc<Analyzed>>,
}

/// What the rules found, and in which analysis.
#[derive(Default)]
struct Rules {
    cache: RuleCache,
    current: Option<Answer>,
}

/// What was looked at, for what, and what was found.
type Answer = (Arc<Analyzed>, Arc<Target>, Checked);

pub(crate) struct Document {
    pub(crate) package: SmolStr,
    writer: Mutex<Writer>,
    analysis: Mutex<Analysis>,
    rules: Mutex<Rules>,
    /// What was found in a text before, until somebody has time to free it.
    gone: Mutex<Option<Answer>>,
    /// What the rules about several files found last.
    pub(crate) linked: Mutex<Option<Linked>>,
    /// What compiled code has shown of the findings.
    pub(crate) judgements: Mutex<Judgements>,
}

/// Findings that rest on other files, in the text that they were made for.
#[derive(Debug, Clone)]
pub(crate) struct Linked {
    pub(crate) text: Text,
    pub(crate) findings: Arc<[Arc<Finding>]>,
    /// Of the workspace, when they were made.
    pub(crate) generation: u64,
}

impl Document {
    pub(crate) fn new(version: i32, text: String, package: SmolStr) -> Self {
        Self {
            package,
            writer: Mutex::new(Writer {
                version,
                text: Text::new(text),
                since: None,
            }),
            analysis: Mutex::new(Analysis {
                parser: FileParser::default(),
                cache: ModelCache::default(),
                current: None,
            }),
            rules: Mutex::default(),
            gone: Mutex::default(),
            linked: Mutex::default(),
            judgements: Mutex::default(),
        }
    }

    pub(crate) fn change(&self, version: i32, changes: Vec<Change>, encoding: Encoding) {
        let mut writer = self.writer.lock();
        for change in changes {
            let range = match change.range {
                Some((start, end)) => {
                    let start = writer.text.offset(start, encoding);
                    start..writer.text.offset(end, encoding).max(start)
                }
                None => 0..writer.text.len(),
            };
            let edit = Edit {
                start: range.start,
                old_end: range.end,
                new_end: range.start + change.text.len(),
            };
            writer.text.replace(range, &change.text);
            writer.since = Some(writer.since.map_or(edit, |e| e.then(edit)));
        }
        writer.version = version;
    }

    /// The text and version as the editor has them now.
    pub(crate) fn text(&self) -> (i32, Text) {
        let writer = self.writer.lock();
        (writer.version, writer.text.clone())
    }

    /// The analysis of the present text.
    pub(crate) fn fresh(&self) -> Arc<Analyzed> {
        let mut analysis = self.analysis.lock();
        let (version, text, since) = {
            let mut writer = self.writer.lock();
            (writer.version, writer.text.clone(), writer.since.take())
        };
        let Analysis {
            parser,
            cache,
            current,
        } = &mut *analysis;
        if let Some(current) = current
            .as_ref()
            .filter(|c| c.version == version && since.is_none())
        {
            return Arc::clone(current);
        }
        let parsed = match (current.as_ref(), since) {
            (Some(old), Some(edit)) => Arc::new(parser.update(&old.parsed, text.as_str(), edit)),
            // A new version of the same text.
            (Some(old), None) => Arc::clone(&old.parsed),
            (None, _) => Arc::new(parser.parse(text.as_str())),
        };
        let model = Arc::new(FileModel::build(
            &parsed,
            text.as_str(),
            &self.package,
            cache,
        ));
        let fresh = Arc::new(Analyzed {
            version,
            text,
            parsed,
            model,
        });
        *current = Some(Arc::clone(&fresh));
        fresh
    }

    /// What the rules about items and the file find in the present text.
    pub(crate) fn checked(&self, target: &Arc<Target>) -> (Arc<Analyzed>, Checked) {
        let analyzed = self.fresh();
        let mut rules = self.rules.lock();
        if let Some((of, for_target, checked)) = &rules.current
            && Arc::ptr_eq(of, &analyzed)
            && for_target == target
        {
            return (analyzed, checked.clone());
        }
        let checked = rules::check(
            &analyzed.parsed,
            analyzed.text.as_str(),
            &analyzed.model,
            target,
            &mut rules.cache,
        );
        let current = (Arc::clone(&analyzed), Arc::clone(target), checked.clone());
        *self.gone.lock() = rules.current.replace(current);
        (analyzed, checked)
    }

    /// Frees what is known of texts that are no more. A tree of thousands of parts takes as long to take
    /// apart as a good part of what it is made for, and an edit waits for none of it.
    pub(crate) fn tidy(&self) {
        let gone = self.gone.lock().take();
        drop(gone);
        self.analysis.lock().cache.tidy();
        self.rules.lock().cache.tidy();
    }
}
