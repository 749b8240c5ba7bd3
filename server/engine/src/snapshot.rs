//! The workspace as the evaluator and the slicer see it: one state of every file, parsed when
//! somebody asks for it.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use smol_str::SmolStr;
use tileperf_analysis::eval::{Env, EnvItem, ModuleId};
use tileperf_analysis::slice::{self, Source};
use tileperf_syntax::{ParsedFile, Text};

use crate::DocId;
use crate::engine::Shared;

/// The files of a workspace. What is asked for once stays as it was then.
pub(crate) struct Snapshot<'s> {
    shared: &'s Shared,
    serial: u64,
    docs: Vec<DocId>,
    numbers: BTreeMap<DocId, u32>,
    files: Vec<OnceCell<(Text, Arc<ParsedFile>)>>,
}

impl<'s> Snapshot<'s> {
    pub(crate) fn new(shared: &'s Shared) -> Self {
        let serial = shared.generation.load(Ordering::Acquire);
        let mut docs: Vec<DocId> = shared.docs.iter().map(|d| d.key().clone()).collect();
        docs.extend(shared.index.files.iter().map(|e| DocId::file(&e.path)));
        docs.sort();
        docs.dedup();
        let numbers = docs.iter().cloned().zip(0..).collect();
        let files = docs.iter().map(|_| OnceCell::new()).collect();
        Self {
            shared,
            serial,
            docs,
            numbers,
            files,
        }
    }

    /// The same with another text of one document.
    pub(crate) fn with(self, doc: &DocId, text: Text, parsed: Arc<ParsedFile>) -> Self {
        let mut edited = self;
        if let Some(at) = edited.numbers.get(doc) {
            edited.files[*at as usize] = OnceCell::from((text, parsed));
        }
        edited
    }

    /// Greater for one that was taken after a change.
    pub(crate) fn serial(&self) -> u64 {
        self.serial
    }

    pub(crate) fn number(&self, doc: &DocId) -> Option<ModuleId> {
        self.numbers.get(doc).copied().map(ModuleId)
    }

    /// What was looked at.
    pub(crate) fn parses(&self) -> Vec<(DocId, Weak<ParsedFile>)> {
        let asked = self.docs.iter().zip(&self.files);
        asked
            .filter_map(|(doc, cell)| Some((doc.clone(), Arc::downgrade(&cell.get()?.1))))
            .collect()
    }

    pub(crate) fn file(&self, module: ModuleId) -> &ParsedFile {
        &self.text(module).1
    }

    /// A file's text and what it parses to.
    pub(crate) fn text(&self, module: ModuleId) -> &(Text, Arc<ParsedFile>) {
        let at = module.0 as usize;
        self.files[at].get_or_init(|| self.shared.source(&self.docs[at]))
    }
}

impl Env for Snapshot<'_> {
    fn items(&self, module: ModuleId) -> Vec<EnvItem<'_>> {
        let items = self.file(module).items.iter().enumerate();
        items
            .map(|(i, item)| EnvItem {
                item: i as u32,
                body: &item.facts.body,
            })
            .collect()
    }

    fn import(&self, from: ModuleId, level: u32, dotted: &str) -> Option<ModuleId> {
        let doc = self.docs.get(from.0 as usize)?;
        let found = self.shared.import(doc, level, dotted)?;
        self.number(&found)
    }
}

impl slice::Workspace for Snapshot<'_> {
    fn source(&self, module: ModuleId) -> Option<Source<'_>> {
        let doc = self.docs.get(module.0 as usize)?;
        let (text, file) = self.text(module);
        Some(Source {
            name: self.shared.module_name(doc),
            path: SmolStr::new(doc.as_str()),
            text: text.as_str(),
            file,
        })
    }
}
