//! The tests of an op: by TileGym's layout or by what the settings name.

use std::path::{Path, PathBuf};

use tileperf_syntax::Span;

use crate::DocId;
use crate::engine::Shared;
use crate::view::Location;

/// Test functions listed per file; more are left to the editor's own outline.
const MAX_FUNCTIONS: usize = 50;

impl Shared {
    /// Test files of an op that is registered in `registered_in`, in the order of the patterns.
    pub(crate) fn test_files(&self, op: &str, registered_in: &DocId) -> Vec<DocId> {
        let settings = self.settings.read().clone();
        let suite = registered_in.path().and_then(|p| suite_of(&p));
        let mut relative: Vec<PathBuf> = Vec::new();
        for named in settings.tests.files.get(op).into_iter().flatten() {
            relative.push(named.into());
        }
        for pattern in &settings.tests.patterns {
            if pattern.contains("{suite}") {
                // A kernel of a suite is tested by that suite; one of none by none.
                if let Some(suite) = &suite {
                    relative.push(pattern.replace("{suite}", suite).replace("{op}", op).into());
                }
            } else if suite.is_none() {
                relative.push(pattern.replace("{op}", op).into());
            }
        }
        let mut out = Vec::new();
        for root in self.roots() {
            for path in &relative {
                let path = root.join(path);
                let id = DocId::file(&path);
                if (self.index.files.contains_key(&path) || self.docs.contains_key(&id))
                    && !out.contains(&id)
                {
                    out.push(id);
                }
            }
        }
        out
    }

    /// The names of the test functions of a file.
    pub(crate) fn test_functions(&self, doc: &DocId) -> Vec<Location> {
        let Some(file) = self.file(doc) else {
            return Vec::new();
        };
        let text = file.text.as_str();
        let mut out = Vec::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let indent = line.len() - line.trim_start().len();
            let rest = &line[indent..];
            let head = if rest.starts_with("async def ") {
                10
            } else {
                4
            };
            if (rest.starts_with("def test") || rest.starts_with("async def test"))
                && out.len() < MAX_FUNCTIONS
            {
                let name = rest[head..]
                    .find(|c: char| !(c.is_alphanumeric() || c == '_'))
                    .unwrap_or(0);
                let start = at + indent + head;
                out.push(file.at(Span::new(start, start + name)));
            }
            at += line.len();
        }
        out
    }
}

/// The suite that a file belongs to: the folder after `suites`.
fn suite_of(path: &Path) -> Option<String> {
    let mut parts = path.iter().filter_map(|p| p.to_str());
    parts.find(|p| *p == "suites")?;
    parts.next().map(str::to_owned)
}
